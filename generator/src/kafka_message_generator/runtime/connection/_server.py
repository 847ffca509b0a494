"""Broker side of a connection."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from .._base.message import Message
from .._core.display import display, is_int
from .._core.structs import name_of
from ..errors import KafkaMessageError
from ..protocol import (
    MAX_FRAME_SIZE,
    BrokerVersions,
    DecodedRequest,
    UnsupportedRequestError,
    decode_request,
    encode_response,
    frame,
    read_request_header,
)
from ..protocol import api as api_of
from ._events import ConnectionClosed, LocalProtocolError, TokenReceived
from ._identity import UNKNOWN, ClientIdentity
from ._incoming import Connection
from ._rules import API_VERSIONS, check_response, check_text, check_type, is_answered, opens_tokens, unsupported
from ._states import AUTHENTICATING, HANDSHAKING, READY, SERVER, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .._base.message import Request, Response, Text
    from .._core.wire import BytesLike
    from ..protocol import Api
    from ..protocol._shapes import ApiVersionsResponse, RequestHeader


class RequestReceived:
    """A client's request. Answer it with ``ServerConnection.send``."""

    __slots__ = (
        *("_connection", "_encoded_response"),
        *("client_address", "data", "expects_response", "identity", "is_supported", "request"),
    )

    def __init__(self, request: DecodedRequest, connection: ServerConnection, is_supported: bool = True) -> None:
        self.request = request
        self.is_supported = is_supported
        """False for ApiVersionsRequest at an unannounced version (KIP-511).

        ``message`` then has defaults, and ``send`` responds at version 0 with UNSUPPORTED_VERSION.
        """
        self.expects_response = is_answered(request.api, request.message)
        """False if no response is sent, as to a ProduceRequest with ``acks=0``."""
        self.identity: ClientIdentity = connection.identity
        """Identity of the client as of this request; a header without client id refers to an earlier one."""
        self.data = b""
        """Bytes of the request, without its length."""
        self.client_address: tuple[str, int] | None = None
        """Host and port of the client, set by ``kafka_messages.aio.serve``."""
        self._connection = connection
        self._encoded_response: bytes | None = None

    @property
    def message(self) -> Request:
        return self.request.message

    @property
    def header(self) -> RequestHeader:
        return self.request.header

    @property
    def api(self) -> Api:
        return self.request.api

    @property
    def version(self) -> int:
        return self.request.version

    @property
    def response_version(self) -> int:
        return self.request.version if self.is_supported else 0

    def __repr__(self) -> str:
        return f"<RequestReceived {self.request.message!r} v{self.version}>"


ServerEvent: TypeAlias = RequestReceived | TokenReceived | ConnectionClosed
"""Events of ``ServerConnection``."""


