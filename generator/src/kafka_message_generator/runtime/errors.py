"""Base classes of exceptions, and exceptions about a message."""

from __future__ import annotations


class KafkaMessageError(Exception):
    """Base of all exceptions of this package."""


class PlacedError(KafkaMessageError, ValueError):
    """Base of exceptions about one field: ``message`` (name), ``version`` (-1 if unknown), ``path`` and ``reason``."""

    def __init__(self, reason: str, message: str = "", version: int = -1, path: str = "") -> None:
        super().__init__(reason, message, version, path)
        self.reason = reason
        self.message = message
        self.version = version
        self.path = path

    def __str__(self) -> str:
        where = self.message if self.version < 0 else f"{self.message} v{self.version}"
        return ": ".join([*filter(None, (where, self.path)), self.reason])


class DecodeError(PlacedError):
    """Malformed bytes.

    ``path`` is the field (``topics[3].leader_id``), ``offset`` the byte position or -1, and ``reason`` the cause.
    """

    def __init__(self, reason: str, message: str = "", version: int = -1, path: str = "", offset: int = -1) -> None:
        super().__init__(reason, message, version, path)
        self.args = (*self.args, offset)
        self.offset = offset


class EncodeError(PlacedError):
    """Value that cannot be written; ``path`` is the field and ``reason`` the cause."""


class UnsupportedVersionError(KafkaMessageError, ValueError):
    """Version that a message or API does not have, or that broker and package do not have in common."""
