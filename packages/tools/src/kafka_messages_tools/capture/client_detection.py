"""Detection of Kafka connections, and of the endpoint that is the Kafka client.

With ports of brokers, the client is the endpoint opposite such a port; without, the endpoint that sends requests.
"""

from __future__ import annotations

from collections.abc import Collection
from struct import Struct

from ..packets.segments import SocketAddress
from . import plausible
from .plausible import Plausibility
from .reassembly import TcpConnection, TcpSegment

# Bytes without a request after which a connection is not considered Kafka.
MOST_UNDECIDED = 64 << 10
_size = Struct(">i")


class NotKafka(Exception):
    """Connection without readable Kafka traffic; the text is the counter of the report for such connections."""


def other_traffic(looks_like: str | None) -> str:
    """Return the counter of connections without Kafka traffic whose first bytes look like a protocol."""
    if looks_like and "TLS" in looks_like and "alert" not in looks_like:
        return "connections encrypted by TLS"
    return f"connections without Kafka traffic{f' ({looks_like})' if looks_like else ''}"


class ClientDetector:
    """Segments of a connection until its Kafka client is known."""

    def __init__(self, connection: TcpConnection, ports: Collection[int], plausibility: Plausibility) -> None:
        self.connection = connection
        self.pieces: list[TcpSegment] = []
        self._ports = ports
        self._plausibility = plausibility
        self._size = 0

    def add(self, piece: TcpSegment) -> SocketAddress | None:
        """Return the Kafka client, or None if it is not known yet. Raises NotKafka."""
        self.pieces.append(piece)
        self._size += len(piece.data) + 256
        client = self._by_port() if self._ports else self._by_requests()
        if client is None and self._size > MOST_UNDECIDED:
            raise NotKafka(self.other_traffic)
        return client

    @property
    def other_traffic(self) -> str:
        """Counter of connections without Kafka traffic, with the protocol of the first bytes if it is known."""
        sources = (self.connection.client, self.connection.server)
        found = filter(None, (self._plausibility.foreign_protocol(self._first_bytes(source)) for source in sources))
        return other_traffic(next(found, None))

    def _by_port(self) -> SocketAddress:
        one, other = self.connection.client, self.connection.server
        for client, server in ((one, other), (other, one)):
            if server.port in self._ports:
                if "TLS" in (counter := self.other_traffic):
                    raise NotKafka(counter)
                return client
        raise NotKafka("connections on other ports")

    def _by_requests(self) -> SocketAddress | None:
        connection = self.connection
        opener = connection.client
        first = next((piece for piece in self.pieces if piece.source == opener), None)
        if not connection.is_whole or (first is not None and not first.data):
            return next(filter(self._has_request, (opener, connection.server)), None)
        start = self._first_bytes(opener)
        if len(start) < plausible.START:
            return None
        if not self._plausibility.may_be_request(start):
            raise NotKafka(self.other_traffic)
        return opener

    def _has_request(self, source: SocketAddress) -> bool:
        data, at, starts = b"", 0, set()
        for piece in self.pieces:
            if piece.source == source:
                starts.add(len(data))
                data += piece.data
        while (at := self._plausibility.find_request(data, at)) + plausible.START <= len(data):
            end = at + 4 + _size.unpack_from(data, at)[0]
            if self._plausibility.is_request(data[at + 4 : end]) if end <= len(data) else at in starts:
                return True
            at += 1
        return False

    def _first_bytes(self, source: SocketAddress) -> bytes:
        return b"".join(piece.data for piece in self.pieces if piece.source == source)
