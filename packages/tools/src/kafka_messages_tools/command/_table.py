"""The subcommands: what each is for in a line, and which components of the package it needs."""

from __future__ import annotations

import sys

from ..package import PackageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..package import Package

SUBCOMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "explain": ("what each byte of a message is", ("explain",)),
    "decode": ("bytes to JSON", ("explain",)),
    "encode": ("JSON to bytes", ()),
    "guess": ("which message and version could these bytes be", ("explain",)),
    "diff": ("two versions of a message, or two messages", ("explain",)),
    "log": ("records of a log segment or a snapshot", ("explain",)),
    "show": ("fields of a message across its versions", ()),
    "list": ("messages: keys, versions, headers", ()),
    "apis": ("APIs: keys, versions, listeners, headers", ("protocol",)),
    "capture": ("captured traffic: requests with their responses, clients", ("protocol", "explain")),
    "wireshark": ("a dissector for Wireshark and tshark", ("protocol",)),
    "errors": ("error codes by number or name", ("protocol",)),
    "tags": ("tagged fields of all messages", ()),
    "completion": ("a script that completes command lines in bash, zsh or fish", ()),
}
"""By name, in the order of the help. ``explain`` brings the component ``secrets``, which hides secrets in all output."""


def available(package: Package) -> list[str]:
    """Return the subcommands whose components the package has."""
    needed = {component for _, components in SUBCOMMANDS.values() for component in components}
    present = {component for component in needed if package.has(component)}
    return [name for name, (_, components) in SUBCOMMANDS.items() if present.issuperset(components)]


def check(name: str, package: Package) -> None:
    """Raise PackageError if the package lacks a component that a subcommand needs."""
    missing = [component for component in SUBCOMMANDS[name][1] if not package.has(component)]
    if missing:
        what = f"{name} needs the component {missing[0]}, which {package.name} was generated without"
        raise PackageError(f"{what}; add it to components in package.toml")


def load(name: str) -> Any:
    """Return the module of a subcommand, imported now; it has ``add_arguments``, ``run`` and texts for the help."""
    full = f"{__package__}.commands.{name}"
    __import__(full)
    return sys.modules[full]
