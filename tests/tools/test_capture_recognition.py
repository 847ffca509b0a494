"""Recognition of requests where their frames end, and by their responses; other protocols; the limits of the search."""

from __future__ import annotations

import io
import re
import shutil
import struct
import subprocess
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kafka_messages
import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    protocol,
)
from kafka_messages.protocol import encode_request, encode_response, frame

from kafka_messages_tools.capture import Capture, Exchange, framing, plausible, to_line, to_object
from tests.support.command import RunCommand, is_partial
from tests.support.packets import Talk, pcap

NAMES = pytest.mark.parametrize("name", ["rdkafka", "", None], ids=["client id", "empty client id", "null client id"])
PORTS = pytest.mark.parametrize("ports", [(), (9092,)], ids=["detected", "port"])


def capture_of(talk: Talk, ports: tuple[int, ...] = (), snap: int = 1 << 18) -> tuple[list[Exchange], Capture]:
    capture = Capture(io.BytesIO(pcap(talk.packets(), snap=snap)), ports)
    return list(capture), capture


def longer(data: bytes, more: bytes) -> bytes:
    return frame(data[4:] + more)


def api_versions(number: int, name: str | None = "rdkafka") -> bytes:
    """Return the ApiVersions request of librdkafka before 1.4, which has an empty array after its message."""
    return longer(encode_request(ApiVersionsRequest(), 0, number, name), bytes(4))


def header(key: int, version: int, number: int, name: str | None) -> bytes:
    text = b"\xff\xff" if name is None else struct.pack(">h", len(name)) + name.encode()
    return struct.pack(">hhi", key, version, number) + text


def heartbeat(number: int, name: str | None = "rdkafka", more: bytes = b"") -> bytes:
    return longer(encode_request(HeartbeatRequest(group_id="g", member_id="m"), 1, number, name), more)


def answer(number: int) -> bytes:
    return encode_response(HeartbeatResponse(), 1, number)


def listed(found: list[Exchange]) -> list[tuple[str, bool]]:
    """Return API key and version of each exchange, and whether it has a response."""
    return [
        ("?" if each.header is None else f"{each.header.request_api_key} v{each.header.request_api_version}",
         each.response_frame is not None)
        for each in found
    ]  # fmt: skip


@PORTS
@NAMES
@pytest.mark.parametrize(
    ("make", "response", "expected"),
    [
        (api_versions, encode_response(ApiVersionsResponse(), 0, 7), "18 v0"),
        (lambda number, name: heartbeat(number, name, b"\0"), answer(7), "12 v1"),
        (lambda number, name: frame(header(1, 19, number, name) + b"\0body"), frame(struct.pack(">i", 7) + b"abc"), "1 v19"),
        (lambda number, name: frame(header(1, 99, number, name) + b"\0body"), frame(struct.pack(">i", 7) + b"abc"), "1 v99"),
        (lambda number, name: frame(header(999, 1, number, name) + b"body"), frame(struct.pack(">i", 7) + b"ab"), "999 v1"),
    ],
    ids=["librdkafka", "a byte more", "newer version", "much newer version", "unknown API"],
)  # fmt: skip
def test_request_is_recognized_without_the_beginning_of_its_connection(
    make: Callable[[int, str | None], bytes], response: bytes, expected: str, name: str | None, ports: tuple[int, ...]
) -> None:
    found, capture = capture_of(Talk().say(make(7, name)).say(response, from_client=False), ports)
    assert listed(found) == [(expected, True)]
    assert capture.report.unread == 0


@pytest.mark.parametrize("size", [1400, 7, 3, 1], ids=["whole", "segments of 7", "segments of 3", "single bytes"])
def test_pipelined_requests_are_recognized_in_segments_of_any_size(size: int) -> None:
    requests = (
        api_versions(1) + heartbeat(2, more=b"\0") + frame(header(1, 19, 3, "rdkafka") + b"\0body") + heartbeat(4)
    )
    answers = (
        encode_response(ApiVersionsResponse(), 0, 1) + answer(2) + frame(struct.pack(">i", 3) + b"abc") + answer(4)
    )
    found, capture = capture_of(Talk().say(requests, size=size).say(answers, from_client=False, size=size))
    assert listed(found) == [("18 v0", True), ("12 v1", True), ("1 v19", True), ("12 v1", True)]
    assert capture.report.unread == 0


