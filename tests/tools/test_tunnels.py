"""Link layers, tunnels and faults of packets: as many messages as tshark finds, and no guess about cut headers."""

from __future__ import annotations

import io
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain, count
from pathlib import Path

import pytest
from kafka_messages import MetadataRequest, MetadataResponse
from kafka_messages.protocol import encode_request, encode_response

from kafka_messages_tools.capture import Capture, CaptureReport, Packet, Segment, read_packets, segments
from tests.support.packets import ETHERNET, Talk, ipv4, pcap, tcp
from tests.support.tunnels import LAYERS, TUNNELS, UNLIKE_TSHARK, capture_file, erspan_2, ethernet, outer, vxlan
from tests.tools.test_wireshark import SECONDS, needs_tshark

ALL = {**LAYERS, **UNLIKE_TSHARK}
DATA = b"some bytes of a segment"


def talk(client: int = 40000) -> list[bytes]:
    """Return the IPv4 packets of a connection with three exchanges, one message in each packet."""
    made = Talk(client=client).open()
    for number in range(3):
        made.say(encode_request(MetadataRequest(topics=None), 12, number, "me"))
        made.say(encode_response(MetadataResponse(cluster_id="c").downgraded(12), 12, number), from_client=False)
    return list(made.close().packets())


def our_messages(data: bytes) -> tuple[Counter[int], CaptureReport]:
    """Return the number of messages by port of the client."""
    found = Counter[int]()
    capture = Capture(io.BytesIO(data))
    for exchange in capture:
        frames = (exchange.request_frame, exchange.response_frame)
        found[exchange.client.port] += sum(frame is not None for frame in frames)
    return found, capture.report


def tshark_messages(data: bytes, folder: Path) -> Counter[int]:
    """Return the number of messages in tshark by port of the client."""
    file = folder / "traffic.pcap"
    file.write_bytes(data)
    command = ["tshark", "-r", str(file), "-d", "udp.port==8472,vxlan", "-Y", "kafka", "-T", "fields"]
    fields = ("-e", "tcp.srcport", "-e", "tcp.dstport", "-e", "kafka.correlation_id")
    done = subprocess.run([*command, *fields], capture_output=True, check=True, timeout=SECONDS, text=True)
    found = Counter[int]()
    for line in done.stdout.splitlines():
        source, target, ids = line.split("\t")
        found[max(int(source), int(target))] += ids.count(",") + bool(ids)
    return found


def read(packet: bytes, link: int, length: int = 0) -> tuple[list[Segment], CaptureReport]:
    report = CaptureReport()
    return list(segments([Packet(1, None, link, packet, length or len(packet))], report)), report


@needs_tshark
def test_every_layer_and_tunnel_has_as_many_messages_as_in_tshark(tmp_path: Path) -> None:
    ports = {name: 40000 + number for number, name in enumerate(ALL)}
    packets = [(link, wrap(each)) for name, (link, wrap) in ALL.items() for each in talk(ports[name])]
    data = capture_file(packets)
    theirs, (ours, report) = tshark_messages(data, tmp_path), our_messages(data)
    assert {name: ours[port] for name, port in ports.items()} == dict.fromkeys(ALL, 6)
    assert {name: theirs[ports[name]] for name in LAYERS} == dict.fromkeys(LAYERS, 6)
    assert (report.unread, report.remarks) == (0, [])


@needs_tshark
def test_nested_tunnels_have_as_many_segments_as_in_tshark(tmp_path: Path) -> None:
    chance = random.Random(47)
    packets = []
    for port in range(20000, 20300):
        packet = ipv4(tcp(9092, port, 7, DATA))
        for _ in range(chance.randrange(1, 7)):
            packet = chance.choice(TUNNELS)(packet)
        link, wrap = LAYERS[chance.choice(("Ethernet", "Linux cooked 2", "RAW", "NFLOG, little-endian", "MPLS"))]
        packets.append((link, wrap(packet)))
    file = tmp_path / "nested.pcapng"
    file.write_bytes(capture_file(packets))
    command = ["tshark", "-r", str(file), "-d", "udp.port==8472,vxlan", "-T", "fields", "-e", "tcp.dstport"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=SECONDS, text=True)
    with file.open("rb") as opened:
        ports = [segment.target.port for segment in segments(read_packets(opened))]
    assert ports == list(range(20000, 20300)) == list(map(int, done.stdout.split()))


@pytest.mark.parametrize("name", ALL)
def test_layer_is_read_or_counted_wherever_it_is_cut(name: str) -> None:
    link, wrap = ALL[name]
    packet = wrap(ipv4(tcp(1, 2, 7, DATA)))
    (whole,), report = read(packet, link)
    assert whole.data == DATA
    assert (whole.source.port, whole.target.port, whole.sequence, whole.missing) == (1, 2, 7, 0)
    assert (report.counts, report.unread) == ({"segments": 1}, 0)
    for size in range(len(packet)):
        found, report = read(packet[:size], link, len(packet))
        if found:
            (cut,) = found
            assert cut._replace(data=DATA, missing=0) == whole
            assert cut.data == DATA[: len(cut.data)]
            assert len(cut.data) + cut.missing == len(DATA)
            assert report.unread == 0
        else:
            assert report.counts == {"packets truncated within their headers": 1}
            assert report.unread == 1


