"""TCP segments from packets: link layers, VLAN tags, IPv4 and IPv6 with fragments and extension headers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from socket import AF_INET, AF_INET6, inet_ntop
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from .files import Packet
from .report import CaptureReport

# Maximum number of incomplete datagrams.
MOST_FRAGMENTED = 1024

FIN, SYN, RST, ACK = 1, 2, 4, 16


class SocketAddress(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Segment(NamedTuple):
    packet: int
    """Packet number; for fragments, the packet that completed the datagram."""
    time_ns: int | None
    source: SocketAddress
    target: SocketAddress
    sequence: int
    acknowledged: int | None
    """Acknowledgment number; None without ACK."""
    flags: int
    """TCP flags: ``FIN``, ``SYN``, ``RST``, ``ACK``."""
    data: bytes
    """Captured payload."""
    missing: int
    """Number of payload bytes truncated by the capture."""


class _Skipped(Exception):
    """Packet without a readable TCP segment; the message is the name of the counter for such packets."""


def segments(packets: Iterable[Packet], report: CaptureReport | None = None) -> Iterator[Segment]:
    """Yield the TCP segments of packets in order. Other packets are counted in ``report`` by reason."""
    report = report or CaptureReport()
    fragments = _Fragments(report)
    for packet in packets:
        try:
            segment = _segment(packet, fragments)
        except _Skipped as skipped:
            report.count(str(skipped))
        except (IndexError, StructError):
            report.count("packets truncated within their headers")
        else:
            report.count("segments")
            if segment.missing:
                report.count("bytes truncated by the snapshot length", segment.missing)
            yield segment
    fragments.give_up()


def _segment(packet: Packet, fragments: _Fragments) -> Segment:
    start = _LINKS.get(packet.link_type)
    if start is None:
        raise _Skipped(f"packets of link type {packet.link_type}, which is not supported")
    data = packet.data[start(packet.data) :]
    cut = packet.length - len(packet.data)
    first = data[0] >> 4
    if first == 4:
        return _ipv4(packet, data, cut, fragments)
    if first == 6:
        return _ipv6(packet, data, cut, fragments)
    raise _Skipped("packets other than IP")


# Functions by link type that return the position of the IP packet.

_IP = frozenset((0x0800, 0x86DD))
_VLAN = frozenset((0x8100, 0x88A8, 0x9100))


def _tagged(data: bytes, at: int) -> int:
    protocol = data[at] << 8 | data[at + 1]
    while protocol in _VLAN:
        at += 4
        protocol = data[at] << 8 | data[at + 1]
    if protocol not in _IP:
        raise _Skipped("packets other than IP")
    return at + 2


def _ethernet(data: bytes) -> int:
    return _tagged(data, 12)


def _cooked(data: bytes) -> int:
    return _tagged(data, 14)


def _cooked_2(data: bytes) -> int:
    at, protocol = 20, data[0] << 8 | data[1]
    while protocol in _VLAN:
        protocol = data[at + 2] << 8 | data[at + 3]
        at += 4
    if protocol not in _IP:
        raise _Skipped("packets other than IP")
    return at


_LINKS = {
    0: lambda data: 4,  # NULL: 4 bytes of address family, which depend on the capturing system
    1: _ethernet,
    12: lambda data: 0,  # RAW on some systems
    14: lambda data: 0,
    101: lambda data: 0,  # RAW
    108: lambda data: 4,  # LOOP
    113: _cooked,  # LINUX_SLL
    228: lambda data: 0,  # IPV4
    229: lambda data: 0,  # IPV6
    276: _cooked_2,  # LINUX_SLL2
}

_TCP = 6
_V4 = Struct(">BBHHHBBH4s4s")
_V6 = Struct(">IHBB16s16s")


def _ipv4(packet: Packet, data: bytes, cut: int, fragments: _Fragments) -> Segment:
    first, _, total, identity, fragment, _, protocol, _, source, target = _V4.unpack_from(data)
    start = (first & 15) * 4
    if start < 20 or (total and total < start):
        raise _Skipped("packets with an invalid IP header")
    if protocol != _TCP:
        raise _Skipped("packets other than TCP")
    # The total length is 0 with segmentation offload.
    length = (total or len(data) + cut) - start
    payload = data[start : start + length]
    if fragment & 0x3FFF:
        place, more = (fragment & 0x1FFF) * 8, bool(fragment & 0x2000)
        payload, length = fragments.add((source, target, identity), place, payload, length, more)
    return _tcp(packet, _v4_text(source), _v4_text(target), payload, length)


# Extension headers: next header, then length in units of 8 bytes without the first 8.
_EXTENSIONS = frozenset((0, 43, 60, 135, 139, 140))
_FRAGMENT, _AUTHENTICATION = 44, 51


def _ipv6(packet: Packet, data: bytes, cut: int, fragments: _Fragments) -> Segment:
    _, total, kind, _, source, target = _V6.unpack_from(data)
    length = total or len(data) + cut - 40  # 0 for jumbograms or segmentation offload
    payload = data[40 : 40 + length]
    while kind != _TCP:
        if kind in _EXTENSIONS:
            size = payload[1] * 8 + 8
        elif kind == _AUTHENTICATION:
            size = payload[1] * 4 + 8
        elif kind == _FRAGMENT:
            place, identity = int.from_bytes(payload[2:4], "big"), payload[4:8]
            kind = payload[0]
            rest, size = payload[8:], length - 8
            if place & 0xFFF9:
                key = (source, target, identity)
                rest, size = fragments.add(key, place & 0xFFF8, rest, size, bool(place & 1))
            payload, length = rest, size
            continue
        else:
            raise _Skipped("packets other than TCP")
        kind, payload, length = payload[0], payload[size:], length - size
        if not payload:
            raise _Skipped("packets truncated within their headers")
    return _tcp(packet, _v6_text(source), _v6_text(target), payload, length)


@lru_cache(4096)
def _v4_text(address: bytes) -> str:
    return inet_ntop(AF_INET, address)


@lru_cache(4096)
def _v6_text(address: bytes) -> str:
    return inet_ntop(AF_INET6, address)


_PORTS = Struct(">HHIIBB")


def _tcp(packet: Packet, source: str, target: str, payload: bytes, length: int) -> Segment:
    sender, receiver, sequence, acknowledged, offset, flags = _PORTS.unpack_from(payload)
    start = (offset >> 4) * 4
    if start < 20 or start > length:
        raise _Skipped("packets with an invalid TCP header")
    data = payload[start:length]
    return Segment(
        packet.number,
        packet.time_ns,
        SocketAddress(source, sender),
        SocketAddress(target, receiver),
        sequence,
        acknowledged if flags & ACK else None,
        flags,
        data,
        length - start - len(data),
    )


class _Datagram:

    def __init__(self) -> None:
        self.parts: dict[int, tuple[bytes, int]] = {}
        self.length: int | None = None

    def whole(self) -> tuple[bytes, int] | None:
        if self.length is None:
            return None
        data = bytearray()
        end, is_cut = 0, False
        for place in sorted(self.parts):
            part, length = self.parts[place]
            if place > end:
                return None
            if not is_cut and place + length > end:
                data += part[end - place :]
                is_cut = len(part) < length
            end = max(end, place + length)
        return (bytes(data[: self.length]), self.length) if end >= self.length else None


class _Fragments:

    def __init__(self, report: CaptureReport) -> None:
        self._waiting: OrderedDict[tuple[object, ...], _Datagram] = OrderedDict()
        self._report = report

    def add(self, key: tuple[object, ...], place: int, data: bytes, length: int, more: bool) -> tuple[bytes, int]:
        datagram = self._waiting.setdefault(key, _Datagram())
        if place + length > 0xFFFF:
            raise _Skipped("fragments beyond the end of a datagram")
        datagram.parts.setdefault(place, (data, length))
        if not more:
            datagram.length = place + length
        whole = datagram.whole()
        if whole is not None:
            del self._waiting[key]
            self._report.count("datagrams reassembled from fragments")
            return whole
        if len(self._waiting) > MOST_FRAGMENTED:
            self._waiting.popitem(last=False)
            self._report.count("datagrams with missing fragments")
        raise _Skipped("fragments")

    def give_up(self) -> None:
        if self._waiting:
            self._report.count("datagrams with missing fragments", len(self._waiting))
