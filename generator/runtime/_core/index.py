"""Lazy access to classes: a name of the package imports its module when it is first asked for."""

from __future__ import annotations


def load(package: str, modules: dict[str, str], name: str, namespace: dict[str, object]) -> object:
    """The attribute ``name`` of ``package``, from the module that has it, kept in ``namespace`` from then on."""
    module = modules.get(name)
    if module is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{package}.{module}"), name)
    namespace[name] = value
    return value
