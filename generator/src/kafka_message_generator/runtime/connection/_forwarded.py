"""Events of a proxy: frames to forward."""

from __future__ import annotations

from ..protocol import decode_response, read_request_header
from ._incoming import LENGTH_SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.message import Request as RequestMessage
    from .._base.message import Response as ResponseMessage
    from .._base.message import Text
    from ..errors import KafkaMessageError
    from ..protocol import Api, DecodedRequest, DecodedResponse
    from ..protocol._shapes import RequestHeader
    from ._identity import ClientIdentity

# Accepts invalid UTF-8, as brokers do.
TEXT: Text = "surrogateescape"


class Forwarded:
    __slots__ = ("_frame",)

    def __init__(self, frame: bytes) -> None:
        self._frame = frame

    @property
    def data(self) -> bytes:
        return self._frame

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._what()}, {len(self._frame) - LENGTH_SIZE} bytes>"

    def _what(self) -> str:
        raise NotImplementedError


class RequestForwarded(Forwarded):
    """Request for the broker. Write ``data``, or ``encode()`` after you changed the message."""

    __slots__ = (
        *("_encoded_response", "_header", "_is_unread", "_key", "_number", "_tokens_before", "_version", "_waits_at"),
        *("api", "error", "expects_response", "identity", "request"),
    )

    def __init__(
        self,
        frame: bytes,
        api: Api | None,
        key: int,
        version: int,
        number: bytes,
        identity: ClientIdentity,
        is_unread: bool,
    ) -> None:
        self._frame = frame
        self._key = key
        self._version = version
        self._number = number  # the encoded correlation id
        self._header: RequestHeader | None = None  # decoded on first use
        self.api = api
        """None for an unknown API."""
        self.identity = identity
        """Identity of the client as of this request; a header without client id refers to an earlier one."""
        self.request: DecodedRequest | None = None
        """None if the request was not decoded."""
        self.error: KafkaMessageError | None = None
        self.expects_response = True
        """False if the broker sends no response, as to a ProduceRequest with ``acks=0``."""
        self._encoded_response: bytes | None = None  # frame of the local response
        self._waits_at: object = None  # the mark of the proxy that awaits the response
        self._tokens_before = 0  # unanswered tokens between the previous request and this one
        self._is_unread = is_unread  # forwarded undecoded, like its response

    @property
    def _correlation_id(self) -> int:
        return int.from_bytes(self._number, "big", signed=True)

    @property
    def header(self) -> RequestHeader:
        """Header, decoded on first use; of a decoded request that of ``request``, which ``encode`` writes.

        Only API key, version and correlation id are set for an unknown API, and for an unreadable header of an unknown
        version.
        """
        if self._header is None:
            self._header = read_request_header(self._frame[LENGTH_SIZE:], text=TEXT)[0]
        return self._header

    @property
    def message(self) -> RequestMessage | None:
        return self.request.message if self.request is not None else None

    def encode(self) -> bytes:
        """Return the frame of the current message, or ``data`` if undecoded. Raises EncodeError."""
        return self.request.encode(text=TEXT) if self.request is not None else self.data

    def encode_chunks(self) -> list[bytes]:
        """Return ``encode()`` as a list for ``writelines``, without copying long fields."""
        return self.request.encode_chunks(text=TEXT) if self.request is not None else [self.data]

    def _decode_response(self, payload: bytes) -> DecodedResponse[ResponseMessage]:
        return decode_response(payload, self._key, self._version, text=TEXT)

    def _what(self) -> str:
        name = f"API {self._key}" if self.api is None else self.api.request_name
        return f"{name} v{self._version} with correlation id {self._correlation_id}"


class _Reply(Forwarded):
    __slots__ = ("request",)

    def __init__(self, frame: bytes, request: RequestForwarded) -> None:
        self._frame = frame
        self.request = request

    def _what(self) -> str:
        return f"to {self.request._what()}"


class ResponseForwarded(_Reply):
    """Response for the client. Write ``data``, or ``encode()`` after you changed the message."""

    __slots__ = ("error", "response")

    def __init__(self, frame: bytes, request: RequestForwarded) -> None:
        self._frame = frame
        self.request = request
        self.response: DecodedResponse[ResponseMessage] | None = None
        """None if the response was not decoded."""
        self.error: KafkaMessageError | None = None

    @property
    def message(self) -> ResponseMessage | None:
        return self.response.message if self.response is not None else None

    def encode(self) -> bytes:
        """Return the frame of the current message, or ``data`` if undecoded. Raises EncodeError."""
        return self.response.encode(text=TEXT) if self.response is not None else self.data

    def encode_chunks(self) -> list[bytes]:
        return self.response.encode_chunks(text=TEXT) if self.response is not None else [self.data]


class LocalResponse(_Reply):
    """Response from ``ProxyConnection.answer``. Write ``data`` to the client."""

    __slots__ = ()


class TokenForwarded(Forwarded):
    """Raw SASL token after SaslHandshake version 0. Write ``data``."""

    __slots__ = ()

    @property
    def token(self) -> bytes:
        return self._frame[LENGTH_SIZE:]

    def _what(self) -> str:
        return "of SASL"
