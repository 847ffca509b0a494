"""Requests and their responses, as a proxy or cluster saw them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kafka_messages import KafkaMessageError, Response
from kafka_messages.connection import ClientIdentity
from kafka_messages.protocol import Api, DecodedRequest, decode_request, decode_response, read_request_header

MAX_EXCHANGE_BYTES = 64 << 20
_OVERHEAD = 1_000  # bytes of an exchange, at most, besides its frames


@dataclass(slots=True, eq=False)
class Exchange:
    """A request and, once it is sent, its response. From then on, messages are decoded whenever they are read."""

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
    api: Api[Response] = field(init=False, repr=False)
    """API of the request."""
    version: int = field(init=False, repr=False)
    """Version of the request."""
    _whole: bytes = field(default=b"", init=False, repr=False)
    """Frame of the response, if other bytes were sent."""
    _rules: tuple[object, ...] = field(default=(), init=False, repr=False)
    """Rules that affected the request."""

    def __post_init__(self) -> None:
        self.api, self.version = self.decoded.api, self.decoded.version

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Decode a message of which only the frame is kept."""
            if name == "decoded":
                return self._decoded()
            if name == "response":
                frame = self._whole or self.response_data
                return decode_response(frame[4:], self.api, self.response_version, text="surrogateescape").message
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _decoded(self) -> DecodedRequest:
        data = self.request_data[4:]
        try:
            return decode_request(data, text="surrogateescape")
        except KafkaMessageError:  # ApiVersions with an unsupported version has defaults
            header, _ = read_request_header(data, text="surrogateescape")
            return DecodedRequest(header, self.api, self.version, self.api.request_class())

    def _end(self) -> None:
        """Keep only the frames of the messages, which may take a small part of their memory."""
        del self.decoded
        if self._whole or self.response_data:
            del self.response
        else:
            self.response = None  # it could not be encoded

    @property
    def request(self) -> Any:
        """Message of the request."""
        return self.decoded.message

    @property
    def response_version(self) -> int:
        """Version of the response: 0 after ApiVersions with an unknown version (KIP-511)."""
        return self.version if self.version in self.api.valid_versions else 0

    @property
    def broker(self) -> str:
        """Broker that received the request, for people: ``node 1``, or an address that no metadata named."""
        return f"node {self.node_id}" if self.node_id >= 0 else ":".join(map(str, self.broker_address))

    @property
    def client_id(self) -> str | None:
        return self.identity.client_id


class ExchangeLog:
    """The last exchanges, limited by memory."""

    def __init__(self, max_bytes: int) -> None:
        if type(max_bytes) is not int or max_bytes < 0:
            raise ValueError(f"max_exchange_bytes must be a number from 0 on, not {max_bytes!r}")
        self.max_bytes, self._bytes = max_bytes, 0
        self.sizes: OrderedDict[Exchange, int] = OrderedDict()  # counted bytes, the oldest exchange first

    def measure(self, exchange: Exchange, is_new: bool = False) -> None:
        """Count the bytes of an exchange, unless it is forgotten, and forget the oldest ones beyond the limit."""
        if is_new or exchange in self.sizes:
            frames = exchange.request_data, exchange.response_data, exchange._whole
            size = sum(map(len, frames), _OVERHEAD)
            self._bytes += size - self.sizes.get(exchange, 0)
            self.sizes[exchange] = size
        while self._bytes > self.max_bytes:
            self._bytes -= self.sizes.popitem(last=False)[1]
