"""``explain`` without a message: truncated requests, bytes after them, equal scores, and files of other subcommands."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from kafka_messages import HeartbeatRequest, HeartbeatResponse, MetadataRequest
from kafka_messages.protocol import encode_request, encode_response

from kafka_messages_tools.capture import open_capture
from tests.support.cluster import COMMITTED
from tests.support.command import FRAME, RunCommand, rows

CONVERSATIONS = Path(__file__).parents[2] / "examples" / "conversations"
SEGMENT = COMMITTED / "logs" / "orders-0" / "00000000000000000000.log"
HEADER = """\
0000  00 00 00 19              ....      frame_length               25  {}  INT32
                                         RequestHeader v2
0004  00 12                    ..          request_api_key          18  ApiVersions  INT16
0006  00 03                    ..          request_api_version      3  INT16
0008  00 00 00 07              ....        correlation_id           7  INT32
000c  00 02 6d 65              ..me        client_id                "me"  length 2  NULLABLE_STRING
0010  00                       .           _tagged_fields           none  TAG_SECTION
                                         ApiVersionsRequest v3
0011  05 6a 61 76 61           .java       client_software_name     "java"  length+1 = 5
                                                                    COMPACT_STRING
"""
WHOLE = HEADER.format("as many bytes follow") + """\
0016  06 34 2e 34 2e 30        .4.4.0      client_software_version  "4.4.0"  length+1 = 6
                                                                    COMPACT_STRING
001c  00                       .           _tagged_fields           none  TAG_SECTION
001d  end, 29 bytes
"""


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def explained(run_command: RunCommand, data: bytes) -> tuple[int, str, str]:
    return run_command("explain", data.hex(), "--in", "hex")


def test_truncated_request_frame_is_explained(run_command: RunCommand) -> None:
    expected = (
        """\
ApiVersionsRequest v3 after a length and a header
  API ApiVersions and version 3 in the header; but 25 bytes announced, 18 follow; printable strings: 2
ShareSnapshotKey v0
  reads and writes the same bytes
ShareUpdateKey v0
  reads and writes the same bytes

ApiVersionsRequest v3
"""
        + HEADER.format("18 bytes follow")
        + """\
0016                                       client_software_version  UNSIGNED_VARINT: 1 byte needed
                                                                    at offset 22, 0 left
0016  the frame has 25 bytes, but 18 follow
"""
    )
    assert explained(run_command, FRAME[:22]) == (1, expected, "")


def test_byte_after_a_request_frame_is_explained(run_command: RunCommand) -> None:
    expected = f"""\
ApiVersionsRequest v3 after a length and a header
  but 25 bytes announced, 26 follow; API ApiVersions and version 3 in the header; reads and writes \
the same bytes; printable strings: 3

ApiVersionsRequest v3
{WHOLE}\
request  from address 001d; offsets in notes are relative to this address
001d  ··                       ·           INT32: 4 bytes needed at offset 0, 1 left; redacted, may
                                           be secret: --show-secrets shows it
001e  frame_length: INT32: 4 bytes needed at offset 0, 1 left
"""
    assert explained(run_command, FRAME + b"\0") == (1, expected, "")


def test_truncated_second_frame_is_explained(run_command: RunCommand) -> None:
    expected = f"""\
ApiVersionsRequest v3 after a length and a header
  but 25 bytes announced, 39 follow; API ApiVersions and version 3 in the header; reads and writes \
the same bytes; printable strings: 3

ApiVersionsRequest v3
{WHOLE}\
ApiVersionsRequest v3  from address 001d; offsets in notes are relative to this address
001d  00 00 00 19              ....      frame_length           25  10 bytes follow  INT32
                                         RequestHeader v2
0021  00 12                    ..          request_api_key      18  ApiVersions  INT16
0023  00 03                    ..          request_api_version  3  INT16
0025  00 00 00 07              ....        correlation_id       7  INT32
0029  00 02                    ..          client_id            NULLABLE_STRING: 2 bytes needed at
                                                                offset 14, 0 left