def test_every_api_and_version_is_recognized_after_a_hole_with_bytes_after_its_message() -> None:
    versions = [
        (api.request_name, version)
        for api in protocol.apis()
        for version in range(max(api.valid_versions.lowest, 0), api.valid_versions.highest + 1)
        if (api.name, version) != ("ControlledShutdown", 0)  # its header has no client id
    ]
    assert len(versions) > 350
    missed = []
    for name, version in versions:
        made = longer(encode_request(getattr(kafka_messages, name)(), version, 8, "me"), b"\0\0")
        talk = Talk().open().say(heartbeat(1)).say(answer(1), from_client=False)
        talk.next[0] += 100
        talk.say(made).say(heartbeat(9))
        found, _ = capture_of(talk)
        if [each.header and each.header.correlation_id for each in found] != [1, 8, 9]:
            missed.append((name, version))
    assert missed == []


def test_request_after_a_hole_keeps_its_response() -> None:
    talk = Talk().open().say(heartbeat(1)).say(answer(1), from_client=False)
    talk.next[0] += 100
    talk.say(api_versions(5)).say(encode_response(ApiVersionsResponse(), 0, 5), from_client=False)
    found, capture = capture_of(talk.say(heartbeat(6)).say(answer(6), from_client=False))
    assert listed(found) == [("12 v1", True), ("18 v0", True), ("12 v1", True)]
    assert capture.report.unread == 100


def test_sasl_token_after_a_hole_is_redacted() -> None:
    talk = Talk().open().say(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, "me"))
    talk.say(encode_response(SaslHandshakeResponse(mechanisms=["PLAIN"]), 0, 1), from_client=False)
    talk.next[0] += 100
    talk.say(frame(b"\0charlie\0!" + b"planted-secret" * 5)).say(frame(b""), from_client=False)
    found, _ = capture_of(talk.say(heartbeat(2)).say(answer(2), from_client=False))
    assert [each.is_token for each in found] == [False, False, True, False]
    assert listed(found)[1] == ("12 v1", True)
    assert "planted" not in str([to_object(each) for each in found]) + "".join(map(to_line, found))


def test_requests_cut_by_the_snap_length_are_listed_without_the_beginning_of_their_connection() -> None:
    talk = Talk()
    for number in (1, 2):
        talk.say(encode_request(MetadataRequest(topics=None), 8, number, "me"))
        talk.say(encode_response(MetadataResponse(cluster_id="c" * 99), 8, number), from_client=False, size=9999)
    found, _ = capture_of(talk, snap=40 + 16)
    assert [(*each, exchange.client_id) for each, exchange in zip(listed(found), found, strict=True)] == [
        ("3 v8", True, "me"),
        ("3 v8", True, "me"),
    ]


@pytest.mark.parametrize("server", [9092, 9094, 19092])
@pytest.mark.parametrize("captured", range(14))
@pytest.mark.parametrize("name", ["me", None], ids=["client id", "null client id"])
def test_requests_cut_before_their_client_id_are_listed_on_usual_ports(
    name: str | None, captured: int, server: int
) -> None:
    talk = Talk(server=server).open()
    for number in (1, 2, 3):
        talk.say(heartbeat(number, name)).say(answer(number), from_client=False)
    found, _ = capture_of(talk.close(), snap=40 + captured)
    if server < 9095 and captured >= 6:
        assert [each.request_problem for each in found if each.request_frame] == [
            f"{captured - 4} of {len(heartbeat(1, name)) - 4} bytes were captured"
        ] * 3
    assert is_partial(pcap(talk.packets(), snap=40 + captured))


def test_first_request_with_a_lost_rest_is_listed() -> None:
    talk = Talk().open().say(heartbeat(1)[:13])
    talk.next[0] += len(heartbeat(1)) - 13
    found, capture = capture_of(talk.say(answer(1), from_client=False).close(by_client=False))
    assert listed(found) == [("12 v1", True)]
    assert capture.report.unread == len(heartbeat(1)) - 13


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "without beginning"])
@pytest.mark.parametrize(
    ("first", "unread"), [(b"a", 42), (b"\x7f\xf0\1", 42), (b"GET / HTTP/1.1\r\n\r\n", 0)], ids=["byte", "size", "HTTP"]
)
def test_missing_bytes_of_an_undecided_connection_count(first: bytes, unread: int, is_whole: bool) -> None:
    talk = (Talk().open() if is_whole else Talk()).say(first)
    talk.next[0] += 42
    talk.segments.append(talk.made(b"", from_client=False))
    found, capture = capture_of(talk.close())
    assert (listed(found), capture.report.unread) == ([], unread)


