"""TLS, HTTP and other protocols on the port of a broker: ``capture`` names them, with and without ``--port``."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka_messages import ApiVersionsRequest, ApiVersionsResponse
from kafka_messages.protocol import encode_request, encode_response

from kafka_messages_tools.capture import to_head
from tests.support.command import RunCommand
from tests.support.packets import Talk, pcap

REQUEST = encode_request(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3, 1, "me")
RESPONSE = encode_response(ApiVersionsResponse(), 3, 1)
HELLO = bytes.fromhex("1603010200010001fc0303") + bytes(99)
ALERT = bytes.fromhex("15030300020246")
HTTP = b"GET /metrics HTTP/1.1\r\nHost: broker:9092\r\n\r\n"
HTTP_2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes.fromhex("000006040000000000000300000064")
PROXY_2 = bytes.fromhex("0d0a0d0a000d0a515549540a 2111000c 0a000001 0a000002 9c40 2384")
TOKEN = b"\0user\0password-long-enough"
FIRST = "      1 22:13:20.002000    1  ApiVersions v3                   me                  "
SECOND = FIRST.replace("20.002", "20.003")
PORTS = pytest.mark.parametrize("ports", [[], ["--port", "9092"]], ids=["no port", "port"])
Said = list[tuple[bytes, bool]]
"""Bytes, and whether they are the client's."""


def written(said: Said, folder: Path, talk: Talk | None = None) -> str:
    talk = talk or Talk().open()
    for data, from_client in said:
        talk.say(data, from_client=from_client)
    file = folder / "other.pcap"
    file.write_bytes(pcap(talk.close().packets()))
    return str(file)


@PORTS
@pytest.mark.parametrize(
    ("said", "counted"),
    [
        ([(HTTP, True)], "1 connection without Kafka traffic (an HTTP/1 request); 44 bytes"),
        ([(HTTP_2, True)], "1 connection without Kafka traffic (an HTTP/2 client preface); 24 bytes"),
        ([(b"ruok", True)], "1 connection without Kafka traffic (a four-letter word of ZooKeeper); 4 bytes"),
        (
            [(b"PROXY TCP4 10.0.0.1 10.0.0.2 40000 9092\r\n", True), (REQUEST, True)],
            "1 connection without Kafka traffic (a PROXY protocol header (version 1)); 63 bytes",
        ),
        (
            [(PROXY_2 + REQUEST, True)],
            "1 connection without Kafka traffic (a PROXY protocol header (version 2)); 50 bytes",
        ),
        ([(TOKEN, True)], "1 connection without Kafka traffic (a SASL/PLAIN token without a frame); 26 bytes"),
        ([(TOKEN[:9], True)], "1 connection without Kafka traffic (a SASL/PLAIN token without a frame); 9 bytes"),
        ([(ALERT, True)], "1 connection without Kafka traffic (a TLS alert); 7 bytes"),
        ([(ALERT, False)], "1 connection without Kafka traffic (a TLS alert); 7 bytes"),
        ([(HELLO, True)], "1 connection encrypted by TLS; 110 bytes"),
    ],
    ids=[
        "HTTP/1",
        "HTTP/2",
        "ZooKeeper",
        "PROXY 1",
        "PROXY 2",
        "SASL/PLAIN",
        "short SASL/PLAIN",
        "alert",
        "alert of the server",
        "TLS",
    ],
)
def test_other_protocols_are_named(
    said: Said, counted: str, ports: list[str], run_command: RunCommand, tmp_path: Path
) -> None:
    report = f"{4 + len(said)} packets; {4 + len(said)} segments; 1 connection; {counted} of other connections\n"
    assert run_command("capture", written(said, tmp_path), *ports) == (0, f"{to_head()}\n", report)


@pytest.mark.parametrize("size", [1, 4, 7])
def test_other_protocols_are_named_in_small_segments(size: int, run_command: RunCommand, tmp_path: Path) -> None:
    said = [(HTTP_2[at : at + size], True) for at in range(0, len(HTTP_2), size)] + [(b"HTTP/1.1 400 Bad\r\n", False)]
    status, out, report = run_command("capture", written(said, tmp_path), "--port", "9092")
    assert (status, out) == (0, f"{to_head()}\n")
    counted = "1 connection without Kafka traffic (an HTTP/2 client preface); 42 bytes of other connections\n"
    assert report.endswith(f"segments; 1 connection; {counted}")


