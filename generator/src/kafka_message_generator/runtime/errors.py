"""What can go wrong: bytes that are no message, values that are no bytes, versions that do not exist."""

from __future__ import annotations


class KafkaMessageError(Exception):
    """Base of every error of this package; never raised itself."""


class PlacedError(KafkaMessageError, ValueError):
    """Base of errors about one place in a message; never raised itself."""

    def __init__(self, reason: str, message: str = "", version: int = -1, path: str = "") -> None:
        super().__init__(reason, message, version, path)
        self.reason = reason
        self.message = message
        self.version = version
        self.path = path

    def __str__(self) -> str:
        return _place(self.message, self.version, self.path) + self.reason


class DecodeError(KafkaMessageError, ValueError):
    """The bytes are not this message at this version.

    ``message`` and ``version`` say what was read, ``path`` the field (``topics[3].partitions[0].leader_id``),
    ``offset`` the byte at which it went wrong, and ``reason`` what was needed and what was there.
    """

    def __init__(self, reason: str, message: str = "", version: int = -1, path: str = "", offset: int = -1) -> None:
        super().__init__(reason, message, version, path, offset)
        self.reason = reason
        self.message = message
        self.version = version
        self.path = path
        self.offset = offset

    def __str__(self) -> str:
        return _place(self.message, self.version, self.path) + self.reason


class EncodeError(PlacedError):
    """A value cannot be written at this version; ``path`` names the field and ``reason`` says why."""


class UnsupportedVersionError(KafkaMessageError, ValueError):
    """The message has no such version; the text says which it has."""


def _place(message: str, version: int, path: str) -> str:
    where = message if version < 0 else f"{message} v{version}"
    return ": ".join(part for part in (where, path) if part) + ": " if where or path else ""
