"""A broker's side of a connection: requests in, responses out, in the order of the requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from .._base.message import Message
from .._core.shown import is_int, shown
from .._core.structs import name_of
from ..errors import KafkaMessageError
from ..protocol import (
    MAX_FRAME_SIZE,
    BrokerVersions,
    Request,
    UnsupportedRequestError,
    decode_request,
    encode_response,
    frame,
    read_request_header,
)
from ..protocol import api as api_of
from ._connection import Connection
from ._errors import LocalProtocolError
from ._events import ConnectionClosed, TokenReceived
from ._exchange import API_VERSIONS, check_response, check_text, check_type, expects_response, opens_tokens, unsupported
from ._states import AUTHENTICATING, HANDSHAKING, READY, SERVER, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .._base.message import Response, Text
    from .._core.wire import BytesLike
    from ..protocol import Api
    from ..protocol._shapes import ApiVersionsResponse, RequestHeader


class RequestReceived:
    """A request of the client. ErrorResponseRule it with ``ServerConnection.send``."""

    __slots__ = ("_answer", "_connection", "expects_response", "is_supported", "request")

    def __init__(self, request: Request, connection: ServerConnection, is_supported: bool = True) -> None:
        self.request = request
        """Header, API, version, message, and bytes behind it."""
        self.is_supported = is_supported
        """False for an ApiVersionsRequest of a version that is not announced: its body was not read, ``message`` has
        defaults, and the answer goes out at version 0 with the error UNSUPPORTED_VERSION (KIP-511).
        """
        self.expects_response = expects_response(request.message)
        """Whether the client awaits a response; for a ProduceRequest with ``acks=0`` it does not."""
        self._connection = connection
        self._answer: bytes | None = None

    @property
    def message(self) -> Message:
        """The request itself."""
        return self.request.message

    @property
    def header(self) -> RequestHeader:
        """With correlation id, client id and unknown tagged fields."""
        return self.request.header

    @property
    def api(self) -> Api:
        return self.request.api

    @property
    def version(self) -> int:
        """What the client asked for."""
        return self.request.version

    @property
    def response_version(self) -> int:
        """What the response is written at."""
        return self.request.version if self.is_supported else 0

    def __repr__(self) -> str:
        return f"<RequestReceived {self.request.message!r} v{self.version}>"


ServerEvent: TypeAlias = RequestReceived | TokenReceived | ConnectionClosed
"""What ``ServerConnection.receive_data`` gives; for annotations, and for ``isinstance``."""


class ServerConnection(Connection[ServerEvent]):
    """Bytes to requests, responses to bytes. It does no I/O: write what it gives, and give it what you read.

    With ``announced``, an ApiVersionsResponse, requests of other versions are refused; that of an older release may
    announce whatever the package can read. Without, what the package offers is taken. Not for several threads at once.
    """

    def __init__(
        self,
        announced: ApiVersionsResponse | None = None,
        *,
        max_frame_size: int = MAX_FRAME_SIZE,
        max_unanswered: int | None = None,
        text: Text = "strict",
    ) -> None:
        """``max_frame_size``: bytes that a request may have; one that claims more ends the connection.

        ``max_unanswered``: requests that may wait for ``send``. At this number ``next_event`` returns None and keeps the
        bytes until one is answered; None is no limit. ``text`` as for ``Message.read``.
        """
        given: object = announced  # whatever it is: who checks no types may give anything
        is_response = isinstance(given, Message) and name_of(type(given)) == "ApiVersionsResponse"
        if announced is not None and not is_response:
            raise TypeError(f"announced must be an ApiVersionsResponse or None, not {shown(announced)}")
        if max_unanswered is not None and not is_int(max_unanswered, 32, 1):
            raise ValueError(
                f"max_unanswered must be a number of requests from 1 on, or None, not {shown(max_unanswered)}"
            )
        check_text(text)
        self._text: Text = text
        self._max_unanswered = max_unanswered
        self._unanswered = 0  # how many
        self._accepted: set[bytes] = set()  # API keys and versions, as requests begin with them
        self._announced = BrokerVersions.from_response(announced) if announced is not None else None
        super().__init__(max_frame_size, SERVER, READY)
        self._waiting: deque[RequestReceived | bytes] = deque()  # bytes are the frame of a token behind an answer
        self._unanswered_tokens = 0

    @property
    def unanswered(self) -> tuple[RequestReceived, ...]:
        """The requests whose responses are not on their way, the oldest first."""
        return tuple(each for each in self._waiting if isinstance(each, RequestReceived) and each._answer is None)

    def next_event(self) -> ServerEvent | None:
        """The next event, or None where more bytes are needed. Raises RemoteProtocolError.

        Also None while a SaslHandshake of version 0 is not answered, since what follows depends on the answer, and while
        ``max_unanswered`` requests are not. Ask again after ``send``: the next request may be here already.
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
        if received.expects_response:
            self._waiting.append(received)
            self._unanswered += 1
        if _is_handshake(received):
            self._incoming.change(Event.HANDSHAKE_RECEIVED)
        return received

    def send(self, received: RequestReceived, response: Response) -> bytes:
        """The bytes to write now for the response to a request.

        Responses go in the order of their requests. So these are none where an earlier request is not answered yet, and
        those of later requests too that were answered before. There are none for a request that expects no response.

        Raises LocalProtocolError for another message than the response and for a second response, EncodeError with the
        field, and TypeError for what is no request that was received or no message.
        """
        check_type(received, RequestReceived)
        api, correlation_id = received.api, received.header.correlation_id
        check_response(api, response)
        if not received.expects_response:
            return b""
        if received._connection is not self or received._answer is not None:
            where = "was answered before" if received._connection is self else "came on another connection"
            raise LocalProtocolError(f"{api.request_name} with correlation id {correlation_id} {where}")
        if not received.is_supported:
            response = unsupported(response)
        version = received.response_version
        received._answer = encode_response(response, version, correlation_id, text=self._text)
        self._unanswered -= 1
        if self._incoming.state is HANDSHAKING and _is_handshake(received):
            is_accepted = opens_tokens(response, received.version)
            self._incoming.change(Event.HANDSHAKE_ACCEPTED if is_accepted else Event.HANDSHAKE_REJECTED)
        return b"".join(self._ready())

    def send_token(self, token: BytesLike) -> bytes:
        """The bytes to write now for a raw SASL token, the answer to a TokenReceived.

        None where an earlier request is not answered yet: the token then goes behind its response. Raises
        LocalProtocolError where no token may go.
        """
        if self._incoming.state is not AUTHENTICATING and not self._unanswered_tokens:
            raise LocalProtocolError("raw SASL tokens need a SaslHandshakeResponse of version 0 without an error first")
        if self._unanswered_tokens:
            self._unanswered_tokens -= 1
        self._waiting.append(frame(token))
        return b"".join(self._ready())

    def end_tokens(self) -> None:
        """The client is authenticated: what follows the token that was received last are requests again."""
        self._unanswered_tokens = 0
        self._incoming.change(Event.TOKENS_ENDED)

    def _request(self, payload: bytes) -> RequestReceived:
        try:
            if payload[:4] not in self._accepted:
                self._accept(payload)
            request = decode_request(payload, text=self._text)
        except UnsupportedRequestError as error:
            if error.api.name == API_VERSIONS:
                request = Request(error.header, error.api, error.header.request_api_version, error.api.request_class())
                return RequestReceived(request, self, is_supported=False)
            raise self._incoming.refuse(payload, "there is a request that is not supported", error) from error
        except KafkaMessageError as error:
            raise self._incoming.refuse(payload, "there is a request that cannot be read", error) from error
        return RequestReceived(request, self)

    def _accept(self, payload: bytes) -> None:
        """Remember the API and version of a request. Raises UnsupportedRequestError if this server does not have it."""
        header, _ = read_request_header(payload, text=self._text)
        asked, version = api_of(header.request_api_key), header.request_api_version
        if version not in asked.valid_versions:
            return  # decode_request says why
        if not (
            version in asked.supported_versions if self._announced is None else self._announced.supports(asked, version)
        ):
            raise UnsupportedRequestError(f"{asked.request_name} v{version} is not announced", asked, header)
        self._accepted.add(payload[:4])

    def _ready(self) -> Iterator[bytes]:
        while self._waiting:
            first = self._waiting[0]
            answer = first._answer if isinstance(first, RequestReceived) else first
            if answer is None:
                return
            self._waiting.popleft()
            yield answer


def _is_handshake(received: RequestReceived) -> bool:
    return received.version == 0 and received.message.NAME == "SaslHandshakeRequest"