002b  the frame has 25 bytes, but 10 follow
"""
    assert explained(run_command, FRAME + FRAME[:14]) == (1, expected, "")


def test_truncated_body_after_a_header_is_explained(run_command: RunCommand) -> None:
    expected = """\
ApiVersionsRequest v3 after a header
  API ApiVersions and version 3 in the header; but ApiVersionsRequest v3: client_software_name: \
COMPACT_STRING: 4 bytes needed at offset 14, 2 left; printable strings: 1
InitProducerIdResponse v0-1
  reads and writes the same bytes; known error codes: 1

ApiVersionsRequest v3
                                         RequestHeader v2
0000  00 12                    ..          request_api_key       18  ApiVersions  INT16
0002  00 03                    ..          request_api_version   3  INT16
0004  00 00 00 07              ....        correlation_id        7  INT32
0008  00 02 6d 65              ..me        client_id             "me"  length 2  NULLABLE_STRING
000c  00                       .           _tagged_fields        none  TAG_SECTION
                                         ApiVersionsRequest v3
000d  05 6a 61                 .ja         client_software_name  COMPACT_STRING: 4 bytes needed at
                                                                 offset 14, 2 left
0010  ApiVersionsRequest v3: client_software_name: COMPACT_STRING: 4 bytes needed at offset 14, 2 left
"""
    assert explained(run_command, FRAME[4:20]) == (1, expected, "")


def test_byte_after_a_request_without_a_frame_is_explained(run_command: RunCommand) -> None:
    request = HeartbeatRequest(group_id="billing", generation_id=3, member_id="me-1")
    status, out, err = explained(run_command, encode_request(request, 4, 7, "me", framed=False) + b"\0")
    assert (status, err) == (0, "")
    assert out == dedent("""\
        HeartbeatRequest v4 after a header
          API Heartbeat and version 4 in the header; but 1 byte after the message; printable strings: 3

        HeartbeatRequest v4
                                                 RequestHeader v2
        0000  00 0c                    ..          request_api_key      12  Heartbeat  INT16
        0002  00 04                    ..          request_api_version  4  INT16
        0004  00 00 00 07              ....        correlation_id       7  INT32
        0008  00 02 6d 65              ..me        client_id            "me"  length 2  NULLABLE_STRING
        000c  00                       .           _tagged_fields       none  TAG_SECTION
                                                 HeartbeatRequest v4
        000d  08 62 69 6c 6c 69 6e 67  .billing    group_id             "billing"  length+1 = 8
                                                                        COMPACT_STRING
        0015  00 00 00 03              ....        generation_id        3  INT32
        0019  05 6d 65 2d 31           .me-1       member_id            "me-1"  length+1 = 5  COMPACT_STRING
        001e  00                       .           group_instance_id    null  = default
                                                                        COMPACT_NULLABLE_STRING
        001f  00                       .           _tagged_fields       none  TAG_SECTION
        0020  00                       .         trailing               not read: after the message; ignored
                                                                        by brokers
        0021  end, 33 bytes
        """)


def recorded() -> Iterator[tuple[str, bytes]]:
    """Yield name, version and frame of the requests of a classic group."""
    with open_capture(CONVERSATIONS / "classic-group.pcap.gz") as capture:
        for exchange in capture:
            request = exchange.request
            assert request is not None
            yield f"{request.api.request_name} v{request.version}", request.encode()


def test_truncated_requests_of_a_real_client_are_named(run_command: RunCommand) -> None:
    found = list(recorded())
    assert len(found) == 16
    for name, frame in found:
        announced = f"but {len(frame) - 4} bytes announced, {len(frame) - 5} follow"
        for data, before, reason in (
            (frame[:-1], "a length and a header", announced),
            (frame[4:-1], "a header", f"but {name}: "),
            (frame[4:] + b"\0", "a header", "but 1 byte after the message"),
        ):
            _, out, _ = run_command("explain", data.hex(), "--in", "hex", "--json")
            best = rows(out)[0]
            assert (f"{best['message']} v{best['versions']}", best["before"]) == (name, before)
            assert [each for each in best["reasons"] if each.startswith(reason)], best
            assert "path" in rows(out)[-1]


@pytest.mark.parametrize("offset", [0, 1, 300])
def test_record_that_starts_like_a_header_is_no_request(offset: int, run_command: RunCommand) -> None:
    data = b"\0\3" + offset.to_bytes(8, "big") + b"\xff" * 4 + b"\0\0" + (1 << 40).to_bytes(8, "big")
    first = rows(run_command("explain", data.hex(), "--in", "hex", "--json")[1])[0]
    assert (first["message"], first["versions"], first["before"]) == ("OffsetCommitValue", "3", "its version")


def test_frame_length_is_no_version_of_produce(run_command: RunCommand) -> None:
    _, out, _ = run_command("explain", "00000019 0012 0003 00000007 ffff 00", "--json")
    named = [(row["message"], row["versions"]) for row in rows(out) if "message" in row]
    assert named[0] == ("ApiVersionsRequest", "3")
    assert "ProduceRequest" not in [name for name, _ in named]


def test_frames_of_different_requests_are_explained(run_command: RunCommand) -> None:
    status, out, err = explained(run_command, FRAME + encode_request(MetadataRequest(), 9, 8, "me"))
    titles = [line.partition("  ")[0] for line in out.splitlines() if line.startswith(("ApiV", "Meta"))]
    first = "ApiVersionsRequest v3"
    assert (status, titles, err) == (0, [f"{first} after a length and a header", first, "MetadataRequest v9"], "")


def test_equal_scores_are_noted(run_command: RunCommand) -> None:
    reasons = "the length matches the bytes; correlation id 7; reads and writes the same bytes; known error codes: 1"
    names = (
        "AddOffsetsToTxnResponse v3-4",
        "EndTxnResponse v3-4",
        "HeartbeatResponse v4",
        "PushTelemetryResponse v0",
        "UpdateRaftVoterResponse v0",
    )
    found = "".join(f"{name} after a length and a header\n  {reasons}\n" for name in names)
    assert explained(run_command, encode_response(HeartbeatResponse(error_code=27), 4, 7)) == (
        0,
        found + """
