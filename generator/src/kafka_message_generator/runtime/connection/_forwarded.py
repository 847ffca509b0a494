"""Frames on their way between a client and a broker, and what is known of them."""

from __future__ import annotations

from ..errors import DecodeError
from ..protocol import read_request_header
from ._incoming import LENGTH_SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.message import Message, Text
    from ..errors import KafkaMessageError
    from ..protocol import Api, Request, Response
    from ..protocol._shapes import RequestHeader

TEXT: Text = "surrogateescape"
"""Brokers take text that is no UTF-8: it passes, too."""


class Forwarded:
    """A frame on its way."""

    __slots__ = ("_frame",)

    def __init__(self, frame: bytes) -> None:
        self._frame = frame

    @property
    def data(self) -> bytes:
        """The frame as it came, its length included. It is not copied."""
        return self._frame

    @property
    def parts(self) -> list[bytes]:
        """The same as a list, for ``writelines``."""
        return [self._frame]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._what()}, {len(self._frame) - LENGTH_SIZE} bytes>"

    def _what(self) -> str:
        """What the frame is, in few words; both kinds of frames say it."""
        raise NotImplementedError


class RequestForwarded(Forwarded):
    """A request on its way to the broker: write ``data``, or ``encode()`` if its message was changed."""

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
        """None for an API that the package does not know."""
        self.request: Request | None = None
        """The decoded request; None where its API is not to be decoded, and where it cannot be, see ``error``."""
        self.error: KafkaMessageError | None = None
        """Why a request of an API that is to be decoded could not be."""
        self.expects_response = True
        """Whether there will be a response; of a ProduceRequest with ``acks=0`` there is none."""
        self._answer: bytes | None = None  # of this side, with its length
        self._waits_at: object = None  # the proxy that a response is to come to
        self._tokens_before = 0  # those that wait for an answer, between the request before it and this one
        self._is_unread = False  # nor will its response be read

    @property
    def header(self) -> RequestHeader:
        """The header, read when it is first asked for.

        Of an API that the package does not know it has only what all headers begin with.
        """
        if self._header is None:
            self._header = header_of(self._frame[LENGTH_SIZE:])[0]
        return self._header

    @property
    def message(self) -> Message | None:
        """The message of the decoded request."""
        return self.request.message if self.request is not None else None

    def encode(self) -> bytes:
        """The frame of the message as it is now, or ``data`` where none was decoded. Raises EncodeError."""
        return self.request.encode(text=TEXT) if self.request is not None else self.data

    def encode_parts(self) -> list[bytes]:
        """The same in pieces, for ``writelines``: long fields of the message are not copied."""
        return self.request.encode_parts(text=TEXT) if self.request is not None else self.parts

    def _what(self) -> str:
        name = f"API {self._key}" if self.api is None else self.api.request_name
        return f"{name} v{self._version} with correlation id {self._correlation_id}"


class ResponseForwarded(Forwarded):
    """A response on its way to the client: write ``data``, or ``encode()`` if its message was changed."""

    __slots__ = ("error", "request", "response")

    def __init__(self, frame: bytes, request: RequestForwarded) -> None:
        self._frame = frame
        self.request = request
        """What it answers."""
        self.response: Response[Message] | None = None
        """The decoded response; None where its API is not to be decoded, and where it cannot be, see ``error``."""
        self.error: KafkaMessageError | None = None
        """Why a response of an API that is to be decoded could not be."""

    @property
    def message(self) -> Message | None:
        """The message of the decoded response."""
        return self.response.message if self.response is not None else None

    def encode(self) -> bytes:
        """The frame of the message as it is now, or ``data`` where none was decoded. Raises EncodeError."""
        return self.response.encode(text=TEXT) if self.response is not None else self.data

    def encode_parts(self) -> list[bytes]:
        """The same in pieces, for ``writelines``: long fields of the message are not copied."""
        return self.response.encode_parts(text=TEXT) if self.response is not None else self.parts

    def _what(self) -> str:
        return f"to {self.request._what()}"


class LocalResponse(Forwarded):
    """The response given to ``ProxyConnection.answer``, now that it is the next in order: write ``data`` to the client."""

    __slots__ = ("request",)

    def __init__(self, frame: bytes, request: RequestForwarded) -> None:
        super().__init__(frame)
        self.request = request
        """What it answers."""

    def _what(self) -> str:
        return f"to {self.request._what()}"


class TokenForwarded(Forwarded):
    """A raw SASL token on its way, after SaslHandshake version 0: write ``data``."""

    __slots__ = ()

    @property
    def token(self) -> bytes:
        """The token itself."""
        return self._frame[LENGTH_SIZE:]

    def _what(self) -> str:
        return "of SASL"


def header_of(payload: bytes) -> tuple[RequestHeader, int]:
    """The header of a request, and where its body starts; the client id is hardly ever no UTF-8."""
    try:
        return read_request_header(payload)
    except DecodeError:
        return read_request_header(payload, text=TEXT)
