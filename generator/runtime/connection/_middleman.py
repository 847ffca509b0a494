"""Between a client and a broker: decodes the APIs one asks for, and passes everything on as it came."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from ..errors import DecodeError, KafkaMessageError
from ..protocol import (
    MAX_FRAME_SIZE,
    UnknownApiError,
    apis,
    decode_request,
    decode_response,
    frame,
    read_request_header,
)
from ..protocol import api as api_of
from ..schema.build import Builder
from ..schema.facts import facts_of
from ..schema.types import SchemaError
from ._events import ConnectionClosed
from ._exchange import PRODUCE, expects_response, opens_tokens
from ._incoming import LENGTH_SIZE, Incoming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .._base.message import Message, Text
    from .._core.wire import BytesLike
    from ..protocol import Api, Request, Response
    from ..protocol._apis import AnyApi
    from ..protocol._shapes import RequestHeader

    ClientSide: TypeAlias = "RequestPassing | TokenPassing | ConnectionClosed"
    BrokerSide: TypeAlias = "ResponsePassing | TokenPassing | ConnectionClosed"

_TEXT: Text = "surrogateescape"
"""Brokers take text that is no UTF-8: it passes, too."""


class Passing:
    """A frame on its way."""

    __slots__ = ("_payload",)

    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    @property
    def data(self) -> bytes:
        """The frame as it came, its length included."""
        return frame(self._payload)

    @property
    def parts(self) -> list[bytes]:
        """The same in two pieces, for ``writelines``: a large frame is not copied."""
        return [len(self._payload).to_bytes(LENGTH_SIZE, "big"), self._payload]


class RequestPassing(Passing):
    """A request on its way to the broker: write ``data``, or ``encode()`` if its message was changed."""

    __slots__ = ("api", "error", "expects_response", "header", "request")

    def __init__(self, payload: bytes, header: RequestHeader, api: Api | None) -> None:
        super().__init__(payload)
        self.header = header
        """Of an API that the package does not know only what all headers begin with."""
        self.api = api
        """None for an API that the package does not know."""
        self.request: Request | None = None
        """The decoded request; None where its API is not to be decoded, and where it cannot be, see ``error``."""
        self.error: KafkaMessageError | None = None
        """Why a request of an API that is to be decoded could not be."""
        self.expects_response = True
        """Whether there will be a response; of a ProduceRequest with ``acks=0`` there is none."""

    @property
    def message(self) -> Message | None:
        """The message of the decoded request."""
        return self.request.message if self.request is not None else None

    def encode(self) -> bytes:
        """The frame of the message as it is now, or ``data`` where none was decoded. Raises EncodeError."""
        return self.request.encode(text=_TEXT) if self.request is not None else self.data


class ResponsePassing(Passing):
    """A response on its way to the client: write ``data``, or ``encode()`` if its message was changed."""

    __slots__ = ("error", "request", "response")

    def __init__(self, payload: bytes, request: RequestPassing) -> None:
        super().__init__(payload)
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
        return self.response.encode(text=_TEXT) if self.response is not None else self.data


class TokenPassing(Passing):
    """A raw SASL token on its way, after SaslHandshake version 0: write ``data``."""

    __slots__ = ()

    @property
    def token(self) -> bytes:
        """The token itself."""
        return self._payload


class Middleman:
    """Both directions of a connection that somebody stands in. It does no I/O, and holds nothing back.

    Each frame that comes in comes out as one event. Requests and responses of the APIs in ``decode``, all of them unless
    told otherwise, are decoded, others pass unread: those of APIs and versions that the package does not know, too.
    Only what can be no request or response ends it. Not for several threads at once.
    """

    def __init__(
        self,
        decode: Iterable[AnyApi] | None = None,
        *,
        max_frame_size: int = MAX_FRAME_SIZE,
    ) -> None:
        """``max_frame_size``: bytes that a frame may have; one that claims more ends the connection."""
        self._decoded = {int(api_of(each).key) for each in (apis() if decode is None else decode)}
        self._client = Incoming(max_frame_size)
        self._broker = Incoming(max_frame_size)
        self._waiting: deque[RequestPassing | None] = deque()  # None stands for a token
        self._may_be_token = False
        self._ends_said: set[Incoming] = set()

    @property
    def unanswered(self) -> tuple[RequestPassing, ...]:
        """The requests whose responses have not come, the oldest first."""
        return tuple(request for request in self._waiting if request is not None)

    @property
    def trailing_data(self) -> tuple[bytes, bytes]:
        """The bytes of client and broker that are in no event."""
        return self._client.trailing_data[0], self._broker.trailing_data[0]

    def receive_from_client(self, data: BytesLike) -> Iterator[ClientSide]:
        """Take what was read from the client, b"" for its end; iterate over what goes to the broker.

        Raises RemoteProtocolError, also while iterating.
        """
        self._client.receive(data)
        return iter(self._next_of_client, None)

    def receive_from_broker(self, data: BytesLike) -> Iterator[BrokerSide]:
        """Take what was read from the broker, b"" for its end; iterate over what goes to the client.

        Raises RemoteProtocolError, also while iterating.
        """
        self._broker.receive(data)
        return iter(self._next_of_broker, None)

    def _next_of_client(self) -> ClientSide | None:
        payload = self._client.next_frame()
        if payload is None:
            return self._end(self._client)
        try:
            request = self._request(payload)
        except KafkaMessageError as error:
            if self._may_be_token:
                self._waiting.append(None)
                return TokenPassing(payload)
            raise self._client.refuse(payload, "there is a request without a header", error) from error
        self._may_be_token = self._may_be_token and _is_handshake(request)
        if request.expects_response:
            self._waiting.append(request)
        return request

    def _request(self, payload: bytes) -> RequestPassing:
        try:
            header, body = _header(payload)
        except UnknownApiError as error:
            if error.header is None or self._may_be_token:
                raise
            passing = RequestPassing(payload, error.header, None)
            passing.error = error
            return passing
        api, version = api_of(header.request_api_key), header.request_api_version
        if self._may_be_token and version not in api.valid_versions:
            raise UnknownApiError(f"{api} has no version {version}")
        passing = RequestPassing(payload, header, api)
        if api.key in self._decoded:
            try:
                passing.request = decode_request(payload, text=_TEXT)
                passing.expects_response = expects_response(passing.request.message)
                return passing
            except KafkaMessageError as error:
                passing.error = error
        passing.expects_response = bool(api.response_name) and not (
            api.name == PRODUCE and _acks(api, version, payload, body) == 0
        )
        return passing

    def _next_of_broker(self) -> BrokerSide | None:
        payload = self._broker.next_frame()
        if payload is None:
            return self._end(self._broker)
        found = int.from_bytes(payload[:LENGTH_SIZE], "big", signed=True)
        if self._waiting and self._waiting[0] is None:
            following = next((each for each in self._waiting if each is not None), None)
            if following is None or following.header.correlation_id != found:
                self._waiting.popleft()
                return TokenPassing(payload)
            while self._waiting[0] is None:  # the last token of GSSAPI has no answer
                self._waiting.popleft()
        request = self._waiting[0] if self._waiting else None
        if request is None:
            raise self._broker.refuse(payload, f"there is a frame of {len(payload)} bytes that answers no request")
        wanted = request.header.correlation_id
        if len(payload) < LENGTH_SIZE or found != wanted:
            what = f"there is a response that is not to the request with correlation id {wanted}, the next one,"
            raise self._broker.refuse(payload, what)
        self._waiting.popleft()
        return self._response(request, payload)

    def _response(self, request: RequestPassing, payload: bytes) -> ResponsePassing:
        passing = ResponsePassing(payload, request)
        key, version = request.header.request_api_key, request.header.request_api_version
        is_handshake = _is_handshake(request)
        if key in self._decoded or is_handshake:
            try:
                response = decode_response(payload, key, version, text=_TEXT)
            except KafkaMessageError as error:
                passing.error = error
            else:
                self._may_be_token = self._may_be_token or opens_tokens(response.message, version)
                passing.response = response if key in self._decoded else None
        return passing

    def _end(self, side: Incoming) -> ConnectionClosed | None:
        if not side.is_closed or side in self._ends_said:
            return None
        self._ends_said.add(side)
        return ConnectionClosed(self.unanswered)


def _header(payload: bytes) -> tuple[RequestHeader, int]:
    """The header of a request, and where its body starts; the client id is hardly ever no UTF-8."""
    try:
        return read_request_header(payload)
    except DecodeError:
        return read_request_header(payload, text=_TEXT)


def _is_handshake(request: RequestPassing) -> bool:
    return request.header.request_api_version == 0 and request.api is not None and request.api.name == "SaslHandshake"


def _acks(api: Api, version: int, payload: bytes, pos: int) -> int | None:
    """``acks`` of a ProduceRequest that is not decoded, at versions that the package lacks too; None if it is not there."""
    facts = facts_of(api.request_class)
    builder = Builder(facts)
    try:
        for field in facts.fields:
            if version in field.versions:
                value, pos = builder.type_of(field, version).read(payload, pos)
                if field.name == "acks":
                    return value if isinstance(value, int) else None
    except SchemaError:
        pass
    return None
