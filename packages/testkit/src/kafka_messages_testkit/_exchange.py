"""Requests and their responses, as a proxy or cluster saw them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from kafka_messages.connection import ClientIdentity
from kafka_messages.protocol import DecodedRequest

MAX_EXCHANGES = 100_000
MAX_EXCHANGE_BYTES = 64 << 20


@dataclass(slots=True, eq=False)
class Exchange:
    """A request and, once it is sent, its response."""

    node_id: int
    """Broker that received the request; -1 for an address that a proxy has not seen in metadata yet."""
    identity: ClientIdentity
    """Client that sent the request."""
    decoded: DecodedRequest
    """Header, API, version and message of the request."""
    client_address: tuple[str, int]
    """Host and port of the client."""
    broker_address: tuple[str, int]
    """Host and port at which the client reached the broker."""
    received_at: float
    """Time of the request, in seconds since 1970."""
    request_data: bytes = field(default=b"", repr=False)
    """Frame of the request, with its length."""
    response: Any = None
    """Response message; None if there is none yet, or none at all."""
    response_data: bytes = field(default=b"", repr=False)
    """Bytes that were sent to the client, possibly damaged."""
    answered_at: float | None = None
    """Time of the response, in seconds since 1970."""
    outcome: str = ""
    """What a rule did, such as ``fail ILLEGAL_GENERATION``; empty if no rule acted."""

    @property
    def request(self) -> Any:
        """Message of the request."""
        return self.decoded.message

    @property
    def version(self) -> int:
        """Version of the request."""
        return self.decoded.version

    @property
    def response_version(self) -> int:
        """Version of the response: 0 after ApiVersions with an unknown version (KIP-511)."""
        return self.version if self.version in self.decoded.api.valid_versions else 0

    @property
    def broker(self) -> str:
        """Broker that received the request, for people: ``node 1``, or an address that no metadata named."""
        return f"node {self.node_id}" if self.node_id >= 0 else ":".join(map(str, self.broker_address))

    @property
    def client_id(self) -> str | None:
        return self.identity.client_id


class ExchangeLog:
    """The last exchanges, limited by number and memory: a frame and its message count as twice the frame."""

    def __init__(self, max_bytes: int) -> None:
        if type(max_bytes) is not int or max_bytes < 0:
            raise ValueError(f"max_exchange_bytes must be a number from 0 on, not {max_bytes!r}")
        self.max_bytes, self._bytes = max_bytes, 0
        self.sizes: OrderedDict[Exchange, int] = OrderedDict()  # counted bytes, the oldest exchange first

    def measure(self, exchange: Exchange, is_new: bool = False) -> None:
        """Count the bytes of an exchange, unless it is forgotten, and forget the oldest ones beyond the limits."""
        if is_new or exchange in self.sizes:
            size = 2 * (len(exchange.request_data) + len(exchange.response_data))
            self._bytes += size - self.sizes.get(exchange, 0)
            self.sizes[exchange] = size
        while self._bytes > self.max_bytes or len(self.sizes) > MAX_EXCHANGES:
            self._bytes -= self.sizes.popitem(last=False)[1]