def test_connection_without_any_captured_data_is_incomplete() -> None:
    talk = Talk().open()
    talk.next = [each + 42 for each in talk.next]
    found, capture = capture_of(talk.close())
    assert (listed(found), capture.report.unread) == ([], 84)


# First bytes of requests and responses of other protocols, made from their specifications: FastCGI (section 8), Raft of
# Dragonboat, DCE/RPC with big-endian data, OpenFlow 1.0, SMPP 3.4 and the tick of AFP's DSI.
OTHERS = {
    "FastCGI": ("0101000100080000 0001000000000000 010400010000000001", "0106000100040000 61626364 0103000100080000"),
    "DCE/RPC": (
        "0500 0003 00000000 0018 0000 00000001 0000 0000 0000 0000",
        "0500 0203 00000000 0018 0000 00000001 0000",
    ),
    "OpenFlow": ("0100000800000001 0105000800000002", "0100000800000001 0106000800000002"),
    "SMPP": (
        "00000021 00000002 00000000 00000001 736d70703300 73656372657400 00 34 00 00 00",
        "00000011 80000002 00000000 00000001 00",
    ),
    "Raft": ("00000020 0000 0000 00000003 0000 00000000000000 01 00000000000000000000000000", "00000004 00000009"),
    "AFP": ("0005 0001 00000000 00000000 00000000", "0105 0001 00000000 00000000 00000000"),
    "ZooKeeper": (
        "0000002c 00000000 0000000000000000 00007530 0000000000000000 00000010 00000000000000000000000000000000",
        "00000025 00000000 00007530 0100000000000001 00000010 00000000000000000000000000000001 00",
    ),
    "OpenWire": ("000000f0 01 4163746976654d51 0000000c 01000000", "000000f0 01 4163746976654d51 0000000c 01"),
}


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "without beginning"])
@pytest.mark.parametrize("name", OTHERS)
def test_first_request_that_neither_decodes_nor_is_answered_is_not_kafka(name: str, is_whole: bool) -> None:
    request, response = map(bytes.fromhex, OTHERS[name])
    talk = Talk().open() if is_whole else Talk()
    for _ in range(3):
        talk.say(request).say(response, from_client=False)
    found, capture = capture_of(talk.close())
    assert (listed(found), capture.report.counts["connections of Kafka"]) == ([], 0)
    assert not is_partial(pcap(talk.packets()))


# The body of each request, which cannot be decoded, and the correlation id of its response, if it has one.
UNREADABLE = {
    "newer version": (25, b"\0" + b"\xff" * 20, None),
    "newer version, foreign response": (25, b"\0" + b"\xff" * 20, 257),
    "invalid body": (12, b"\0\xff\xff\xff", None),
    "invalid body, foreign response": (12, b"\0\xff\xff\xff", 257),
}


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "without beginning"])
@pytest.mark.parametrize("server", [9092, 4000])
@pytest.mark.parametrize("name", UNREADABLE)
def test_client_id_alone_proves_kafka_on_usual_ports_only(name: str, server: int, is_whole: bool) -> None:
    version, body, number = UNREADABLE[name]
    talk = Talk(server=server).open() if is_whole else Talk(server=server)
    talk.say(frame(header(1, version, 7, "c") + body))
    if number is not None:
        talk.say(answer(number), from_client=False)
    is_kafka = server == 9092
    found, capture = capture_of(talk)
    assert listed(found)[:1] == [(f"1 v{version}", False)] * is_kafka
    assert capture.report.counts["connections of Kafka"] == is_kafka
    assert is_partial(pcap(talk.packets())) is is_kafka
    assert listed(capture_of(talk, (server,))[0])[:1] == [(f"1 v{version}", False)]


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "without beginning"])
@pytest.mark.parametrize(
    "request_bytes", [frame(header(1, 25, 7, "c") + b"\0body"), frame(header(999, 0, 7, "c")), api_versions(7)],
    ids=["newer version", "unknown API", "bytes after the message"],
)  # fmt: skip
def test_answered_request_proves_kafka_on_any_port(request_bytes: bytes, is_whole: bool) -> None:
    talk = Talk(server=4000).open() if is_whole else Talk(server=4000)
    found, _ = capture_of(talk.say(request_bytes).say(encode_response(ApiVersionsResponse(), 0, 7), from_client=False))
    assert [has_response for _, has_response in listed(found)] == [True]


