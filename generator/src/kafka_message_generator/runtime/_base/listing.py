"""Which messages there are, without importing them."""

from __future__ import annotations

from .._core.value import dataclass
from .._core.versions import Versions
from ._tables import MESSAGES
from .message import Message, class_of


@dataclass(frozen=True, slots=True)
class MessageInfo:
    """What is known of a message without its class."""

    name: str
    kind: str
    """As in the definition: ``request``, ``response``, ``header``, ``data``, ``metadata``, ``coordinator-key`` or
    ``coordinator-value``.
    """
    api_key: int | None
    """API key of requests and responses, type of records; None where there is none."""
    valid_versions: Versions
    """Those that can be read and written."""
    supported_versions: Versions
    """Those of them that the release of this package has; the others were in other releases, and are not negotiated."""
    flexible_versions: Versions
    """Those of them with tagged fields and compact lengths; may be empty."""
    deprecated_versions: Versions
    """Those of them that a later release removes; usually empty."""
    latest_version_unstable: bool
    """Whether the highest valid version may still change."""

    @property
    def message_class(self) -> type[Message]:
        """The class, imported on first use."""
        return class_of(self.name)


def all_messages() -> tuple[MessageInfo, ...]:
    """Every message of this package, by name. Imports none of them."""
    return tuple(map(_info, MESSAGES))


def _info(row: tuple[str, str, int | None, int, int, int, int, int, int, int, int, bool]) -> MessageInfo:
    name, kind, key, *ends, unstable = row
    valid, offered, flexible, deprecated = map(Versions, ends[::2], ends[1::2])
    return MessageInfo(name, kind, key, valid, offered, flexible, deprecated, unstable)
