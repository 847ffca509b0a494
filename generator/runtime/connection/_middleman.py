"""Between a client and a broker: decodes the APIs one asks for, and passes everything on as it came, or answers itself."""

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
from ._incoming import LENGTH_SIZE, Incoming
from ._passing import TEXT, AnswerPassing, RequestPassing, ResponsePassing, TokenPassing, header_of
from ._starts import START_SIZE, STARTS, acks_in, keep_start, read_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .._base.message import Response as ResponseMessage
    from .._core.wire import BytesLike
    from ..protocol import Api, Request
    from ..protocol._apis import AnyApi
    from ..protocol._shapes import RequestHeader

FromClient: TypeAlias = RequestPassing | TokenPassing | ConnectionClosed
"""What ``Middleman.receive_from_client`` gives; ``data`` are the bytes that go to the broker."""
FromBroker: TypeAlias = ResponsePassing | AnswerPassing | TokenPassing | ConnectionClosed
"""What ``Middleman.receive_from_broker`` gives; ``data`` are the bytes that go to the client."""


class Middleman:
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
        self._client = Incoming(max_frame_size)
        self._broker = Incoming(max_frame_size)
        self._waiting: deque[RequestPassing | None] = deque()  # None stands for a token
        self._requests: deque[RequestPassing] = deque()  # those of them that are none: a turn is found at once
        self._may_be_token = False
        self._ends_said: set[Incoming] = set()

    @property
    def unanswered(self) -> tuple[RequestPassing, ...]:
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
        return iter(self._next_of_client, None)

    def receive_from_broker(self, data: BytesLike) -> Iterator[FromBroker]:
        """Take what was read from the broker, b"" for its end; iterate over what goes to the client.

        Raises RemoteProtocolError, also while iterating.
        """
        self._broker.receive(data)
        return iter(self._next_of_broker, None)

    def answer(self, request: RequestPassing, response: ResponseMessage) -> bytes:
        """Answer a request instead of passing it on; the bytes to write to the client now.

        Responses go in the order of their requests: there are none where the broker still owes one before it. The answer
        then comes as an AnswerPassing, behind that response, out of ``receive_from_broker``. There are none for a request
        that expects no response.

        ``error_response(request.request, code)`` makes a response where the request was decoded. Raises LocalProtocolError
        for another message than the response, and for a request that is answered or came on another connection;
        UnsupportedVersionError, EncodeError with the field, and TypeError for what is no request that passes or no message.
        """
        check_type(request, RequestPassing)
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
        self._may_be_token = self._may_be_token or opens_tokens(response, version)
        return b"".join(answer.data for answer in iter(self._next_answer, None))

    def _next_answer(self) -> AnswerPassing | None:
        """The next answer of this side, if no response of the broker is to come before it."""
        if not self._requests or self._requests[0]._answer is None:
            return None
        first = self._take()
        return AnswerPassing(first._answer or b"", first)

    def _take(self) -> RequestPassing:
        """The first request, which waits no longer; nor do tokens before it, which have no answer: the last of GSSAPI."""
        first = self._requests.popleft()
        while self._waiting.popleft() is not first:
            pass
        first._waits_at = None
        return first

    def _next_of_client(self) -> FromClient | None:
        frame = self._client.next_whole_frame()
        if frame is None:
            return self._end(self._client)
        request = None if self._may_be_token else self._unread(frame)
        if request is None:
            try:
                request = self._read(frame)
            except KafkaMessageError as error:
                if self._may_be_token:
                    self._waiting.append(None)
                    return TokenPassing(frame)
                raise self._client.refuse(frame[LENGTH_SIZE:], "there is a request without a header", error) from error
            self._may_be_token = self._may_be_token and _is_handshake(request)
        if request.expects_response:
            request._waits_at = self
            self._waiting.append(request)
            self._requests.append(request)
        return request

    def _unread(self, frame: bytes) -> RequestPassing | None:
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
        request = RequestPassing(frame, start.api, key, version, correlation_id)
        request.expects_response = expects
        return request

    def _read(self, frame: bytes) -> RequestPassing:
        payload = frame[LENGTH_SIZE:]
        try:
            header, body = header_of(payload)
        except UnknownApiError as error:
            if error.header is None or self._may_be_token:
                raise
            passing = _passing(frame, error.header, None)
            passing.error = error
            return passing
        api, version = api_of(header.request_api_key), header.request_api_version
        if self._may_be_token and version not in api.valid_versions:
            raise UnknownApiError(f"{api} has no version {version}")
        passing = _passing(frame, header, api)
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

    def _next_of_broker(self) -> FromBroker | None:
        if (answer := self._next_answer()) is not None:
            return answer
        frame = self._broker.next_whole_frame()
        if frame is None:
            return self._end(self._broker)
        found = int.from_bytes(frame[LENGTH_SIZE : 2 * LENGTH_SIZE], "big", signed=True)
        wanted = self._requests[0]._correlation_id if self._requests else None
        if self._waiting and self._waiting[0] is None and found != wanted:
            self._waiting.popleft()
            return TokenPassing(frame)
        size = len(frame) - LENGTH_SIZE
        if wanted is None:
            what = f"there is a frame of {size} bytes that answers no request"
            raise self._broker.refuse(frame[LENGTH_SIZE:], what)
        if size < LENGTH_SIZE or found != wanted:
            what = f"there is a response that is not to the request with correlation id {wanted}, the next one,"
            raise self._broker.refuse(frame[LENGTH_SIZE:], what)
        return self._response(self._take(), frame)

    def _response(self, request: RequestPassing, frame: bytes) -> ResponsePassing:
        passing = ResponsePassing(frame, request)
        key, version = request._key, request._version
        if key in self._decoded or _is_handshake(request):
            try:
                response = decode_response(frame[LENGTH_SIZE:], key, version, text=TEXT)
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


def _passing(frame: bytes, header: RequestHeader, api: Api | None) -> RequestPassing:
    key, version = header.request_api_key, header.request_api_version
    passing = RequestPassing(frame, api, key, version, header.correlation_id)
    passing._header = header
    return passing


def _decoded(payload: bytes) -> Request:
    """The request in a frame; text is hardly ever no UTF-8."""
    try:
        return decode_request(payload)
    except DecodeError:
        return decode_request(payload, text=TEXT)


def _is_handshake(request: RequestPassing) -> bool:
    return request._version == 0 and request.api is not None and request.api.name == "SaslHandshake"
