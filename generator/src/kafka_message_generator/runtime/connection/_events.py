"""Exceptions of connections, and events shared by clients, servers and proxies."""

from __future__ import annotations

from .._core.value import dataclass
from ..errors import KafkaMessageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class ConnectionProtocolError(KafkaMessageError):
    """Base of LocalProtocolError and RemoteProtocolError; never raised itself."""


class LocalProtocolError(ConnectionProtocolError):
    """Invalid use by the caller; nothing was sent or changed."""


class RemoteProtocolError(ConnectionProtocolError):
    """Protocol violation by the peer. Close the connection.

    ``offset`` is the frame's start in bytes from the start of the stream. ``__cause__`` is the decoding error, if any.
    """

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason, offset)
        self.reason = reason
        self.offset = offset

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class TokenReceived:
    """Raw SASL token: a frame without a header, after SaslHandshake version 0."""

    token: bytes

    def __repr__(self) -> str:
        return f"<TokenReceived, {len(self.token)} bytes>"  # tokens can contain passwords


@dataclass(frozen=True, slots=True)
class ConnectionClosed:
    """The peer closed the connection between two frames."""

    unanswered: Sequence[Any]

    @property
    def data(self) -> bytes:
        return b""