@pytest.mark.parametrize("name", ALL)
def test_damaged_packet_is_a_segment_or_counted(name: str) -> None:
    link, wrap = ALL[name]
    packet = wrap(ipv4(tcp(1, 2, 7, DATA)))
    chance = random.Random(name)
    found: Counter[str] = Counter()
    for _ in range(300):
        damaged = bytearray(packet)
        for _ in range(chance.choice((1, 1, 3))):
            damaged[chance.randrange(len(packet))] = chance.randrange(256)
        _, report = read(bytes(damaged), link)
        assert sum(number for what, number in report.counts.items() if what.startswith(("seg", "pack", "frag"))) == 1
        assert report.unread in (0, 1)
        found += report.counts
    assert found["segments"] > 100
    assert len(found) > 1


@needs_tshark
@pytest.mark.parametrize("magic", ["a1b2c3d4", "a1b23c4d", "a1b2cd34"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_every_variant_of_pcap_has_as_many_messages_as_in_tshark(magic: str, order: str, tmp_path: Path) -> None:
    data = pcap(map(ethernet, talk()), ETHERNET, order=order, magic=int(magic, 16))  # type: ignore[arg-type]
    ours, report = our_messages(data)
    assert (ours, tshark_messages(data, tmp_path), report.remarks) == ({40000: 6}, {40000: 6}, [])


def pieces(packet: bytes, protocol: int = 6, identity: int = 1, size: int = 24) -> list[bytes]:
    """Return the IPv4 fragments of a packet, with ``size`` bytes each."""
    body, out = packet[20:], []
    hosts = [".".join(map(str, packet[at : at + 4])) for at in (12, 16)]
    for at in range(0, len(body), size):
        more = 0x2000 if at + size < len(body) else 0
        out.append(ipv4(body[at : at + size], *hosts, fragment=more | at // 8, identity=identity, protocol=protocol))
    return out


IDENTITIES = count(1)


def fragmented(packets: Iterable[bytes], protocol: int = 6, *, backwards: bool = False) -> list[bytes]:
    found = []
    for packet in packets:
        parts = pieces(packet, protocol, next(IDENTITIES))
        found += parts[::-1] if backwards else parts
    return found


def of(packets: Iterable[bytes]) -> list[bytes]:
    return [ethernet(packet) for packet in packets]


def without(packets: list[bytes], *places: int) -> list[bytes]:
    return [packet for place, packet in enumerate(packets) if place not in places]


def twice(packets: Iterable[bytes]) -> list[bytes]:
    return [packet for packet in packets for _ in range(2)]


def seen_inside_and_outside(packets: Iterable[bytes]) -> list[bytes]:
    return [form for packet in packets for form in (ethernet(packet), ethernet(vxlan(ethernet(packet))))]


def mirrored_in_two_networks(packets: Iterable[bytes]) -> list[bytes]:
    return [ethernet(vxlan(ethernet(packet), network=number)) for packet in packets for number in (5, 6)]


def offloaded(packet: bytes) -> bytes:
    return packet[:2] + bytes(2) + packet[4:]


FAULTS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int, int, int]] = {
    "no total length": (lambda them: of(map(offloaded, them)), 0, 6, 6),
    "no total length in VXLAN": (lambda them: of(vxlan(ethernet(offloaded(each))) for each in them), 0, 6, 6),
    "each packet twice": (lambda them: of(twice(them)), 0, 6, 6),
    "each packet inside and outside of a tunnel": (seen_inside_and_outside, 0, 6, 6),
    "each packet in two mirrored networks": (mirrored_in_two_networks, 0, 6, 6),
    "inner fragments": (lambda them: of(vxlan(ethernet(each)) for each in fragmented(them)), 0, 6, 6),
    "outer fragments": (lambda them: of(fragmented((vxlan(ethernet(each)) for each in them), 17)), 0, 6, 6),
    "outer fragments backwards": (
        lambda them: of(fragmented((outer(each, 4) for each in them), 4, backwards=True)),
        0,
        6,
        6,
    ),
    "each fragment twice": (lambda them: of(twice(fragmented(them))), 0, 6, 6),
    "a lost fragment": (lambda them: of(without(fragmented(them), 5)), 23, 5, 5),
    "a lost packet": (lambda them: of(without(them, 4)), 21, 5, 5),
    "packets in the wrong order": (lambda them: of([*them[:3], them[4], them[3], *them[5:]]), 0, 6, 5),
    "truncated mirrored packets": (lambda them: of(erspan_2(ethernet(each)[:74]) for each in them), 9, 6, 0),
}
"""Packets of a connection with the fault, how many packets and bytes are unread,
and the number of messages of ``capture`` and of tshark."""


@needs_tshark
def test_fault_leaves_as_many_messages_as_in_tshark(tmp_path: Path) -> None:
    made = {port: make(talk(port)) for port, (make, *_) in enumerate(FAULTS.values(), 40000)}
    theirs = tshark_messages(pcap(chain.from_iterable(made.values()), ETHERNET), tmp_path)
    for (name, (_, unread, *expected)), (port, packets) in zip(FAULTS.items(), made.items(), strict=True):
        found, report = our_messages(pcap(packets, ETHERNET))
        assert (name, [found[port], theirs[port]]) == (name, expected)
        assert (name, report.unread, report.remarks) == (name, unread, [])
