"""TCP stream reassembly, with gaps reported.

Handles sequence number wraparound, retransmission, overlap and reordering. A gap is reported after the receiver
has acknowledged the missing bytes, when too much data is held, or when the connection ends. FIN, RST and acknowledgments
show gaps, too. A RST ends a connection unless its sender sends more data (RFC 9293, section 3.10.7.4).
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
# Nanoseconds of capture time after which a connection with a RST, or with bytes missing before its FINs, has ended.
END_WAIT = 10_000_000_000
# Largest distance of a FIN or RST from the captured bytes; more than the windows that systems use by default.
LARGEST_WINDOW = 64 << 20
_HALF = 1 << 31
_Key = tuple[SocketAddress, SocketAddress]


class TcpConnection(NamedTuple):
    number: int
    """Number from 1, in order of the first segments."""
    client: SocketAddress
    """Endpoint that opened the connection, or the first sender."""
    server: SocketAddress
    is_whole: bool
    """True if a SYN was captured."""
    continued: int = 0
    """Number of the connection of the same endpoints that had ended before, if no SYN followed; otherwise 0."""


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
    missing: int = 0
    """From ``frames`` on: number of bytes missing after the last captured response."""


class _HalfStream:

    def __init__(self) -> None:
        # Sequence number of offset 0; None before the first segment.
        self.base: int | None = None
        # Offset of the next byte to deliver.
        self.next = 0
        # Offset of FIN, and of a RST after which no data followed.
        self.end: int | None = None
        self.reset: int | None = None
        # Packet and time of the first of them.
        self.closing: tuple[int, int | None] | None = None
        # Offset acknowledged by the receiver.
        self.acknowledged = 0
        # Number of segments since the receiver acknowledged the missing bytes.
        self.waited = 0
        # Heap of segments after a gap: offset, -length, segment.
        self.held: list[tuple[int, int, Segment]] = []
        self.size = 0

    def offset(self, sequence: int) -> int:
        assert self.base is not None
        return self.next + (sequence - self.base - self.next + _HALF) % (1 << 32) - _HALF

    def reopen(self, end: int) -> None:
        """Note new data up to ``end``: a RST before it, or a FIN below it, did not count."""
        if self.reset is not None or (self.end is not None and end > self.end):
            self.end = self.reset = self.closing = None

    def unseen(self) -> int:
        """Return the number of missing bytes after ``next`` that a FIN, a RST or acknowledgments prove."""
        count = max(self.acknowledged, self.reset or 0) - self.next
        if self.end is not None:
            return max(self.end - self.next, count - 1, 0)  # a FIN counts as one more
        return count if count > 1 else 0  # a single one is a FIN that was not captured


class _Tracked:

    def __init__(self, connection: TcpConnection, first: Segment) -> None:
        self.connection = connection
        self.last = first
        self.directions = {connection.client: _HalfStream(), connection.server: _HalfStream()}
        self.is_ended = False

    @property
    def is_reset(self) -> bool:
        return any(each.reset is not None for each in self.directions.values())

    @property
    def is_closing(self) -> bool:
        return self.is_reset or all(each.end is not None for each in self.directions.values())

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
        self._tracked: OrderedDict[_Key, _Tracked] = OrderedDict()
        self._held = 0
        self._number = 0
        # Times of RSTs and last FINs of connections that have not ended.
        self._closing: OrderedDict[_Key, int | None] = OrderedDict()

    def add(self, segment: Segment) -> Iterator[TcpSegment | End]:
        source, target = segment.source, segment.target
        key = (source, target) if source < target else (target, source)
        yield from self._end_closed(segment.time_ns)
        tracked, continued = self._tracked.get(key), 0
        if tracked is not None and self._is_new(tracked, segment):
            continued = 0 if segment.flags & SYN else tracked.connection.number
            yield from self._end(key, "a new connection with the same ports")
            tracked = None
        if tracked is None:
            if not segment.flags & SYN and not segment.data and not segment.missing:
                return  # late segment of an ended connection, or a bare ACK
            tracked = self._begin(key, segment, continued)
            if len(self._tracked) > MOST_CONNECTIONS:
                self._report.count("connections dropped: too many at once")
                yield from self._end(next(iter(self._tracked)), "too many connections")
        self._tracked.move_to_end(key)
        yield from self._take(key, tracked, segment)

    def _is_new(self, tracked: _Tracked, segment: Segment) -> bool:
        """Check for a SYN of another connection, and for new data after the end of the connection."""
        direction = tracked.directions[segment.source]
        if not segment.flags & SYN:
            length = len(segment.data) + segment.missing
            if not length or segment.flags & RST or not tracked.is_closing:
                return False
            if direction.base is None:
                return tracked.is_ended
            start = direction.offset(segment.sequence)
            is_far = start < max(direction.next - LARGEST_WINDOW, 0)
            return is_far or (tracked.is_ended and start + length > direction.next)
        if direction.base is None:
            return tracked.is_ended or tracked.directions[tracked.other(segment.source)].reset is not None
        return (segment.sequence + 1 - direction.base) % (1 << 32) != 0

    def _begin(self, key: _Key, segment: Segment, continued: int) -> _Tracked:
        self._number += 1
        client, server = segment.source, segment.target
        if segment.flags & SYN and segment.acknowledged is not None:
            client, server = server, client
        tracked = _Tracked(TcpConnection(self._number, client, server, bool(segment.flags & SYN), continued), segment)
        self._tracked[key] = tracked
        self._report.count("connections")
        return tracked

    def _take(self, key: _Key, tracked: _Tracked, segment: Segment) -> Iterator[TcpSegment | End]:
        tracked.last = segment
        direction = tracked.directions[segment.source]
        other = tracked.directions[tracked.other(segment.source)]
        sequence = segment.sequence
        if segment.flags & SYN:
            sequence = (sequence + 1) % (1 << 32)
        if direction.base is None and not segment.flags & RST:
            direction.base = sequence
        start = 0 if direction.base is None else direction.offset(sequence)
        length = 0 if segment.flags & RST else len(segment.data) + segment.missing
        if start == 1 and length and not direction.next and not tracked.connection.is_whole:
            direction.base, start = sequence, 0  # the first segment was a keepalive, one byte before the next one
        if segment.flags & (FIN | RST):
            self._close(key, tracked, segment, start + length)
        if segment.acknowledged is not None and (not segment.flags & RST or direction.reset == start):
            if other.base is None and tracked.connection.is_whole:
                other.base = segment.acknowledged
            if other.base is not None:
                other.acknowledged = max(other.acknowledged, other.offset(segment.acknowledged))
        if length:
            if start + length > direction.next:
                direction.reopen(start + length)
            if start <= direction.next:
                yield from self._give(tracked, start, segment)
                yield from self._follow(tracked, segment.source)
            else:
                self._hold(direction, start, segment)
        if self._held:
            yield from self._give_up(tracked)
        if not tracked.is_reset and all(each.end == each.next for each in tracked.directions.values()):
            yield from self._end(key, "FIN", keep=True)

    def _close(self, key: _Key, tracked: _Tracked, segment: Segment, place: int) -> None:
        """Note a FIN or RST at an offset, unless it is outside the window."""
        direction = tracked.directions[segment.source]
        first = direction.acknowledged if segment.flags & RST else direction.next
        if not first <= place <= max(direction.next, direction.acknowledged) + LARGEST_WINDOW:
            return
        if segment.flags & RST:
            direction.reset = place
        else:
            direction.end = place
        direction.closing = direction.closing or segment[:2]
        if tracked.is_closing and not tracked.is_ended:
            self._closing.setdefault(key, segment.time_ns)

    def _end_closed(self, now: int | None) -> Iterator[TcpSegment | End]:
        """End the connections that were closed ``END_WAIT`` ago."""
        while self._closing:
            key, time = next(iter(self._closing.items()))
            if now is None or time is None or now - time < END_WAIT:
                return
            del self._closing[key]
            if self._tracked[key].is_closing:
                yield from self._end(key, "RST" if self._tracked[key].is_reset else "FIN", keep=True)

    def _hold(self, direction: _HalfStream, start: int, segment: Segment) -> None:
        length = len(segment.data) + segment.missing
        heappush(direction.held, (start, -length, segment))
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
            start, _, segment = direction.held[0]
            yield from self._miss(tracked, start - direction.next, segment)
            yield from self._follow(tracked, source)
        direction.waited = 0

    def _follow(self, tracked: _Tracked, source: SocketAddress) -> Iterator[TcpSegment]:
        direction = tracked.directions[source]
        while direction.held and direction.held[0][0] <= direction.next:
            start, _, segment = heappop(direction.held)
            direction.size -= len(segment.data) + 256
            self._held -= len(segment.data) + 256
            yield from self._give(tracked, start, segment)

    def _miss(self, tracked: _Tracked, missing: int, segment: Segment) -> Iterator[TcpSegment]:
        """Give missing bytes before a segment of the same sender."""
        if missing > 0:
            gap = segment._replace(data=b"", missing=missing)
            yield from self._give(tracked, tracked.directions[segment.source].next, gap)

    def _give(self, tracked: _Tracked, start: int, segment: Segment) -> Iterator[TcpSegment]:
        direction = tracked.directions[segment.source]
        data, missing = segment.data, segment.missing
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
        piece = TcpSegment(tracked.connection, segment.source, direction.next, data, missing, *segment[:2])
        direction.next += len(data) + missing
        yield piece

    def _end(self, key: _Key, reason: str, keep: bool = False) -> Iterator[TcpSegment | End]:
        tracked = self._tracked[key]
        if not keep:
            del self._tracked[key]
        if tracked.is_ended:
            return
        tracked.is_ended = True
        self._closing.pop(key, None)
        closings = ((*each.closing, source) for source, each in tracked.directions.items() if each.closing)
        packet, time, closed_by = min(closings, default=(0, None, None), key=lambda closing: closing[0])
        for source, direction in tracked.directions.items():
            yield from self._skip(tracked, source)
            yield from self._miss(tracked, direction.unseen(), tracked.last._replace(source=source))
        yield End(tracked.connection, reason, closed_by, packet, time)

    def finish(self) -> Iterator[TcpSegment | End]:
        for key in list(self._tracked):
            yield from self._end(key, "the end of the capture")
