"""TCP stream reassembly, with gaps reported.

Handles sequence number wraparound, retransmission, overlap and reordering. A gap is reported after the receiver
has acknowledged the missing bytes, when too much data is held, or when the connection ends.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from ..packets.report import CaptureReport
from ..packets.segments import FIN, RST, SYN, Segment, SocketAddress

# Maximum number of open connections.
MOST_CONNECTIONS = 65536
# Maximum bytes held after a gap in one direction.
MOST_HELD = 4 << 20
# Maximum bytes held after gaps over all connections.
MOST_HELD_OF_ALL = 64 << 20
# Number of segments to wait for missing bytes that the receiver has acknowledged.
MAX_WAIT = 32
_HALF = 1 << 31


class TcpConnection(NamedTuple):
    number: int
    """Number from 1, in order of the first segments."""
    client: SocketAddress
    """Endpoint that opened the connection, or the first sender."""
    server: SocketAddress
    is_whole: bool
    """True if a SYN was captured."""


class TcpSegment(NamedTuple):
    """Consecutive bytes of one direction of a connection."""

    connection: TcpConnection
    source: SocketAddress
    offset: int
    """Offset of the first byte in the stream."""
    data: bytes
    missing: int
    """Number of bytes missing after ``data``."""
    packet: int
    time_ns: int | None


class End(NamedTuple):
    connection: TcpConnection
    """From ``frames`` on, ``client`` is the Kafka client."""
    reason: str
    closed_by: SocketAddress | None = None
    """Endpoint that sent the first FIN or RST, or None."""
    packet: int = 0
    """Packet of this FIN or RST, or 0."""
    time_ns: int | None = None


class _HalfStream:

    def __init__(self) -> None:
        # Sequence number of offset 0; None before the first segment.
        self.base: int | None = None
        # Offset of the next byte to deliver.
        self.next = 0
        # Offset of FIN.
        self.end: int | None = None
        # Offset acknowledged by the receiver.
        self.acknowledged = 0
        # Number of segments since the receiver acknowledged the missing bytes.
        self.waited = 0
        # Heap of segments after a gap: offset, -length, data, missing, packet, time.
        self.held: list[tuple[int, int, bytes, int, int, int | None]] = []
        self.size = 0

    def offset(self, sequence: int) -> int:
        assert self.base is not None
        return self.next + (sequence - self.base - self.next + _HALF) % (1 << 32) - _HALF


class _Tracked:

    def __init__(self, connection: TcpConnection) -> None:
        self.connection = connection
        self.directions = {connection.client: _HalfStream(), connection.server: _HalfStream()}
        self.is_ended = False
        # Source, packet number and time of the first FIN or RST.
        self.closing: tuple[SocketAddress | None, int, int | None] = (None, 0, None)

    def other(self, source: SocketAddress) -> SocketAddress:
        return self.connection.server if source == self.connection.client else self.connection.client


def streams(segments: Iterable[Segment], report: CaptureReport | None = None) -> Iterator[TcpSegment | End]:
    """Yield the bytes of TCP connections as they become available, and the end of each connection.

    ``MOST_CONNECTIONS`` and ``MOST_HELD_OF_ALL`` bound the memory. Gaps are counted in ``report``.
    """
    tracker = _Tracker(report or CaptureReport())
    for segment in segments:
        yield from tracker.add(segment)
    yield from tracker.finish()


class _Tracker:

    def __init__(self, report: CaptureReport) -> None:
        self._report = report
        self._tracked: OrderedDict[tuple[SocketAddress, SocketAddress], _Tracked] = OrderedDict()
        self._held = 0
        self._number = 0

    def add(self, segment: Segment) -> Iterator[TcpSegment | End]:
        source, target = segment.source, segment.target
        key = (source, target) if source < target else (target, source)
        tracked = self._tracked.get(key)
        if tracked is not None and segment.flags & SYN and self._is_new(tracked, segment):
            yield from self._end(key, "a new connection with the same ports")
            tracked = None
        if tracked is None:
            if not segment.flags & SYN and not segment.data and not segment.missing:
                return  # late segment of an ended connection, or a bare ACK
            tracked = self._begin(key, segment)
            if len(self._tracked) > MOST_CONNECTIONS:
                self._report.count("connections dropped: too many at once")
                yield from self._end(next(iter(self._tracked)), "too many connections")
        self._tracked.move_to_end(key)
        yield from self._take(key, tracked, segment)

    def _is_new(self, tracked: _Tracked, segment: Segment) -> bool:
        direction = tracked.directions[segment.source]
        if direction.base is None:
            return tracked.is_ended
        return (segment.sequence + 1 - direction.base) % (1 << 32) != 0

    def _begin(self, key: tuple[SocketAddress, SocketAddress], segment: Segment) -> _Tracked:
        self._number += 1
        client, server = segment.source, segment.target
        if segment.flags & SYN and segment.acknowledged is not None:
            client, server = server, client
        tracked = _Tracked(TcpConnection(self._number, client, server, bool(segment.flags & SYN)))
        self._tracked[key] = tracked
        self._report.count("connections")
        return tracked

    def _take(
        self, key: tuple[SocketAddress, SocketAddress], tracked: _Tracked, segment: Segment
    ) -> Iterator[TcpSegment | End]:
        direction = tracked.directions[segment.source]
        sequence = segment.sequence
        if segment.flags & SYN:
            sequence = (sequence + 1) % (1 << 32)
        if direction.base is None:
            direction.base = sequence
        length = len(segment.data) + segment.missing
        start = direction.offset(sequence)
        if segment.flags & FIN:
            direction.end = start + length
        if segment.flags & (FIN | RST) and tracked.closing[0] is None:
            tracked.closing = segment.source, segment.packet, segment.time_ns
        other_source = tracked.other(segment.source)
        other = tracked.directions[other_source]
        if segment.acknowledged is not None and other.base is not None:
            other.acknowledged = max(other.acknowledged, other.offset(segment.acknowledged))
        if length:
            if tracked.is_ended:
                self._report.count("segments after the end of their connection")
            elif start <= direction.next:
                yield from self._give(tracked, segment.source, start, *segment[-2:], *segment[:2])
                yield from self._follow(tracked, segment.source)
            else:
                self._hold(direction, start, segment)
        if self._held:
            yield from self._give_up(tracked)
        if segment.flags & RST or all(each.end == each.next for each in tracked.directions.values()):
            yield from self._end(key, "RST" if segment.flags & RST else "FIN", keep=True)

    def _hold(self, direction: _HalfStream, start: int, segment: Segment) -> None:
        length = len(segment.data) + segment.missing
        entry = (start, -length, segment.data, segment.missing, segment.packet, segment.time_ns)
        heappush(direction.held, entry)
        # 256 bytes for the overhead of an entry.
        direction.size += len(segment.data) + 256
        self._held += len(segment.data) + 256
        self._report.count("segments out of order")

    def _give_up(self, tracked: _Tracked) -> Iterator[TcpSegment]:
        for source, direction in tracked.directions.items():
            if not direction.held:
                direction.waited = 0
                continue
            direction.waited += direction.acknowledged >= direction.held[0][0]
            too_much = direction.size > MOST_HELD or self._held > MOST_HELD_OF_ALL
            if direction.waited > MAX_WAIT or too_much:
                yield from self._skip(tracked, source)

    def _skip(self, tracked: _Tracked, source: SocketAddress) -> Iterator[TcpSegment]:
        direction = tracked.directions[source]
        while direction.held:
            start, _, _, _, packet, time = direction.held[0]
            if start > direction.next:
                yield from self._give(tracked, source, direction.next, b"", start - direction.next, packet, time)
            yield from self._follow(tracked, source)
        direction.waited = 0

    def _follow(self, tracked: _Tracked, source: SocketAddress) -> Iterator[TcpSegment]:
        direction = tracked.directions[source]
        while direction.held and direction.held[0][0] <= direction.next:
            start, _, data, missing, packet, time = heappop(direction.held)
            direction.size -= len(data) + 256
            self._held -= len(data) + 256
            yield from self._give(tracked, source, start, data, missing, packet, time)

    def _give(
        self,
        tracked: _Tracked,
        source: SocketAddress,
        start: int,
        data: bytes,
        missing: int,
        packet: int,
        time: int | None,
    ) -> Iterator[TcpSegment]:
        direction = tracked.directions[source]
        known = direction.next - start
        length = len(data) + missing
        if known:
            self._report.count("bytes retransmitted", min(known, length))
            if known >= length:
                return
            missing -= max(known - len(data), 0)
            data = data[known:]
        if missing:
            self._report.count("bytes missing in streams", missing)
        piece = TcpSegment(tracked.connection, source, direction.next, data, missing, packet, time)
        direction.next += len(data) + missing
        yield piece

    def _end(
        self, key: tuple[SocketAddress, SocketAddress], reason: str, keep: bool = False
    ) -> Iterator[TcpSegment | End]:
        tracked = self._tracked[key]
        if not keep:
            del self._tracked[key]
        if tracked.is_ended:
            return
        tracked.is_ended = True
        for source in tracked.directions:
            yield from self._skip(tracked, source)
        yield End(tracked.connection, reason, *tracked.closing)

    def finish(self) -> Iterator[TcpSegment | End]:
        for key in list(self._tracked):
            yield from self._end(key, "the end of the capture")
