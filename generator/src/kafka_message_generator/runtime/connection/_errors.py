"""Exceptions of connections."""

from __future__ import annotations

from ..errors import KafkaMessageError


class ConnectionProtocolError(KafkaMessageError):
    """Base class; never raised itself."""


class LocalProtocolError(ConnectionProtocolError):
    """The caller used the connection in a way that the protocol does not allow. Nothing was sent or changed."""


class RemoteProtocolError(ConnectionProtocolError):
    """The peer violated the protocol. The connection is unusable; close it.

    ``offset`` is the start of the frame, in bytes from the start of the stream. ``__cause__`` is the error of the
    frame, if any: UnsupportedRequestError has the request header, DecodeError the field.
    """

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason, offset)
        self.reason = reason
        self.offset = offset

    def __str__(self) -> str:
        return self.reason
