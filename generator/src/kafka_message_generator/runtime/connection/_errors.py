"""What can go wrong on a connection: by the peer, or by this side."""

from __future__ import annotations

from ..errors import KafkaMessageError


class ConnectionProtocolError(KafkaMessageError):
    """Base of what goes wrong on a connection; never raised itself."""


class LocalProtocolError(ConnectionProtocolError):
    """This side asked for what the protocol does not allow, or not now. Nothing was sent, and nothing changed."""


class RemoteProtocolError(ConnectionProtocolError):
    """The peer sent what this side cannot understand. The connection is of no use any more: close it.

    ``offset`` is where the frame starts, in bytes from the first one that the peer sent. ``__cause__`` is the error of
    the frame itself, if there is one: an UnsupportedRequestError has the header of the request, a DecodeError the field.
    """

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason, offset)
        self.reason = reason
        self.offset = offset

    def __str__(self) -> str:
        return self.reason
