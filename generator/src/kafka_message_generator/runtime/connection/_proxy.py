"""Connection of a proxy between a client and a broker."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from struct import Struct

from .._core.native import filled
from .._core.value import maker
from ..errors import KafkaMessageError
from ..protocol import (
    MAX_FRAME_SIZE,
    UnknownApiError,
    UnsupportedRequestError,
    apis,
    decode_request,
    encode_response,
    read_request_header,
)
from ..protocol import api as api_of
from ._events import ConnectionClosed, LocalProtocolError
from ._forwarded import TEXT, LocalResponse, RequestForwarded, ResponseForwarded, TokenForwarded
from ._identity import UNKNOWN, ClientIdentity
from ._incoming import LENGTH_SIZE, Incoming
from ._request_start import LONGEST_REST, START_SIZE, STARTS, RequestStart, acks_in, keep_start
from ._rules import API_VERSIONS, PRODUCE, check_response, check_type, is_answered, opens_tokens, several, unsupported
from ._states import AUTHENTICATING, PROXY_BROKER, PROXY_CLIENT, READY, Event
from ._topic_names import TopicNames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias
    from uuid import UUID

    from .._base.message import Response as ResponseMessage
    from .._core.wire import BytesLike
    from ..protocol import Api, DecodedRequest
    from ..protocol._apis import AnyApi
    from ..protocol._shapes import RequestHeader

FromClient: TypeAlias = RequestForwarded | TokenForwarded | ConnectionClosed
"""Events of ``receive_from_client``; write their ``data`` to the broker."""
FromBroker: TypeAlias = ResponseForwarded | LocalResponse | TokenForwarded | ConnectionClosed
"""Events of ``receive_from_broker``; write their ``data`` to the client."""

# Frame length, API key with version, and correlation id.
_request_start = Struct(">i4s4s").unpack_from
# Frame length and correlation id.
_response_start = Struct(">i4s").unpack_from
# Fast constructors of undecoded events.
_new_request = filled or maker(RequestForwarded)
_new_response = filled or maker(ResponseForwarded)


class ProxyConnection:
    """Both directions of a proxied connection, without I/O.

    Each frame becomes one event at once; only local responses are delayed. The APIs in ``decode`` (default: all) are
    decoded. Other frames pass undecoded, including unknown APIs and versions. Only an invalid frame, an invalid header
    of a known version or an unexpected response ends the connection. Not thread-safe.
    """

    def __init__(
        self,
        decode: Iterable[AnyApi] | None = None,
        *,
        max_frame_size: int = MAX_FRAME_SIZE,
        max_topic_names: int = 10_000,
    ) -> None:
        """Select the APIs to decode, the maximum frame size in bytes, and the maximum size of ``topic_names``."""
        self._decoded = {int(api.key) for api in (apis() if decode is None else several(decode, "decode"))}
        self._client = Incoming(max_frame_size, PROXY_CLIENT, READY)
        self._broker = Incoming(max_frame_size, PROXY_BROKER, READY)
        self._requests: deque[RequestForwarded] = deque()  # requests that await a response
        self._mark = object()  # marks these requests; a reference to the proxy would be a cycle
        self._tokens = 0  # unanswered tokens after the last request
        self._identity = UNKNOWN
        # Bytes after the correlation id in the last decoded header of each version, while the identity is the same.
        self._rests: dict[int, bytes] = {}
        # The same bytes by API key and version.
        self._starts: dict[bytes, tuple[bytes, int, Api, int, int]] = {}
        self._topic_names = TopicNames(max_topic_names)

    @property
    def identity(self) -> ClientIdentity:
        """What the client has reported about itself, also in requests that are forwarded undecoded."""
        return self._identity

    @property
    def topic_names(self) -> Mapping[UUID, str]:
        """Topic names by topic id, from decoded responses, such as MetadataResponse.

        The least recently learned names are dropped beyond ``max_topic_names``, and deleted topics when their
        DeleteTopicsResponse is decoded. An unknown id raises KeyError; ``get`` returns None.
        """
        return self._topic_names

    @property
    def unanswered(self) -> tuple[RequestForwarded, ...]:
        """Requests that await a response, oldest first."""
        return tuple(request for request in self._requests if request._encoded_response is None)

    @property
    def trailing_data(self) -> tuple[bytes, bytes]:
        """Received bytes of client and broker that belong to no event yet."""
        return self._client.trailing_data[0], self._broker.trailing_data[0]

    def receive_from_client(self, data: BytesLike) -> Iterator[FromClient]:
        """Add bytes from the client (b"" after it closed) and iterate over events for the broker.

        The call and the iteration raise RemoteProtocolError.
        """
        self._client.receive(data)
        return self._of_client()

    def receive_from_broker(self, data: BytesLike) -> Iterator[FromBroker]:
        """Add bytes from the broker (b"" after it closed) and iterate over events for the client.

        The call and the iteration raise RemoteProtocolError.
        """
        self._broker.receive(data)
        return self._of_broker()

    def decode_request_ahead(self, min_size: int) -> Callable[[], None] | None:
        """As ``ServerConnection.decode_ahead``; also None if the request is forwarded undecoded, with a known header."""
        run = self._client.ahead(min_size, self._parts)
        return None if run is None or self._known_start(bytes(self._client._pieces[0])) else run

    def decode_response_ahead(self, min_size: int) -> Callable[[], None] | None:
        """As ``ClientConnection.decode_ahead``; also None if the response is forwarded undecoded."""
        first = self._requests[0] if self._requests else None
        is_decoded = first is not None and (first._key in self._decoded or _is_handshake(first))
        return self._broker.ahead(min_size, first._decode_response, first) if first and is_decoded else None

    def answer(self, request: RequestForwarded, response: ResponseMessage) -> bytes:
        """Answer a request locally; return the bytes to write to the client now.

        The result is empty if the request expects no response. It is also empty if the broker owes an earlier response;
        ``receive_from_broker`` then yields a LocalResponse in order.

        Raises LocalProtocolError for an unknown API, for a response of another API, and for a request that is already
        answered or came on another connection. Raises UnsupportedVersionError, EncodeError and TypeError.
        """
        check_type(request, RequestForwarded)
        api, version = request.api, request._version
        if api is None:
            raise LocalProtocolError(f"cannot answer a request of the unknown API {request._key}")
        check_response(api, response)
        if not request.expects_response:
            return b""
        if request._encoded_response is not None or request._waits_at is not self._mark:
            where = f"{api.request_name} with correlation id {request._correlation_id}"
            raise LocalProtocolError(f"{where} was answered before, or came on another connection")
        if api.name == API_VERSIONS and version not in api.valid_versions:
            response, version = unsupported(response), 0
        request._encoded_response = encode_response(response, version, request._correlation_id, text=TEXT)
        if opens_tokens(response, version):
            self._expect_tokens()
        responses = []
        while self._requests and (first := self._requests[0]._encoded_response) is not None:
            responses.append(first)
            self._take()
        return b"".join(responses)

    def _expect_tokens(self) -> None:
        self._client.change(Event.HANDSHAKE_ACCEPTED)
        self._starts = {}

    def _take(self) -> RequestForwarded:
        first = self._requests.popleft()
        first._waits_at = None
        return first

    def _of_client(self) -> Iterator[FromClient]:
        side, pieces, requests = self._client, self._client._pieces, self._requests
        while pieces or side.is_closed or side._error is not None:
            # Most frames need only the code down to `continue`; the code after it reads the same frames, and all others.
            piece, start = pieces[0] if pieces else b"", side._start
            if side._size < 0 and type(piece) is bytes and start + START_SIZE <= len(piece):
                size, key_and_version, number = _request_start(piece, start)
                known, end = self._starts.get(key_and_version), start + LENGTH_SIZE + size
                if known and size <= side.max_size and end <= len(piece):
                    rest, rest_end, api, key, version = known
                    stop = start + rest_end
                    if stop <= end and piece[start + START_SIZE : stop] == rest:
                        side.offset += LENGTH_SIZE + size
                        if end == len(piece):
                            pieces.popleft()
                            side._start = 0
                        else:
                            side._start = end
                        # fmt: off
                        request = _new_request(
                            RequestForwarded, piece[start:end], None, None, True, key, number, 0, version, self._mark,
                            api, None, True, self._identity, None,
                        )
                        # fmt: on
                        requests.append(request)
                        yield request
                        continue
            frame = side.next_whole_frame()
            if frame is None:
                break
            yield self._unread(frame) or self._read(frame)
        if side.is_closed and (closed := side.end(self.unanswered)) is not None:
            yield closed

    def _read(self, frame: bytes) -> RequestForwarded | TokenForwarded:
        try:
            request = self._read_request(frame)
        except KafkaMessageError as error:
            if self._client.state is AUTHENTICATING:
                self._tokens += 1
                return TokenForwarded(frame)
            raise self._client.refuse(frame[LENGTH_SIZE:], "invalid request header", error) from error
        if self._client.state is AUTHENTICATING and not _is_handshake(request):
            self._client.change(Event.TOKENS_ENDED)
        if request.expects_response:
            self._wait_for(request)
        return request

    def _wait_for(self, request: RequestForwarded) -> None:
        request._waits_at = self._mark
        request._tokens_before, self._tokens = self._tokens, 0
        self._requests.append(request)

    def _known_start(self, frame: bytes) -> RequestStart | None:
        start = STARTS.get(frame[LENGTH_SIZE : 2 * LENGTH_SIZE])
        if start is None or start.key in self._decoded or self._client.state is AUTHENTICATING:
            return None
        rest = self._rests.get(start.header_version)
        return start if rest is not None and frame.startswith(rest, START_SIZE) else None

    def _unread(self, frame: bytes) -> RequestForwarded | None:
        if (start := self._known_start(frame)) is None:
            return None
        rest = self._rests[start.header_version]
        expects = start.expects_response(frame, START_SIZE + len(rest)) if start.is_produce else True
        if expects is None:
            return None
        if not (start.is_produce or self._tokens):
            known = rest, START_SIZE + len(rest), start.api, start.key, start.version
            self._starts[frame[LENGTH_SIZE : 2 * LENGTH_SIZE]] = known
        request = RequestForwarded(frame, start.api, start.key, start.version, frame[8:12], self._identity, True)
        if not expects:
            request.expects_response = False
        else:
            self._wait_for(request)
        return request

    def _read_request(self, frame: bytes) -> RequestForwarded:
        payload = frame[LENGTH_SIZE:]
        try:
            header, body, request, refused = self._client.decode(payload, self._parts)
        except (UnknownApiError, UnsupportedRequestError) as error:
            if error.header is None or self._client.state is AUTHENTICATING:
                raise
            passing = _forwarded(frame, error.header, getattr(error, "api", None), self._identity)
            passing.error = error
            return passing
        api, version = api_of(header.request_api_key), header.request_api_version
        if self._client.state is AUTHENTICATING and version not in api.valid_versions:
            raise UnknownApiError(f"{api} has no version {version}")
        passing = _forwarded(frame, header, api, self._identity)
        if api.key in self._decoded:
            passing.request, passing.error = request, refused
        else:
            keep_start(api, version)
        if passing.request is not None:
            passing._header = passing.request.header  # `encode` writes this object
            passing.expects_response = is_answered(api, passing.request.message)
        else:
            passing.expects_response = bool(api.response_name) and not (
                api.name == PRODUCE and acks_in(api, version, payload, body) == 0
            )
        passing.identity = self._identity.after(header, request.message if request is not None else None)
        if passing.identity is not self._identity:
            self._identity, self._rests = passing.identity, {}
        self._starts = {}
        rest = frame[START_SIZE : LENGTH_SIZE + body]
        if len(rest) <= LONGEST_REST:
            self._rests[api.request_header_version(version)] = rest
        return passing

    def _parts(self, payload: bytes) -> tuple[RequestHeader, int, DecodedRequest | None, KafkaMessageError | None]:
        """Return the header, its end, and the request or its error if it is decoded."""
        header, body = read_request_header(payload, text=TEXT)
        key = header.request_api_key
        if key in self._decoded or api_of(key).name == API_VERSIONS:  # which has the client's identity
            try:
                return header, body, decode_request(payload, text=TEXT), None
            except KafkaMessageError as error:
                return header, body, None, error
        return header, body, None, None

    def _of_broker(self) -> Iterator[FromBroker]:
        side, pieces, requests = self._broker, self._broker._pieces, self._requests
        while True:
            first = requests[0] if requests else None
            if first is not None and first._encoded_response is not None:
                yield LocalResponse(first._encoded_response, self._take())
                continue
            if not (pieces or side.is_closed or side._error is not None):
                return
            piece, start = pieces[0] if pieces else b"", side._start  # as in `_of_client`
            if (
                first is not None
                and first._is_unread
                and side._size < 0
                and type(piece) is bytes
                and start + 8 <= len(piece)
            ):
                size, number = _response_start(piece, start)
                end = start + LENGTH_SIZE + size
                if number == first._number and LENGTH_SIZE <= size <= side.max_size and end <= len(piece):
                    side.offset += LENGTH_SIZE + size
                    if end == len(piece):
                        pieces.popleft()
                        side._start = 0
                    else:
                        side._start = end
                    requests.popleft()
                    first._waits_at = None
                    yield _new_response(ResponseForwarded, piece[start:end], first, None, None)
                    continue
            frame = side.next_whole_frame()
            if frame is None:
                break
            if first is not None and frame.startswith(first._number, LENGTH_SIZE):
                self._take()
                yield ResponseForwarded(frame, first) if first._is_unread else self._response(first, frame)
            else:
                yield self._token(frame)
        if side.is_closed and (closed := side.end(self.unanswered)) is not None:
            yield closed

    def _token(self, frame: bytes) -> TokenForwarded:
        if self._requests and self._requests[0]._tokens_before:
            self._requests[0]._tokens_before -= 1
            return TokenForwarded(frame)
        if self._tokens and not self._requests:
            self._tokens -= 1
            return TokenForwarded(frame)
        if not self._requests:
            what = f"unexpected frame of {len(frame) - LENGTH_SIZE} bytes without an unanswered request"
            raise self._broker.refuse(frame[LENGTH_SIZE:], what)
        wanted = self._requests[0]._correlation_id
        what = f"expected the response with correlation id {wanted}, got another frame"
        raise self._broker.refuse(frame[LENGTH_SIZE:], what)

    def _response(self, request: RequestForwarded, frame: bytes) -> ResponseForwarded:
        passing = ResponseForwarded(frame, request)
        key, version = request._key, request._version
        if key in self._decoded or _is_handshake(request):
            try:
                response = self._broker.decode(frame[LENGTH_SIZE:], request._decode_response, request)
            except KafkaMessageError as error:
                passing.error = error
            else:
                if opens_tokens(response.message, version):
                    self._expect_tokens()
                if key in self._decoded:
                    passing.response = response
                    self._topic_names._learn(response.message, request.message)
        return passing


def _forwarded(frame: bytes, header: RequestHeader, api: Api | None, identity: ClientIdentity) -> RequestForwarded:
    key, version = header.request_api_key, header.request_api_version
    passing = RequestForwarded(frame, api, key, version, frame[8:12], identity, False)
    passing._header = header
    return passing


def _is_handshake(request: RequestForwarded) -> bool:
    return request._version == 0 and request.api is not None and request.api.name == "SaslHandshake"
