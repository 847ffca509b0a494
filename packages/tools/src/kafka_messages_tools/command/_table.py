"""Table of subcommands: description and required components."""

from __future__ import annotations

import sys

from ..package import PackageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..package import Package

# Subcommands in help order. The component `explain` includes `secrets`, which redacts all output.
SUBCOMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "explain": ("meaning of each byte of a message, also of an unknown one", ("explain",)),
    "decode": ("bytes to JSON", ("explain",)),
    "encode": ("JSON to bytes", ()),
    "diff": ("two versions of a message, or two messages", ("explain",)),
    "log": ("records of a log segment or a snapshot", ("explain",)),
    "show": ("fields of a message across its versions", ()),
    "list": ("messages: keys, versions, headers", ()),
    "apis": ("APIs: keys, versions, listeners, headers", ("protocol",)),
    "capture": ("captured traffic: requests with their responses, clients", ("protocol", "explain")),
    "wireshark": ("a dissector for Wireshark and tshark", ("protocol",)),
    "errors": ("error codes by number or name", ("protocol",)),
    "tags": ("tagged fields of all messages", ()),
    "releases": ("message versions of a Kafka release or a KIP", ("history",)),
    "completion": ("completion script for bash, zsh or fish", ()),
}


def available(package: Package) -> list[str]:
    needed = {component for _, components in SUBCOMMANDS.values() for component in components}
    present = {component for component in needed if package.has(component)}
    return [name for name, (_, components) in SUBCOMMANDS.items() if present.issuperset(components)]


def check(name: str, package: Package) -> None:
    """Check that the package has the components of a subcommand. Raises PackageError."""
    missing = [component for component in SUBCOMMANDS[name][1] if not package.has(component)]
    if missing:
        what = f"{name} requires the component {missing[0]}, which {package.name} was generated without"
        raise PackageError(f"{what}; add it to components in package.toml")


def load(name: str) -> Any:
    full = f"{__package__}.commands.{name}"
    __import__(full)
    return sys.modules[full]
