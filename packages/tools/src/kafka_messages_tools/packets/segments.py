"""TCP segments from packets, also in tunnels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from socket import AF_INET, AF_INET6, inet_ntop
from struct import error as StructError
from typing import NamedTuple

from . import headers
from .files import Packet
from .headers import ETHERTYPE, LINK, PROTOCOL, Headers, Layer, Reader, Skipped, Unread
from .ip import InternetProtocol
from .links import LINKS
from .report import CaptureReport
from .tunnels import TUNNELS

# Maximum number of headers of a packet, and of names of counters.
MOST_HEADERS = 64
MOST_COUNTERS = 100

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


def segments(packets: Iterable[Packet], report: CaptureReport | None = None) -> Iterator[Segment]:
    """Yield the TCP segments of packets in order, also those in tunnels.

    Other packets are counted in ``report`` by reason: with ``count_unread`` if they may carry TCP.
    """
    report = report or CaptureReport()
    ip = InternetProtocol(report)
    readers = {**LINKS, **TUNNELS, **ip.readers}
    for packet in packets:
        ip.time_ns = packet.time_ns or 0
        try:
            segment = _segment(packet, readers)
        except Unread as unread:
            is_known = str(unread) in report.counts or len(report.counts) < MOST_COUNTERS
            report.count_unread(str(unread) if is_known else "packets in further protocols that are not supported")
        except Skipped as skipped:
            report.count(str(skipped))
        except (IndexError, StructError):
            report.count_unread(headers.TRUNCATED)
        else:
            report.count("segments")
            if segment.missing:
                report.count("bytes truncated by the snapshot length", segment.missing)
            yield segment
    ip.finish()


def _segment(packet: Packet, readers: dict[Layer, Reader]) -> Segment:
    place = Headers(packet.data, packet.length)
    layer = (LINK, packet.link_type)
    for _ in range(MOST_HEADERS):
        if layer == _TCP:
            return _tcp(packet, place)
        if layer not in readers:
            raise _other(layer)
        layer = readers[layer](place)
        if place.at > place.stop:
            raise Unread(headers.TRUNCATED)
    raise Unread(f"packets with more than {MOST_HEADERS} headers, which are not supported")


# Ethertypes of protocols that carry no IP. The first three follow GRE: keepalives, IS-IS, and NHRP (RFC 2332).
_OTHER_ETHERTYPES = frozenset(
    (
        *(0x0000, 0x00FE, 0x2001, 0x0806, 0x0842, 0x2000, 0x22EA, 0x22F0, 0x22F4, 0x6002, 0x6003, 0x8035, 0x809B),
        *(0x80F3, 0x8137, 0x8808, 0x8809, 0x8863, 0x887B, 0x888E, 0x8892, 0x8899, 0x88A2, 0x88A4, 0x88B8, 0x88BA),
        *(0x88C7, 0x88CC, 0x88E1, 0x88E3, 0x88F5, 0x88F6, 0x88F7, 0x8902, 0x8906, 0x8914, 0x8915, 0x893A, 0x9000),
    )
)

# Link layers, ethertypes and IP protocols that may carry TCP and are not read.
_UNREAD: dict[Layer, str] = {
    **{(LINK, number): "PPP" for number in (9, 50, 166)},
    **{(LINK, number): "802.11" for number in (105, 119, 127, 163, 192)},
    (LINK, 51): "PPPoE",
    (LINK, 104): "Cisco HDLC",
    (ETHERTYPE, 0x880B): "PPP",
    (ETHERTYPE, 0x8864): "PPPoE",
    (ETHERTYPE, 0x88E5): "MACsec",
    (ETHERTYPE, 0x8903): "FabricPath",
    (PROTOCOL, 50): "ESP",
    (PROTOCOL, 55): "Minimal Encapsulation",
    (PROTOCOL, 94): "IPIP",
    (PROTOCOL, 97): "EtherIP",
    (PROTOCOL, 108): "IPComp",
    (PROTOCOL, 115): "L2TP",
}


def _other(layer: Layer) -> Skipped:
    registry, number = layer
    if layer in _UNREAD or registry not in (LINK, ETHERTYPE, PROTOCOL):
        return Unread(f"packets in {_UNREAD.get(layer, registry)}, which is not supported")
    if registry == PROTOCOL:
        return Skipped(headers.NOT_TCP)
    if registry == ETHERTYPE and number in _OTHER_ETHERTYPES:
        return Skipped(headers.NOT_IP)
    text = f"0x{number:04x}" if registry == ETHERTYPE else number
    return Unread(f"packets of {registry} {text}, which is not supported")


@lru_cache(4096)
def _text(address: bytes) -> str:
    return inet_ntop(AF_INET if len(address) == 4 else AF_INET6, address)


_TCP = (PROTOCOL, 6)


def _tcp(packet: Packet, place: Headers) -> Segment:
    sender, receiver, sequence, acknowledged, offset, flags = place.peek(">HHIIBB")
    if place.at + 14 > place.stop:
        raise Unread(headers.TRUNCATED)
    start = place.at + (offset >> 4) * 4
    if offset < 0x50 or start > place.end:
        raise Unread("packets with an invalid TCP header")
    data = place.data[start : place.stop]
    return Segment(
        packet.number,
        packet.time_ns,
        SocketAddress(_text(place.source), sender),
        SocketAddress(_text(place.target), receiver),
        sequence,
        acknowledged if flags & ACK else None,
        flags,
        data,
        place.end - start - len(data),
    )
