"""Kafka frames in TCP streams: the bytes of requests and responses.

Kafka connections have a given server port or, without given ports, begin with a request. If the beginning was not
captured, both directions are searched for a request. If the start of a frame was not captured, the next frame is
searched: only bytes that decode completely are accepted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from struct import Struct
from typing import NamedTuple

from ..package import DEFAULT, Package
from . import plausible
from .client_detection import ClientDetector, NotKafka
from .network import SocketAddress
from .plausible import Plausibility
from .reassembly import End, TcpConnection, TcpSegment
from .report import CaptureReport

# Default maximum number of bytes kept per frame: the default request limit of brokers.
MOST_KEPT = 100 << 20
# Maximum bytes of incomplete frames over all connections.
MOST_KEPT_OF_ALL = 512 << 20
# Maximum bytes kept of a frame while ``MOST_KEPT_OF_ALL`` is exceeded.
LEAST_KEPT = 64 << 10
# Maximum frame size accepted during resynchronization.
MOST_UNSURE = 1 << 20
# Maximum number of pending correlation ids per connection.
MOST_EXPECTED = 4096
# Maximum frame size.
LARGEST = 1 << 30
_size = Struct(">i")


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
    budget = _Budget(most_kept)
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
            if stream.is_kafka:
                yield piece
        else:
            yield from stream.feed(piece)


class _Budget:

    def __init__(self, most_kept: int) -> None:
        self.most_kept = most_kept
        self.used = 0


class _KafkaStream:
    def __init__(
        self,
        connection: TcpConnection,
        ports: Collection[int],
        report: CaptureReport,
        budget: _Budget,
        plausibility: Plausibility,
    ) -> None:
        self._plausibility = plausibility
        self.connection = connection
        self.is_kafka = False
        self._is_other = False
        self._report = report
        self._budget = budget
        self._detector = ClientDetector(connection, ports, plausibility)
        self._framers: dict[SocketAddress, _Framer] = {}
        # API key and version of pending requests by correlation id.
        self._expected: OrderedDict[int, tuple[int, int]] = OrderedDict()

    def feed(self, piece: TcpSegment) -> Iterator[Frame]:
        if self.is_kafka:
            yield from self._framed(piece)
        elif self._is_other:
            self._report.count("bytes of other connections", len(piece.data))
        else:
            try:
                client = self._detector.add(piece)
            except NotKafka as reason:
                self._ignore_connection(str(reason))
            else:
                yield from () if client is None else self._begin(client)

    def end(self) -> Iterator[Frame]:
        if self.is_kafka:
            for framer in self._framers.values():
                yield from framer.end()
        elif not self._is_other and self._detector.pieces:
            self._ignore_connection(self._detector.other_traffic)

    def _begin(self, client: SocketAddress) -> Iterator[Frame]:
        connection = self.connection
        self.is_kafka = True
        self._report.count("connections of Kafka")
        server = connection.server if client == connection.client else connection.client
        for source, is_request in ((client, True), (server, False)):
            find, check = (
                (self._find_request, self._plausibility.is_request)
                if is_request
                else (self._find_response, self._check)
            )
            self._framers[source] = _Framer(self, source, is_request, find, check, self._report, self._budget)
        pieces, self._detector.pieces = self._detector.pieces, []
        for piece in pieces:
            yield from self._framed(piece)

    def _ignore_connection(self, what: str) -> None:
        self._is_other = True
        self._report.count(what)
        self._report.count("bytes of other connections", sum(len(piece.data) for piece in self._detector.pieces))
        self._detector.pieces.clear()

    def _framed(self, piece: TcpSegment) -> Iterator[Frame]:
        for frame in self._framers[piece.source].feed(piece):
            if frame.is_request:
                self._expect(frame.data)
            yield frame

    def _expect(self, payload: bytes) -> None:
        if len(payload) >= 8:
            key, version = int.from_bytes(payload[:2], "big", signed=True), int.from_bytes(
                payload[2:4], "big", signed=True
            )
            self._expected[int.from_bytes(payload[4:8], "big", signed=True)] = key, version
            if len(self._expected) > MOST_EXPECTED:
                self._expected.popitem(last=False)

    def _find_request(self, data: bytearray, start: int) -> int:
        return self._plausibility.find_request(data, start)

    def _find_response(self, data: bytearray, start: int) -> int:
        return plausible.find_response(data, list(self._expected)[-64:], start)

    def _check(self, payload: bytes) -> bool:
        return self._plausibility.is_response(payload, self._expected)


Find = Callable[[bytearray, int], int]
Check = Callable[[bytes], bool]


class _Framer:
    def __init__(
        self,
        stream: _KafkaStream,
        source: SocketAddress,
        is_request: bool,
        find: Find,
        check: Check,
        report: CaptureReport,
        budget: _Budget,
    ) -> None:
        self._stream = stream
        self._source = source
        self._is_request = is_request
        self._find = find
        self._check = check
        self._report = report
        self._budget = budget
        # Starts with a frame size unless `_is_lost`.
        self._buffer = bytearray()
        # Stream offset of the buffer.
        self._offset = 0
        # True if the next frame boundary is unknown.
        self._is_lost = not stream.connection.is_whole
        # Buffer position up to which the search is done.
        self._looked = 0
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
            self._buffer += data
            self._budget.used += len(data)
            yield from self._cut(piece)
        if piece.missing:
            yield from self._hole(piece)

    def end(self) -> Iterator[Frame]:
        left = len(self._buffer)
        if self._damaged is not None:
            yield self._given(self._damaged[3], None)
        elif left >= 4 and not self._is_lost:
            (size,) = _size.unpack_from(self._buffer)
            yield self._frame(self._offset, size, bytes(self._buffer[4:]), self._first, self._first, None)
        elif left:
            self._report.count(self._what("not understood"), left)
        self._drop(left)

    def _what(self, what: str) -> str:
        return f"bytes of {'requests' if self._is_request else 'responses'} {what}"

    def _frame(self, offset: int, size: int, data: bytes, first: int, packet: int, time: int | None) -> Frame:
        return Frame(self._stream.connection, self._is_request, self._source, offset, size, data, first, packet, time)

    def _given(self, packet: int, time: int | None) -> Frame:
        assert self._damaged is not None
        offset, size, data, first = self._damaged
        self._damaged = None
        self._budget.used -= len(data)
        return self._frame(offset, size, data, first, packet, time)

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self._budget.used -= count
        self._offset += count

    def _cut(self, piece: TcpSegment) -> Iterator[Frame]:
        while True:
            if self._is_lost and not self._search():
                return
            if len(self._buffer) < 4:
                return
            (size,) = _size.unpack_from(self._buffer)
            if not 0 <= size <= LARGEST:
                self._resynchronize(1, f"has an invalid length of {size} bytes")
                continue
            end = size + 4
            if end <= len(self._buffer):
                with memoryview(self._buffer) as view, view[4:end] as part:
                    payload = bytes(part)
                if self._is_lost and not self._check(payload):
                    self._looked = 1
                    continue
                self._is_lost = False
                yield self._frame(self._offset, size, payload, self._first, piece.packet, piece.time_ns)
                self._drop(end)
                self._first = piece.packet
            elif self._is_lost:
                return  # the candidate is incomplete
            elif len(self._buffer) > self._budget.most_kept or self._budget.used > MOST_KEPT_OF_ALL:
                self._report.count("frames too large to keep")
                self._keep_start(size)
                return
            else:
                return

    def _search(self) -> bool:
        while True:
            found = self._find(self._buffer, self._looked)
            whole = found + (plausible.START if self._is_request else 8) <= len(self._buffer)
            if found:
                self._report.count(self._what("not understood"), found)
                self._drop(found)
            self._looked = 0
            if not whole:
                return False
            if _size.unpack_from(self._buffer)[0] <= MOST_UNSURE:
                return True
            self._looked = 1

    def _resynchronize(self, count: int, why: str) -> None:
        which = "request" if self._is_request else "response"
        where = f"connection {self._stream.connection.number}: the {which} at offset {self._offset}"
        self._report.remark(f"{where} {why}; searching for the next one")
        self._is_lost, self._looked = True, count

    def _keep_start(self, size: int) -> None:
        there = len(self._buffer)
        most = self._budget.most_kept if self._budget.used <= MOST_KEPT_OF_ALL else LEAST_KEPT
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
        if not self._skip and not self._is_lost and len(self._buffer) >= 4:
            self._keep_start(_size.unpack_from(self._buffer)[0])
        if self._skip:
            before = self._skip
            yield from self._skipped(b"", missing, piece)
            missing -= min(before, missing)
        if missing:
            left = len(self._buffer)
            if left:
                self._report.count(self._what("not understood"), left)
            self._drop(left)
            self._offset += missing
            self._is_lost, self._looked = True, 0
