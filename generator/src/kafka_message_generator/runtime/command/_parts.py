"""Optional parts of the package, which may be absent in one that was generated without them."""

from __future__ import annotations

import sys

from .._core.optional import PACKAGE as PACKAGE
from .._core.optional import module as module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def has_part(name: str) -> bool:
    """Whether the package has a part."""
    from ._package import PARTS

    return name in PARTS


def part(name: str) -> Any:
    """A part of the package, imported now. Raises ModuleNotFoundError if the package was generated without it."""
    return module(name)


def package_version() -> str:
    """The version of the package."""
    version: str = sys.modules[PACKAGE].__version__
    return version
