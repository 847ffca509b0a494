"""The events of a proxy: frames to forward."""

from __future__ import annotations

from ..errors import DecodeError
from ..protocol import read_request_header
from ._incoming import LENGTH_SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.message import Message, Text
    from ..errors import KafkaMessageError
    from ..protocol import Api, DecodedRequest, DecodedResponse
    from ..protocol._shapes import RequestHeader

TEXT: Text = "surrogateescape"
"""Brokers accept invalid UTF-8, so proxies forward it."""


class Forwarded:
    __slots__ = ("_frame",)

    def __init__(self, frame: bytes) -> None:
        self._frame = frame

    @property
    def data(self) -> bytes:
        """The frame as received, including its length; not copied."""
        return self._frame

    @property
    def chunks(self) -> list[bytes]:
        """``data`` as a list, for ``writelines``."""
        return [self._frame]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._what()}, {len(self._frame) - LENGTH_SIZE} bytes>"

    def _what(self) -> str:
        raise NotImplementedError


class RequestForwarded(Forwarded):
    """A request for the broker. Write ``data``, or ``encode()`` if the message was changed."""

    __slots__ = (
        *("_answer", "_correlation_id", "_header", "_is_unread", "_key", "_tokens_before", "_version", "_waits_at"),
        *("api", "error", "expects_response", "request"),
    )

    def __init__(self, frame: bytes, api: Api | None, key: int, version: int, correlation_id: int) -> None:
        self._frame = frame
        self._key = key
        self._version = version
        self._correlation_id = correlation_id
        self._header: RequestHeader | None = None  # until somebody asks
        self.api = api
        """None if the package does not know the API."""
        self.request: DecodedRequest | None = None
        """The decoded request; None if its API is not decoded, or decoding failed with ``error``."""
        self.error: KafkaMessageError | None = None
        """The error that prevented decoding."""
        self.expects_response = True
        """False for a ProduceRequest with ``acks=0``."""
        self._answer: bytes | None = None  # of this side, with its length
        self._waits_at: object = None  # the proxy that a response is to come to
        self._tokens_before = 0  # those that wait for an answer, between the request before it and this one
        self._is_unread = False  # nor will its response be read

    @property
    def header(self) -> RequestHeader:
        """The header, decoded on first use. For an unknown API it has only the fields common to all headers."""
        if self._header is None:
            self._header = header_of(self._frame[LENGTH_SIZE:])[0]
        return self._header

    @property
    def message(self) -> Message | None:
        return self.request.message if self.request is not None else None

    def encode(self) -> bytes:
        """Return the frame of the current message, or ``data`` if it was not decoded. Raises EncodeError."""
        return self.request.encode(text=TEXT) if self.request is not None else self.data

    def encode_chunks(self) -> list[bytes]:
        """Return ``encode()`` as a list for ``writelines``, without copying long fields."""
        return self.request.encode_chunks(text=TEXT) if self.request is not None else self.chunks

    def _what(self) -> str:
        name = f"API {self._key}" if self.api is None else self.api.request_name
        return f"{name} v{self._version} with correlation id {self._correlation_id}"


class ResponseForwarded(Forwarded):
    """A response for the client. Write ``data``, or ``encode()`` if the message was changed."""

    __slots__ = ("error", "request", "response")

    def __init__(self, frame: bytes, request: RequestForwarded) -> None:
        self._frame = frame
        self.request = request
        self.response: DecodedResponse[Message] | None = None
        """The decoded response; None if its API is not decoded, or decoding failed with ``error``."""
        self.error: KafkaMessageError | None = None
        """The error that prevented decoding."""

    @property
    def message(self) -> Message | None:
        return self.response.message if self.response is not None else None

    def encode(self) -> bytes:
        """Return the frame of the current message, or ``data`` if it was not decoded. Raises EncodeError."""
        return self.response.encode(text=TEXT) if self.response is not None else self.data

    def encode_chunks(self) -> list[bytes]:
        """Return ``encode()`` as a list for ``writelines``, without copying long fields."""
        return self.response.encode_chunks(text=TEXT) if self.response is not None else self.chunks

    def _what(self) -> str:
        return f"to {self.request._what()}"


class LocalResponse(Forwarded):
    """A response given to ``ProxyConnection.answer`` that is now next in order. Write ``data`` to the client."""

    __slots__ = ("request",)

    def __init__(self, frame: bytes, request: RequestForwarded) -> None:
        super().__init__(frame)
        self.request = request

    def _what(self) -> str:
        return f"to {self.request._what()}"


class TokenForwarded(Forwarded):
    """A raw SASL token after SaslHandshake version 0. Write ``data``."""

    __slots__ = ()

    @property
    def token(self) -> bytes:
        """The token without its length."""
        return self._frame[LENGTH_SIZE:]

    def _what(self) -> str:
        return "of SASL"


def header_of(payload: bytes) -> tuple[RequestHeader, int]:
    """Return the header of a request and the offset of its body."""
    try:
        return read_request_header(payload)
    except DecodeError:
        return read_request_header(payload, text=TEXT)
