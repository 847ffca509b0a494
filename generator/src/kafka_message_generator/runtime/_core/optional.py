"""Optional components, imported by name on demand."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKAGE = __name__.rsplit(".", 2)[0]


def module(name: str) -> Any:
    full = f"{PACKAGE}.{name}"
    __import__(full)  # importing importlib would slow down commands
    return sys.modules[full]


def optional(name: str) -> Any:
    """Import and return a component, or None if the package lacks it."""
    try:
        return module(name)
    except ModuleNotFoundError as error:
        if error.name != f"{PACKAGE}.{name}":
            raise
        return None


def check_extra(error: ModuleNotFoundError, user: str, extra: str) -> None:
    """Raise ModuleNotFoundError that names the extra to install, if the missing module is not of this package."""
    name = (error.name or PACKAGE).partition(".")[0]
    if name != PACKAGE.partition(".")[0]:
        text = f"{user} requires the package {name}, which is not installed; install the extra `{extra}`"
        raise ModuleNotFoundError(text, name=name) from error
