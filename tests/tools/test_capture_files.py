"""Capture files: formats, link layers, fragments and damage."""

from __future__ import annotations

import gzip
import io
import struct
from collections.abc import Callable
from typing import Any

import pytest
from kafka_messages import MetadataRequest
from kafka_messages.protocol import encode_request

from kafka_messages_tools.capture import Capture, CaptureError, CaptureReport, Packet, Segment, read_packets, segments
from tests.support import packets
from tests.support.packets import Talk, block, ipv4, ipv6, linked, pcap, pcapng, tcp

DATA = b"a segment's bytes"
ONE = ipv4(tcp(1, 2, 7, DATA))


def read(data: bytes) -> tuple[list[Packet], CaptureReport]:
    report = CaptureReport()
    return list(read_packets(io.BytesIO(data), report)), report


def segments_of(data: bytes) -> tuple[list[Segment], CaptureReport]:
    report = CaptureReport()
    return list(segments(read_packets(io.BytesIO(data), report), report)), report


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("make", [pcap, pcapng])
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_pcap_and_pcapng_are_read_in_both_byte_orders(
    make: Callable[..., bytes], order: str, nanoseconds: bool
) -> None:
    found, report = read(make([ONE, ONE], order=order, nanoseconds=nanoseconds))
    assert found == [
        Packet(1, packets.START, packets.RAW, ONE, len(ONE)),
        Packet(2, packets.START + 1_000_000, packets.RAW, ONE, len(ONE)),
    ]
    assert (report.counts, report.remarks) == ({"packets": 2}, [])


@pytest.mark.parametrize("form", ["enhanced", "simple", "old"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_every_packet_block_type_is_read(form: Any, order: Any) -> None:
    found, _ = read(pcapng([ONE], order=order, form=form, snap=30))
    time = None if form == "simple" else packets.START
    assert found == [Packet(1, time, packets.RAW, ONE[:30], len(ONE))]


def test_gzipped_and_truncated_files_are_read() -> None:
    whole = pcap([ONE, ONE, ONE])
    assert len(read(gzip.compress(whole))[0]) == 3
    found, report = read(gzip.compress(whole)[:-12])
    assert len(found) <= 3
    assert len(report.remarks) == 1
    found, report = read(whole[:-5])
    assert (len(found), report.remarks) == (2, ["the file ends inside packet 3: 57 bytes needed, 52 left"])
    found, report = read(pcapng([ONE, ONE])[:-5])
    assert (len(found), report.remarks) == (1, ["the file ends inside block 4: 84 bytes needed, 79 left"])


def test_damaged_packet_or_block_is_reported() -> None:
    data = pcap([ONE]) + struct.pack("<IIII", 0, 0, 1 << 30, 1 << 30)
    found, report = read(data)
    assert (len(found), report.remarks) == (
        1,
        ["packet 2 has an invalid length of 1073741824 bytes; the rest of the file is ignored"],
    )
    found, report = read(pcapng([ONE]) + struct.pack("<II", 6, 13))
    assert (len(found), report.remarks) == (
        1,
        ["block 4 has an invalid length of 13 bytes; the rest of the file is ignored"],
    )
    found, report = read(pcapng([ONE]) + block(6, bytes(20)) + block(6, struct.pack("<IIIII", 9, 0, 0, 0, 0)))
    remark = (
        "block 5 is damaged and ignored: packet refers to interface 9, but the section has only 1 described interface"
    )
    assert (len(found), report.remarks) == (2, [remark])
    _, report = read(pcapng([ONE]) + block(6, struct.pack("<IIIII", 0, 0, 0, 9, 9)) + block(0x0A0D0D0A, bytes(16)))
    assert report.remarks == [
        "block 4 is damaged and ignored: expected a packet of 9 bytes, got 0",
        "block 5, a section header, has no valid byte order; the rest of the file is ignored",
    ]
    _, report = read(pcapng([ONE]) + block(6, bytes(8)) + block(1, bytes(4)))
    assert report.remarks == [
        "block 4 is damaged and ignored: its 8 bytes are too few",
        "block 5 is damaged and ignored: its 4 bytes are too few",
    ]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "not a pcap or pcapng file: it is empty"),
        (b"# Kafka", "not a pcap or pcapng file: it begins with 23 20 4b 61"),
        (
            b"\x1f\x8bnothing",
            "cannot decompress the gzip file: Compressed file ended before the end-of-stream marker was reached",
        ),
    ],
)
def test_unknown_file_format_raises_capture_error(data: bytes, text: str) -> None:
    with pytest.raises(CaptureError) as caught:
        read(data)
    assert str(caught.value) == text


