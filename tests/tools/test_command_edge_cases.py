"""Unusual arguments, control characters in messages, and damaged logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kafka_messages import ApiVersionsRequest, MetadataRequest, OffsetCommitKey, TopicRecord
from kafka_messages.internal_topics import write_metadata_record
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.protocol import encode_request
from kafka_records import Batch, MissingCodecError, Record, write_batch

from kafka_messages_tools.command import main
from tests.support.command import FRAME, RunCommand, rows


def test_control_characters_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    data = ApiVersionsRequest(client_software_name="a\x9b31m", client_software_version="\x7f").write(3)
    for words in (
        ("decode", "ApiVersionsRequest", "3", data.hex()),
        ("explain", "ApiVersionsRequest", "3", data.hex()),
    ):
        for form in ("--text", "--json"):
            main((*words, form))
            printed = capsys.readouterr().out
            assert "\\u009b" in printed or "\\x9b" in printed
            assert "\x9b" not in printed
            assert "\x7f" not in printed


def test_negative_error_code_is_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("errors", "-1", "--json")) == 0
    assert '"UNKNOWN_SERVER_ERROR"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "MetadataRequest", "{0}"), "MetadataRequest has no version {0}, only versions 0 to 13"),
        (("list", "--width", "{0}"), "argument --width: expected at most 18 digits, got 5000\nusage: "),
    ],
)
def test_number_of_5000_digits_is_rejected(words: tuple[str, ...], says: str, run_command: RunCommand) -> None:
    number = "9" * 5000
    status, out, err = run_command(*(word.format(number) for word in words))
    assert (status, out) == (2, "")
    assert err.startswith(f"kafka-messages: {says.format(number)}")


def test_huge_terminal_width_is_accepted(run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "9" * 5000)
    assert run_command("list", "MetadataRequest", "--text")[0] == 0


def test_diff_accepts_latest_as_a_version(run_command: RunCommand) -> None:
    assert run_command("diff", "MetadataRequest", "12", "latest") == run_command("diff", "MetadataRequest", "12", "v13")
    same = "MetadataRequest v13 and v13: no differences\n"
    assert run_command("diff", "MetadataRequest", "latest", "latest") == (0, same, "")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("", "frame_length: INT32: 4 bytes needed at offset 0, 0 left"),
        ("0000", "frame_length: INT32: 4 bytes needed at offset 0, 2 left"),
        ("00000000 00000000", "the frame has 0 bytes, but 4 follow"),
        ("ffffffff 0012", "the frame has -1 bytes, but 2 follow"),
        (f"{FRAME.hex()} 00000009 00", f"message 2, at byte {len(FRAME)}: the frame has 9 bytes, but 1 follow"),
    ],
)
def test_invalid_frame_exits_with_1(data: str, says: str, run_command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "frames"
    file.write_bytes(bytes.fromhex(data))
    status, _, err = run_command("decode", "--frame", str(file), "--in", "raw")
    assert (status, err) == (1, f"kafka-messages: {says}\n")
    status, out, _ = run_command("explain", "--frame", str(file), "--in", "raw", "--text")
    assert status == 1
    assert out.splitlines()[-1].endswith(says.removeprefix(f"message 2, at byte {len(FRAME)}: "))


def test_record_of_another_type_is_rejected(run_command: RunCommand) -> None:
    topic = write_metadata_record(TopicRecord(name="t"), 0).hex()
    assert run_command("decode", "TopicRecord", "--header", topic)[0] == 0
    says = "kafka-messages: expected record type 3 of PartitionRecord, got 2\n"
    assert run_command("decode", "PartitionRecord", "--header", topic) == (1, "", says)
    key = "0001" + OffsetCommitKey(group="g", topic="t").write(0).hex()
    assert run_command("decode", "OffsetCommitKey", "--header", key)[0] == 0
    says = "kafka-messages: expected record type 2 of GroupMetadataKey, got 1\n"
    assert run_command("decode", "GroupMetadataKey", "--header", key) == (1, "", says)


def test_digits_only_input_is_read_as_hex(capsys: pytest.CaptureFixture[str]) -> None:
    data = "0012000000000007000161"
    assert main(("explain", "ApiVersionsRequest", "--header", data, "--text")) == 0
    assert capsys.readouterr().out.startswith("ApiVersionsRequest v0")


def test_data_after_zero_padding_in_a_log_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    batch = write_batch([Record(value=b"one", timestamp=1)])
    file = tmp_path / "copied.log"
    for zeros in (100, 1 << 17, 3 << 20):
        file.write_bytes(batch + bytes(zeros))
        assert main(("log", str(file))) == 0
        file.write_bytes(batch + bytes(zeros) + b"\1" + batch)
        capsys.readouterr()
        assert main(("log", str(file))) == 1
        expected = f"zeros from byte {len(batch)} on are followed by other bytes at {len(batch) + zeros}"
        assert expected in capsys.readouterr().err


def test_batch_with_missing_codec_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "copied.log"
    batches = [write_batch([Record(value=value, timestamp=1)]) for value in (b"one", b"two", b"three")]
    file.write_bytes(b"".join(batches))
    records, outcomes = Batch.records, iter((False, True, False))

    def missing(batch: Batch, **words: bool) -> object:
        if next(outcomes):
            raise MissingCodecError("lz4 needs a package")
        return records(batch, **words)

    monkeypatch.setattr(Batch, "records", missing)
    assert main(("log", str(file), "--json")) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row.get("value", row.get("error")) for row in rows] == ["one", "lz4 needs a package", "three"]


def test_internal_record_without_a_key_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "copied.log"
    file.write_bytes(write_batch([Record(value=b"one", timestamp=1)]))
    assert main(("log", str(file), "--topic", "__consumer_offsets", "--json")) == 1
    (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert row["error"] == "the record has no key"


def test_second_frame_is_printed_with_its_address(capsys: pytest.CaptureFixture[str]) -> None:
    frame = encode_request(ApiVersionsRequest(client_software_name="java", client_software_version="1"), 3, 7, "me")
    broken = frame[:-3] + b"\x7f" + frame[-2:]
    assert main(("explain", "--frame", (frame + broken).hex(), "--text", "--width", "120")) == 1
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("ApiVersionsRequest v3")]
    assert titles == [
        "ApiVersionsRequest v3",
        f"ApiVersionsRequest v3  from address {len(frame):04x}; offsets in notes are relative to this address",
    ]


def test_explain_limit_omits_later_messages(run_command: RunCommand) -> None:
    frames = 3 * FRAME
    status, out, err = run_command("explain", "--frame", frames.hex(), "--limit", "9", "--json")
    assert (status, rows(out)[-1]["end"]) == (1, len(FRAME))
    what = f"the messages from byte {len(FRAME)} on are not shown; raise --limit, or use --limit 0 to show all"
    assert err == f"note: {what}\n"
    status, out, err = run_command("explain", "--frame", frames.hex(), "--limit", "0", "--json")
    assert (status, rows(out)[-1]["end"], err) == (0, len(frames), "")


def test_explain_limit_omits_array_elements(run_command: RunCommand) -> None:
    data = MetadataRequest(topics=[MetadataRequestTopic(name="t") for _ in range(100)]).write(4)
    status, out, _ = run_command("explain", "MetadataRequest", "4", data.hex(), "--limit", "40", "--json")
    assert status == 0
    assert [(row["path"], row["note"]) for row in rows(out)[-2:]] == [
        ("topics", "61 more elements"),
        ("allow_auto_topic_creation", "= default"),
    ]


SUBSCRIPTION = "0000 00000001 0001 74 ffffffff"
"""ConsumerProtocolSubscription 0 of topic t."""


@pytest.mark.parametrize(
    ("data", "version", "note"),
    [
        (f"{SUBSCRIPTION} 0102", 0, "after the message; ignored by Kafka"),
        ("0005 00000001 0001 74 ffffffff 00000000 00000000 ffff 01020304", 5, "of a later version"),
    ],
)
def test_consumer_protocol_is_read_as_kafka_reads_it(
    run_command: RunCommand, data: str, version: int, note: str
) -> None:
    """Kafka reads a newer version as the latest known one, and ignores what is left of the bytes."""
    status, out, err = run_command("decode", "ConsumerProtocolSubscription", "--header", data)
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["version"], found["message"]["topics"]) == (version, ["t"])
    status, out, err = run_command("explain", "ConsumerProtocolSubscription", "--header", data, "--width", "200")
    assert (status, err) == (0, "")
    assert note in out.splitlines()[-2]
