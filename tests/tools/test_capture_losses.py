"""Missing bytes, RST and FIN: what ``capture`` lists, who closed the connection, and the status of ``--strict``."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import MetadataRequest, MetadataResponse
from kafka_messages.protocol import encode_request, encode_response

from kafka_messages_tools.capture import Capture, End, to_line
from kafka_messages_tools.packets.segments import ACK, FIN, RST
from tests.support.command import PassInput, RunCommand, is_partial
from tests.support.packets import RESET, Talk, pcap

STARTS = pytest.mark.parametrize("start", [1000, (1 << 32) - 60], ids=["plain", "wrap"])
SIDES = pytest.mark.parametrize("from_client", [True, False], ids=["client", "server"])


def request(number: int) -> bytes:
    return encode_request(MetadataRequest(topics=None), 8, number, "c")


def response(number: int) -> bytes:
    return encode_response(MetadataResponse(cluster_id="c"), 8, number)


def exchanged(talk: Talk, *numbers: int) -> Talk:
    for number in numbers:
        talk.say(request(number)).say(response(number), from_client=False)
    return talk


def events_of(packets: list[bytes]) -> tuple[list[Any], list[Any], Capture]:
    """Return the exchanges, the ends of connections, and the capture."""
    capture = Capture(io.BytesIO(pcap(packets)))
    found = list(capture.events())
    return [e for e in found if not isinstance(e, End)], [e for e in found if isinstance(e, End)], capture


def fins(talk: Talk) -> None:
    talk.close()


def acknowledgments(talk: Talk) -> None:
    talk.segments += [talk.made(b""), talk.made(b"", from_client=False)]


def reset(talk: Talk) -> None:
    talk.close(RESET, by_client=False)


@STARTS
@SIDES
@pytest.mark.parametrize("finish", [fins, acknowledgments, reset])
def test_bytes_missing_at_the_end_of_a_stream_are_counted(
    finish: Callable[[Talk], None], from_client: bool, start: int
) -> None:
    talk = exchanged(Talk(starts=(start, start + 5)).open(), 1)
    talk.next[not from_client] += 500
    finish(talk)
    found, _, capture = events_of(list(talk.packets()))
    assert [each.response is not None for each in found] == [True]
    assert (capture.report.counts["bytes missing in streams"], capture.report.unread) == (500, 500)
    assert is_partial(pcap(talk.packets()))


@STARTS
@pytest.mark.parametrize("finish", [fins, reset, lambda talk: exchanged(talk, 2).close()], ids=["FIN", "RST", "more"])
def test_whole_connection_is_not_partial(finish: Callable[[Talk], None], start: int) -> None:
    talk = exchanged(Talk(starts=(start, start + 5)).open(), 1)
    finish(talk)
    talk.segments += talk.segments[-6:-1]  # retransmitted, partly after the end
    _, _, capture = events_of(list(talk.packets()))
    assert (capture.report.unread, is_partial(pcap(talk.packets()))) == (0, False)


def test_fin_that_was_not_captured_is_no_missing_byte() -> None:
    talk = exchanged(Talk().open(), 1)
    talk.next[1] += 1  # the FIN of the server
    talk.segments.append(talk.made(b"", flags=FIN | ACK))
    assert events_of(list(talk.packets()))[2].report.unread == 0


def test_keepalives_and_window_probes_are_no_data() -> None:
    talk = exchanged(Talk(), 1)
    at = talk.next[0] - talk.starts[0] - 1
    probes = [talk.made(b"", at=at - 1), talk.made(b"\0", at=at - 1), talk.made(request(2)[:1], at=at)]
    talk.segments += [*probes, talk.made(b"", from_client=False)]
    found, _, capture = events_of(list(exchanged(talk, 2).close().packets()))
    assert ([each.response is not None for each in found], capture.report.unread) == ([True, True], 0)


@pytest.mark.parametrize("data", [b"", b"\0"], ids=["empty", "one byte"])
def test_keepalive_at_the_beginning_of_a_capture_is_no_data(data: bytes) -> None:
    talk = Talk()
    talk.segments.append(talk.made(response(1), from_client=False))
    talk.segments.append(talk.made(data, at=-1))
    found, _, capture = events_of(list(exchanged(talk, 2).packets()))
    assert [each.response is not None for each in found if each.request_frame] == [True]
    assert capture.report.counts["bytes missing in streams"] == 0


@pytest.mark.parametrize("by_client", [True, False], ids=["client closes", "server closes"])
@pytest.mark.parametrize("flags", [FIN | ACK, RESET, ACK], ids=["FIN", "RST", "ACK"])
@pytest.mark.parametrize("lost", [10, None], ids=["10 bytes", "all"])
def test_acknowledged_response_was_not_captured(
    lost: int | None, flags: int, by_client: bool, run_command: RunCommand, tmp_path: Path
) -> None:
    talk = Talk().open().say(request(1))
    talk.next[1] += lost or len(response(1))
    talk.segments.append(talk.made(b""))
    talk.close(flags, by_client=by_client)
    file = tmp_path / "lost.pcap"
    file.write_bytes(pcap(talk.packets()))
    status, out, _ = run_command("capture", str(file), "--json", "--strict")
    first, *ends = map(json.loads, out.splitlines())
    size = lost or len(response(1))
    assert (status, first["not_captured"], "closed_by" in first) == (1, size, False)
    assert [end["not_captured"] for end in ends] == ([] if by_client or flags == ACK else [size])
    _, text, _ = run_command("capture", str(file), "--width", "180")
    assert f"response: the response was not captured ({size} bytes missing)" in text
    assert "closed the connection" not in text


def test_response_that_the_server_did_not_send_names_the_side_that_closed() -> None:
    for by_client in (True, False):
        found, _, _ = events_of(list(Talk().open().say(request(1)).close(by_client=by_client).packets()))
        assert found[0].response_problem == f"the {'client' if by_client else 'server'} closed the connection"


@STARTS
@SIDES
@pytest.mark.parametrize(
    ("flags", "distance"),
    [
        *((RST, distance) for distance in (-1_000_000_000, -1, 0, 100, 1_000_000_000)),
        *((RESET, distance) for distance in (-1_000_000_000, -1, 0, 100, 1_000_000_000)),
        *((FIN | ACK, distance) for distance in (-1_000_000_000, -1, 0, 10, 1_000_000_000)),
    ],
)
def test_data_that_goes_on_after_a_reset_or_fin_is_read(
    flags: int, distance: int, from_client: bool, start: int
) -> None:
    talk = exchanged(Talk(starts=(start, start + 5)).open(), 1)
    side = 0 if from_client else 1
    at = talk.next[side] - talk.starts[side] - 1 + distance
    talk.segments.append(talk.made(b"", from_client=from_client, flags=flags, at=at))
    found, ends, capture = events_of(list(exchanged(talk, 2, 3).packets()))
    assert [each.response is not None for each in found] == [True] * 3
    assert [(end.closed_by, end.missing) for end in ends] == [(None, 0)]
    assert (capture.report.unread, is_partial(pcap(talk.packets()))) == (0, False)


@pytest.mark.parametrize("distance", [-1_000_000_000, 1_000_000_000])
def test_reset_outside_the_window_closes_nothing(distance: int) -> None:
    talk = exchanged(Talk().open(), 1)
    at = talk.next[1] - talk.starts[1] - 1 + distance
    talk.segments.append(talk.made(b"", from_client=False, flags=RST, at=at))
    _, ends, capture = events_of(list(talk.packets()))
    assert [(end.reason, end.closed_by) for end in ends] == [("the end of the capture", None)]
    assert capture.report.unread == 0


def test_reset_ends_a_connection_after_ten_seconds_of_capture() -> None:
    talk, other = exchanged(Talk().open(), 1).close(RESET, by_client=False), Talk(client=40001).open()
    packets = [*talk.packets(), *exchanged(other, *range(1, 5_100)).packets()]  # an exchange takes 2 ms
    capture = Capture(io.BytesIO(pcap(packets)))
    found = list(capture.events())
    place, end = next((at, each) for at, each in enumerate(found) if isinstance(each, End))
    assert (end.reason, str(end.closed_by)) == ("RST", "10.0.0.2:9092")
    assert 4_990 <= place < len(found) - 2


@pytest.mark.parametrize("finish", [fins, lambda talk: talk.close(RESET)], ids=["FIN", "RST"])
def test_reused_port_is_another_connection(finish: Callable[[Talk], None]) -> None:
    first, second = exchanged(Talk().open(), 1), exchanged(Talk(starts=(700_000, 5)).open(), 2).close()
    finish(first)
    found, ends, capture = events_of([*first.packets(), *second.packets()])
    assert [(each.connection.number, each.response is not None) for each in found] == [(1, True), (2, True)]
    assert (len(ends), capture.report.unread) == (2, 0)


def test_data_after_the_end_is_read_and_counted() -> None:
    talk = exchanged(exchanged(Talk().open(), 1).close(), 2)
    found, ends, capture = events_of(list(talk.packets()))
    assert [(each.connection.number, each.response is not None) for each in found] == [(1, True), (2, True)]
    assert [end.connection.continued for end in ends] == [0, 1]
    assert capture.report.counts["connections that go on after their end"] == 1
    assert is_partial(pcap(talk.packets()))


@pytest.mark.parametrize("wait", [0, 5_000, 500_000], ids=["at once", "5 s", "500 s"])
@pytest.mark.parametrize("starts", [(5, 5), (2_000_000_000, 2_000_000_000)], ids=["near", "far"])
@pytest.mark.parametrize("finish", [fins, reset], ids=["FIN", "RST"])
def test_reused_port_with_lower_sequence_numbers_is_another_connection(
    finish: Callable[[Talk], None], starts: tuple[int, int], wait: int
) -> None:
    """A packet takes a millisecond; the SYN of the second connection was not captured."""
    first = exchanged(Talk(starts=(3_000_000_000, 3_000_000_000) if starts[0] > 5 else (1000, 5000)).open(), 1)
    finish(first)
    made = [
        *pcap_records([*first.packets()], 0),
        *pcap_records([*exchanged(Talk(starts=starts), 2, 3).packets()], wait),
    ]
    data = pcap([]) + b"".join(made)
    capture = Capture(io.BytesIO(data))
    found = [each for each in capture.events() if not isinstance(each, End)]
    assert [(each.connection.number, each.response is not None) for each in found] == [(1, True), (2, True), (2, True)]
    assert capture.report.counts["bytes retransmitted"] == 0
    assert is_partial(data)


def pcap_records(packets: list[bytes], wait: int) -> list[bytes]:
    """Return the records of packets, the first after ``wait`` milliseconds."""
    times = (divmod(1_700_000_000_000 + wait + number, 1000) for number in range(len(packets)))
    sizes = ((len(packet), len(packet)) for packet in packets)
    return [
        struct.pack("<IIII", seconds, rest * 1000, *size) + packet
        for (seconds, rest), size, packet in zip(times, sizes, packets, strict=True)
    ]


@pytest.mark.parametrize("captured", range(4, 8))
def test_response_without_its_correlation_id_was_not_captured(captured: int) -> None:
    talk = Talk().open().say(request(1)).say(response(1)[:captured], from_client=False)
    talk.next[1] += len(response(1)) - captured
    found, ends, _ = events_of(list(talk.close(by_client=False).packets()))
    missing = len(response(1)) - captured
    assert found[0].response_problem == f"the response was not captured ({missing} bytes missing)"
    assert [end.missing for end in ends] == [missing]


@pytest.mark.parametrize("by_client", [True, False], ids=["client closes", "server closes"])
@pytest.mark.parametrize("captured", [4, 6, 11])
def test_request_without_its_correlation_id_may_have_been_answered(captured: int, by_client: bool) -> None:
    talk = exchanged(Talk().open(), 1).say(request(2)[:captured])
    talk.next[0] += len(request(2)) - captured
    talk.say(response(2), from_client=False).close(by_client=by_client)
    found, _, _ = events_of(list(talk.packets()))
    assert [each.response_problem for each in found] == [
        "", "no response was captured", "its request was not captured"
    ]  # fmt: skip
    assert [each.closed_by for each in found] == [None, None, None]


def test_summary_names_one_connection_that_goes_on(run_command: RunCommand, pass_input: PassInput) -> None:
    pass_input(pcap(exchanged(exchanged(Talk().open(), 1).close(), 2).packets()))
    line = "8 packets; 8 segments; 2 connections; 2 connections of Kafka; 2 exchanges"
    _, _, errors = run_command("capture", "-")
    assert errors == f"{line}; 1 connection that goes on after its end\n"


def test_missing_bytes_of_other_protocols_do_not_count() -> None:
    talk = (
        Talk(server=80).open().say(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").say(b"HTTP/1.1 200 OK\r\n", from_client=False)
    )
    talk.next[0] += 50
    talk.next[1] += 50
    _, _, capture = events_of(list(talk.close().packets()))
    assert capture.report.counts["bytes missing in streams"] == 100
    assert (capture.report.unread, is_partial(pcap(talk.packets()))) == (0, False)


def test_end_after_missing_bytes_is_a_line() -> None:
    talk = exchanged(Talk().open(), 1)
    talk.next[1] += 50
    _, (end,), _ = events_of(list(talk.close(by_client=False).packets()))
    assert to_line(end).endswith("  closed by the server; 50 bytes before were not captured")
