"""Detection of Kafka connections, and of the endpoint that is the Kafka client.

With ports of brokers, the client is the endpoint opposite such a port; without, the endpoint that sends requests. A
request shows it if it decodes, if it begins with a segment and names its client, or if it is answered.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from struct import Struct

from ..packets.segments import SocketAddress
from . import plausible
from .frame_search import MOST_UNSURE, Budget, Expected, FrameSearch
from .plausible import Plausibility
from .reassembly import TcpConnection, TcpSegment

# Bytes without a request after which a connection is not considered Kafka.
MOST_UNDECIDED = MOST_UNSURE + (64 << 10)
# Number of copies of these bytes: the segments, and those searched for requests and responses.
_COPIES = 3
# Number of first bytes that are compared with other protocols.
_FIRST_BYTES = 1024
# Largest difference of the correlation ids of consecutive responses; requests without response are between them.
_MOST_SKIPPED = 16
# Number of bytes that show whether a connection to a usual port may begin with a request: size and API key.
_FEWEST = 6
# Usual ports of brokers, as in the Wireshark dissector.
_KAFKA_PORTS = range(9092, 9095)
# Size and correlation id.
_response_start = Struct(">ii")


class NotKafka(Exception):
    """Connection without readable Kafka traffic; the text is the counter of the report for such connections."""


def other_traffic(looks_like: str | None) -> str:
    """Return the counter of connections without Kafka traffic whose first bytes look like a protocol."""
    if looks_like and "TLS" in looks_like and "alert" not in looks_like:
        return "connections encrypted by TLS"
    return f"connections without Kafka traffic{f' ({looks_like})' if looks_like else ''}"


class _Searches:
    """Searches in both directions of a connection, if ``client`` is the Kafka client."""

    def __init__(self, connection: TcpConnection, client: SocketAddress, plausibility: Plausibility) -> None:
        self.client = client
        expected = Expected()
        sides = (connection.client, connection.server)
        is_usual = any(each != client and each.port in _KAFKA_PORTS for each in sides)
        self._sides = {
            each: (
                FrameSearch(plausibility, each == client, expected, is_trial=True, is_name_enough=is_usual),
                bytearray(),
            )
            for each in sides
        }

    def has_frame(self, piece: TcpSegment) -> bool:
        search, data = self._sides[piece.source]
        offset = piece.offset - len(data)
        search.add(piece.offset, len(piece.data), True)
        data += piece.data
        at, is_found = search.find(data, offset, bool(piece.missing))
        del data[: len(data) if piece.missing else at]
        return is_found


class ClientDetector:
    """Segments of a connection until its Kafka client is known."""

    def __init__(
        self, connection: TcpConnection, ports: Collection[int], plausibility: Plausibility, budget: Budget
    ) -> None:
        self.pieces: list[TcpSegment] = []
        self._connection = connection
        self._ports = ports
        self._budget = budget
        self._plausibility = plausibility
        self._size = 0
        self._trials: list[_Searches] = []

    def add(self, piece: TcpSegment) -> SocketAddress | None:
        """Return the Kafka client, or None if it is not known yet. Raises NotKafka."""
        self.pieces.append(piece)
        self._size += len(piece.data) + 256
        self._budget.used += (len(piece.data) + 256) * _COPIES
        client = self._by_port() if self._ports else self._by_requests(piece)
        if client is None and (self._size > MOST_UNDECIDED or self._budget.is_exceeded):
            client = self.at_end()
            if client is None:
                raise NotKafka(self.other_traffic)
        return client

    def release(self) -> list[TcpSegment]:
        """Return the pieces, and forget them."""
        self._budget.used -= self._size * _COPIES
        pieces, self.pieces, self._trials, self._size = self.pieces, [], [], 0
        return pieces

    @property
    def missing(self) -> int:
        """Number of missing bytes that may be Kafka's: 0 if the protocol is known."""
        starts = map(self._first_bytes, (self._connection.client, self._connection.server))
        is_known = any(map(self._plausibility.other_protocol, starts))
        return 0 if is_known else sum(piece.missing for piece in self.pieces)

    @property
    def other_traffic(self) -> str:
        """Counter of connections without Kafka traffic, with the protocol of the first bytes if it is known."""
        sources = (self._connection.client, self._connection.server)
        found = filter(None, (self._plausibility.foreign_protocol(self._first_bytes(source)) for source in sources))
        return other_traffic(next(found, None))

    def _by_port(self) -> SocketAddress:
        one, other = self._connection.client, self._connection.server
        for client, server in ((one, other), (other, one)):
            if server.port in self._ports:
                if "TLS" in (counter := self.other_traffic):
                    raise NotKafka(counter)
                return client
        raise NotKafka("connections on other ports")

    def _by_requests(self, piece: TcpSegment) -> SocketAddress | None:
        pieces = [piece]
        if not self._trials:
            clients = [self._connection.client, self._connection.server]
            first = next((each for each in self.pieces if each.source == clients[0]), None)
            if self._connection.is_whole and (first is None or first.data):
                start = self._first_bytes(clients[0])
                if len(start) < plausible.START:
                    if not any(each.missing and each.source == clients[0] for each in self.pieces):
                        return None
                    start = start[:12]  # without the length of the client id, which counts as 0
                head = start.ljust(plausible.START, b"\0")
                if len(start) >= _FEWEST and not self._plausibility.may_be_request(head, is_known=False):
                    raise NotKafka(self.other_traffic)
                clients.pop()
                if _FEWEST <= len(start) < plausible.START and self._connection.server.port in _KAFKA_PORTS:
                    return self._connection.client
            self._trials = [_Searches(self._connection, client, self._plausibility) for client in clients]
            pieces = self.pieces
        return next((trial.client for each in pieces for trial in self._trials if trial.has_frame(each)), None)

    def at_end(self) -> SocketAddress | None:
        """Return the Kafka client, or None if it is not known; nothing follows."""
        last = {piece.source: piece for piece in self.pieces}.values()
        ends = [each._replace(offset=each.offset + len(each.data) + each.missing, data=b"", missing=1) for each in last]
        tried = ((trial, end) for trial in self._trials for end in ends if end.source == trial.client)
        return self._by_responses() or next((trial.client for trial, end in tried if trial.has_frame(end)), None)

    def _by_responses(self) -> SocketAddress | None:
        """Return the Kafka client if only the other side sent data: responses with increasing correlation ids."""
        one, other = self._connection.client, self._connection.server
        sources = {piece.source for piece in self.pieces if piece.data}
        if len(sources) != 1 or (self._connection.is_whole and one in sources):
            return None
        sent = (piece for piece in self.pieces if piece.source in sources)
        data = b"".join(piece.data + bytes(min(piece.missing, MOST_UNSURE)) for piece in sent)
        ids, at = [], 0
        while at + 8 <= len(data):
            size, number = _response_start.unpack_from(data, at)
            if size < 4:
                return None
            ids.append(number)
            at += size + 4
        is_enough = len(ids) > 1 or (at == len(data) and (one.port in _KAFKA_PORTS or other.port in _KAFKA_PORTS))
        is_increasing = all(0 < second - first <= _MOST_SKIPPED for first, second in pairwise(ids))
        return (one if other in sources else other) if is_enough and is_increasing else None

    def _first_bytes(self, source: SocketAddress) -> bytes:
        data = b""
        for piece in self.pieces:
            if piece.source == source:
                data += piece.data[:_FIRST_BYTES]
                if piece.missing or len(data) >= _FIRST_BYTES:
                    break
        return data
