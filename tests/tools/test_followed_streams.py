"""Output of tshark and Wireshark for a followed TCP stream, in each format."""

from __future__ import annotations

import io
from typing import Any

import pytest

from kafka_messages_tools.capture import Capture, CaptureError, TcpSegment, follow_pieces, open_capture, to_object
from tests.support.captures import DATA, captured

RULE = "=" * 67


def objects_of(capture: Capture) -> list[Any]:
    return [to_object(exchange) for exchange in capture]


@pytest.mark.parametrize("form", ["hex", "raw", "yaml"])
def test_followed_stream_equals_the_packet_capture(form: str) -> None:
    found = objects_of(open_capture(DATA / f"follow.{form}.txt"))
    with open_capture(captured("librdkafka.pcap")) as capture:
        wanted = [each for each in objects_of(capture) if each["connection"] == 1]
    assert len(found) == len(wanted) == 2
    for mine, theirs in zip(found, wanted, strict=True):
        assert (mine["client"], mine["server"]) == (theirs["client"], theirs["server"])
        for side in ("request", "response"):
            assert mine[side]["body"] == theirs[side]["body"]
            if form == "yaml":
                assert mine[side]["packet"] == theirs[side]["packet"]


def test_hex_dump_saved_by_wireshark_is_read() -> None:
    text = (DATA / "follow.hex.txt").read_text().partition("Node 1")[2].partition("\n")[2]
    saved = text.replace("\t", "    ").replace(RULE + "\n", "")
    first, second = objects_of(Capture(io.BytesIO(saved.encode())))
    assert (first["api"], second["api"]) == ("ApiVersions", "Metadata")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            f"{RULE}\nFollow: tcp,hex\nwhat\n",
            "line 3 of the followed stream is neither a header nor bytes; expected a hex dump, raw hex or YAML",
        ),
        (
            "00000000  00 00\n00000005  01\n",
            "line 2 of the followed stream begins at offset 5, but 2 bytes precede it",
        ),
        ("00000000  00 00\nzz\n", "line 2 of the followed stream is not a line of a hex dump"),
        (f"{RULE}\nFollow: tcp,raw\n0000\n000\n", "line 4 of the followed stream is not a line of hex digits"),
        (
            "peers:\n  - peer: 0\n    host: a\n    port: x\n",
            "line 4 of the followed stream has 'x' instead of a number",
        ),
        (
            "peers:\npackets:\n  - packet: 4\n    peer: 0\n    data: !!binary |\n      AAA\n",
            "line 6 of the followed stream ends a packet whose data is not valid base64: Incorrect padding",
        ),
        (
            "peers:\npackets:\n  - packet: 4\n    peer: 7\n    data: !!binary |\n      AAAA\n",
            "line 6 of the followed stream ends a packet that has no peer number",
        ),
        (
            f"peers:\n  - peer: 0\n    host: 10.0.0.1\n    port: {'9' * 5000}\n",
            f"line 4 of the followed stream has '{'9' * 5000}' instead of a number",
        ),
        (
            f"{'=' * 66}\nFollow: tcp,hex\nNode 0: 10.0.0.1:{'9' * 5000}\n",
            "line 3 of the followed stream is neither a header nor bytes; expected a hex dump, raw hex or YAML",
        ),
        (
            f"{'=' * 66}\nFollow: tcp,hex\n{'9' * 5000}  00 11\n",
            "line 3 of the followed stream is neither a header nor bytes; expected a hex dump, raw hex or YAML",
        ),
        ("peers:\n", "the text of the followed stream has no bytes"),
        (
            "hello",
            "not pcap, pcapng or the text of 'Follow TCP Stream': it begins with 68 65 6c 6c 6f",
        ),
        ("", "not pcap, pcapng or the text of 'Follow TCP Stream': it is empty"),
    ],
)
def test_invalid_text_raises_capture_error(text: str, problem: str) -> None:
    with pytest.raises(CaptureError) as caught:
        list(Capture(io.BytesIO(text.encode())))
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("1700000000.5", 1_700_000_000_500_000_000),
        (".5", 500_000_000),
        ("", None),
        ("9" * 12, None),
        ("9" * 5000, None),
    ],
)
def test_time_that_cannot_be_true_is_unknown(time: str, expected: int | None) -> None:
    lines = [
        "peers:",
        "packets:",
        "  - packet: 4",
        "    peer: 0",
        f"    timestamp: {time}",
        "    data: !!binary |",
        "AAAA",
    ]
    piece, _ = follow_pieces(lines)
    assert isinstance(piece, TcpSegment)
    assert (piece.data, piece.time_ns) == (bytes(3), expected)
