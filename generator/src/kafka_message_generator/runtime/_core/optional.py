"""Parts of the package that it may have been generated without: found by name when they are needed."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGE = __name__.rsplit(".", 2)[0]
"""The import name of the package."""


def module(name: str) -> Any:
    """A module of the package by its name within, imported now. Raises ModuleNotFoundError if there is none."""
    full = f"{PACKAGE}.{name}"
    __import__(full)  # importlib would cost more than many a command
    return sys.modules[full]


def optional(name: str) -> Any:
    """A part of the package; None if it was generated without it."""
    try:
        return module(name)
    except ModuleNotFoundError as error:
        if error.name != f"{PACKAGE}.{name}":
            raise
        return None


def check_extra(error: ModuleNotFoundError, user: str, extra: str) -> None:
    """Raise an error that names the extra if what is missing is another distribution, and nothing of this package."""
    name = (error.name or PACKAGE).partition(".")[0]
    if name != PACKAGE.partition(".")[0]:
        text = f"{user} needs the package {name}, which is not installed; the extra `{extra}` brings it"
        raise ModuleNotFoundError(text, name=name) from error
