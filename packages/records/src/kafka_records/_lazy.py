"""Lazy import of the public names of a package."""

from __future__ import annotations

import sys
from importlib import import_module


def find(package: str, modules: dict[str, str], name: str) -> object:
    """Import ``name`` and cache it in ``package``. Raises AttributeError and ModuleNotFoundError."""
    parent = sys.modules[package]
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=parent)
    try:
        module = import_module(f"{package}.{modules[name]}")
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "pyarrow"):
            raise
        text = f"{package} needs the package {error.name}, which is not installed: pip install 'kafka-records[arrow]'"
        raise ModuleNotFoundError(text, name=error.name) from error
    value: object = getattr(module, name)
    setattr(parent, name, value)
    return value