def test_dropped_packets_in_statistics_are_reported() -> None:
    statistics = block(5, bytes(12) + packets.option(5, struct.pack("<Q", 17)) + packets.option(0, b""))
    _, report = read(pcapng([ONE]) + statistics)
    assert report.remarks == ["packets lost according to the capture: 17"]


@pytest.mark.parametrize("tags", [(), (0x8100,), (0x88A8, 0x8100)])
@pytest.mark.parametrize("link", [packets.ETHERNET, packets.SLL, packets.SLL2])
@pytest.mark.parametrize("packet", [ONE, ipv6(tcp(1, 2, 7, DATA))], ids=["v4", "v6"])
def test_vlan_tags_of_link_layers_are_skipped(packet: bytes, link: int, tags: tuple[int, ...]) -> None:
    (segment,), _ = segments_of(pcap([linked(packet, link, tags)], link))
    assert (segment.source.port, segment.sequence, segment.data) == (1, 7, DATA)


@pytest.mark.parametrize("link", [packets.RAW, packets.NULL, packets.LOOP])
def test_link_layers_without_protocol_field_are_read(link: int) -> None:
    (segment,), _ = segments_of(pcap([linked(ONE, link)], link))
    assert (str(segment.source), str(segment.target), segment.data) == ("10.0.0.1:1", "10.0.0.2:2", DATA)


def test_ethernet_padding_is_removed_and_snap_length_counted() -> None:
    padded = linked(ipv4(tcp(1, 2, 7, b"x")), packets.ETHERNET) + bytes(6)
    (segment,), _ = segments_of(pcap([padded], packets.ETHERNET))
    assert (segment.data, segment.missing) == (b"x", 0)
    (segment,), report = segments_of(pcap([ONE], snap=len(ONE) - 4))
    assert (segment.data, segment.missing) == (DATA[:-4], 4)
    assert report.counts["bytes truncated by the snapshot length"] == 4
    nothing, report = segments_of(pcap([ONE], snap=30))
    assert (nothing, report.counts["packets truncated within their headers"]) == ([], 1)


def test_ipv6_extension_headers_are_skipped() -> None:
    extensions = [(0, bytes([0]) + bytes(6)), (60, bytes([1]) + bytes(14)), (51, bytes([4]) + bytes(22))]
    (segment,), _ = segments_of(pcap([ipv6(tcp(1, 2, 7, DATA), extensions)]))
    assert (str(segment.source), segment.data) == ("[fd00::1]:1", DATA)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0, 1)])
def test_ipv4_fragments_are_reassembled(order: tuple[int, ...]) -> None:
    segment = tcp(1, 2, 7, DATA * 3)
    parts = [ipv4(segment[:24], fragment=0x2000, identity=5), ipv4(segment[24:48], fragment=0x2003, identity=5)]
    parts.append(ipv4(segment[48:], fragment=6, identity=5))
    (found,), report = segments_of(pcap([parts[place] for place in order]))
    assert (found.data, found.packet) == (DATA * 3, max(order.index(place) for place in range(3)) + 1)
    assert report.counts["datagrams reassembled from fragments"] == 1
    nothing, report = segments_of(pcap(parts[:2]))
    assert (nothing, report.counts["datagrams with missing fragments"]) == ([], 1)


def test_ipv6_fragments_are_reassembled() -> None:
    segment = tcp(1, 2, 7, DATA * 3)
    first = ipv6(segment[:24], [(44, struct.pack(">BHI", 0, 1, 9))])
    second = ipv6(segment[24:], [(44, struct.pack(">BHI", 0, 24, 9))])
    (found,), _ = segments_of(pcap([second, first]))
    assert found.data == DATA * 3


def test_packets_other_than_tcp_are_counted() -> None:
    arp = bytes(12) + b"\x08\x06" + bytes(28)
    udp = ONE[:9] + b"\x11" + ONE[10:]
    _, report = segments_of(pcap([arp, linked(udp, packets.ETHERNET), linked(ONE, packets.ETHERNET)], packets.ETHERNET))
    assert report.counts == {"packets": 3, "packets other than IP": 1, "packets other than TCP": 1, "segments": 1}
    _, report = segments_of(pcap([ONE], 147))
    assert report.counts["packets of link type 147, which is not supported"] == 1


def test_exchange_has_packet_numbers_and_time() -> None:
    talk = Talk().open().say(encode_request(MetadataRequest(), 12, 1, "me"), size=20).close()
    capture = Capture(io.BytesIO(pcapng(talk.packets(), nanoseconds=True)))
    (exchange,) = capture
    frame = exchange.request_frame
    assert frame is not None
    assert (frame.first_packet, frame.packet, frame.time_ns) == (3, 4, packets.START + 3_000_000)
    assert repr(frame) == f"<Frame of {frame.size} bytes, packets 3 to 4>"  # without bytes, maybe secret ones