@PORTS
@pytest.mark.parametrize(
    ("data", "looks_like", "why"),
    [
        (ALERT, "a TLS alert", "matches no request"),
        (ALERT + ALERT, "a TLS alert", "matches no request"),
        (SETTINGS, "an HTTP/2 server preface (SETTINGS)", "matches no request"),
        (b"HTTP/1.1 400 Bad Request\r\n", "an HTTP/1 response", "has an invalid length of 1213486160 bytes"),
    ],
    ids=["TLS", "more than a frame's start", "HTTP/2", "HTTP/1"],
)
def test_request_to_a_server_of_another_protocol(
    data: bytes, looks_like: str, why: str, ports: list[str], run_command: RunCommand, tmp_path: Path
) -> None:
    said = [(REQUEST, True), (data, False)]
    status, out, report = run_command("capture", written(said, tmp_path), *ports)
    line = f"{FIRST}              3→             18→            response: the client closed the connection"
    assert (status, out.splitlines()) == (0, [to_head(), line])
    assert report.splitlines() == [
        f"6 packets; 6 segments; 1 connection; 1 connection without Kafka traffic ({looks_like}); "
        f"{len(data)} bytes of other connections; 1 exchange; 1 request without response",
        f"connection 1: the response at offset 0 {why}; this looks like {looks_like}",
    ]


@PORTS
def test_alert_after_responses_is_named(ports: list[str], run_command: RunCommand, tmp_path: Path) -> None:
    said = [(REQUEST, True), (RESPONSE, False), (ALERT, False)]
    status, out, report = run_command("capture", written(said, tmp_path), *ports)
    line = f"{FIRST}             3→4           18→12     1.000  ok"
    assert (status, out.splitlines()) == (0, [to_head(), line])
    assert report.splitlines() == [
        "7 packets; 7 segments; 1 connection; 1 connection of Kafka; 1 exchange; 7 bytes of responses not understood",
        f"connection 1: the response at offset {len(RESPONSE)} matches no request; this looks like a TLS alert",
    ]


def test_other_bytes_between_requests_are_named_and_skipped(run_command: RunCommand, tmp_path: Path) -> None:
    said = [(REQUEST, True), (RESPONSE, False), (HTTP, True), (REQUEST, True), (RESPONSE, False)]
    status, out, report = run_command("capture", written(said, tmp_path), "--port", "9092")
    assert (status, len(out.splitlines())) == (0, 3)
    assert report.splitlines() == [
        "9 packets; 9 segments; 1 connection; 1 connection of Kafka; 2 exchanges; 44 bytes of requests not understood",
        f"connection 1: the request at offset {len(REQUEST)} has an invalid length of 1195725856 bytes; "
        "this looks like an HTTP/1 request; searching for the next one",
    ]


def test_invalid_length_before_a_gap_is_reported(run_command: RunCommand, tmp_path: Path) -> None:
    talk = Talk().open().say(b"\xff" * 5)
    talk.next[0] += 100
    said = [(REQUEST, True), (RESPONSE, False)]
    status, out, report = run_command("capture", written(said, tmp_path, talk), "--port", "9092")
    assert (status, out.splitlines()) == (0, [to_head(), f"{SECOND}             4→5           18→12     1.000  ok"])
    assert report.splitlines() == [
        "7 packets; 7 segments; 1 connection; 1 connection of Kafka; 1 segment out of order; "
        "100 bytes missing in streams; 5 bytes of requests not understood; 1 exchange",
        "connection 1: the request at offset 0 has an invalid length of -1 bytes",
    ]


def test_other_protocol_is_named_in_truncated_packets(run_command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "short.pcap"
    file.write_bytes(pcap(Talk().open().say(b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n").packets(), snap=40 + 15))
    status, out, report = run_command("capture", str(file), "--port", "9092")
    assert (status, out) == (0, f"{to_head()}\n")
    assert report == (
        "3 packets; 3 segments; 1 connection; 17 bytes truncated by the snapshot length; 17 bytes missing in streams; "
        "1 connection without Kafka traffic (an HTTP/1 request); 15 bytes of other connections\n"
    )


@pytest.mark.parametrize("first", ["1703030045", "16030300fa01", "15030300020246"])
def test_capture_that_starts_within_tls(first: str, run_command: RunCommand, tmp_path: Path) -> None:
    data = bytes.fromhex(first) + bytes(range(256)) * 8
    status, out, report = run_command("capture", written([(data, False)], tmp_path, Talk()), "--port", "9092")
    what = "without Kafka traffic (a TLS alert)" if first[:2] == "15" else "encrypted by TLS"
    assert (status, out) == (0, f"{to_head()}\n")
    assert report == (
        f"4 packets; 4 segments; 1 connection; 1 connection {what}; {len(data)} bytes of other connections\n"
    )
