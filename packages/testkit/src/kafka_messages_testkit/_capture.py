"""Recorded exchanges as a pcap file, with one TCP connection per client and broker address."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path
from typing import TypeAlias

from kafka_records.files import replace_file

from ._exchange import Exchange

Address: TypeAlias = tuple[str, int]

_RAW_IP = 101  # link type of packets that begin with an IP header
_SNAP = 1 << 18
_MOST_DATA = 65_000  # bytes of a segment; an IPv4 packet has at most 65,535
_FIN, _SYN, _PUSH, _ACK = 1, 2, 8, 16
_LOOPBACK = IPv4Address("127.0.0.1")
_NANOSECONDS = 0xA1B23C4D


def save(exchanges: Iterable[Exchange], path: str | Path) -> None:
    """Write a pcap file. Raises OSError."""
    connections: dict[tuple[Address, Address], _TcpWriter] = {}
    for each in exchanges:
        ends = each.client_address, each.broker_address
        connection = connections.get(ends) or connections.setdefault(ends, _TcpWriter(*ends))
        connection.add(each)
    # Sorting keeps the order of packets at the same time.
    packets = sorted((packet for each in connections.values() for packet in each.packets()), key=lambda each: each[0])
    parts = [struct.pack("<IHHiIII", _NANOSECONDS, 2, 4, 0, 0, _SNAP, _RAW_IP)]
    for time_ns, packet in packets:
        parts += struct.pack("<IIII", *divmod(time_ns, 1_000_000_000), len(packet), len(packet)), packet
    replace_file(path, parts)


@dataclass(slots=True)
class _TcpWriter:
    """The packets of a connection. Responses keep the order of their requests, as on the socket."""

    client: Address
    broker: Address
    frames: list[tuple[int, bool, bytes]] = field(default_factory=list)
    """Time in nanoseconds, whether the client sent it, and the frame."""
    last_answer: int = 0

    def add(self, exchange: Exchange) -> None:
        self.frames.append((_nanoseconds(exchange.received_at), True, exchange.request_data))
        if exchange.response_data and exchange.answered_at is not None:
            self.last_answer = max(self.last_answer, _nanoseconds(exchange.answered_at))
            self.frames.append((self.last_answer, False, exchange.response_data))

    def packets(self) -> Iterator[tuple[int, bytes]]:
        """Yield time and IP packet, from the handshake to the end of both directions."""
        frames = sorted(self.frames, key=lambda each: each[0])
        sent = {True: 0, False: 0}
        start, end = frames[0][0], frames[-1][0]
        yield start, self._packet(True, sent, _SYN)
        yield start, self._packet(False, {True: 1, False: 0}, _SYN | _ACK)
        sent = {True: 1, False: 1}
        yield start, self._packet(True, sent, _ACK)
        for time_ns, is_request, frame in frames:
            for at in range(0, len(frame), _MOST_DATA):
                data = frame[at : at + _MOST_DATA]
                yield time_ns, self._packet(is_request, sent, _PUSH | _ACK, data)
                sent[is_request] += len(data)
        for is_client in (True, False):
            yield end, self._packet(is_client, sent, _FIN | _ACK)
            sent[is_client] += 1

    def _packet(self, is_client: bool, sent: dict[bool, int], flags: int, data: bytes = b"") -> bytes:
        source, target = (self.client, self.broker) if is_client else (self.broker, self.client)
        hosts = _host(source) + _host(target)
        sequence, acknowledged = (sent[each] & 0xFFFFFFFF for each in (is_client, not is_client))
        acknowledged = acknowledged if flags & _ACK else 0
        segment = struct.pack(">HHIIBBHHH", source[1], target[1], sequence, acknowledged, 5 << 4, flags, 65535, 0, 0)
        pseudo = hosts + struct.pack(">HH", 6, len(segment) + len(data))
        segment = segment[:16] + _checksum(pseudo + segment + data) + segment[18:] + data
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, 6, 0)
        return head[:10] + _checksum(head + hosts) + hosts + segment


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _host(address: Address) -> bytes:
    """Return the IPv4 address; that of loopback for any other, such as an unknown one."""
    try:
        return IPv4Address(address[0]).packed
    except ValueError:
        return _LOOPBACK.packed


def _checksum(data: bytes) -> bytes:
    """Return the internet checksum (RFC 1071)."""
    data += bytes(len(data) % 2)
    total = sum(memoryview(data).cast("H"))  # the byte order does not matter for a sum with carries
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("=H", ~total & 0xFFFF)
