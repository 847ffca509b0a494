"""Client side of a connection."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from uuid import UUID

from .._core.display import display
from .._core.generic import Generic
from .._core.value import dataclass
from .._core.wire import ZERO_UUID
from ..errors import EncodeError, KafkaMessageError, UnsupportedVersionError
from ..protocol import MAX_FRAME_SIZE, BrokerVersions, ErrorCode, decode_response, frame
from ..protocol import api as api_of
from ..protocol._responses import decode_response_leniently
from ._choice import VersionChoices, limit_of
from ._events import ConnectionClosed, LocalProtocolError, TokenReceived
from ._identity import Announcements, ClientIdentity
from ._incoming import LENGTH_SIZE, Connection
from ._rules import (
    API_VERSIONS,
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    check_request,
    check_text,
    is_answered,
    opens_tokens,
)
from ._states import AUTHENTICATING, CLIENT, NEGOTIATING, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias, TypeVar

    from .._base.message import Request, Response, Text
    from .._core.wire import BytesLike
    from ..protocol import Api, DecodedResponse
    from ..protocol._shapes import ResponseHeader
    from ..schema.downgrade import UnsupportedField

    R = TypeVar("R", bound=Response)
else:
    R = None

_MAX_ID = 2**31 - 1


class Sent(Generic[R]):
    """Request from ``ClientConnection.send``. Write ``data`` to the broker."""

    __slots__ = (
        *("_has_ids", "_is_free", "_response", "api", "correlation_id", "data", "expects_response", "request"),
        *("unsupported_fields", "version"),
    )

    def __init__(
        self, request: Request[R], api: Api, version: int, correlation_id: int, data: bytes, is_free: bool
    ) -> None:
        self.request = request
        self.api = api
        self.version = version
        self.correlation_id = correlation_id
        self.data = data
        self.expects_response = is_answered(api, request)
        """False if the broker sends no response, as to a ProduceRequest with ``acks=0``."""
        self.unsupported_fields: tuple[UnsupportedField, ...] = request.unsupported_fields(version)
        self._is_free = is_free  # True if the connection chose the version
        self._has_ids = False  # True if later requests omit the ids in its header
        self._response: R | None = None

    @property
    def is_answered(self) -> bool:
        return self._response is not None

    @property
    def response(self) -> R:
        """Response to this request. Raises LocalProtocolError until its event was read, and if none is expected."""
        if self._response is None:
            missing = "has no response yet; iterate over the result of receive_data to read responses"
            raise LocalProtocolError(f"{self} {missing if self.expects_response else 'gets no response'}")
        return self._response

    def __str__(self) -> str:
        return f"{self.api.request_name} v{self.version} with correlation id {self.correlation_id}"

    def __repr__(self) -> str:
        return f"<Sent {self}>"


@dataclass(frozen=True, slots=True)
class ResponseReceived(Generic[R]):
    """Response to the oldest unanswered request."""

    sent: Sent[R]
    header: ResponseHeader
    message: R
    trailing: bytes = b""
    """Bytes after the message; empty unless the connection is ``lenient``."""


@dataclass(frozen=True, slots=True)
class VersionFallback:
    """ApiVersionsRequest resent at a lower version, after the broker rejected its version (KIP-511). Write ``data``."""

    sent: Sent[Any]
    data: bytes


ClientEvent: TypeAlias = ResponseReceived["Any"] | VersionFallback | TokenReceived | ConnectionClosed
"""Events of ``ClientConnection``."""


class ClientConnection(Connection[ClientEvent]):
    """Client connection without I/O: write the bytes it returns, and pass the received bytes to ``receive_data``.

    Requests can be pipelined. Not thread-safe.
    """

    def __init__(
        self,
        client_id: str | None = None,
        *,
        versions: BrokerVersions | None = None,
        max_frame_size: int = MAX_FRAME_SIZE,
        text: Text = "strict",
        lenient: bool = False,
        client_instance_id: UUID | None = None,
    ) -> None:
        """Create a connection. Pass the broker's ``versions`` if you know them; ``text`` is as for ``Message.read``.

        The first request with a header of version 3 (KIP-1313) has ``client_id`` and ``client_instance_id``; later ones
        omit both. Older headers have ``client_id`` in every request. Kafka 4.4 has no header of version 3.

        ``max_frame_size`` limits responses, in bytes. ``lenient`` accepts trailing bytes after a response
        (``ResponseReceived.trailing``), which otherwise end the connection.
        """
        if client_id is not None and not isinstance(client_id, str):
            raise TypeError(f"client_id must be a str or None, not {display(client_id)}")
        if client_instance_id == ZERO_UUID or not isinstance(client_instance_id, UUID | None):
            raise TypeError(
                f"client_instance_id must be a UUID except zero, or None, not {display(client_instance_id)}"
            )
        if versions is not None and not isinstance(versions, BrokerVersions):
            raise TypeError(f"versions must be BrokerVersions or None, not {display(versions)}")
        check_text(text)
        self.client_id = client_id
        self.client_instance_id = client_instance_id
        super().__init__(max_frame_size, CLIENT, NEGOTIATING)
        self.versions = versions
        self._text: Text = text
        self._lenient = lenient
        self._waiting: deque[Sent[Any] | None] = deque()  # None for a token
        self._next_id = 0
        self._refused: Sent[Any] | None = None  # the ApiVersionsRequest whose response had an error
        self._choices: dict[type[Any], VersionChoices] = {}
        self._announcements = Announcements()

    @property
    def identity(self) -> ClientIdentity:
        """What the requests of this connection have reported to the broker."""
        return self._announcements.identity

    @property
    def versions(self) -> BrokerVersions | None:
        """Versions that the broker supports, or None if unknown."""
        return self._versions

    @versions.setter
    def versions(self, versions: BrokerVersions | None) -> None:
        self._versions = versions
        self._incoming.change(Event.VERSIONS_UNKNOWN if versions is None else Event.VERSIONS_AGREED)

    @property
    def unanswered(self) -> tuple[Sent[Any], ...]:
        return tuple(sent for sent in self._waiting if sent is not None)

    def best_version(self, request: Request[Any]) -> int:
        """Return the highest stable version that both sides support and that loses no field.

        Dropping an ignorable field is no loss if a set field has the same meaning (the topic name for a topic id), or
        if the field is newer than the broker. Versions with unmet ``Api.restrictions`` are excluded.

        Raises UnsupportedVersionError, and LocalProtocolError if no version is negotiated or all versions lose a field.
        """
        check_request(request)
        return self._choices_for(request).best_version(request)

    def send(self, request: Request[R], version: int | None = None, *, lossy: bool = False) -> Sent[R]:
        """Encode a request with a new correlation id. Write the ``data`` of the result to the broker.

        ``version`` defaults to ``best_version(request)``, or with ``lossy`` to the highest common version. ``lossy``
        drops fields that the version lacks. ApiVersionsRequest needs no negotiation: the package's highest stable
        version is sent first, then a version of the broker if necessary.

        Raises LocalProtocolError (see ``best_version``; also after the broker closed the connection), EncodeError,
        UnsupportedVersionError, RemoteProtocolError if the connection failed, and TypeError.
        """
        check_request(request)
        self._incoming.check_open()
        is_free = version is None
        api: Api
        if version is not None:
            api, data = api_of(type(request)), self._encoded(request.downgraded(version) if lossy else request, version)
        else:
            choices = self._choices_for(request)
            api = choices.api
            version, data = self._encoded_at_best(request, choices, lossy)
        sent = Sent(request, api, version, self._next_id, data, is_free)
        sent._has_ids = self._announcements.add(request, api, version)
        self._next_id = self._next_id + 1 if self._next_id < _MAX_ID else 0
        if sent.expects_response:
            self._waiting.append(sent)
        if self._incoming.state is AUTHENTICATING:
            self._incoming.change(Event.TOKENS_ENDED)
            self.versions = self._versions
        return sent

    def send_token(self, token: BytesLike, *, expects_answer: bool = True) -> bytes:
        """Return the frame of a raw SASL token, allowed after a successful SaslHandshake of version 0.

        Pass ``expects_answer=False`` for the last token of GSSAPI, which the broker does not answer. Raises
        LocalProtocolError in other states.
        """
        self._incoming.check_open()
        if self._incoming.state is not AUTHENTICATING:
            raise LocalProtocolError("raw SASL tokens are only allowed after a successful SaslHandshake of version 0")
        if expects_answer:
            self._waiting.append(None)
        return frame(token)

    def next_event(self) -> ClientEvent | None:
        payload = self._incoming.next_frame()
        if payload is None:
            return self._end()
        if not self._waiting:
            raise self._incoming.refuse(
                payload, f"unexpected frame of {len(payload)} bytes without an unanswered request"
            )
        sent = self._waiting[0]
        if sent is None:
            self._waiting.popleft()
            return TokenReceived(payload)
        return self._response(sent, payload)

    def decode_ahead(self, min_size: int) -> Callable[[], None] | None:
        sent = self._waiting[0] if self._waiting else None
        return None if sent is None else self._incoming.ahead(min_size, partial(self._decode, sent))

    def _decode(self, sent: Sent[Any], payload: bytes) -> tuple[DecodedResponse[Any], bytes]:
        if self._lenient:
            return decode_response_leniently(payload, sent.api, sent.version, self._text)
        return decode_response(payload, sent.api, sent.version, text=self._text), b""

    def _response(self, sent: Sent[Any], payload: bytes) -> ClientEvent:
        found = int.from_bytes(payload[:LENGTH_SIZE], "big", signed=True)
        if len(payload) >= LENGTH_SIZE and found != sent.correlation_id:
            what = f"expected the response to {sent}, got correlation id {found}"
            raise self._incoming.refuse(payload, what)
        try:
            response, trailing = self._incoming.decode(payload, partial(self._decode, sent))
        except KafkaMessageError as error:
            raise self._incoming.refuse(payload, f"the response to {sent} cannot be read", error) from error
        message: Any = response.message
        self._waiting.popleft()
        if sent.api.name == API_VERSIONS:
            if message.error_code == UNSUPPORTED_VERSION and sent._is_free and sent.version > 0:
                return self._again(sent, BrokerVersions.from_response(message))
            self._refused = sent if message.error_code else None
            if not message.error_code:
                self.versions = BrokerVersions.from_response(message)
        if opens_tokens(message, sent.version):
            self._incoming.change(Event.HANDSHAKE_ACCEPTED)
        sent._response = message
        return ResponseReceived(sent, response.header, message, trailing)

    def _again(self, sent: Sent[Any], theirs: BrokerVersions) -> VersionFallback:
        """Resend ApiVersions at the highest common version if this is lower than the rejected version, else at 0."""
        try:
            version = theirs.highest_common(sent.api)
        except UnsupportedVersionError:
            version = 0
        sent.version = version if version < sent.version else 0
        request = sent.request.downgraded(sent.version)  # older versions may lack tagged fields
        if sent._has_ids:
            self._announcements.omitted = None  # the broker may not have read them
        sent.data = self._encoded(request, sent.version, sent.correlation_id)
        self._announcements.forget_software()
        sent._has_ids = self._announcements.add(request, sent.api, sent.version)
        sent.unsupported_fields = sent.request.unsupported_fields(sent.version)
        self._waiting.append(sent)
        return VersionFallback(sent, sent.data)

    def _encoded(self, request: Request[Any], version: int, number: int | None = None) -> bytes:
        number, ids = self._next_id if number is None else number, (self.client_id, self.client_instance_id)
        return self._announcements.encoded(request, version, number, ids, self._text)

    def _encoded_at_best(self, request: Request[Any], choices: VersionChoices, lossy: bool) -> tuple[int, bytes]:
        highest = choices.versions[0]
        if lossy:
            return highest, self._encoded(request.downgraded(highest), highest)
        refusal = None
        if choices.plan is None or limit_of(choices.plan, request) is None:
            try:
                return highest, self._encoded(request, highest)
            except EncodeError as error:
                refusal = error
        version = choices.best_version(request)
        if version == highest and refusal is not None:
            raise refusal
        return version, self._encoded(request, version)

    def _choices_for(self, request: Request[Any]) -> VersionChoices:
        kind = type(request)
        found = self._choices.get(kind)
        if found is None or found.broker is not self._versions:
            api = api_of(kind)
            if self._versions is None and api.name != API_VERSIONS:
                raise LocalProtocolError(f"no version of {api} is negotiated: {self._missing_agreement()}")
            found = self._choices[kind] = VersionChoices(api, self._versions)
        fields = [name for name in found.fields if getattr(request, name, None) is not None] if found.fields else None
        return VersionChoices(found.api, self._versions, fields) if fields else found

    def _missing_agreement(self) -> str:
        refused = self._refused
        if refused is None:
            return "send an ApiVersionsRequest and await its response, or pass a version"
        code = ErrorCode(refused.response.error_code)
        reason = f"the ApiVersionsResponse had the error {code.name} ({int(code)})"
        names = ("client_software_name", "client_software_version")
        if (
            code == INVALID_REQUEST
            and refused.version >= 3
            and not all(getattr(refused.request, name) for name in names)
        ):
            reason += f"; brokers require {names[0]} and {names[1]} in an ApiVersionsRequest"
        return reason
