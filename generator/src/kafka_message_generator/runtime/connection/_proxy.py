"""Between a client and a broker: decodes the APIs one asks for, and passes everything on as it came, or answers itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from struct import Struct

from ..errors import DecodeError, KafkaMessageError
from ..protocol import (
    MAX_FRAME_SIZE,
    UnknownApiError,
    apis,
    decode_request,
    decode_response,
    encode_response,
)
from ..protocol import api as api_of
from ._errors import LocalProtocolError
from ._events import ConnectionClosed
from ._exchange import (
    API_VERSIONS,
    PRODUCE,
    check_response,
    check_type,
    expects_response,
    opens_tokens,
    several,
    unsupported,
)
from ._forwarded import TEXT, LocalResponse, RequestForwarded, ResponseForwarded, TokenForwarded, header_of
from ._incoming import LENGTH_SIZE, Incoming
from ._request_start import START_SIZE, STARTS, acks_in, keep_start, read_start
from ._states import AUTHENTICATING, CLOSED, PROXY_BROKER, PROXY_CLIENT, READY, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .._base.message import Response as ResponseMessage
    from .._core.wire import BytesLike
    from ..protocol import Api, Request
    from ..protocol._apis import AnyApi
    from ..protocol._shapes import RequestHeader

FromClient: TypeAlias = RequestForwarded | TokenForwarded | ConnectionClosed
"""What ``ProxyConnection.receive_from_client`` gives; ``data`` are the bytes that go to the broker."""
FromBroker: TypeAlias = ResponseForwarded | LocalResponse | TokenForwarded | ConnectionClosed
"""What ``ProxyConnection.receive_from_broker`` gives; ``data`` are the bytes that go to the client."""

_int32 = Struct(">i").unpack_from


class ProxyConnection:
    """Both directions of a connection that somebody stands in. It does no I/O, and holds nothing back but own answers.

    Each frame that comes in comes out as one event. Requests and responses of the APIs in ``decode``, all of them unless
    told otherwise, are decoded, others pass unread: those of APIs and versions that the package does not know, too. What
    is not to reach the broker is answered with ``answer``. Only what can be no request or response ends it. Not for
    several threads at once.
    """

    def __init__(
        self,
        decode: Iterable[AnyApi] | None = None,
        *,
        max_frame_size: int = MAX_FRAME_SIZE,
    ) -> None:
        """``max_frame_size``: bytes that a frame may have; one that claims more ends the connection."""
        self._decoded = {int(api.key) for api in (apis() if decode is None else several(decode, "decode"))}
        self._client = Incoming(max_frame_size, PROXY_CLIENT, READY)
        self._broker = Incoming(max_frame_size, PROXY_BROKER, READY)
        self._requests: deque[RequestForwarded] = deque()  # those whose responses have not come
        self._tokens = 0  # behind the last of them

    @property
    def unanswered(self) -> tuple[RequestForwarded, ...]:
        """The requests whose responses have not come, the oldest first."""
        return tuple(request for request in self._requests if request._answer is None)

    @property
    def trailing_data(self) -> tuple[bytes, bytes]:
        """The bytes of client and broker that are in no event."""
        return self._client.trailing_data[0], self._broker.trailing_data[0]

    def receive_from_client(self, data: BytesLike) -> Iterator[FromClient]:
        """Take what was read from the client, b"" for its end; iterate over what goes to the broker.

        Raises RemoteProtocolError, also while iterating.
        """
        self._client.receive(data)
        return self._of_client()

    def receive_from_broker(self, data: BytesLike) -> Iterator[FromBroker]:
        """Take what was read from the broker, b"" for its end; iterate over what goes to the client.

        Raises RemoteProtocolError, also while iterating.
        """
        self._broker.receive(data)
        return self._of_broker()

    def answer(self, request: RequestForwarded, response: ResponseMessage) -> bytes:
        """ErrorResponseRule a request instead of passing it on; the bytes to write to the client now.

        Responses go in the order of their requests: there are none where the broker still owes one before it. The answer
        then comes as an LocalResponse, behind that response, out of ``receive_from_broker``. There are none for a request
        that expects no response.

        ``error_response(request.request, code)`` makes a response where the request was decoded. Raises LocalProtocolError
        for another message than the response, and for a request that is answered or came on another connection;
        UnsupportedVersionError, EncodeError with the field, and TypeError for what is no request that passes or no message.
        """
        check_type(request, RequestForwarded)
        api, version = request.api, request._version
        if api is None:
            raise LocalProtocolError(f"there is no response to requests of the unknown API {request._key}")
        check_response(api, response)
        if not request.expects_response:
            return b""
        if request._answer is not None or request._waits_at is not self:
            where = f"{api.request_name} with correlation id {request._correlation_id}"
            raise LocalProtocolError(f"{where} was answered before, or came on another connection")
        if api.name == API_VERSIONS and version not in api.valid_versions:
            response, version = unsupported(response), 0
        request._answer = encode_response(response, version, request._correlation_id, text=TEXT)
        if opens_tokens(response, version):
            self._client.change(Event.HANDSHAKE_ACCEPTED)
        answers = []
        while self._requests and (first := self._requests[0]._answer) is not None:
            answers.append(first)
            self._take()
        return b"".join(answers)

    def _take(self) -> RequestForwarded:
        """The first request, which waits no longer; nor do tokens before it, which have no answer: the last of GSSAPI."""
        first = self._requests.popleft()
        first._waits_at = None
        return first

    def _of_client(self) -> Iterator[FromClient]:
        side = self._client
        while (frame := side.next_whole_frame()) is not None:
            request = None if side.state is AUTHENTICATING else self._unread(frame)
            yield self._read(frame) if request is None else request
        if side.is_closed and (end := self._end(side)) is not None:
            yield end

    def _read(self, frame: bytes) -> RequestForwarded | TokenForwarded:
        """A request of which more than the first bytes has to be read, or a token."""
        try:
            request = self._read_request(frame)
        except KafkaMessageError as error:
            if self._client.state is AUTHENTICATING:
                self._tokens += 1
                return TokenForwarded(frame)
            raise self._client.refuse(frame[LENGTH_SIZE:], "there is a request without a header", error) from error
        if self._client.state is AUTHENTICATING and not _is_handshake(request):
            self._client.change(Event.TOKENS_ENDED)
        if request.expects_response:
            self._wait_for(request)
        return request

    def _wait_for(self, request: RequestForwarded) -> None:
        request._waits_at = self
        request._tokens_before, self._tokens = self._tokens, 0
        self._requests.append(request)

    def _unread(self, frame: bytes) -> RequestForwarded | None:
        """A request that is not to be decoded, where its first bytes say all that is needed: nearly always."""
        if len(frame) < START_SIZE:
            return None
        key, version, correlation_id, client_id_size = read_start(frame, LENGTH_SIZE)
        start = STARTS.get((key, version))
        if start is None or key in self._decoded:
            return None
        expects = start.expects_response(frame, client_id_size)
        if expects is None:
            return None
        request = RequestForwarded(frame, start.api, key, version, correlation_id)
        request._is_unread = True
        if not expects:
            request.expects_response = False
        elif self._tokens:
            self._wait_for(request)
        else:
            request._waits_at = self
            self._requests.append(request)
        return request

    def _read_request(self, frame: bytes) -> RequestForwarded:
        payload = frame[LENGTH_SIZE:]
        try:
            header, body = header_of(payload)
        except UnknownApiError as error:
            if error.header is None or self._client.state is AUTHENTICATING:
                raise
            passing = _forwarded(frame, error.header, None)
            passing.error = error
            return passing
        api, version = api_of(header.request_api_key), header.request_api_version
        if self._client.state is AUTHENTICATING and version not in api.valid_versions:
            raise UnknownApiError(f"{api} has no version {version}")
        passing = _forwarded(frame, header, api)
        if api.key in self._decoded:
            try:
                passing.request = _decoded(payload)
                passing.expects_response = expects_response(passing.request.message)
                return passing
            except KafkaMessageError as error:
                passing.error = error
        else:
            keep_start(api, version)
        passing.expects_response = bool(api.response_name) and not (
            api.name == PRODUCE and acks_in(api, version, payload, body) == 0
        )
        return passing

    def _of_broker(self) -> Iterator[FromBroker]:
        side, requests = self._broker, self._requests
        while True:
            if requests and requests[0]._answer is not None:
                yield LocalResponse(requests[0]._answer, self._take())
            elif (frame := side.next_whole_frame()) is None:
                break
            elif (
                requests
                and len(frame) >= 2 * LENGTH_SIZE
                and _int32(frame, LENGTH_SIZE)[0] == requests[0]._correlation_id
            ):
                request = self._take()
                yield ResponseForwarded(frame, request) if request._is_unread else self._response(request, frame)
            else:
                yield self._token(frame)
        if side.is_closed and (end := self._end(side)) is not None:
            yield end

    def _token(self, frame: bytes) -> TokenForwarded:
        """A frame that is not the next response: the answer to a token, or the end of the connection."""
        if self._requests and self._requests[0]._tokens_before:
            self._requests[0]._tokens_before -= 1
            return TokenForwarded(frame)
        if self._tokens and not self._requests:
            self._tokens -= 1
            return TokenForwarded(frame)
        if not self._requests:
            what = f"there is a frame of {len(frame) - LENGTH_SIZE} bytes that answers no request"
            raise self._broker.refuse(frame[LENGTH_SIZE:], what)
        wanted = self._requests[0]._correlation_id
        what = f"there is a response that is not to the request with correlation id {wanted}, the next one,"
        raise self._broker.refuse(frame[LENGTH_SIZE:], what)

    def _response(self, request: RequestForwarded, frame: bytes) -> ResponseForwarded:
        passing = ResponseForwarded(frame, request)
        key, version = request._key, request._version
        if key in self._decoded or _is_handshake(request):
            try:
                response = decode_response(frame[LENGTH_SIZE:], key, version, text=TEXT)
            except KafkaMessageError as error:
                passing.error = error
            else:
                if opens_tokens(response.message, version):
                    self._client.change(Event.HANDSHAKE_ACCEPTED)
                passing.response = response if key in self._decoded else None
        return passing

    def _end(self, side: Incoming) -> ConnectionClosed | None:
        if side.state is CLOSED:
            return None
        side.change(Event.CLOSED)
        return ConnectionClosed(self.unanswered)


def _forwarded(frame: bytes, header: RequestHeader, api: Api | None) -> RequestForwarded:
    key, version = header.request_api_key, header.request_api_version
    passing = RequestForwarded(frame, api, key, version, header.correlation_id)
    passing._header = header
    return passing


def _decoded(payload: bytes) -> Request:
    """The request in a frame; text is hardly ever no UTF-8."""
    try:
        return decode_request(payload)
    except DecodeError:
        return decode_request(payload, text=TEXT)


def _is_handshake(request: RequestForwarded) -> bool:
    return request._version == 0 and request.api is not None and request.api.name == "SaslHandshake"
