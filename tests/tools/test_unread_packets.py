"""Packets that are not read: named, counted, and counted as unread if they may carry TCP."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_messages import MetadataRequest, MetadataResponse
from kafka_messages.protocol import encode_request, encode_response

from kafka_messages_tools.capture import (
    Capture,
    CaptureReport,
    Clients,
    Packet,
    read_packets,
    segments,
    to_line,
    to_object,
)
from kafka_messages_tools.command import main
from kafka_messages_tools.conversation import render
from kafka_messages_tools.packets import ip
from kafka_messages_tools.packets.segments import MOST_COUNTERS, MOST_HEADERS
from tests.support.packets import (
    ETHERNET,
    NULL,
    RAW,
    SLL,
    START,
    Talk,
    block,
    ipv4,
    ipv6,
    linked,
    option,
    pcap,
    tcp,
    udp,
)
from tests.support.tunnels import NFLOG, PKTAP, erspan_3, ethernet, geneve, gre, in_udp, mpls, outer, pktap, vxlan

ONE = ipv4(tcp(1, 2, 7, b"bytes"))
NOT_IP, NOT_TCP = "packets other than IP", "packets other than TCP"
TRUNCATED = "packets truncated within their headers"
IP_HEADER = "packets with an invalid IP header"


def counted(*packets: bytes, link: int = ETHERNET, cut: int = 0) -> tuple[dict[str, int], int]:
    """Return the counters, and how many packets are unread; ``cut`` bytes were not captured of each."""
    report = CaptureReport()
    found = [Packet(number, None, link, data, len(data) + cut) for number, data in enumerate(packets, 1)]
    assert list(segments(found, report)) == []
    return dict(report.counts), report.unread


def unsupported(name: str) -> str:
    return f"packets in {name}, which is not supported"


UNREAD: dict[str, tuple[int, bytes, str]] = {
    "PPP": (9, b"\xff\x03\0\x21" + ONE, unsupported("PPP")),
    "PPP in HDLC": (50, b"\xff\x03\0\x21" + ONE, unsupported("PPP")),
    "PPPoE as link type": (51, b"\x11\0\0\1" + ONE, unsupported("PPPoE")),
    "Cisco HDLC": (104, b"\x0f\0\x08\0" + ONE, unsupported("Cisco HDLC")),
    "802.11": (105, ONE, unsupported("802.11")),
    "radiotap": (127, ONE, unsupported("802.11")),
    "unknown link type": (147, ONE, "packets of link type 147, which is not supported"),
    "unknown link type in PKTAP": (PKTAP, pktap(ONE, 147), "packets of link type 147, which is not supported"),
    "unknown ethertype": (ETHERNET, ethernet(ONE, 0x1234), "packets of ethertype 0x1234, which is not supported"),
    "unknown ethertype in VXLAN": (
        ETHERNET,
        ethernet(vxlan(ethernet(ONE, 0x1234))),
        "packets of ethertype 0x1234, which is not supported",
    ),
    "PPPoE": (
        ETHERNET,
        ethernet(b"\x11\0\0\1" + struct.pack(">HH", len(ONE) + 2, 0x21) + ONE, 0x8864),
        unsupported("PPPoE"),
    ),
    "MACsec": (ETHERNET, ethernet(bytes(40), 0x88E5), unsupported("MACsec")),
    "FabricPath": (ETHERNET, ethernet(bytes(40), 0x8903), unsupported("FabricPath")),
    "PPTP": (ETHERNET, ethernet(outer(bytes.fromhex("3001880b00200001 00000001") + ONE, 47)), unsupported("PPP")),
    "TRILL": (ETHERNET, ethernet(bytes(40), 0x22F3), "packets of ethertype 0x22f3, which is not supported"),
    "GRE version 2": (ETHERNET, ethernet(gre(ONE, flags=2)), unsupported("GRE version 2")),
    "ERSPAN version 5": (ETHERNET, ethernet(gre(b"\x50" + bytes(20), 0x88BE, 0x1000)), unsupported("ERSPAN version 5")),
    "ERSPAN frame type 3": (ETHERNET, ethernet(erspan_3(ONE, 3)), unsupported("ERSPAN with frame type 3")),
    "ESP": (ETHERNET, ethernet(outer(bytes(40), 50)), unsupported("ESP")),
    "ESP after an extension header": (
        ETHERNET,
        ethernet(ipv6(bytes(40), [(60, bytes(7))], protocol=50), 0x86DD),
        unsupported("ESP"),
    ),
    "EtherIP": (ETHERNET, ethernet(outer(b"\x30\0" + ethernet(ONE), 97)), unsupported("EtherIP")),
    "IPComp": (ETHERNET, ethernet(outer(bytes(40), 108)), unsupported("IPComp")),
    "L2TP in IP": (ETHERNET, ethernet(outer(bytes(40), 115)), unsupported("L2TP")),
    "GTP-U": (
        ETHERNET,
        ethernet(outer(udp(b"\x30\xff" + struct.pack(">HI", len(ONE), 1) + ONE, 2152), 17)),
        unsupported("GTP-U"),
    ),
    "L2TP": (ETHERNET, ethernet(outer(udp(b"\0\2\0\1\0\1" + ONE, 1701), 17)), unsupported("L2TP")),
    "ESP in UDP": (ETHERNET, ethernet(outer(udp(b"\0\0\0\1" + bytes(40), 4500), 17)), unsupported("ESP")),
    "VXLAN-GPE": (
        ETHERNET,
        ethernet(outer(udp(b"\x0c\0\0\1\0\0\5\0" + ONE, 4790), 17)),
        unsupported("VXLAN-GPE"),
    ),
    "WireGuard, to the client": (
        ETHERNET,
        ethernet(outer(udp(b"\4\0\0\0" + bytes(40), 50000, 51820), 17)),
        unsupported("WireGuard"),
    ),
    "TZSP": (ETHERNET, ethernet(outer(udp(b"\1\0\0\1\1" + ethernet(ONE), 37008), 17)), unsupported("TZSP")),
    "Teredo": (ETHERNET, ethernet(outer(udp(ipv6(ONE[20:]), 3544), 17)), unsupported("Teredo")),
    "CAPWAP": (ETHERNET, ethernet(in_udp(b"\0\x10" + bytes(6) + ONE, 5247)), unsupported("CAPWAP")),
    "CAPWAP, encrypted": (ETHERNET, ethernet(in_udp(b"\1\0\0\0" + ONE, 5247)), unsupported("CAPWAP")),
    "no IP version": (RAW, b"\x05" + ONE[1:], IP_HEADER),
    "IP version 6 with the ethertype of 4": (ETHERNET, ethernet(ipv6(ONE[20:]), 0x0800), IP_HEADER),
    "IP header too short": (ETHERNET, ethernet(b"\x44" + ONE[1:]), IP_HEADER),
    "inner IP header too short": (ETHERNET, ethernet(outer(b"\x44" + ONE[1:], 4)), IP_HEADER),
    "inner IP packet behind the end of the outer": (ETHERNET, ethernet(outer(ONE[:8], 4) + ONE[8:]), TRUNCATED),
    "TCP header too short": (RAW, ONE[:32] + b"\x40" + ONE[33:], "packets with an invalid TCP header"),
    "TCP header too long": (RAW, ONE[:32] + b"\xf0" + ONE[33:], "packets with an invalid TCP header"),
    "VXLAN without an inner packet": (ETHERNET, ethernet(vxlan(bytes(10))), TRUNCATED),
    "NFLOG attribute too short": (NFLOG, b"\2\0\0\0\3\0\1\0" + ONE, "packets with an invalid NFLOG header"),
    "PKTAP header too short": (PKTAP, struct.pack("<III", 4, 1, 1) + ONE, "packets with an invalid PKTAP header"),
    "fragment too large": (RAW, ipv4(bytes(8), fragment=0x1FFF), "fragments beyond the end of a datagram"),
}
"""Link type, a packet, and the name of its counter."""

OTHER: dict[str, tuple[int, bytes, str]] = {
    "ARP": (ETHERNET, ethernet(bytes(28), 0x0806), NOT_IP),
    "ARP in a VLAN": (ETHERNET, ethernet(bytes(28), 0x0806, (0x8100,)), NOT_IP),
    "ARP in VXLAN": (ETHERNET, ethernet(vxlan(ethernet(bytes(28), 0x0806))), NOT_IP),
    "ARP in MPLS": (ETHERNET, ethernet(mpls(bytes(4) + ethernet(bytes(28), 0x0806)), 0x8847), NOT_IP),
    "ARP in MPLS without control word": (ETHERNET, ethernet(mpls(ethernet(bytes(28), 0x0806)), 0x8847), NOT_IP),
    "LLDP": (ETHERNET, ethernet(bytes(46), 0x88CC), NOT_IP),
    "spanning tree": (ETHERNET, ethernet(b"\x42\x42\3" + bytes(43), 38), NOT_IP),
    "Cisco discovery": (ETHERNET, ethernet(b"\xaa\xaa\3\0\0\x0c\x20\0" + bytes(40), 48), NOT_IP),
    "PPPoE discovery": (ETHERNET, ethernet(b"\x11\x09" + bytes(44), 0x8863), NOT_IP),
    "netlink": (SLL, struct.pack(">HHH8xH", 4, 824, 0, 16) + bytes(40), NOT_IP),
    "maintenance of a label switched path": (ETHERNET, ethernet(mpls(b"\x10\0\0\7" + bytes(20)), 0x8847), NOT_IP),
    "GRE keepalive": (ETHERNET, ethernet(gre(b"", 0)), NOT_IP),
    "PKTAP without a packet": (PKTAP, pktap(b"", has_packet=0), NOT_IP),
    "ICMP": (ETHERNET, ethernet(ipv4(b"\x08\0" + bytes(6), protocol=1)), NOT_TCP),
    "ICMP error about TCP": (ETHERNET, ethernet(ipv4(b"\3\4" + bytes(6) + ONE, protocol=1)), NOT_TCP),
    "ICMPv6": (ETHERNET, ethernet(ipv6(bytes(8), protocol=58), 0x86DD), NOT_TCP),
    "fragment of ICMP": (ETHERNET, ethernet(ipv4(bytes(64), fragment=0x2000, protocol=1)), NOT_TCP),
    "SCTP": (ETHERNET, ethernet(ipv4(bytes(12), protocol=132)), NOT_TCP),
    "no next header": (ETHERNET, ethernet(ipv6(b"", protocol=59), 0x86DD), NOT_TCP),
    "DNS": (ETHERNET, ethernet(ipv4(udp(b"question", 53), protocol=17)), NOT_TCP),
    "UDP without data": (ETHERNET, ethernet(ipv4(udp(b"", 4789), protocol=17)), NOT_TCP),
    "other UDP on the port of VXLAN": (ETHERNET, ethernet(outer(udp(b"GET / HTTP/1.1" * 4, 4789), 17)), NOT_TCP),
    "VXLAN without network": (ETHERNET, ethernet(vxlan(ethernet(ONE), flags=0)), NOT_TCP),
    "VXLAN with a reserved flag": (ETHERNET, ethernet(vxlan(ethernet(ONE), flags=0x0C)), NOT_TCP),
    "response from the port of VXLAN": (ETHERNET, ethernet(in_udp(b"answer" * 4, 4789, is_source=True)), NOT_TCP),
    "response from the port of LISP": (ETHERNET, ethernet(in_udp(b"answer" * 4, 4341, is_source=True)), NOT_TCP),
    "response from the port of GRE in UDP": (ETHERNET, ethernet(in_udp(b"answer" * 4, 4754, is_source=True)), NOT_TCP),
    "response from the port of CAPWAP": (ETHERNET, ethernet(in_udp(b"answer" * 4, 5247, is_source=True)), NOT_TCP),
    "LLC without SNAP, 3 bytes": (ETHERNET, ethernet(b"\0\1\xaf", 3), NOT_IP),
    "SNAP of another organization": (ETHERNET, ethernet(b"\xaa\xaa\3\1\2\3\x08\0" + ONE, len(ONE) + 8), NOT_IP),
    "GENEVE of another version": (ETHERNET, ethernet(outer(udp(b"\x40\0\x65\x58" + bytes(40), 6081), 17)), NOT_TCP),
    "GENEVE control message": (ETHERNET, ethernet(geneve(ethernet(ONE), flags=0x80)), NOT_TCP),
    "GTP-U echo": (ETHERNET, ethernet(outer(udp(b"\x32\1" + bytes(20), 2152), 17)), NOT_TCP),
    "L2TP control message": (ETHERNET, ethernet(outer(udp(b"\xc8\2" + bytes(20), 1701), 17)), NOT_TCP),
    "IKE": (ETHERNET, ethernet(outer(udp(bytes(4) + b"\1" * 40, 4500), 17)), NOT_TCP),
    "ESP keepalive": (ETHERNET, ethernet(outer(udp(b"\xff", 4500), 17)), NOT_TCP),
}
"""As above: packets that carry no TCP."""


@pytest.mark.parametrize("name", UNREAD)
def test_packet_that_may_carry_tcp_is_named_and_unread(name: str) -> None:
    link, packet, counter = UNREAD[name]
    assert counted(packet, link=link) == ({counter: 1}, 1)


@pytest.mark.parametrize("name", OTHER)
def test_packet_without_tcp_is_not_unread(name: str) -> None:
    link, packet, counter = OTHER[name]
    assert counted(packet, link=link) == ({counter: 1}, 0)


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (ethernet(vxlan(ethernet(ONE)))[:46], ({TRUNCATED: 1}, 1)),
        (ethernet(outer(udp(bytes(40), 53), 17))[:36], ({TRUNCATED: 1}, 1)),
        (ethernet(outer(udp(bytes(40), 53), 17))[:40], ({NOT_TCP: 1}, 0)),
        (ethernet(ONE)[:40], ({TRUNCATED: 1}, 1)),
        (ethernet(outer(bytes(40), 1))[:34], ({NOT_TCP: 1}, 0)),
    ],
    ids=["VXLAN", "UDP without ports", "UDP with ports", "TCP", "ICMP"],
)
def test_truncated_packet_is_unread_unless_it_is_known_to_be_other(
    packet: bytes, expected: tuple[dict[str, int], int]
) -> None:
    assert counted(packet, cut=30) == expected


def test_lost_fragments_are_unread_unless_they_belong_to_other_udp() -> None:
    lost = "datagrams with missing fragments"
    tunnel, other = vxlan(ethernet(ONE))[20:], udp(bytes(80), 53)
    first, last = 0x2000, 6
    assert counted(ethernet(ipv4(ONE[20:], fragment=first))) == ({"fragments": 1, lost: 1}, 1)
    assert counted(ethernet(outer_fragment(tunnel[:48], first))) == ({"fragments": 1, lost: 1}, 1)
    assert counted(ethernet(outer_fragment(tunnel[48:], last))) == ({"fragments": 1, lost: 1}, 1)
    assert counted(ethernet(outer_fragment(other[:48], first))) == (
        {"fragments": 1, "incomplete datagrams other than TCP": 1},
        0,
    )
    whole = [ethernet(outer_fragment(other[:48], first)), ethernet(outer_fragment(other[48:], last))]
    assert counted(*whole) == ({"fragments": 1, "datagrams reassembled from fragments": 1, NOT_TCP: 1}, 0)


def outer_fragment(data: bytes, fragment: int, identity: int = 5) -> bytes:
    return ipv4(data, fragment=fragment, identity=identity, protocol=17)


def test_datagrams_with_the_same_identification_are_not_mixed() -> None:
    segment = tcp(1, 2, 7, b"A" * 28)
    other = tcp(1, 2, 99, b"B" * 28)

    def read(*parts: tuple[bytes, int, int]) -> tuple[list[bytes], int]:
        report = CaptureReport()
        packets = [
            Packet(number, START + seconds * 1_000_000_000, RAW, ipv4(data, fragment=fragment), len(data) + 20)
            for number, (data, fragment, seconds) in enumerate(parts, 1)
        ]
        return [each.data for each in segments(packets, report)], report.unread

    first, last = (segment[:24], 0x2000), (segment[24:], 3)
    assert read((*first, 0), (*last, 29)) == ([b"A" * 28], 0)
    assert read((*first, 0), (other[:24], 0x2000, 1), (other[24:], 3, 1)) == ([b"B" * 28], 1)
    assert read((*last, 0), (other[:24], 0x2000, 31), (other[24:], 3, 31)) == ([b"B" * 28], 1)


def test_number_of_fragments_is_bounded() -> None:
    count = ip.MOST_HELD // 264 + 100
    parts = [ipv4(bytes(8), fragment=0x2000 | place) for place in range(count)]
    assert counted(*parts, link=RAW) == ({"fragments": count, "datagrams with missing fragments": 2}, 2)
    count = ip.MOST_FRAGMENTED + 3
    parts = [ipv4(bytes(8), fragment=0x2000, identity=number) for number in range(count)]
    assert counted(*parts, link=RAW) == ({"fragments": count, "datagrams with missing fragments": count}, count)


def test_nested_headers_are_bounded() -> None:
    deep = ONE
    for _ in range(MOST_HEADERS):
        deep = outer(deep, 4)
    name = f"packets with more than {MOST_HEADERS} headers, which are not supported"
    assert counted(deep, link=RAW) == ({name: 1}, 1)
    extensions = ipv6(b"", [(60, bytes(7))] * 5000)
    jumbo = extensions[:4] + bytes(2) + extensions[6:]
    assert counted(jumbo, link=RAW) == ({name: 1}, 1)


def test_number_of_counters_is_bounded() -> None:
    counts, unread = counted(*(ethernet(ONE, 0x1600 + number) for number in range(2000)))
    assert len(counts) == MOST_COUNTERS + 1
    assert counts["packets in further protocols that are not supported"] == 2000 - MOST_COUNTERS
    assert unread == 2000


def kafka(wrap: bool = False) -> list[bytes]:
    talk = Talk().open().say(encode_request(MetadataRequest(), 12, 1, "me"))
    talk.say(encode_response(MetadataResponse(), 12, 1), from_client=False).close()
    return [ethernet(vxlan(ethernet(each)) if wrap else each) for each in talk.packets()]


@pytest.mark.parametrize("name", [*UNREAD, *OTHER])
def test_strict_exit_status_is_1_for_unread_packets(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link, packet, counter = {**UNREAD, **OTHER}[name]
    file = tmp_path / "traffic.pcap"
    packets = [*kafka(), packet] if link == ETHERNET else [packet]
    file.write_bytes(pcap(packets, link))
    assert main(["capture", str(file), "--strict"]) == int(name in UNREAD)
    assert counter.partition(" ")[2].replace("their", "its") in capsys.readouterr().err


def test_strict_exit_status_is_0_for_traffic_in_tunnels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "traffic.pcap"
    file.write_bytes(pcap(kafka(wrap=True), ETHERNET))
    assert main(["capture", str(file), "--strict", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    assert captured.err == "6 packets; 6 segments; 1 connection; 1 connection of Kafka; 1 exchange\n"


OPTIONS = st.lists(
    st.tuples(
        st.sampled_from((1, 2, 4, 5, 9, 13, 14)) | st.integers(0, 65535),
        st.none() | st.integers(0, 65535),
        st.binary(max_size=24) | st.builds(bytes.__mul__, st.binary(max_size=8), st.integers(0, 500)),
    )
)
"""Code, wrong length or none, and value of options."""


def options_of(found: list[tuple[int, int | None, bytes]], order: str) -> bytes:
    return b"".join(
        (
            option(code, value, order)
            if size is None
            else struct.pack(f"{order}HH", code, size) + value + bytes(-len(value) % 4)
        )
        for code, size, value in found
    )


@settings(max_examples=50)
@given(st.lists(OPTIONS | st.binary(max_size=60), min_size=8, max_size=8), st.sampled_from("<>"))
def test_no_option_of_a_block_prevents_reading(
    found: list[list[tuple[int, int | None, bytes]] | bytes], order: str
) -> None:
    """Every block type has options at its end, with any code, length and value."""
    section, interface, enhanced, old, statistics, names, secrets, custom = (
        each if isinstance(each, bytes) else options_of(each, order) for each in found
    )
    packets = kafka()
    sizes = [len(each) for each in packets]
    padded = [each + bytes(-len(each) % 4) for each in packets]
    data = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1) + section, order)
    data += block(1, struct.pack(f"{order}HHI", ETHERNET, 0, 0) + interface, order)
    data += block(5, struct.pack(f"{order}III", 0, 0, 0) + statistics, order)
    data += block(4, struct.pack(f"{order}HH", 0, 0) + names, order)
    data += block(10, struct.pack(f"{order}II", 0x544C534B, 0) + secrets, order)
    data += block(0xBAD, struct.pack(f"{order}I", 1) + custom, order)
    for number, (size, each) in enumerate(zip(sizes, padded, strict=True)):
        if number % 2:
            head = struct.pack(f"{order}IIIII", 0, 390000, number * 1000, size, size)
            data += block(6, head + each + enhanced, order)
        else:
            head = struct.pack(f"{order}HHIIII", 0, 0, 390000, number * 1000, size, size)
            data += block(2, head + each + old, order)
    capture = Capture(io.BytesIO(data))
    clients = Clients()
    exchanges = list(capture)
    assert len(exchanges) == 1
    assert [each.data for each in read_packets(io.BytesIO(data))] == packets
    for exchange in exchanges:
        to_line(exchange)
        to_object(exchange)
        clients.add(exchange)
    render(exchanges)
    assert len(list(clients)) == 1


@pytest.mark.parametrize("order", ["<", ">"])
def test_time_options_of_another_length_are_reported_and_ignored(order: str) -> None:
    data = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    options = option(14, b"\x7f" * 4000, order) + option(9, b"\6\6", order)
    data += block(1, struct.pack(f"{order}HHI", RAW, 0, 0) + options, order)
    data += block(6, struct.pack(f"{order}IIIII", 0, 0, 5, len(ONE), len(ONE)) + ONE, order)
    report = CaptureReport()
    (packet,) = read_packets(io.BytesIO(data), report)
    assert (packet.time_ns, packet.data) == (5000, ONE)
    assert report.remarks == [
        "block 2: option 9 has 2 bytes, expected 1",
        "block 2: option 14 has 4000 bytes, expected 8",
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (option(14, struct.pack("<q", 100)), 100_000_005_000),
        (option(14, struct.pack("<q", 1 << 62)), None),
        (option(14, struct.pack("<q", -(1 << 62))), None),
        (option(9, b"\x7f"), 0),
        (option(9, b"\xff"), 0),
        (option(9, b"\0"), 5_000_000_000),
    ],
)
def test_time_outside_of_the_years_1970_to_9999_is_unknown(options: bytes, expected: int | None) -> None:
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(1, struct.pack("<HHI", RAW, 0, 0) + options)
    data += block(6, struct.pack("<IIIII", 0, 0, 5, len(ONE), len(ONE)) + ONE)
    (packet,) = read_packets(io.BytesIO(data))
    assert packet.time_ns == expected


def test_packets_lost_by_the_capture_are_unread() -> None:
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(5, bytes(12) + option(5, struct.pack("<Q", 12)) + option(7, struct.pack("<Q", 5)))
    report = CaptureReport()
    assert list(read_packets(io.BytesIO(data), report)) == []
    assert (report.counts, report.unread) == ({"packets lost by the capture": 17}, 17)
    assert report.remarks == ["packets lost according to the capture: 17"]


def test_loopback_with_another_family_is_unread() -> None:
    assert counted(linked(b"\x83" + bytes(30), NULL), link=NULL) == ({IP_HEADER: 1}, 1)


def test_damaged_interface_keeps_its_number() -> None:
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, bytes(4))
    data += block(1, struct.pack("<HHI", ETHERNET, 0, 0)) + block(1, struct.pack("<HHI", RAW, 0, 0))
    for number in range(3):
        data += block(6, struct.pack("<IIIII", number, 0, 0, len(ONE), len(ONE)) + ONE)
    report = CaptureReport()
    found = list(read_packets(io.BytesIO(data), report))
    assert [(packet.number, packet.link_type) for packet in found] == [(2, ETHERNET), (3, RAW)]
    assert report.remarks == [
        "block 2 is damaged and ignored: its 4 bytes are too few",
        "block 5 is damaged and ignored: packet refers to interface 0, whose description is damaged",
    ]