def test_unsupported_first_request_that_names_its_client_is_listed() -> None:
    found, _ = capture_of(Talk().open().say(frame(header(1, 19, 3, "me") + b"\0body")).close(by_client=False))
    assert to_line(found[0]).endswith("Fetch v19 is unsupported: this release supports versions 4 to 18")


@pytest.mark.parametrize(
    ("server", "ports", "count"),
    [(9092, (), 1), (9094, (), 1), (19092, (), 3), (9092, (9092,), 1), (19092, (19092,), 1)],
)
@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "without beginning"])
def test_responses_without_requests_are_listed(is_whole: bool, count: int, server: int, ports: tuple[int, ...]) -> None:
    talk = Talk(server=server).open() if is_whole else Talk(server=server)
    for number in range(5, 5 + count):
        talk.say(answer(number), from_client=False)
    found, _ = capture_of(talk, ports)
    assert [each.response_problem for each in found] == ["its request was not captured"] * count
    assert str(found[0].server) == f"10.0.0.2:{server}"
    assert is_partial(pcap(talk.packets()), *(f"--port={port}" for port in ports))


@pytest.mark.parametrize("is_whole", [True, False], ids=["SYN-ACK", "without beginning"])
@pytest.mark.parametrize("is_closed", [True, False], ids=["FIN", "open"])
def test_packets_of_the_server_alone_are_listed(is_closed: bool, is_whole: bool) -> None:
    """The acknowledgments of the server prove the requests, which were not captured."""
    talk = Talk().open() if is_whole else Talk()
    for number in range(5, 8):
        talk.say(heartbeat(number)).say(answer(number), from_client=False)
    if is_closed:
        talk.close()
    talk.segments = [each for each in talk.segments if each[:2] == struct.pack(">H", talk.server)]
    found, _ = capture_of(talk)
    assert [each.response_problem for each in found] == ["its request was not captured"] * 3
    assert str(found[0].server) == "10.0.0.2:9092"
    assert is_partial(pcap(talk.packets()))


