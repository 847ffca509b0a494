"""TCP reassembly and frames: retransmitted, reordered and lost segments, and captures that start in the middle."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_messages.messages.metadata_response import MetadataResponseBroker
from kafka_messages.protocol import encode_request, encode_response, frame

from kafka_messages_tools.capture import (
    Capture,
    Clients,
    Exchange,
    Segment,
    framing,
    matching,
    read_packets,
    reassembly,
    segments,
    streams,
    to_line,
    to_object,
)
from kafka_messages_tools.packets.segments import ACK, SYN
from tests.support.command import PassInput, RunCommand
from tests.support.kafka_protocol import KNOWN_KEYS
from tests.support.packets import RESET, Talk, ipv4, pcap, tcp


def capture_of(
    packets: Iterable[bytes], snap: int = 1 << 18, ports: tuple[int, ...] = ()
) -> tuple[list[Exchange], Capture]:
    capture = Capture(io.BytesIO(pcap(packets, snap=snap)), ports)
    return list(capture), capture


def stream_bytes(packets: Iterable[bytes]) -> dict[int, bytes]:
    """Return the bytes sent by each port; ``?`` for a missing byte."""
    out: dict[int, bytes] = {}
    for piece in streams(segments(read_packets(io.BytesIO(pcap(packets))))):
        if isinstance(piece, reassembly.TcpSegment):
            before = out.get(piece.source.port, b"")
            assert len(before) == piece.offset
            out[piece.source.port] = before + piece.data + b"?" * piece.missing
    return out


def request_bytes(number: int, version: int = 12) -> bytes:
    return encode_request(MetadataRequest(), version, number, "me")


def response_bytes(number: int, brokers: int = 1) -> bytes:
    many = [MetadataResponseBroker(node_id=each, host="h", port=9) for each in range(brokers)]
    return encode_response(MetadataResponse(brokers=many), 12, number)


def summary(found: Iterable[Exchange]) -> list[tuple[int | None, bool, bool]]:
    """Return the correlation id, whether the request is decoded, and whether the response is decoded."""
    return [
        (
            None if each.header is None else each.header.correlation_id,
            each.request is not None,
            each.response is not None,
        )
        for each in found
    ]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([(0, b"abc"), (3, b"def"), (6, b"g")], b"abcdefg"),
        ([(3, b"def"), (6, b"g"), (0, b"abc")], b"abcdefg"),
        ([(0, b"abc"), (0, b"abc"), (0, b"abcdef"), (6, b"g")], b"abcdefg"),
        ([(0, b"abcd"), (2, b"cdef"), (5, b"fg")], b"abcdefg"),
        ([(4, b"e"), (2, b"cdefg"), (0, b"ab"), (1, b"bcd")], b"abcdefg"),
        ([(0, b"abc"), (5, b"fg")], b"abc??fg"),
        ([(5, b"fg"), (2, b"c")], b"??c??fg"),
    ],
)
@pytest.mark.parametrize("start", [1000, (1 << 32) - 3], ids=["plain", "wrap"])
def test_reordered_segments_are_reassembled(start: int, order: list[tuple[int, bytes]], expected: bytes) -> None:
    talk = Talk(starts=(start, 5000)).open()
    talk.segments += [talk.made(data, at=at) for at, data in order]
    assert stream_bytes(talk.packets()) == {40000: expected}


def test_acknowledged_missing_bytes_are_skipped() -> None:
    talk = Talk().open()
    talk.segments += [talk.made(b"abc", at=0), talk.made(b"ghi", at=6)]
    talk.next[0] += 9
    for _ in range(reassembly.MAX_WAIT + 2):
        talk.segments.append(talk.made(b"x", from_client=False))
    found = streams(segments(read_packets(io.BytesIO(pcap(talk.packets())))))
    pieces = [(p.source.port, p.data, p.missing, p.packet) for p in found if isinstance(p, reassembly.TcpSegment)]
    late = next(place for place, piece in enumerate(pieces) if piece[1] == b"ghi")
    assert pieces[late - 1 : late + 1] == [(40000, b"", 3, 4), (40000, b"ghi", 0, 4)]
    assert late < len(pieces) - 1


def test_reused_port_starts_a_new_conversation() -> None:
    first, second = Talk().open(), Talk(starts=(70000, 90000)).open()
    first.say(request_bytes(1)).say(request_bytes(2)[:16])
    second.say(request_bytes(7)).say(response_bytes(7), from_client=False).close()
    found, capture = capture_of([*first.packets(), *second.packets()])
    assert summary(found) == [(1, True, False), (2, False, False), (7, True, True)]
    assert [each.connection.number for each in found] == [1, 1, 2]
    assert found[1].request_problem == f"12 of {len(request_bytes(2)) - 4} bytes were captured"
    assert capture.report.counts["connections"] == 2


def test_reset_ends_a_connection() -> None:
    talk = Talk().open().say(request_bytes(1)).close(RESET)
    other = Talk(client=40001).open().say(request_bytes(2)).say(response_bytes(2), from_client=False)
    found, _ = capture_of([*talk.packets(), *other.packets()])  # the client may send more until the capture ends
    assert summary(found) == [(2, True, True), (1, True, False)]
    assert found[1].response_problem == "the client closed the connection"


def test_capture_starting_mid_stream_finds_the_next_frame() -> None:
    talk = Talk()
    requests, responses = b"".join(map(request_bytes, range(1, 6))), b"".join(
        response_bytes(n, 20) for n in range(1, 6)
    )
    talk.say(requests[7:], size=30).say(responses[100:], from_client=False, size=30)
    found, capture = capture_of(talk.packets())
    assert summary(found) == [(2, True, True), (3, True, True), (4, True, True), (5, True, True)]
    assert capture.report.counts["bytes of requests not understood"] == len(request_bytes(1)) - 7
    assert capture.report.counts["bytes of responses not understood"] == len(response_bytes(1, 20)) - 100


def test_gap_inside_a_frame_damages_only_that_frame() -> None:
    talk = (
        Talk()
        .open()
        .say(request_bytes(1))
        .say(response_bytes(1, 300), from_client=False, size=1000)
        .say(request_bytes(2))
    )
    talk.say(response_bytes(2), from_client=False).close()
    packets = list(talk.packets())
    del packets[4]
    found, capture = capture_of(packets)
    assert summary(found) == [(1, True, False), (2, True, True)]
    size = len(response_bytes(1, 300)) - 4
    assert found[0].response_problem == f"996 of {size} bytes were captured"
    assert capture.report.counts["bytes missing in streams"] == 1000


def test_gap_at_the_start_of_a_frame_triggers_resynchronization() -> None:
    talk = Talk().open()
    for number in range(1, 6):
        talk.say(request_bytes(number)).say(response_bytes(number, 10), from_client=False)
    talk.close()
    packets = list(talk.packets())
    wanted = packets[4]  # a complete request
    packets.remove(wanted)
    found, capture = capture_of(packets)
    assert summary(found) == [(1, True, True), (3, True, True), (4, True, True), (5, True, True), (None, False, False)]
    assert found[-1].response_problem == "its request was not captured"
    assert capture.report.counts["responses without request"] == 1


def test_requests_cut_by_the_snap_length_keep_their_header() -> None:
    talk = (
        Talk()
        .open()
        .say(request_bytes(1))
        .say(response_bytes(1, 100), from_client=False, size=100000)
        .say(request_bytes(2))
        .close()
    )
    found, _ = capture_of(talk.packets(), snap=70)
    assert [(each.api.name, each.header.client_id) for each in found if each.api] == [("Metadata", "me")] * 2
    assert found[0].response_problem == f"26 of {len(response_bytes(1, 100)) - 4} bytes were captured"
    found, _ = capture_of(talk.packets(), snap=40 + 14)
    header = found[0].header
    assert (header.request_api_key, header.correlation_id, header.client_id) == (3, 1, None)


def test_response_captured_before_its_request_is_matched() -> None:
    talk = Talk().open().say(request_bytes(1)).say(response_bytes(1), from_client=False).close()
    packets = list(talk.packets())
    packets[2], packets[3] = packets[3], packets[2]
    assert summary(capture_of(packets)[0]) == [(1, True, True)]


def test_other_protocols_and_ports_are_counted() -> None:
    http = Talk(client=40001, server=80).open().say(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").close()
    tls = Talk(client=40002, server=9093).open().say(bytes.fromhex("1603010200010001fc0303") + bytes(500)).close()
    kafka = Talk().open().say(request_bytes(1)).say(response_bytes(1), from_client=False).close()
    packets = [*http.packets(), *tls.packets(), *kafka.packets()]
    found, capture = capture_of(packets)
    assert summary(found) == [(1, True, True)]
    assert capture.report.counts["connections without Kafka traffic (an HTTP/1 request)"] == 1
    assert capture.report.counts["connections encrypted by TLS"] == 1
    found, capture = capture_of(packets, ports=(80,))
    assert capture.report.counts["connections on other ports"] == 2
    assert capture.report.counts["connections without Kafka traffic (an HTTP/1 request)"] == 1
    assert capture.report.remarks == []


def test_unknown_apis_and_versions_are_kept() -> None:
    head = bytes.fromhex("7000 0003 00000009 0002 6d65")  # API 28672
    future = bytes.fromhex("0003 0063 0000000a 0002 6d65 00 0102")
    talk = Talk().open().say(request_bytes(1)).say(frame(head + b"body")).say(frame(future))
    for number in (1, 9, 10):
        talk.say(response_bytes(number), from_client=False)
    found, _ = capture_of(talk.close().packets())
    shown: list[Any] = [to_object(each) for each in found]
    assert shown[1]["request"]["problem"] == f"unknown API key 28672; {KNOWN_KEYS}"
    assert (shown[1]["api"], shown[1]["api_key"], shown[1]["client_id"]) == (None, 28672, "me")  # of the first request
    assert shown[1]["request"]["data"] == "(redacted)"  # unknown contents
    assert to_object(found[1], show_secrets=True)["request"]["data"] == (head + b"body").hex()  # type: ignore[index]
    assert shown[2]["request"]["problem"] == "MetadataRequest has no version 99, only versions 0 to 13"
    assert shown[2]["request"]["data"] == future.hex()
    assert shown[2]["response"]["problem"] == "MetadataResponse has no version 99, only versions 0 to 13"


def test_api_versions_error_response_is_decoded_as_version_0() -> None:
    request = bytes.fromhex("0012 000c 00000005 0002 6d65 00 0102")
    talk = Talk().open().say(frame(request))
    talk.say(encode_response(ApiVersionsResponse(error_code=35), 0, 5), from_client=False)
    talk.say(encode_request(ApiVersionsRequest(client_software_name="a", client_software_version="b"), 3, 6, "me"))
    talk.say(encode_response(ApiVersionsResponse(), 3, 6), from_client=False)
    found, _ = capture_of(talk.close().packets())
    assert [each.response.version for each in found if each.response] == [0, 3]
    errors: Any = to_object(found[0])["errors"]
    assert errors == [{"path": "error_code", "code": 35, "name": "UNSUPPORTED_VERSION"}]
    assert to_line(found[0]).endswith("UNSUPPORTED_VERSION")


def test_sasl_tokens_are_redacted() -> None:
    token = b"\0alice\0planted-secret"
    talk = Talk().open().say(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, "me"))
    talk.say(encode_response(SaslHandshakeResponse(mechanisms=["PLAIN"]), 0, 1), from_client=False)
    talk.say(frame(token)).say(frame(b""), from_client=False)
    talk.say(request_bytes(2)).say(response_bytes(2), from_client=False)
    found, capture = capture_of(talk.close().packets())
    assert [each.is_token for each in found] == [False, True, False]
    assert capture.report.counts["SASL tokens"] == 1
    shown = str([to_object(each) for each in found]) + "".join(map(to_line, found))
    assert not [secret for secret in ("planted", token.hex()) if secret in shown]
    assert to_object(found[1], show_secrets=True)["request"]["data"] == token.hex()  # type: ignore[index]


@pytest.mark.parametrize("user", [b"Alice", b"alice", b"u", b"A"])
@pytest.mark.parametrize("has_handshake", [True, False])
def test_sasl_token_without_handshake_response_is_redacted(user: bytes, has_handshake: bool) -> None:
    token = b"\0" + user + b"\0planted-secret"
    talk = Talk().open().say(request_bytes(7)).say(response_bytes(7), from_client=False)
    if has_handshake:
        talk.say(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, "me"))
    talk.say(frame(token)).say(request_bytes(2)).say(response_bytes(2), from_client=False)
    found, _ = capture_of(talk.close().packets())
    assert [each.is_token for each in found if each.request_frame and each.request_frame.data == token] == [True]
    shown = str([to_object(each) for each in found]) + "".join(map(to_line, found))
    assert not [secret for secret in ("planted", "lant", token.hex()) if secret in shown]


def test_client_id_containing_a_secret_is_redacted(run_command: RunCommand, pass_input: PassInput) -> None:
    body = bytes.fromhex("0024 0001 00000001 0012 6d65") + (14).to_bytes(4, "big") + b"planted-secret" + b"more"
    packets = list(Talk().open().say(request_bytes(7)).say(frame(body)).close().packets())
    found, _ = capture_of(packets)
    assert "planted" not in str([to_object(each) for each in found]) + "".join(map(to_line, found))
    for show_secrets in (False, True):
        clients = Clients(show_secrets=show_secrets)
        for each in found:
            clients.add(each)
        assert ("planted" in str([each.to_object() for each in clients])) == show_secrets
        pass_input(pcap(packets))
        _, shown, _ = run_command("capture", "-", "--clients", "--text", *["--show-secrets"] * show_secrets)
        assert ("planted" in shown) == show_secrets
        assert {each.client_id for each in clients} == {
            "me",
            "me\0\0\0\x0eplanted-secr" if show_secrets else "(redacted)",
        }


def test_damaged_secret_is_redacted() -> None:
    body = bytes.fromhex("0024 0001 00000001 0002 6d65") + (99).to_bytes(4, "big") + b"planted-secret"
    found, _ = capture_of(Talk().open().say(frame(body)).close().packets())
    shown: Any = to_object(found[0])
    assert shown["request"]["data"] == "(redacted)"
    assert "99 bytes needed" in shown["request"]["problem"]


def test_damaged_fetch_of_metadata_log_is_redacted() -> None:
    for topic, is_secret in (("__cluster_metadata", True), ("orders", False)):
        partition = PartitionData(records=b"planted-secret")
        body = FetchResponse(responses=[FetchableTopicResponse(topic=topic, partitions=[partition])])
        talk = Talk().open().say(encode_request(FetchRequest(), 12, 1, "me"))
        talk.say(frame(encode_response(body, 12, 1, framed=False) + b"\0"), from_client=False)
        found, _ = capture_of(talk.close().packets())
        shown: Any = to_object(found[0])
        assert "1 byte(s) left after" in shown["response"]["problem"]
        assert (b"planted".hex() in shown["response"]["data"]) != is_secret
        assert (shown["response"]["data"] == "(redacted)") == is_secret


def test_produce_with_acks_0_has_no_response() -> None:
    talk = Talk().open().say(encode_request(ProduceRequest(acks=0), 9, 1, "me")).say(request_bytes(2))
    talk.say(response_bytes(2), from_client=False)
    found, capture = capture_of(talk.packets())
    assert summary(found) == [(1, True, False), (2, True, True)]
    assert (found[0].has_no_response, found[0].response_problem) == (True, "")
    assert "requests without response" not in capture.report.counts


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    import tracemalloc

    monkeypatch.setattr(framing, "MOST_KEPT_OF_ALL", 1 << 20)
    monkeypatch.setattr(reassembly, "MOST_HELD", 1 << 20)
    head = (90 << 20).to_bytes(4, "big") + request_bytes(1)[4:]
    part = bytes(60000)

    def endless() -> Iterable[Segment]:
        talk = Talk().open()
        made = [*talk.segments, talk.made(head), talk.made(b"x", at=1 << 20, from_client=False)]
        yield from (each for raw in made for each in parsed(raw))
        for number in range(700):  # 40 MB
            yield from parsed(talk.made(part))
            yield from parsed(talk.made(part, at=(2 << 20) + number * len(part), from_client=False))

    def parsed(raw: bytes) -> Iterable[Segment]:
        return segments(read_packets(io.BytesIO(pcap([ipv4(raw)]))))

    tracemalloc.start()
    found = list(framing.frames(streams(endless())))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    frame = found[0]
    assert isinstance(frame, framing.Frame)
    assert (frame.size, frame.is_request) == (90 << 20, True)
    assert peak < 8 << 20


def test_bytes_held_by_all_connections_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each connection holds less than its own limit after a missing byte."""
    monkeypatch.setattr(reassembly, "MOST_HELD_OF_ALL", 10_000)
    read, given = 0, 0

    def counted(packets: Iterable[bytes]) -> Iterator[Segment]:
        nonlocal read
        for each in segments(read_packets(io.BytesIO(pcap(packets)))):
            yield each
            read += bool(each.data)

    packets = [
        ipv4(segment)
        for client in range(40_000, 40_050)
        for talk in [Talk(client=client).open()]
        for segment in (*talk.segments, talk.made(bytes(1000), at=1))
    ]
    most = 0
    for piece in streams(counted(packets)):
        given += isinstance(piece, reassembly.TcpSegment) and bool(piece.data)
        most = max(most, read - given)
    assert (read, given) == (50, 50)
    assert most <= 10


def test_responses_without_request_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MOST_UNMATCHED", 3)
    talk = Talk().open().say(request_bytes(0)).say(response_bytes(0), from_client=False)
    for number in range(1, 6):
        talk.say(response_bytes(number), from_client=False)
    for number in range(1, 6):
        talk.say(request_bytes(number))
    found, capture = capture_of(talk.packets())
    dropped = [(None, False, False)] * 2
    unanswered = [(1, True, False), (2, True, False)]
    matched = [(number, True, True) for number in (3, 4, 5)]
    assert summary(found) == [(0, True, True), *dropped, *matched, *unanswered]
    assert capture.report.counts["responses without request"] == 2


def test_capture_starting_at_syn_ack_is_read() -> None:
    syn = tcp(9092, 40000, 5000, flags=SYN | ACK, acknowledged=1001)
    talk = Talk().say(request_bytes(1)).say(response_bytes(1), from_client=False)
    found, _ = capture_of([ipv4(syn, "10.0.0.2", "10.0.0.1"), *talk.packets()])
    assert summary(found) == [(1, True, True)]
    assert str(found[0].client) == "10.0.0.1:40000"
