"""Exceptions of connections."""

from __future__ import annotations

from ..errors import KafkaMessageError


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
