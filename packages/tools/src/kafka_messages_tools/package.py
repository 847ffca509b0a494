"""Access to a generated package by its import name."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kafka_messages import Message

# Import name of the package for Kafka's own messages.
DEFAULT = "kafka_messages"
# Number of bytes that are compared with other protocols.
_FIRST_BYTES = 1024
# Names exported by every generated package.
EXPORTED = frozenset(("all_messages", "KafkaMessageError", "DecodeError"))


class PackageError(Exception):
    """A package that cannot be imported, was not generated, or lacks a component."""


class Package:
    """A generated package with lazily imported modules. Raises PackageError for any other package."""

    def __init__(self, name: str) -> None:
        try:
            __import__(name)  # faster than importlib
        except Exception as error:
            raise PackageError(f"cannot import the package {name!r}: {error}") from error
        self.name = name
        self.root: Any = sys.modules[name]
        self._modules: dict[str, Any] = {}
        self._has: dict[str, bool] = {}
        if not EXPORTED.issubset(getattr(self.root, "__all__", ())):  # hasattr would import modules
            raise PackageError(f"{name} is not a package of the Kafka message generator")

    def module(self, name: str) -> Any:
        """Return a module of the package. Raises PackageError if the component is missing."""
        if name in self._modules:
            return self._modules[name]
        full = f"{self.name}.{name}"
        try:
            __import__(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
            what = f"{self.name} was generated without the component {name}"
            raise PackageError(f"{what}; add it to components in package.toml") from None
        self._modules[name] = sys.modules[full]
        return sys.modules[full]

    def optional(self, name: str) -> Any:
        """Return a module of the package, or None if the component is missing."""
        try:
            return self.module(name)
        except PackageError:
            return None

    def has(self, name: str) -> bool:
        """Check for a component without importing it."""
        if name not in self._has:
            from importlib.machinery import PathFinder

            self._has[name] = PathFinder.find_spec(f"{self.name}.{name}", self.root.__path__) is not None
        return self._has[name]

    def foreign_protocol(self, data: bytes | bytearray) -> str | None:
        """Return what data that is not Kafka's protocol looks like, or None; see ``protocol.foreign_protocol``."""
        protocol = self.optional("protocol")
        return None if protocol is None else protocol.foreign_protocol(data[:_FIRST_BYTES])

    def message(self, name: str) -> Any:
        return getattr(self.root, name)

    def api(self, key: int | None) -> Any:
        protocol = self.module("protocol")
        try:
            return protocol.api(key)
        except protocol.UnknownApiError:
            return None


_packages: dict[str, Package] = {}


def load(package: str | Package = DEFAULT) -> Package:
    """Return the package with an import name; a ``Package`` is returned unchanged. Raises PackageError."""
    if isinstance(package, Package):
        return package
    if package not in _packages:
        _packages[package] = Package(package)
    return _packages[package]


def message_json(package: Package, message: Message, version: int, show_secrets: bool, names: bool = False) -> object:
    """Return Kafka's JSON form of a message, with secrets redacted unless ``show_secrets``; ``names`` as in ``json``."""
    secrets, to_json = package.module("secrets"), package.module("json").to_json
    whole = message if show_secrets else secrets.redacted(message)
    found: object = to_json(whole, version, unknown_tagged_fields=True, names=names)
    return found if show_secrets else secrets.redacted_json(found)
