"""What the rendering needs of an exchange, and its view of captured ones."""

from __future__ import annotations

from typing import Any, Protocol

from ..capture.display import client_id_of, name_of, result_of
from ..capture.matching import Exchange
from ..package import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages.protocol import DecodedRequest


class RecordedExchange(Protocol):
    """A request and its response, as a client, a broker or a proxy recorded them. Times are in seconds since 1970."""

    @property
    def client_id(self) -> str | None: ...

    @property
    def broker(self) -> str:
        """Broker that received the request, such as ``node 1``."""

    @property
    def decoded(self) -> DecodedRequest | None:
        """Request with API and version; None if it could not be decoded."""

    @property
    def response(self) -> Any:
        """Response message; None if there is none."""

    @property
    def request_data(self) -> bytes:
        """Frame of the request, with its length."""

    @property
    def response_data(self) -> bytes:
        """Frame of the response, with its length; empty if there is none. It may be damaged."""

    @property
    def received_at(self) -> float | None: ...

    @property
    def answered_at(self) -> float | None: ...

    @property
    def outcome(self) -> str:
        """What was done to the exchange, such as ``fail NOT_COORDINATOR``; empty if nothing was done."""


class CapturedExchange:
    """A captured exchange as a RecordedExchange."""

    def __init__(self, exchange: Exchange, show_secrets: bool) -> None:
        self._exchange = exchange
        self.package = exchange.package
        self.number = exchange.number
        self.client_id = "?" if exchange.is_client_unknown else client_id_of(exchange, not show_secrets)
        self.broker = str(exchange.server)
        self.decoded = exchange.request
        self.response = None if exchange.response is None else exchange.response.message
        times = [None if each is None else each.time_ns for each in (exchange.request_frame, exchange.response_frame)]
        self.received_at, self.answered_at = (None if each is None else each / 1e9 for each in times)
        self.outcome = ""

    @property
    def api(self) -> str:
        return name_of(self._exchange)

    @property
    def result(self) -> str:
        return result_of(self._exchange)

    @property
    def request_data(self) -> bytes:
        return _framed(self._exchange.request_frame)

    @property
    def response_data(self) -> bytes:
        return _framed(self._exchange.response_frame)


def as_recorded(exchange: Exchange | RecordedExchange, show_secrets: bool) -> RecordedExchange:
    return CapturedExchange(exchange, show_secrets) if isinstance(exchange, Exchange) else exchange


def package_of(exchange: RecordedExchange) -> Any:
    return exchange.package if isinstance(exchange, CapturedExchange) else DEFAULT


def _framed(frame: Any) -> bytes:
    return b"" if frame is None else frame.size.to_bytes(4, "big") + frame.data