class ServerConnection(Connection[ServerEvent]):
    """Server connection without I/O: write the bytes it returns, and pass the received bytes to ``receive_data``.

    A request at a version outside ``announced`` (default: every supported version) ends the connection, except an
    ApiVersionsRequest (see ``RequestReceived.is_supported``). Not thread-safe.
    """

    def __init__(
        self,
        announced: ApiVersionsResponse | None = None,
        *,
        max_frame_size: int = MAX_FRAME_SIZE,
        max_unanswered: int | None = None,
        text: Text = "strict",
    ) -> None:
        """Create a connection. ``announced`` may be of an older release; ``text`` is as for ``Message.read``.

        ``max_frame_size`` limits requests, in bytes. While ``max_unanswered`` requests (default: no limit) are
        unanswered, ``next_event`` returns None.
        """
        given: object = announced  # untyped callers may pass anything
        is_response = isinstance(given, Message) and name_of(type(given)) == "ApiVersionsResponse"
        if announced is not None and not is_response:
            raise TypeError(f"announced must be an ApiVersionsResponse or None, not {display(announced)}")
        if max_unanswered is not None and not is_int(max_unanswered, 32, 1):
            raise ValueError(f"max_unanswered must be at least 1 or None, not {display(max_unanswered)}")
        check_text(text)
        self._text: Text = text
        self._max_unanswered = max_unanswered
        self._unanswered = 0  # number of unanswered requests
        self._accepted: set[bytes] = set()  # API keys and versions, as encoded in requests
        self._identity = UNKNOWN
        self._announced = BrokerVersions.from_response(announced) if announced is not None else None
        super().__init__(max_frame_size, SERVER, READY)
        self._waiting: deque[RequestReceived | bytes] = deque()  # bytes: the frame of a token
        self._unanswered_tokens = 0

    @property
    def identity(self) -> ClientIdentity:
        """What the client has reported about itself."""
        return self._identity

    @property
    def unanswered(self) -> tuple[RequestReceived, ...]:
        return tuple(
            each for each in self._waiting if isinstance(each, RequestReceived) and each._encoded_response is None
        )

    def next_event(self) -> ServerEvent | None:
        """Return the next event, or None if more bytes are needed. Raises RemoteProtocolError.

        Also returns None while a SaslHandshake of version 0 is unanswered, or while ``max_unanswered`` requests are.
        """
        state = self._incoming.state
        if state is HANDSHAKING or (self._unanswered == self._max_unanswered and state is READY):
            return None
        payload = self._incoming.next_frame()
        if payload is None:
            return self._end()
        if state is AUTHENTICATING:
            self._unanswered_tokens += 1
            return TokenReceived(payload)
        received = self._request(payload)
        received.data = payload
        if received.expects_response:
            self._waiting.append(received)
            self._unanswered += 1
        if _is_handshake(received):
            self._incoming.change(Event.HANDSHAKE_RECEIVED)
        return received

    def decode_ahead(self, min_size: int) -> Callable[[], None] | None:
        return self._incoming.ahead(min_size, self._decode) if self._incoming.state is READY else None

    def send(self, received: RequestReceived, response: Response) -> bytes:
        """Encode the response to a request; return the bytes to write now.

        The result is empty if the request expects no response or an earlier request is unanswered. Otherwise it
        includes the responses that waited for this one.

        Raises LocalProtocolError for a second response, or for another API or connection; EncodeError; and TypeError.
        """
        check_type(received, RequestReceived)
        api, correlation_id = received.api, received.header.correlation_id
        check_response(api, response)
        if not received.expects_response:
            return b""
        if received._connection is not self or received._encoded_response is not None:
            where = "was answered before" if received._connection is self else "came on another connection"
            raise LocalProtocolError(f"{api.request_name} with correlation id {correlation_id} {where}")
        if not received.is_supported:
            response = unsupported(response)
        version = received.response_version
        received._encoded_response = encode_response(response, version, correlation_id, text=self._text)
        self._unanswered -= 1
        if self._incoming.state is HANDSHAKING and _is_handshake(received):
            is_accepted = opens_tokens(response, received.version)
            self._incoming.change(Event.HANDSHAKE_ACCEPTED if is_accepted else Event.HANDSHAKE_REJECTED)
        return b"".join(self._ready())

    def send_token(self, token: BytesLike) -> bytes:
        """Return the bytes to write now for a raw SASL token.

        The result is empty if an earlier request is unanswered. Raises LocalProtocolError outside a token exchange.
        """
        if self._incoming.state is not AUTHENTICATING and not self._unanswered_tokens:
            raise LocalProtocolError("raw SASL tokens are only allowed after a successful SaslHandshake of version 0")
        if self._unanswered_tokens:
            self._unanswered_tokens -= 1
        self._waiting.append(frame(token))
        return b"".join(self._ready())

    def end_tokens(self) -> None:
        """Mark the client as authenticated: requests follow."""
        self._unanswered_tokens = 0
        self._incoming.change(Event.TOKENS_ENDED)

    def _request(self, payload: bytes) -> RequestReceived:
        try:
            request = self._incoming.decode(payload, self._decode)
        except UnsupportedRequestError as error:
            if error.api.name == API_VERSIONS:
                request = DecodedRequest(
                    error.header, error.api, error.header.request_api_version, error.api.request_class()
                )
                self._identity = self._identity.after(request.header)
                return RequestReceived(request, self, is_supported=False)
            raise self._incoming.refuse(payload, "unsupported request", error) from error
        except KafkaMessageError as error:
            raise self._incoming.refuse(payload, "invalid request", error) from error
        self._identity = self._identity.after(request.header, request.message)
        return RequestReceived(request, self)

    def _decode(self, payload: bytes) -> DecodedRequest:
        if payload[:4] not in self._accepted:
            self._accept(payload)
        return decode_request(payload, text=self._text)

    def _accept(self, payload: bytes) -> None:
        header, _ = read_request_header(payload, text=self._text)
        api, version = api_of(header.request_api_key), header.request_api_version
        if version not in api.valid_versions:
            return  # decode_request raises
        if not (
            version in api.supported_versions if self._announced is None else self._announced.supports(api, version)
        ):
            raise UnsupportedRequestError(f"{api.request_name} v{version} is not announced", api, header)
        self._accepted.add(payload[:4])

    def _ready(self) -> Iterator[bytes]:
        while self._waiting:
            first = self._waiting[0]
            response = first._encoded_response if isinstance(first, RequestReceived) else first
            if response is None:
                return
            self._waiting.popleft()
            yield response


def _is_handshake(received: RequestReceived) -> bool:
    return received.version == 0 and received.message.NAME == "SaslHandshakeRequest"
