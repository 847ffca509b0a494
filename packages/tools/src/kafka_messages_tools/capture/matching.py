"""Requests matched with responses by correlation id, decoded on demand."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from struct import Struct
from typing import Any, Literal

from ..package import DEFAULT, Package, load
from ..packets.report import CaptureReport
from ..packets.segments import SocketAddress
from ..text import counted
from .framing import Frame
from .plausible import Plausibility
from .reassembly import End, TcpConnection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages.connection import ClientIdentity
    from kafka_messages.protocol import Api, DecodedRequest, DecodedResponse

_essential = Struct(">hhi")
# Maximum number of unanswered requests per connection.
MOST_WAITING = 10_000
# Maximum number of responses without a request per connection.
MOST_UNMATCHED = 1000


class Exchange:
    """A request with its response, either of which may be missing."""

    def __init__(
        self,
        number: int,
        request: Frame | None,
        response: Frame | None,
        *,
        is_token: bool = False,
        package: str | Package = DEFAULT,
    ) -> None:
        self.package = load(package)
        self.number = number
        """Number from 1, in order of completion."""
        self.request_frame = request
        self.response_frame = response
        self.is_token = is_token
        """True for SASL tokens without a request header, which follow a SaslHandshake of version 0."""
        self.identity: ClientIdentity | None = None
        """Identity of the client as of the request; None without a header, or without the component ``connection``."""
        self.end: End | None = None
        """End of the connection, for a request without a response."""
        self.is_client_unknown = False
        """True if the header refers to a request with the client id that was not captured (KIP-1313)."""

    def __repr__(self) -> str:
        if self.header is None:
            what = "SASL token" if self.is_token else "unknown request"
        else:
            what = f"{self.api or f'API {self.header.request_api_key}'} v{self.header.request_api_version}"
        absent = [name for name in ("request", "response") if getattr(self, f"{name}_frame") is None]
        parts = [what, f"{self.client} to {self.server}", *(f"no {each}" for each in absent)]
        return f"<Exchange {self.number}: {', '.join(parts)}>"

    @property
    def connection(self) -> TcpConnection:
        return self._frame.connection

    @property
    def _frame(self) -> Frame:
        frame = self.request_frame or self.response_frame
        assert frame is not None
        return frame

    @property
    def client(self) -> SocketAddress:
        """Endpoint that sent the request."""
        connection, frame = self.connection, self._frame
        other = connection.server if frame.source == connection.client else connection.client
        return frame.source if frame.is_request else other

    @property
    def server(self) -> SocketAddress:
        """Endpoint that received the request."""
        return self.connection.server if self.client == self.connection.client else self.connection.client

    @cached_property
    def header(self) -> Any:
        """Request header, without client id if undecodable; None if not captured or too short, or for a SASL token."""
        if self.request_frame is None or self.is_token:
            return None
        protocol = self.package.module("protocol")
        try:
            return protocol.read_request_header(self.request_frame.data)[0]
        except protocol.UnknownApiError as error:
            return error.header
        except self.package.root.KafkaMessageError:
            return _cut_header(self.package, self.request_frame.data)

    @property
    def client_id(self) -> str | None:
        """Client id of the header or, if it has none, of an earlier request of the connection."""
        own: str | None = None if self.header is None else self.header.client_id
        return self.identity.client_id if own is None and self.identity is not None else own

    @cached_property
    def api(self) -> Api | None:
        """The API of the request, or None without a header or for an unknown API key."""
        return None if self.header is None else self.package.api(self.header.request_api_key)

    @cached_property
    def _request(self) -> tuple[DecodedRequest | None, str]:
        frame = self.request_frame
        if frame is None or self.is_token:
            return None, "" if self.is_token else "the request was not captured"
        if frame.missing:
            return None, _cut(frame)
        try:
            return self.package.module("protocol").decode_request(frame.data), ""
        except self.package.root.KafkaMessageError as error:
            return None, str(error)

    @property
    def request(self) -> DecodedRequest | None:
        """The decoded request, or None."""
        return self._request[0]

    @property
    def request_problem(self) -> str:
        """Reason why ``request`` is None; empty for decoded requests and SASL tokens."""
        return self._request[1]

    @cached_property
    def _response(self) -> tuple[DecodedResponse[Any] | None, str]:
        frame = self.response_frame
        if frame is None or self.is_token:
            return None, "" if self.is_token or self.has_no_response else self._no_response
        if self.header is None:
            return None, "its request was not captured"
        if frame.missing:
            return None, _cut(frame)
        try:
            key, version = self.header.request_api_key, self.header.request_api_version
            return self.package.module("protocol").decode_response(frame.data, key, version), ""
        except self.package.root.KafkaMessageError as error:
            return None, str(error)

    @property
    def _no_response(self) -> str:
        if self.not_captured:
            return f"the response was not captured ({counted(self.not_captured, 'byte')} missing)"
        return f"the {self.closed_by} closed the connection" if self.closed_by else "no response was captured"

    @property
    def not_captured(self) -> int:
        """Number of bytes of responses missing before the end of the connection, for a request without response."""
        return 0 if self.end is None else self.end.missing

    @property
    def closed_by(self) -> Literal["client", "server"] | None:
        """Side that closed the connection before the response, or None; also None if the response may be missing."""
        has_no_id = self.request_frame is not None and len(self.request_frame.data) < _essential.size
        if self.end is None or self.end.closed_by is None or self.end.missing or (has_no_id and not self.is_token):
            return None
        return "client" if self.end.closed_by == self.client else "server"

    @property
    def unsupported(self) -> str:
        """Why the server may have closed the connection: the release lacks the version of the request. Empty if not."""
        if self.header is None or self.closed_by != "server":
            return ""
        return unsupported_version(self.api, self.header.request_api_version)

    @property
    def response(self) -> DecodedResponse[Any] | None:
        """The decoded response, or None."""
        return self._response[0]

    @property
    def response_problem(self) -> str:
        """Reason why ``response`` is None; empty for decoded responses, SASL tokens, and if ``has_no_response``."""
        return self._response[1]

    @cached_property
    def has_no_response(self) -> bool:
        """True if the broker sends no response: Produce with ``acks`` 0, or an API without responses."""
        api = self.api
        if api is None or not api.response_name:
            return api is not None and bool(api.valid_versions)
        # Decode Produce only.
        return api.name == "Produce" and self.request is not None and getattr(self.request.message, "acks", None) == 0

    @property
    def latency_ns(self) -> int | None:
        """Nanoseconds from the last packet of the request to the last packet of the response, or None."""
        ends = [None if each is None else each.time_ns for each in (self.request_frame, self.response_frame)]
        return None if ends[0] is None or ends[1] is None else ends[1] - ends[0]


def unsupported_version(api: Api | None, version: int) -> str:
    """Return why the Kafka release of the package does not support the version of a request, or an empty string."""
    if api is None:
        return "API not in this release"
    if api.is_removed:
        return "API removed in this release"
    return "" if version in api.supported_versions else f"this release supports {api.supported_versions}"


def _cut_header(package: Package, data: bytes) -> Any:
    if len(data) < _essential.size:
        return None
    key, version, correlation_id = _essential.unpack_from(data)
    made = package.message("RequestHeader")
    return made(request_api_key=key, request_api_version=version, correlation_id=correlation_id, client_id=None)


def _cut(frame: Frame) -> str:
    return f"{len(frame.data)} of {frame.size} bytes were captured"


def exchanges(
    found: Iterable[Frame | End], report: CaptureReport | None = None, package: str | Package = DEFAULT
) -> Iterator[Exchange]:
    """Yield each exchange when its response arrives, or at the latest when the connection ends.

    Undecodable exchanges are included, with their bytes and the reason.
    """
    return (each for each in events(found, report, package) if isinstance(each, Exchange))


def events(
    found: Iterable[Frame | End], report: CaptureReport | None = None, package: str | Package = DEFAULT
) -> Iterator[Exchange | End]:
    """Yield the exchanges, and the ends of connections after their exchanges."""
    report = report or CaptureReport()
    number = 0
    for each in _paired(found, load(package)):
        if isinstance(each, Exchange):
            number += 1
            each.number = number
            _count(each, report)
        yield each


def _paired(found: Iterable[Frame | End], package: Package) -> Iterator[Exchange | End]:
    plausibility = Plausibility(package)
    by_connection: dict[int, _PendingRequests] = {}
    for each in found:
        key = each.connection.number
        pending = by_connection.get(key) or by_connection.setdefault(key, _PendingRequests(package, plausibility))
        if isinstance(each, End):
            del by_connection[key]
            yield from pending.end(each)
            yield each
        else:
            yield from pending.request(each) if each.is_request else pending.response(each)
    for pending in by_connection.values():
        yield from pending.end()


def _count(exchange: Exchange, report: CaptureReport) -> None:
    report.count("exchanges")
    if exchange.is_token:
        report.count("SASL tokens")
    elif exchange.request_frame is None:
        report.count("responses without request")
    elif exchange.response_frame is None and not exchange.has_no_response:
        report.count("requests without response")


class _PendingRequests:
    def __init__(self, package: Package, plausibility: Plausibility) -> None:
        self._package = package
        self._plausibility = plausibility
        # Requests without a response, with their correlation ids.
        self._waiting: deque[tuple[int, Exchange]] = deque()
        self._unmatched: deque[tuple[int, Frame]] = deque()
        self._may_be_token = False
        self._identities = _Identities(package)

    def request(self, frame: Frame) -> Iterator[Exchange]:
        may_be_token = self._may_be_token or self._plausibility.may_be_token(frame.data)
        is_token = may_be_token and not self._plausibility.is_request(frame.data)
        if not is_token and _is_old_handshake(self._package, frame):
            self._may_be_token = True  # the response of the handshake may not have been captured
        exchange, decoded = (Exchange(0, frame, None, is_token=is_token, package=self._package) for _ in range(2))
        self._identities.add(decoded, frame)
        exchange.identity, exchange.is_client_unknown = decoded.identity, decoded.is_client_unknown
        if decoded.has_no_response:
            yield exchange
            return
        number = _correlation_id(frame, 4)
        match = next((each for each in self._unmatched if each[0] == number), None)
        if match is not None and not is_token:
            self._unmatched.remove(match)
            exchange.response_frame = match[1]
            yield exchange
            return
        self._waiting.append((number, exchange))  # holds no decoded message
        if len(self._waiting) > MOST_WAITING:
            yield self._waiting.popleft()[1]

    def response(self, frame: Frame) -> Iterator[Exchange]:
        if self._waiting and self._waiting[0][1].is_token:
            exchange = self._waiting.popleft()[1]
            exchange.response_frame = frame
            yield exchange
            return
        number = _correlation_id(frame, 0)
        if all(waiting != number for waiting, _ in self._waiting):
            self._unmatched.append((number, frame))
            if len(self._unmatched) > MOST_UNMATCHED:
                yield Exchange(0, None, self._unmatched.popleft()[1], package=self._package)
            return
        while self._waiting:
            waiting, exchange = self._waiting.popleft()
            if waiting == number:
                self._note_handshake(exchange.request_frame, frame)
                exchange.response_frame = frame
                yield exchange
                return
            yield exchange

    def _note_handshake(self, request: Frame | None, response: Frame) -> None:
        if request is not None and _is_old_handshake(self._package, request):
            self._may_be_token = response.data[4:6] == b"\x00\x00"

    def end(self, end: End | None = None) -> Iterator[Exchange]:
        for _, exchange in self._waiting:
            exchange.end = end
            yield exchange
        yield from (Exchange(0, None, response, package=self._package) for _, response in self._unmatched)
        self._waiting.clear()
        self._unmatched.clear()


class _Identities:
    """Identity of the client of a connection, request by request."""

    def __init__(self, package: Package) -> None:
        self._connection = package.module("connection") if package.has("connection") else None
        self._identity: Any = self._connection and self._connection.ClientIdentity()
        self._end = 0  # stream offset after the last request
        self._is_complete = True  # False if the capture misses an earlier request

    def add(self, exchange: Exchange, frame: Frame) -> None:
        self._is_complete &= frame.connection.is_whole and frame.offset == self._end
        self._end = frame.offset + 4 + frame.size
        header, api = exchange.header, exchange.api
        if self._connection is None or header is None:
            return
        # An unprintable client id of an undecodable request may be bytes of something else.
        if (header.client_id or "").isprintable() or exchange.request is not None:
            message = exchange.request.message if api and api.name == "ApiVersions" and exchange.request else None
            self._identity = self._identity.after(header, message)
        exchange.identity = self._identity
        if self._identity.client_id is None:
            self._is_complete &= exchange.request is not None
            exchange.is_client_unknown = not self._is_complete and self._connection.omits_identity(header)


def _is_old_handshake(package: Package, frame: Frame) -> bool:
    """Check for SaslHandshake version 0, after which SASL tokens have no header."""
    api = package.api(int.from_bytes(frame.data[:2], "big", signed=True))
    return api is not None and api.name == "SaslHandshake" and frame.data[2:4] == b"\x00\x00"


def _correlation_id(frame: Frame, at: int) -> int:
    return int.from_bytes(frame.data[at : at + 4], "big", signed=True) if len(frame.data) >= at + 4 else -1
