"""Hand-made packets of each link layer and tunnel that ``capture`` reads."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence

from tests.support.packets import ETHERNET, LOOP, NULL, RAW, SLL, SLL2, block, ipv4, ipv6, linked, option, udp

Wrap = Callable[[bytes], bytes]
NFLOG, PKTAP, IPV4_ONLY, IPV6_ONLY = 239, 258, 228, 229
OUTER = ("192.0.2.1", "192.0.2.2")


def ethernet(payload: bytes, kind: int = 0x0800, tags: Sequence[int] = ()) -> bytes:
    """Return an Ethernet frame; ``tags`` are protocols of VLAN tags, outermost first."""
    kinds = [*tags, kind]
    return (
        b"\2" * 6
        + b"\4" * 6
        + struct.pack(">H", kinds[0])
        + b"".join(struct.pack(">HH", 7, each) for each in kinds[1:])
        + payload
    )


def outer(payload: bytes, protocol: int) -> bytes:
    return ipv4(payload, *OUTER, protocol=protocol)


def vxlan(frame: bytes, port: int = 4789, network: int = 5, flags: int = 8) -> bytes:
    return in_udp(struct.pack(">II", flags << 24, network << 8) + frame, port)


def in_udp(data: bytes, port: int, *, is_source: bool = False) -> bytes:
    """Return an IPv4 packet with UDP to a port or, with ``is_source``, from it."""
    return outer(udp(data, *((50000, port) if is_source else (port,))), 17)


def llc(data: bytes) -> bytes:
    return ethernet(data, len(data))


def geneve(payload: bytes, kind: int = 0x6558, options: bytes = b"", flags: int = 0) -> bytes:
    head = struct.pack(">BBHI", len(options) // 4, flags, kind, 5 << 8)
    return outer(udp(head + options + payload, 6081), 17)


def gre(payload: bytes, kind: int = 0x0800, flags: int = 0) -> bytes:
    """Return GRE with the fields that ``flags`` announce; the routing field has one entry."""
    fields = bytes(4) if flags & 0xC000 else b""
    fields += bytes([0, 0, 0, 9]) if flags & 0x2000 else b""
    fields += bytes([0, 0, 0, 1]) if flags & 0x1000 else b""
    fields += struct.pack(">HBB4xHBB", 2, 0, 4, 0, 0, 0) if flags & 0x4000 else b""
    return outer(struct.pack(">HH", flags, kind) + fields + payload, 47)


def erspan_2(frame: bytes) -> bytes:
    return gre(struct.pack(">HHI", 1 << 12 | 7, 99, 0) + frame, 0x88BE, 0x1000)


def erspan_3(payload: bytes, frame_type: int = 0, subheader: bytes = b"") -> bytes:
    last = frame_type << 10 | bool(subheader)
    return gre(struct.pack(">HHIHH", 2 << 12 | 7, 99, 0, 0, last) + subheader + payload, 0x22EB, 0x1000)


def mpls(payload: bytes, labels: Sequence[int] = (16,)) -> bytes:
    entries = [label << 12 | (place == len(labels) - 1) << 8 | 64 for place, label in enumerate(labels)]
    return struct.pack(f">{len(entries)}I", *entries) + payload


def nflog(packet: bytes, order: str = "<", family: int | None = None, kind: int = 0x0800) -> bytes:
    """Return the attributes of a packet: its header, a prefix, and the packet itself."""
    found = b""
    for number, value in ((1, struct.pack(">HBB", kind, 1, 0)), (10, b"in\0"), (9, packet)):
        found += struct.pack(f"{order}HH", len(value) + 4, number) + value + bytes(-len(value) % 4)
    known = 10 if packet[0] >> 4 == 6 else 2
    return struct.pack(">BBH", known if family is None else family, 0, 3) + found


def pktap(frame: bytes, link: int = ETHERNET, has_packet: int = 1) -> bytes:
    head = struct.pack("<III24sII", 108, has_packet, link, b"en0", 1, 2)
    return head + bytes(108 - len(head)) + frame


def _on(link: int) -> Wrap:
    return lambda packet: linked(packet, link)


def ipv6_of(packet: bytes) -> bytes:
    """Return an IPv6 packet with the payload of an IPv4 packet, between the hosts with the same last byte."""
    return ipv6(packet[20:], hosts=(f"fd00::{packet[15]:x}", f"fd00::{packet[19]:x}"))


def _six(packet: bytes, protocol: int) -> bytes:
    return ethernet(ipv6(packet, protocol=protocol), 0x86DD)


_HOP_BY_HOP = (0, bytes([0]) + bytes(6))

LAYERS: dict[str, tuple[int, Wrap]] = {
    "Ethernet": (ETHERNET, ethernet),
    "Ethernet, VLAN": (ETHERNET, lambda packet: ethernet(packet, tags=(0x8100,))),
    "Ethernet, 802.1ad": (ETHERNET, lambda packet: ethernet(packet, tags=(0x88A8, 0x8100))),
    "Ethernet, 0x9100": (ETHERNET, lambda packet: ethernet(packet, tags=(0x9100, 0x8100))),
    "Ethernet, padded": (ETHERNET, lambda packet: ethernet(packet) + bytes(8)),
    "Ethernet, LLC and SNAP": (
        ETHERNET,
        lambda packet: ethernet(b"\xaa\xaa\3\0\0\0\x08\0" + packet, len(packet) + 8),
    ),
    "Ethernet, LLC": (ETHERNET, lambda packet: llc(b"\6\6\3" + packet)),
    "Ethernet, LLC and SNAP, 802.1H": (ETHERNET, lambda packet: llc(b"\xaa\xaa\3\0\0\xf8\x08\0" + packet)),
    "Ethernet, LLC and SNAP, bridged": (
        ETHERNET,
        lambda packet: llc(b"\xaa\xaa\3\0\x80\xc2\0\7\0\0" + ethernet(packet)),
    ),
    "Linux cooked 1, LLC": (SLL, lambda packet: struct.pack(">HHH8xH", 0, 1, 6, 4) + b"\6\6\3" + packet),
    "Linux cooked 1": (SLL, _on(SLL)),
    "Linux cooked 2": (SLL2, _on(SLL2)),
    "NULL": (NULL, _on(NULL)),
    "LOOP": (LOOP, _on(LOOP)),
    "RAW": (RAW, _on(RAW)),
    "RAW 12": (12, _on(RAW)),
    "RAW 14": (14, _on(RAW)),
    "IPV4": (IPV4_ONLY, _on(RAW)),
    "NFLOG, little-endian": (NFLOG, nflog),
    "PKTAP, Ethernet": (PKTAP, lambda packet: pktap(ethernet(packet))),
    "PKTAP, NULL": (PKTAP, lambda packet: pktap(linked(packet, NULL), 0)),
    "PKTAP, RAW": (PKTAP, lambda packet: pktap(packet, 12)),
    "4in4": (ETHERNET, lambda packet: ethernet(outer(packet, 4))),
    "4in6": (ETHERNET, lambda packet: _six(packet, 4)),
    "6in4": (ETHERNET, lambda packet: ethernet(outer(ipv6_of(packet), 41))),
    "6in6": (ETHERNET, lambda packet: _six(ipv6_of(packet), 41)),
    "4in6, extension header": (
        ETHERNET,
        lambda packet: ethernet(ipv6(packet, [_HOP_BY_HOP], protocol=4), 0x86DD),
    ),
    "authentication header": (
        ETHERNET,
        lambda packet: ethernet(outer(b"\4\4" + bytes(22) + packet, 51)),
    ),
    "VXLAN": (ETHERNET, lambda packet: ethernet(vxlan(ethernet(packet)))),
    "VXLAN, 8472": (ETHERNET, lambda packet: ethernet(vxlan(ethernet(packet), 8472))),
    "VXLAN, group policy": (ETHERNET, lambda packet: ethernet(vxlan(ethernet(packet), flags=0x88))),
    "VXLAN, VLAN inside and outside": (
        ETHERNET,
        lambda packet: ethernet(vxlan(ethernet(packet, tags=(0x8100,))), tags=(0x88A8, 0x8100)),
    ),
    "VXLAN, Linux cooked": (SLL, lambda packet: linked(vxlan(ethernet(packet)), SLL)),
    "VXLAN over IPv6": (
        ETHERNET,
        lambda packet: _six(udp(struct.pack(">II", 8 << 24, 5 << 8) + ethernet(packet), 4789), 17),
    ),
    "VXLAN, from its port": (
        ETHERNET,
        lambda packet: ethernet(in_udp(struct.pack(">II", 8 << 24, 5 << 8) + ethernet(packet), 4789, is_source=True)),
    ),
    "LISP": (ETHERNET, lambda packet: ethernet(in_udp(b"\x80\0\0\1\0\0\0\1" + packet, 4341))),
    "LISP with IPv6, from its port": (
        ETHERNET,
        lambda packet: ethernet(in_udp(bytes(8) + ipv6_of(packet), 4341, is_source=True)),
    ),
    "GRE in UDP": (ETHERNET, lambda packet: ethernet(in_udp(b"\0\0\x08\0" + packet, 4754))),
    "GRE in UDP, checksum": (
        ETHERNET,
        lambda packet: ethernet(in_udp(b"\x80\0\x65\x58\0\0\0\0" + ethernet(packet), 4754)),
    ),
    "MPLS in UDP": (ETHERNET, lambda packet: ethernet(in_udp(mpls(packet, (16, 17)), 6635))),
    "GENEVE, from its port": (
        ETHERNET,
        lambda packet: ethernet(
            in_udp(struct.pack(">BBHI", 0, 0, 0x6558, 5 << 8) + ethernet(packet), 6081, is_source=True)
        ),
    ),
    "GENEVE, Ethernet": (ETHERNET, lambda packet: ethernet(geneve(ethernet(packet)))),
    "GENEVE, IPv4": (ETHERNET, lambda packet: ethernet(geneve(packet, 0x0800))),
    "GENEVE, critical options": (
        ETHERNET,
        lambda packet: ethernet(geneve(ethernet(packet), options=b"\1\2\x80\1" + bytes(4), flags=0x40)),
    ),
    "GRE": (ETHERNET, lambda packet: ethernet(gre(packet))),
    "GRE, checksum, key, sequence": (ETHERNET, lambda packet: ethernet(gre(packet, flags=0xB000))),
    "GRE, routing": (ETHERNET, lambda packet: ethernet(gre(packet, flags=0x4000))),
    "GRE, Ethernet": (ETHERNET, lambda packet: ethernet(gre(ethernet(packet), 0x6558, 0x2000))),
    "GRE, MPLS": (ETHERNET, lambda packet: ethernet(gre(mpls(packet), 0x8847))),
    "ERSPAN I": (ETHERNET, lambda packet: ethernet(gre(ethernet(packet), 0x88BE))),
    "ERSPAN II": (ETHERNET, lambda packet: ethernet(erspan_2(ethernet(packet)))),
    "ERSPAN III": (ETHERNET, lambda packet: ethernet(erspan_3(ethernet(packet)))),
    "ERSPAN III, subheader": (ETHERNET, lambda packet: ethernet(erspan_3(ethernet(packet), subheader=bytes(8)))),
    "ERSPAN II, VLAN inside": (ETHERNET, lambda packet: ethernet(erspan_2(ethernet(packet, tags=(0x8100,))))),
    "MPLS": (ETHERNET, lambda packet: ethernet(mpls(packet), 0x8847)),
    "MPLS, three labels": (ETHERNET, lambda packet: ethernet(mpls(packet, (16, 17, 18)), 0x8847)),
    "MPLS in a VLAN": (ETHERNET, lambda packet: ethernet(mpls(packet), 0x8847, (0x8100,))),
    "MPLS, Ethernet, control word": (ETHERNET, lambda packet: ethernet(mpls(bytes(4) + ethernet(packet)), 0x8847)),
    "MPLS in IP": (ETHERNET, lambda packet: ethernet(outer(mpls(packet), 137))),
    "VXLAN in GRE in 4in4": (
        ETHERNET,
        lambda packet: ethernet(outer(gre(vxlan(ethernet(packet))), 4)),
    ),
    "ERSPAN II of VXLAN": (ETHERNET, lambda packet: ethernet(erspan_2(ethernet(vxlan(ethernet(packet)))))),
    "IPv6 only": (IPV6_ONLY, lambda packet: ipv6_of(packet)),
    "NFLOG, bridge": (NFLOG, lambda packet: nflog(packet, family=7)),
    "NFLOG, VLAN of a bridge": (NFLOG, lambda packet: nflog(b"\0\7\x08\0" + packet, family=7, kind=0x8100)),
    "Ethernet of SRv6": (ETHERNET, lambda packet: _six(ethernet(packet), 143)),
}
"""Link type, and function that puts an IPv4 packet with TCP into the layers."""

UNLIKE_TSHARK: dict[str, tuple[int, Wrap]] = {
    "ERSPAN III, IP": (ETHERNET, lambda packet: ethernet(erspan_3(packet, 2))),
    "MPLS, Ethernet": (ETHERNET, lambda packet: ethernet(mpls(ethernet(packet)), 0x8847)),
    "MPLS, Ethernet, first byte 0": (ETHERNET, lambda packet: ethernet(mpls(b"\0" + ethernet(packet)[1:]), 0x8847)),
    "MPLS, Ethernet, first byte 16": (ETHERNET, lambda packet: ethernet(mpls(b"\x10" + ethernet(packet)[1:]), 0x8847)),
    "MPLS, Ethernet, first byte 32": (ETHERNET, lambda packet: ethernet(mpls(b"\x20" + ethernet(packet)[1:]), 0x8847)),
    "NFLOG, big-endian": (NFLOG, lambda packet: nflog(packet, ">")),
}
"""As ``LAYERS``, but tshark 4.0 reads none of the messages."""


TUNNELS: tuple[Wrap, ...] = (
    lambda packet: outer(packet, 4),
    lambda packet: vxlan(ethernet(packet)),
    lambda packet: vxlan(ethernet(packet, tags=(0x8100,)), 8472),
    lambda packet: geneve(ethernet(packet)),
    lambda packet: geneve(packet, 0x0800, bytes(8)),
    lambda packet: gre(packet, flags=0xB000),
    lambda packet: gre(ethernet(packet), 0x6558),
    lambda packet: gre(ethernet(packet), 0x88BE),
    lambda packet: gre(mpls(packet, (16, 17)), 0x8847),
    lambda packet: erspan_2(ethernet(packet)),
    lambda packet: erspan_3(ethernet(packet), subheader=bytes(8)),
)
"""Functions that put an IPv4 packet into another one."""


def capture_file(packets: Iterable[tuple[int, bytes]], snap: int = 0) -> bytes:
    """Return a pcapng file of packets with their link types, at intervals of a millisecond."""
    out = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    known: dict[int, int] = {}
    for number, (link, packet) in enumerate(packets):
        if link not in known:
            known[link] = len(known)
            out.append(block(1, struct.pack("<HHI", link, 0, snap) + option(9, b"\x09")))
        high, low = divmod(1_700_000_000_000_000_000 + number * 1_000_000, 1 << 32)
        kept = packet[: snap or None]
        out.append(block(6, struct.pack("<IIIII", known[link], high, low, len(kept), len(packet)) + kept))
    return b"".join(out)
