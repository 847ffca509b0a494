"""Kafka frames in TCP streams: the bytes of requests and responses.

Kafka connections have a given server port or, without given ports, begin with a request. If the beginning was not
captured, both directions are searched for a request. If the start of a frame was not captured, the next frame is
searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator
from struct import Struct
from typing import NamedTuple

from ..package import DEFAULT, Package
from ..packets.report import CaptureReport
from ..packets.segments import SocketAddress
from . import plausible
from .client_detection import ClientDetector, NotKafka, other_traffic
from .frame_search import Budget, Expected, FrameSearch
from .plausible import Plausibility
from .reassembly import End, TcpConnection, TcpSegment

# Default maximum number of bytes kept per frame: the default request limit of brokers.
MOST_KEPT = 100 << 20
# Maximum bytes of incomplete frames, and of connections whose client is unknown, over all connections.
MOST_KEPT_OF_ALL = 512 << 20
# Maximum bytes kept of a frame while ``MOST_KEPT_OF_ALL`` is exceeded.
LEAST_KEPT = 64 << 10
# Maximum number of pending correlation ids per connection.
MOST_EXPECTED = 4096
# Maximum frame size.
LARGEST = 1 << 30
# Number of bytes with an invalid length after which they are skipped, if they are not of a known protocol.
MOST_UNNAMED = 32
_size = Struct(">i")
# API key, API version and correlation id.
_essential = Struct(">hhi")


class Frame(NamedTuple):
    """A captured request or response, without its size prefix."""

    connection: TcpConnection
    is_request: bool
    source: SocketAddress
    offset: int
    """Offset of the size prefix in the stream."""
    size: int
    """Size of the frame in bytes."""
    data: bytes
    """Bytes of the frame up to the first gap, at most ``most_kept``."""
    first_packet: int
    packet: int
    """Number of the packet that ended the frame; of its first packet if the connection ended within the frame."""
    time_ns: int | None

    def __repr__(self) -> str:  # without ``data``, which may have secrets
        return f"<Frame of {self.size} bytes, packets {self.first_packet} to {self.packet}>"

    @property
    def missing(self) -> int:
        """Number of bytes missing from ``data``."""
        return self.size - len(self.data)


def frames(
    pieces: Iterable[TcpSegment | End],
    ports: Collection[int] = (),
    report: CaptureReport | None = None,
    *,
    most_kept: int = MOST_KEPT,
    package: str | Package = DEFAULT,
) -> Iterator[Frame | End]:
    """Yield the frames of Kafka connections as they complete, and the ends of these connections.

    ``ports`` are the ports of brokers; if empty, Kafka connections are detected. At most ``most_kept`` bytes are kept per
    frame. Other connections and skipped bytes are counted in ``report``.
    """
    report = report or CaptureReport()
    kafka_streams: dict[int, _KafkaStream] = {}
    budget = Budget(most_kept, MOST_KEPT_OF_ALL)
    plausibility = Plausibility(package)
    for piece in pieces:
        connection = piece.connection
        stream = kafka_streams.get(connection.number)
        if stream is None:
            if isinstance(piece, End):
                continue
            stream = kafka_streams[connection.number] = _KafkaStream(connection, ports, report, budget, plausibility)
        if isinstance(piece, End):
            yield from stream.end()
            del kafka_streams[connection.number]
            if stream.framers:
                client, server = stream.framers
                report.unread += piece.reason == "too many connections"
                known = connection._replace(client=client, server=server)
                yield piece._replace(connection=known, missing=stream.framers[server].missing)
        else:
            yield from stream.feed(piece)


class _KafkaStream:
    def __init__(
        self,
        connection: TcpConnection,
        ports: Collection[int],
        report: CaptureReport,
        budget: Budget,
        plausibility: Plausibility,
    ) -> None:
        self.plausibility = plausibility
        self.connection = connection
        self._is_other = False
        self.report = report
        self.budget = budget
        self._detector = ClientDetector(connection, ports, plausibility, budget)
        # Empty until the Kafka client is known.
        self.framers: dict[SocketAddress, _Framer] = {}
        # API key and version of pending requests by correlation id.
        self.expected: Expected = Expected()
        # Counted in the report, and taken back if the connection turns out to be of another protocol.
        self._unread: Counter[str] = Counter()
        self.missing = 0

    def feed(self, piece: TcpSegment) -> Iterator[Frame]:
        if self._is_other:
            self.report.count("bytes of other connections", len(piece.data))
            return
        try:
            if self.framers:
                yield from self._framed(piece)
            elif (client := self._detector.add(piece)) is not None:
                yield from self._begin(client)
        except NotKafka as reason:
            self._ignore_connection(str(reason))

    def end(self) -> Iterator[Frame]:
        if self._is_other:
            return
        try:
            if not self.framers and (client := self._detector.at_end()) is not None:
                yield from self._begin(client)
            for framer in self.framers.values():
                yield from framer.end()
        except NotKafka as reason:
            self._ignore_connection(str(reason))
        if self._detector.pieces:
            self.report.unread += self._detector.missing
            self._ignore_connection(self._detector.other_traffic)

    def _begin(self, client: SocketAddress) -> Iterator[Frame]:
        connection = self.connection
        self.report.count("connections of Kafka")
        if connection.continued:
            self.count_unread("connections that go on after their end")
        server = connection.server if client == connection.client else connection.client
        for source, is_request in ((client, True), (server, False)):
            self.framers[source] = _Framer(self, source, is_request)
        for piece in self._detector.release():
            yield from self.feed(piece)

    def _ignore_connection(self, what: str) -> None:
        self._is_other = True
        self.report.count(what)
        if self.framers:
            self.report.count("connections of Kafka", -1)
        elif self.budget.is_exceeded:
            self.report.count_unread("connections dropped: too many bytes before a request")
        left = sum(len(piece.data) for piece in self._detector.release())
        left += sum(framer.drop() for framer in self.framers.values())
        self.report.count("bytes of other connections", left)
        self.report.unread -= self.missing
        for name, count in self._unread.items():
            self.report.count_unread(name, -count)

    def count_unread(self, what: str, number: int = 1) -> None:
        self._unread[what] += number
        self.report.count_unread(what, number)

    def _framed(self, piece: TcpSegment) -> Iterator[Frame]:
        for frame in self.framers[piece.source].feed(piece):
            if frame.is_request:
                self._expect(frame.data)
            yield frame

    def _expect(self, payload: bytes) -> None:
        if len(payload) >= 8:
            key, version, correlation_id = _essential.unpack_from(payload)
            self.expected[correlation_id] = key, version
            if len(self.expected) > MOST_EXPECTED:
                self.expected.popitem(last=False)


class _Framer:
    def __init__(self, stream: _KafkaStream, source: SocketAddress, is_request: bool) -> None:
        self._stream = stream
        self._source = source
        self._is_request = is_request
        self._report = stream.report
        self._budget = stream.budget
        self._search = FrameSearch(stream.plausibility, is_request, stream.expected)
        # Starts with a frame size unless `_is_lost`.
        self._buffer = bytearray()
        # Stream offset of the buffer.
        self._offset = 0
        # True if the next frame boundary is unknown.
        self._is_lost = not stream.connection.is_whole
        # Number of bytes missing since the last frame.
        self.missing = 0
        # Partially kept frame: offset, size, data, first packet.
        self._damaged: tuple[int, int, bytes, int] | None = None
        # Remaining bytes of that frame to skip.
        self._skip = 0
        # Packet of the first byte in the buffer.
        self._first = 0

    def feed(self, piece: TcpSegment) -> Iterator[Frame]:
        data = piece.data
        if self._skip:
            data = yield from self._skipped(data, len(data), piece)
        if data:
            self._first = self._first if self._buffer else piece.packet
            self._search.add(self._offset + len(self._buffer), len(data), self._is_lost)
            self._buffer += data
            self._budget.used += len(data)
            yield from self._cut(piece)
        if piece.missing:
            yield from self._hole(piece)

    def end(self) -> Iterator[Frame]:
        yield from self._cut(None)
        left = len(self._buffer)
        if self._damaged is not None:
            yield self._given(self._damaged[3], None)
        elif left >= 4 and not self._is_lost:
            (size,) = _size.unpack_from(self._buffer)
            if why := self._invalid(size):
                self._remark(why)
            else:
                yield self._frame(self._offset, size, bytes(self._buffer[4:]), self._first, self._first, None)
                self._drop(left)
        self._skip_bytes(len(self._buffer))

    def drop(self) -> int:
        """Drop the incomplete frame, and return the number of its bytes."""
        before = self._budget.used
        if self._damaged is not None:
            self._given(0, None)
        self._drop(len(self._buffer))
        return before - self._budget.used

    def _skip_bytes(self, count: int) -> None:
        if count:
            which = "requests" if self._is_request else "responses"
            self._stream.count_unread(f"bytes of {which} not understood", count)
            self._drop(count)

    def _frame(self, offset: int, size: int, data: bytes, first: int, packet: int, time: int | None) -> Frame:
        return Frame(self._stream.connection, self._is_request, self._source, offset, size, data, first, packet, time)

    def _given(self, packet: int, time: int | None) -> Frame:
        assert self._damaged is not None
        offset, size, data, first = self._damaged
        self._damaged = None
        self.missing = 0 if len(data) >= 4 else size - len(data)  # without its correlation id, it answers no request
        self._budget.used -= len(data)
        return self._frame(offset, size, data, first, packet, time)

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self._budget.used -= count
        self._offset += count

    def _cut(self, piece: TcpSegment | None) -> Iterator[Frame]:
        """Yield the frames that a piece completes; None: the bytes after the buffer are missing."""
        while True:
            is_found = self._is_lost and self._find(piece is None)
            if self._is_lost or len(self._buffer) < 4:
                return
            (size,) = _size.unpack_from(self._buffer)
            if not is_found and self._is_doubtful(size):
                if len(self._buffer) < MOST_UNNAMED and not 0 <= size <= plausible.LONGEST_REQUEST:
                    return  # more bytes, or the end, will show what it is
                if why := self._invalid(size):
                    self._remark(f"{why}; searching for the next one")
                    self._skip_bytes(1)
                    self._is_lost = True
                    continue
            end = size + 4
            if end > len(self._buffer):
                break
            at = (self._first, None) if piece is None else (piece.packet, piece.time_ns)
            yield self._frame(self._offset, size, bytes(self._buffer[4:end]), self._first, *at)
            self._drop(end)
            self._first = at[0]
            self.missing = 0
        if len(self._buffer) > self._budget.most_kept or self._budget.is_exceeded:
            self._stream.count_unread("frames too large to keep")
            self._keep_start(size)

    def _find(self, is_last: bool) -> bool:
        """Skip the bytes before the next frame, and return whether there is one."""
        before, is_found = self._search.find(self._buffer, self._offset, is_last or self._budget.is_exceeded)
        self._skip_bytes(before)
        self._is_lost = not is_found
        return is_found

    def _is_doubtful(self, size: int) -> bool:
        """Check whether the frame may be of another protocol: it is the first, very long, or a response to nothing."""
        is_first_or_response = not self._offset if self._is_request else bool(self._stream.expected)
        return is_first_or_response or not 0 <= size <= plausible.LONGEST_REQUEST

    def _invalid(self, size: int) -> str:
        """Return why the buffer does not start with a frame, or "". Raises NotKafka if the stream does not either."""
        why = "" if 0 <= size <= LARGEST else f"has an invalid length of {size} bytes"
        looks_like = self._stream.plausibility.other_protocol(self._buffer)
        if looks_like is None or self._search.is_known(self._buffer):
            return why
        why = why or ("is not a known request" if self._is_request else "matches no request")
        why = f"{why}; this looks like {looks_like}"
        if self._offset:
            return why
        if self._stream.expected:
            self._remark(why)
        raise NotKafka(other_traffic(looks_like))

    def _remark(self, why: str) -> None:
        which = "request" if self._is_request else "response"
        self._report.remark(f"connection {self._stream.connection.number}: the {which} at offset {self._offset} {why}")

    def _keep_start(self, size: int) -> None:
        there = len(self._buffer)
        most = LEAST_KEPT if self._budget.is_exceeded else self._budget.most_kept
        kept = bytes(self._buffer[4 : 4 + most])
        self._damaged = self._offset, size, kept, self._first
        self._skip = size + 4 - there
        self._drop(there)
        self._budget.used += len(kept)
        self._offset += self._skip

    def _skipped(self, data: bytes, length: int, piece: TcpSegment) -> Generator[Frame, None, bytes]:
        count = min(self._skip, length)
        self._skip -= count
        if not self._skip and self._damaged is not None:
            yield self._given(piece.packet, piece.time_ns)
        return data[count:]

    def _hole(self, piece: TcpSegment) -> Iterator[Frame]:
        missing = piece.missing
        yield from self._cut(None)
        if not self._skip and not self._is_lost and len(self._buffer) >= 4:
            (size,) = _size.unpack_from(self._buffer)
            if why := self._invalid(size):
                self._remark(why)
            else:
                self._keep_start(size)
        if self._skip:
            before = self._skip
            yield from self._skipped(b"", missing, piece)
            missing -= min(before, missing)
        self._stream.missing += piece.missing
        self._report.unread += piece.missing
        if missing:
            self._skip_bytes(len(self._buffer))
            self._offset += missing
            self.missing += missing
            self._is_lost = True
