"""List of the package's messages."""

from __future__ import annotations

from .._core.value import dataclass
from .._core.versions import Versions
from ._tables import MESSAGES, Headers
from .message import Message, class_of


@dataclass(frozen=True, slots=True)
class MessageInfo:
    """Name, kind, API key and versions of a message."""

    name: str
    kind: str
    """``request``, ``response``, ``header``, ``data``, ``metadata``, ``coordinator-key`` or ``coordinator-value``."""
    api_key: int | None
    """API key of requests and responses, type of records, or None."""
    valid_versions: Versions
    supported_versions: Versions
    """Valid versions that the package's Kafka release supports; only these are negotiated."""
    flexible_versions: Versions
    """Valid versions with tagged fields and compact lengths (KIP-482)."""
    deprecated_versions: Versions
    """Valid versions that a later release removes."""
    latest_version_unstable: bool
    """True if the highest valid version may still change."""
    header_versions: Headers = ()
    """Pairs of a message version and the header version used from it on; empty except for requests and responses."""

    @property
    def message_class(self) -> type[Message]:
        return class_of(self.name)

    def header_version(self, version: int) -> int | None:
        """Return the header version of a message version, or None without a header."""
        return next((header for first, header in reversed(self.header_versions) if first <= version), None)


def all_messages() -> tuple[MessageInfo, ...]:
    """Return all messages, sorted by name, without importing them."""
    return tuple(map(_info, MESSAGES))


def _info(row: tuple[str, str, int | None, int, int, int, int, int, int, int, int, bool, Headers]) -> MessageInfo:
    name, kind, key, *ends, unstable, headers = row
    valid, supported, flexible, deprecated = map(Versions, ends[::2], ends[1::2])
    return MessageInfo(name, kind, key, valid, supported, flexible, deprecated, unstable, headers)
