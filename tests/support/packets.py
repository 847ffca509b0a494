"""Hand-made captures: TCP segments, IP packets, link layers and capture files."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal

from kafka_messages_tools.packets.segments import ACK, FIN, RST, SYN

ETHERNET, SLL, SLL2, RAW, NULL, LOOP = 1, 113, 276, 101, 0, 108
START = 1_700_000_000_000_000_000
"""Time of the first packet in nanoseconds."""


def tcp(
    source: int, target: int, sequence: int, data: bytes = b"", *, flags: int = ACK, acknowledged: int = 0
) -> bytes:
    """Return a TCP segment; sequence numbers wrap."""
    numbers = (sequence % (1 << 32), acknowledged % (1 << 32))
    return struct.pack(">HHIIBBHHH", source, target, *numbers, 5 << 4, flags, 65535, 0, 0) + data


def ipv4(
    segment: bytes,
    source: str = "10.0.0.1",
    target: str = "10.0.0.2",
    *,
    fragment: int = 0,
    identity: int = 0,
    protocol: int = 6,
) -> bytes:
    """Return an IPv4 packet; ``fragment`` contains flags and offset as in the header."""
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), identity, fragment, 64, protocol, 0)
    return head + ip_address(source).packed + ip_address(target).packed + segment


def ipv6(
    segment: bytes,
    extensions: Sequence[tuple[int, bytes]] = (),
    protocol: int = 6,
    hosts: tuple[str, str] = ("fd00::1", "fd00::2"),
) -> bytes:
    """Return an IPv6 packet with extension headers: type of each, and its bytes after the next-header field."""
    kinds = [kind for kind, _ in extensions] + [protocol]
    body = b"".join(bytes([kinds[place + 1]]) + data for place, (_, data) in enumerate(extensions)) + segment
    addresses = b"".join(ip_address(host).packed for host in hosts)
    return struct.pack(">IHBB", 6 << 28, len(body), kinds[0], 64) + addresses + body


def linked(packet: bytes, link: int, tags: Sequence[int] = ()) -> bytes:
    """Return an IP packet with a link-layer header; ``tags`` are protocols of VLAN tags, outermost first."""
    kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    vlan = b"".join(struct.pack(">HH", 7, following) for following in [*tags[1:], kind]) if tags else b""
    first = struct.pack(">H", tags[0] if tags else kind)
    if link == ETHERNET:
        return bytes(12) + first + vlan + packet
    if link == SLL:
        return bytes(14) + first + vlan + packet
    if link == SLL2:
        return first + bytes(18) + vlan + packet
    return {RAW: b"", NULL: struct.pack("<I", 2), LOOP: struct.pack(">I", 2)}[link] + packet


def udp(data: bytes, target: int, source: int = 50000) -> bytes:
    """Return a UDP datagram without a checksum."""
    return struct.pack(">HHHH", source, target, 8 + len(data), 0) + data


def pcap(
    packets: Iterable[bytes],
    link: int = RAW,
    *,
    order: Literal["<", ">"] = "<",
    nanoseconds: bool = False,
    snap: int = 1 << 18,
    magic: int = 0xA1B2C3D4,
) -> bytes:
    """Return a pcap file of packets at intervals of a millisecond; ``snap`` is the snap length."""
    magic = 0xA1B23C4D if nanoseconds else magic
    unit = 1 if magic == 0xA1B23C4D else 1000
    more = struct.pack(f"{order}IHBB", 1, 8, 0, 0) if magic == 0xA1B2CD34 else b""
    out = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snap, link)]
    for number, packet in enumerate(packets):
        seconds, rest = divmod(START + number * 1_000_000, 1_000_000_000)
        head = struct.pack(f"{order}IIII", seconds, rest // unit, min(len(packet), snap), len(packet))
        out += (head + more, packet[:snap])
    return b"".join(out)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """Return a pcapng block."""
    body += bytes(-len(body) % 4)
    size = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + size + body + size


def option(code: int, value: bytes, order: str = "<") -> bytes:
    """Return an option of a pcapng block."""
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def pcapng(
    packets: Iterable[bytes],
    link: int = RAW,
    *,
    order: Literal["<", ">"] = "<",
    form: Literal["enhanced", "simple", "old"] = "enhanced",
    nanoseconds: bool = False,
    snap: int = 0,
) -> bytes:
    """Return a pcapng file of packets at intervals of a millisecond."""
    options = option(9, b"\x09", order) if nanoseconds else b""
    out = [block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)]
    out.append(block(1, struct.pack(f"{order}HHI", link, 0, snap) + options, order))
    for number, packet in enumerate(packets):
        kept = packet[: snap or None]
        time = (START + number * 1_000_000) // (1 if nanoseconds else 1000)
        high, low, sizes = time >> 32, time & 0xFFFFFFFF, (len(kept), len(packet))
        if form == "enhanced":
            out.append(block(6, struct.pack(f"{order}IIIII", 0, high, low, *sizes) + kept, order))
        elif form == "old":
            out.append(block(2, struct.pack(f"{order}HHIIII", 0, 0, high, low, *sizes) + kept, order))
        else:
            out.append(block(3, struct.pack(f"{order}I", len(packet)) + kept, order))
    return b"".join(out)


@dataclass
class Talk:
    """A TCP connection as a list of segments."""

    client: int = 40000
    server: int = 9092
    starts: tuple[int, int] = (1000, 5000)
    """Initial sequence numbers of client and server."""
    segments: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.next = [self.starts[0] + 1, self.starts[1] + 1]

    def open(self) -> Talk:
        """Add SYN and SYN-ACK."""
        self.segments.append(tcp(self.client, self.server, self.starts[0], flags=SYN))
        self.segments.append(
            tcp(self.server, self.client, self.starts[1], flags=SYN | ACK, acknowledged=self.starts[0] + 1)
        )
        return self

    def made(self, data: bytes, *, from_client: bool = True, flags: int = ACK, at: int | None = None) -> bytes:
        """Return the next segment, or one at the stream offset ``at``."""
        side = 0 if from_client else 1
        ports = (self.client, self.server) if from_client else (self.server, self.client)
        sequence = self.next[side] if at is None else self.starts[side] + 1 + at
        if at is None:
            self.next[side] += len(data)
        return tcp(*ports, sequence, data, flags=flags, acknowledged=self.next[1 - side])

    def say(self, data: bytes, *, from_client: bool = True, size: int = 1400) -> Talk:
        """Add the data of one side in segments of at most ``size`` bytes."""
        for start in range(0, len(data), size):
            self.segments.append(self.made(data[start : start + size], from_client=from_client))
        return self

    def close(self, flags: int = FIN | ACK, *, by_client: bool = True) -> Talk:
        """Add FIN of both sides, or RST of one side."""
        for from_client in (by_client, not by_client) if flags & FIN else (by_client,):
            self.segments.append(self.made(b"", from_client=from_client, flags=flags))
        return self

    def packets(self) -> Iterator[bytes]:
        return (ipv4(segment, *self.hosts(segment)) for segment in self.segments)

    def hosts(self, segment: bytes) -> tuple[str, str]:
        """Return source and target address of a segment."""
        hosts = ("10.0.0.1", "10.0.0.2")
        return hosts if int.from_bytes(segment[:2], "big") == self.client else hosts[::-1]


RESET = RST | ACK
