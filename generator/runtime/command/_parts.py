"""Optional parts of the package, which may be absent in one that was generated without them."""

from __future__ import annotations

import sys

from ._package import PARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGE = __name__.rsplit(".", 2)[0]
"""The import name of the package."""


def has_part(name: str) -> bool:
    """Whether the package has a part."""
    return name in PARTS


def part(name: str) -> Any:
    """A part of the package, imported now. Raises ModuleNotFoundError if the package was generated without it."""
    return module(name)


def module(name: str) -> Any:
    """A module of the package by its name within, imported now."""
    full = f"{PACKAGE}.{name}"
    __import__(full)  # importlib would cost more than most subcommands
    return sys.modules[full]


def package_version() -> str:
    """The version of the package."""
    version: str = sys.modules[PACKAGE].__version__
    return version
