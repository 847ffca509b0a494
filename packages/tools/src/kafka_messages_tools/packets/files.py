"""Reader for pcap and pcapng files of either byte order, optionally gzipped.

Formats: the IETF drafts ``draft-ietf-opsawg-pcap`` and ``draft-ietf-opsawg-pcapng``.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from struct import Struct
from struct import error as StructError
from typing import BinaryIO, NamedTuple, cast

from ..text import counted
from .report import CaptureError, CaptureReport

# The year 10000 in nanoseconds.
_LATEST = 253402300800_000_000_000
# Maximum size of a packet or block in bytes.
MOST_BYTES = 1 << 24
_GZIP = b"\x1f\x8b"


class Packet(NamedTuple):
    number: int
    """Packet number from 1, as in Wireshark."""
    time_ns: int | None
    """Nanoseconds since 1970 (UTC), or None."""
    link_type: int
    """Link type by the list of tcpdump.org (``LINKTYPE_ETHERNET`` is 1)."""
    data: bytes
    length: int
    """Original size in bytes; larger than ``data`` if the packet was truncated."""


class _Ended(Exception):
    """End of the readable packets; the message has the reason, and is empty at the regular end of the file."""


class _PeekableFile:

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ahead = b""

    def peek(self, size: int) -> bytes:
        self._ahead = self.read(max(size, len(self._ahead)))
        return self._ahead[:size]

    def read(self, size: int) -> bytes:
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        while len(data) < size and (more := self._file.read(size - len(data))):
            data += more  # a pipe may return fewer bytes than requested
        return data

    def exactly(self, size: int, what: str) -> bytes:
        data = self.read(size)
        if len(data) < size:
            raise _Ended(f"the file ends inside {what}: {size} bytes needed, {len(data)} left" if data else "")
        return data


def is_capture(start: bytes) -> bool:
    """Check whether a file that starts with these bytes (at least 4) is a capture file or gzipped."""
    return start[:2] == _GZIP or start[:4] in _PCAP or start[:4] == _SECTION


def read_packets(file: BinaryIO, report: CaptureReport | None = None) -> Iterator[Packet]:
    """Yield the packets of a binary file in order.

    Damage adds a remark to ``report``. The packets before the damage are yielded, and in pcapng also the packets after
    a damaged block of valid length. Raises CaptureError if the file is not a capture.
    """
    report = report or CaptureReport()
    source = _PeekableFile(file)
    if source.peek(2) == _GZIP:
        source = _PeekableFile(cast(BinaryIO, gzip.GzipFile(fileobj=cast(BinaryIO, source), mode="rb")))
    try:
        magic = source.peek(4)
    except (OSError, EOFError, zlib.error) as error:
        raise CaptureError(f"cannot decompress the gzip file: {error}") from None
    if magic in _PCAP:
        found = _pcap(source, report)
    elif magic == _SECTION:
        found = _pcapng(source, report)
    else:
        what = f"begins with {magic.hex(' ')}" if magic else "is empty"
        raise CaptureError(f"not a pcap or pcapng file: it {what}")
    try:
        for packet in found:
            report.count("packets")
            yield packet
    except _Ended as end:
        if str(end):
            report.remark(str(end))
    except (OSError, EOFError, zlib.error) as error:
        report.remark(f"after packet {report.counts['packets']}: the rest of the file cannot be read: {error}")


# By magic number of pcap files: byte order, nanoseconds per unit of the time fraction, and the number of further bytes in
# the header of a packet. The last two are Alexey Kuznetsov's variant of old Linux systems: interface, protocol, direction.
_PCAP = {
    bytes.fromhex("a1b2c3d4"): (">", 1000, 0),
    bytes.fromhex("d4c3b2a1"): ("<", 1000, 0),
    bytes.fromhex("a1b23c4d"): (">", 1, 0),
    bytes.fromhex("4d3cb2a1"): ("<", 1, 0),
    bytes.fromhex("a1b2cd34"): (">", 1000, 8),
    bytes.fromhex("34cdb2a1"): ("<", 1000, 8),
}


def _pcap(source: _PeekableFile, report: CaptureReport) -> Iterator[Packet]:
    order, unit, more = _PCAP[source.peek(4)]
    header = Struct(f"{order}IHHiIII").unpack(source.exactly(24, "its header"))
    link_type = header[6] & 0x0FFFFFFF  # the upper bits are the length of the frame check sequence
    record = Struct(f"{order}IIII{more}x")
    number = 0
    while True:
        number += 1
        seconds, fraction, captured, length = record.unpack(
            source.exactly(record.size, f"the header of packet {number}")
        )
        if captured > MOST_BYTES:
            raise _Ended(f"packet {number} has an invalid length of {captured} bytes; the rest of the file is ignored")
        data = source.exactly(captured, f"packet {number}") if captured else b""
        yield Packet(number, seconds * 1_000_000_000 + fraction * unit, link_type, data, max(length, captured))


_SECTION = bytes.fromhex("0a0d0d0a")
_ORDERS = {bytes.fromhex("1a2b3c4d"): ">", bytes.fromhex("4d3c2b1a"): "<"}
_SECTION_HEADER, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _STATISTICS, _ENHANCED_PACKET = 0x0A0D0D0A, 1, 2, 3, 5, 6
_TIME_RESOLUTION, _TIME_OFFSET, _DROPPED = 9, 14, (5, 7)


class _Interface(NamedTuple):

    link_type: int
    # 0: no limit.
    snap_length: int
    # Time units per second.
    units: int
    # Seconds to add to timestamps.
    offset: int

    def time_ns(self, high: int, low: int) -> int | None:
        """Return a time, or None outside of the years 1970 to 9999, after a wrong resolution or offset."""
        time_ns = (high << 32 | low) * 1_000_000_000 // self.units + self.offset * 1_000_000_000
        return time_ns if 0 <= time_ns < _LATEST else None


def _pcapng(source: _PeekableFile, report: CaptureReport) -> Iterator[Packet]:
    section = _PcapngSection(">", report)
    number = 0
    blocks = 0
    while True:
        blocks += 1
        what = f"block {blocks}"
        start = source.exactly(8, f"the header of {what}")
        if start[:4] == _SECTION:
            magic = source.exactly(4, what)
            if magic not in _ORDERS:
                raise _Ended(f"{what}, a section header, has no valid byte order; the rest of the file is ignored")
            section = _PcapngSection(_ORDERS[magic], report)
            start += magic
        kind, length = section.head.unpack_from(start)
        if length < len(start) + 4 or length % 4 or length > MOST_BYTES:
            raise _Ended(f"{what} has an invalid length of {length} bytes; the rest of the file is ignored")
        body = source.exactly(length - len(start), what)[:-4]
        try:
            packet = section.packet(what, kind, body, number + 1)
        except (StructError, IndexError) as error:
            number += kind in (_OLD_PACKET, _SIMPLE_PACKET, _ENHANCED_PACKET)
            section.interfaces += [None] * (kind == _INTERFACE)
            reason = f"its {len(body)} bytes are too few" if isinstance(error, StructError) else error
            report.remark(f"{what} is damaged and ignored: {reason}")
            continue
        if packet is not None:
            number += 1
            yield packet


class _PcapngSection:

    def __init__(self, order: str, report: CaptureReport) -> None:
        self.head = Struct(f"{order}II")
        self._order = order
        self.interfaces: list[_Interface | None] = []
        self._report = report
        self._packets = {_ENHANCED_PACKET: Struct(f"{order}IIIII"), _OLD_PACKET: Struct(f"{order}H2xIIII")}

    def packet(self, what: str, kind: int, body: bytes, number: int) -> Packet | None:
        if kind in self._packets:
            where, high, low, captured, length = self._packets[kind].unpack_from(body)
            return self._made(number, where, (high, low), body[20 : 20 + captured], captured, length)
        if kind == _SIMPLE_PACKET:
            (length,) = Struct(f"{self._order}I").unpack_from(body)
            captured = min(length, self._interface(0).snap_length or length, len(body) - 4)
            return self._made(number, 0, None, body[4 : 4 + captured], captured, length)
        if kind == _INTERFACE:
            self.interfaces.append(self._described(what, body))
        elif kind == _STATISTICS and (dropped := sum(self._option(what, body, 12, code, "Q", 0) for code in _DROPPED)):
            self._report.remark(f"packets lost according to the capture: {dropped}")
            self._report.count_unread("packets lost by the capture", dropped)
        return None

    def _made(
        self, number: int, where: int, time: tuple[int, int] | None, data: bytes, captured: int, length: int
    ) -> Packet:
        if len(data) < captured:
            raise IndexError(f"expected a packet of {captured} bytes, got {len(data)}")
        interface = self._interface(where)
        at = None if time is None else interface.time_ns(*time)
        return Packet(number, at, interface.link_type, data, max(length, captured))

    def _interface(self, number: int) -> _Interface:
        if number >= len(self.interfaces):
            described = counted(len(self.interfaces), "described interface")
            raise IndexError(f"packet refers to interface {number}, but the section has only {described}")
        interface = self.interfaces[number]
        if interface is None:
            raise IndexError(f"packet refers to interface {number}, whose description is damaged")
        return interface

    def _described(self, what: str, body: bytes) -> _Interface:
        link_type, _, snap_length = Struct(f"{self._order}HHI").unpack_from(body)
        resolution = self._option(what, body, 8, _TIME_RESOLUTION, "B", 6)
        units = 1 << (resolution & 0x7F) if resolution & 0x80 else 10**resolution
        return _Interface(link_type, snap_length, units, self._option(what, body, 8, _TIME_OFFSET, "q", 0))

    def _option(self, what: str, body: bytes, at: int, wanted: int, form: str, default: int) -> int:
        """Return the number in an option of a block. An option of another length is reported and ignored."""
        head, value = Struct(f"{self._order}HH"), Struct(f"{self._order}{form}")
        while at + 4 <= len(body):
            code, size = head.unpack_from(body, at)
            if code == 0:
                break
            if code == wanted and size == value.size and at + 4 + size <= len(body):
                default = value.unpack_from(body, at + 4)[0]
            elif code == wanted:
                self._report.remark(f"{what}: option {code} has {counted(size, 'byte')}, expected {value.size}")
            at += 4 + (size + 3 & ~3)
        return default