def compile_with(compile_pattern: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace ``re.compile`` in the search of frames."""
    monkeypatch.setattr("kafka_messages_tools.capture.plausible.re.compile", compile_pattern)
    plausible.response_pattern.cache_clear()


def test_patterns_of_responses_are_limited_by_the_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost direction of responses has candidates every eight bytes."""
    made = 0
    compile_pattern = re.compile

    def counting(*words: Any) -> re.Pattern[bytes]:
        nonlocal made
        made += 1
        return compile_pattern(*words)

    talk = Talk().open()
    for number in range(100):
        talk.say(heartbeat(number))
    talk.say(b"\xff\xff\xff\xfe" + struct.pack(">ii", 101, 99) * 2000, from_client=False)
    compile_with(counting, monkeypatch)
    found, capture = capture_of(talk)
    assert (len(found), capture.report.counts["bytes of responses not understood"]) == (100, 16_004)
    assert made < 2 * len(talk.segments)


@pytest.mark.parametrize(
    ("name", "cut"),
    [*((name, cut) for name in ("c", "rdkafka") for cut in range(1, 17)), (None, 3), (None, 7), ("", 10)],
)
def test_exchanges_after_a_cut_request_are_listed(name: str | None, cut: int) -> None:
    """The rest of the first request may look like the start of a long one."""
    talk = Talk()
    for number in range(1, 6):
        data = encode_request(MetadataRequest(topics=None), 12, number, name)
        talk.say(data[cut:] if number == 1 else data)
        talk.say(encode_response(MetadataResponse(), 12, number), from_client=False)
    found, _ = capture_of(talk)
    assert [each for each in listed(found) if each[0] != "?"] == [("3 v12", True)] * 4
    assert is_partial(pcap(talk.packets()))


def test_request_that_names_its_client_is_listed_while_a_longer_one_is_awaited() -> None:
    start = struct.pack(">ihhih", 0x10000, 3, 12, 1, -1)
    talk = Talk().say(b"\0\0" + start)
    for number in range(2, 40):
        talk.say(heartbeat(number)).say(answer(number), from_client=False)
    capture = Capture(io.BytesIO(pcap(talk.packets())))
    assert listed([next(iter(capture))]) == [("12 v1", True)]
    assert capture.report.counts["packets"] == 3


def test_client_with_an_empty_id_is_named(run_command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "empty.pcap"
    file.write_bytes(pcap(Talk().open().say(heartbeat(1, "")).say(answer(1), from_client=False).packets()))
    status, out, _ = run_command("capture", str(file), "--clients")
    first = "(empty client id): unknown software, at 10.0.0.1; 1 connection, 1 request, 0 responses with errors"
    assert (status, out.splitlines()[0]) == (0, first)


def hostile(count: int, size: int) -> bytes:
    """Return a sound request, an invalid length, and requests of ``size`` bytes, each invalid only near its end."""
    unit = struct.pack(">ihhih", size, 3, 1, 0, 0) + struct.pack(">i", size * 3 // 7) + bytes(40)
    small = struct.pack(">ihhih", 14, 3, 1, 7, 0) + bytes(4)
    return small + b"\xff\xff\xff\xfe" + (unit * (size // len(unit) + count + 2))[: size + 4 + len(unit) * count]


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "without beginning"])
@pytest.mark.parametrize("piece", [400, 60_000])
def test_decoded_bytes_are_limited_by_the_bytes_searched(
    piece: int, is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = 0

    def counting(decode: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(data: bytes, *words: object) -> Any:
            nonlocal decoded
            decoded += len(data)
            return decode(data, *words)

        return wrapped

    for name in ("decode_request", "decode_response"):
        monkeypatch.setattr(protocol, name, counting(getattr(protocol, name)))
    data = hostile(count=20, size=0x070000)
    found, _ = capture_of((Talk().open() if is_whole else Talk()).say(data, size=piece))
    assert ("3 v1", False) in listed(found)
    assert 0 < decoded <= 8 * len(data)


class _Counting:
    """A pattern that counts the bytes that it searches."""

    searched = 0

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._pattern = pattern

    def finditer(self, data: bytes, start: int = 0, end: int | None = None) -> Iterator[re.Match[bytes]]:
        end, at = len(data) if end is None else end, start
        while match := self._pattern.search(data, at, end):
            _Counting.searched += match.start() + 1 - at
            at = match.start() + 1
            yield match
        _Counting.searched += max(end - at, 0)

    def search(self, data: bytes, start: int = 0, end: int | None = None) -> re.Match[bytes] | None:
        return next(self.finditer(data, start, end), None)


def test_each_byte_is_searched_once_as_request_and_once_as_response(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection begins with a plausible request that never ends."""
    size = 1_000_000
    compile_pattern = re.compile
    _Counting.searched = 0
    compile_with(lambda *words: _Counting(compile_pattern(*words)), monkeypatch)
    data = struct.pack(">ihhih", size, 3, 1, 7, 0) + struct.pack(">i", 5) + bytes(size - 400)
    capture_of(Talk().say(data, size=60_000))
    plausible.response_pattern.cache_clear()
    assert 0 < _Counting.searched <= 2 * len(data)


def test_bytes_of_lost_streams_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "MOST_KEPT_OF_ALL", 1 << 20)
    packets: list[bytes] = []
    for client in range(40_000, 40_030):
        head = struct.pack(">ihhih", 900_000, 3, 1, 7, 0) + struct.pack(">i", 5)
        talk = Talk(client=client).say(head + bytes(200_000), size=60_000)
        packets += talk.packets()
    capture = Capture(io.BytesIO(pcap(packets)))
    tracemalloc.start()
    assert list(capture) == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20
    assert capture.report.counts["connections dropped: too many bytes before a request"] > 10
    assert is_partial(pcap(packets))


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_number_of_messages_is_that_of_tshark(tmp_path: Path) -> None:
    talks = [
        Talk(client=40_001).say(api_versions(1)).say(encode_response(ApiVersionsResponse(), 0, 1), from_client=False),
        Talk(client=40_002).say(api_versions(2)),
        Talk(client=40_003).say(answer(3), from_client=False).say(heartbeat(4)).say(answer(4), from_client=False),
        Talk(client=40_004).open().say(heartbeat(5)).say(answer(5), from_client=False).close(),
    ]
    file = tmp_path / "some.pcap"
    file.write_bytes(pcap([packet for talk in talks for packet in talk.packets()]))
    words = ["tshark", "-r", str(file), "-Y", "kafka", "-T", "fields", "-e", "kafka.len"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    with file.open("rb") as data:
        found = list(Capture(data))
    assert (
        sum((each.request_frame is not None) + (each.response_frame is not None) for each in found) == len(shown) == 8
    )