AddOffsetsToTxnResponse v4
0000  00 00 00 0c              ....      frame_length        12  as many bytes follow  INT32
                                         ResponseHeader v1
0004  00 00 00 07              ....        correlation_id    7  INT32
0008  00                       .           _tagged_fields    none  TAG_SECTION
                                         AddOffsetsToTxnResponse v4
0009  00 00 00 00              ....        throttle_time_ms  0  = default  INT32
000d  00 1b                    ..          error_code        27  REBALANCE_IN_PROGRESS  INT16
000f  00                       .           _tagged_fields    none  TAG_SECTION
0010  end, 16 bytes
""",
        f"note: others fit equally well: {', '.join(names[1:])}; specify the message\n",
    )


# --- files of other subcommands ---------------------------------------------------------------------------------------


BATCHES = "this is a log segment or a record batch: use kafka-messages log {}; --batches prints the headers\n"


def test_log_segment_is_recognized(run_command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "a segment.log"
    file.write_bytes(SEGMENT.read_bytes())
    assert run_command("explain", str(file)) == (1, BATCHES.format(f"'{file}'"), "")
    snapshot = next((COMMITTED / "logs" / "__cluster_metadata-0").glob("*.checkpoint"))
    assert run_command("explain", str(snapshot)) == (1, BATCHES.format(snapshot), "")
    line = f'{{"message": null, "reasons": ["{BATCHES.format("FILE").strip()}"]}}\n'
    assert run_command("explain", SEGMENT.read_bytes().hex(), "--json") == (1, line, "")


def test_record_batch_is_recognized(run_command: RunCommand) -> None:
    size = 12 + int.from_bytes(SEGMENT.read_bytes()[8:12], "big")
    batch = SEGMENT.read_bytes()[:size]
    legacy = bytes.fromhex("0000000000000000 00000016 d7c3dcf9 01 00 0000018bcfe56800 ffffffff 00000000")
    damaged = batch[:20] + bytes([batch[20] ^ 1]) + batch[21:]
    for data in (batch, batch[:-1], damaged, legacy[:12] + checksum(legacy[16:]) + legacy[16:]):
        assert explained(run_command, data) == (1, BATCHES.format("FILE"), "")


def checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "big")


def test_capture_file_is_recognized(run_command: RunCommand, tmp_path: Path) -> None:
    packed = CONVERSATIONS / "classic-group.pcap.gz"
    gzipped = (
        f"this is compressed with gzip: use kafka-messages capture {packed} for a capture, or log for a log segment\n"
    )
    assert run_command("explain", str(packed)) == (1, gzipped, "")
    file = tmp_path / "traffic.pcap"
    for data in (gzip.decompress(packed.read_bytes()), b"\x0a\x0d\x0d\x0a" + bytes(24)):
        file.write_bytes(data)
        assert run_command("explain", str(file)) == (
            1,
            f"this is a capture file: use kafka-messages capture {file}\n",
            "",
        )


# --- words ------------------------------------------------------------------------------------------------------------


def test_base64_with_padding_is_explained(run_command: RunCommand) -> None:
    out = run_command("explain", FRAME.hex())
    assert run_command("explain", "AAAAGQASAAMAAAAHAAJtZQAFamF2YQY0LjQuMAA=") == out
    assert run_command("explain", "AAAAGQASAAMAAAAHAAJtZQAFamF2YQY0LjQuMAA", "--in", "base64") == out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["explain", "nofile.bin"], "unknown message 'nofile.bin'; no such file; for base64 use --in base64"),
        (["decode", "nofile.bin"], "unknown message 'nofile.bin'; no such file; for base64 use --in base64"),
        (
            ["explain", "0012000z"],
            "file not found: '0012000z'; not valid as bytes: the argument is not hex: 'z' at line 1, column 8 is not a "
            "hex digit; for other formats use --in base64 or --in raw",
        ),
        (
            ["explain", "BWphdmEGNC40LjA*="],
            "file not found: 'BWphdmEGNC40LjA*='; not valid as bytes: the argument is neither hex nor base64: '*' at line "
            "1, column 16 is not a base64 character; for raw bytes use --in raw",
        ),
        (
            ["decode", "BWphdmEGNC40LjAAA==="],
            "MESSAGE and VERSION are missing before the bytes; use --frame or --header for requests, or the subcommand "
            "explain for unknown bytes",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_word_that_is_no_message_is_rejected(words: list[str], says: str, run_command: RunCommand) -> None:
    status, out, err = run_command(*words)
    assert (status, out, err.partition("\nusage: ")[0].rstrip()) == (2, "", f"kafka-messages: {says}")


@pytest.mark.parametrize("subcommand", ["explain", "decode"])
def test_header_of_another_request_is_rejected(subcommand: str, run_command: RunCommand) -> None:
    hint = "; for a response, specify its version"
    response = encode_response(HeartbeatResponse(error_code=27), 1, 7).hex() + "0000"
    for words, data, says in (
        (["Fetch"], FRAME.hex(), f"FetchRequest: the header is of ApiVersionsRequest v3{hint}"),
        (["18", "4"], FRAME.hex(), "the input is neither ApiVersionsRequest nor ApiVersionsResponse: "),
        (["ApiVersionsRequest", "4"], FRAME.hex(), "ApiVersionsRequest v4: the header is of ApiVersionsRequest v3"),
        (["Metadata"], f"0000000c{response[8:]}", f"MetadataRequest: the header is of ProduceRequest v7{hint}"),
    ):
        status, out, err = run_command(subcommand, "--frame", *words, data)
        assert (status, out) == (1, "")
        assert err.startswith(f"kafka-messages: {says}"), err
    found = run_command(subcommand, "--frame", FRAME.hex())
    assert run_command(subcommand, "--frame", "ApiVersions", FRAME.hex()) == found
    assert run_command(subcommand, "--frame", "ApiVersionsRequest", "3", FRAME.hex()) == found
