"""Unusual compressed data is read or refused as by Kafka's classes: by objects, columns and ``kafka-messages log``."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

pytest.importorskip("cramjam", reason="the extra `compression` is not installed")
pytest.importorskip("zstandard", reason="the extra `compression` is not installed")

from kafka_records import Record, RecordError, read_batches

from tests.support.payloads import CUT_SET, Payload, judged, stored, verdict

STORED = stored()
# Texts of exceptions of Python itself.
INTERNAL = re.compile("unpack|buffer of|out of range|out of bounds|object|NoneType")


def objects(data: bytes) -> list[Record]:
    return [record for batch in read_batches(data) for record in batch.records()]


def columns(data: bytes) -> Iterable[Record]:
    pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    from kafka_records.segments import read_segments

    with read_segments(io.BytesIO(data)) as reader:
        for batch in reader:
            for row in batch.to_pylist():
                time = row["timestamp"]
                yield Record(row["offset"], round(time.timestamp() * 1000), row["key"], row["value"])


def verdict_of(read: Callable[[bytes], Iterable[Record]], payload: Payload) -> tuple[str, str]:
    """Return the digest and "", or "refused" and the error message."""
    try:
        return verdict(read(payload.batch())), ""
    except RecordError as error:
        return "refused", str(error)


def differences(read: Callable[[bytes], Iterable[Record]]) -> list[tuple[str, int, str, str]]:
    found = []
    for payload, by_kafka in STORED:
        ours, message = verdict_of(read, payload)
        if ours != by_kafka and payload.name != CUT_SET:
            found.append((payload.name, payload.magic, by_kafka, message))
    return found


def test_objects_read_what_kafka_reads() -> None:
    assert differences(objects) == []


def test_columns_read_what_kafka_reads() -> None:
    assert differences(columns) == []


@pytest.mark.usefixtures("without_core")
def test_objects_without_the_core_read_what_kafka_reads() -> None:
    assert differences(objects) == []


@pytest.mark.usefixtures("without_core")
def test_columns_without_the_core_read_what_kafka_reads() -> None:
    assert differences(columns) == []


def test_columns_without_zstandard_name_it_only_for_truncated_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow decompresses zstd for columns, but refuses truncated frames that Kafka reads."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    missing = "zstd needs the package zstandard, which is not installed: pip install zstandard"
    found = differences(columns)
    assert "zstd: two frames without the last 1 bytes" in {name for name, *_ in found}
    assert {message.rpartition(": batch at byte 0: ")[2] for *_, message in found} == {missing}


def test_log_prints_what_kafka_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = pytest.importorskip("kafka_messages_tools.command", reason="kafka-messages-tools is not installed")
    file = tmp_path / "copied.log"
    chosen = [(payload, by_kafka) for payload, by_kafka in STORED if payload.name != CUT_SET]
    sound = [payload for payload, by_kafka in chosen if by_kafka != "refused"]
    file.write_bytes(b"".join(payload.batch() for payload in sound))
    assert command.main(("log", str(file), "--json")) == 0
    assert len(capsys.readouterr().out.splitlines()) == sum(len(objects(payload.batch())) for payload in sound)
    for payload in [payload for payload, by_kafka in chosen if by_kafka == "refused"][::4]:
        file.write_bytes(payload.batch())
        assert command.main(("log", str(file), "--json")) == 1, payload
        output, errors = capsys.readouterr()
        assert output == ""
        assert not INTERNAL.search(errors.replace(str(file), "")), errors


def test_format_1_set_that_ends_within_a_message_is_corrupt() -> None:
    """Kafka returns the messages before it and drops the rest silently."""
    (payload,) = (payload for payload, _ in STORED if payload.name == CUT_SET and payload.magic == 1)
    assert verdict_of(objects, payload) == (
        "refused",
        "RecordBatch v1: batches[0]: batch at byte 0: inner message 1 has an invalid length of 60 bytes",
    )


def test_no_message_shows_an_exception_of_python() -> None:
    messages = {message for payload, _ in STORED for message in (verdict_of(objects, payload)[1],)}
    assert [message for message in messages if INTERNAL.search(message)] == []


MESSAGES = {
    "gzip: zlib": "the gzip data is damaged: no header at byte 0",
    "gzip: without the last 1 bytes": "the gzip data is truncated",
    "gzip: extra field longer than the data": "the gzip header is truncated",
    "gzip: header flags 2, wrong checksum": "the gzip data is damaged: header checksum mismatch at byte 10",
    "gzip: wrong size": "the gzip data is damaged: checksum or size mismatch at byte 47",
    "snappy: 15 bytes of a stream behind": "truncated snappy header, or a version below 1, at byte 62",
    "snappy: wrong length": "the snappy data is damaged: snappy: corrupt input "
    "(header mismatch; expected 91 decompressed bytes but got 90)",
    "snappy: second block cut": "snappy block of 24 bytes, only 23 bytes left",
    "lz4: skippable frame first": "the lz4 data does not start with a frame",
    "lz4: linked blocks": "lz4 flags 0x40 are not supported; only version 1 with independent blocks",
    "lz4: block size 0x30": "unknown lz4 block size 0x30",
    "lz4: first 5 bytes": "the lz4 header is truncated",
    "lz4: flags 0x60, wrong header checksum": "lz4 header checksum mismatch",
    "lz4: stored block of too many bytes": "lz4 block of 65537 bytes at byte 11, at most 79 possible",
    "lz4: wrong size of a block": "the lz4 data is damaged: Decompression failed. Input invalid or too long?",
    "lz4: wrong checksum of the first block": "lz4 block checksum mismatch at byte 39",
    "lz4: flags 0x60 without the last 4 bytes": "the lz4 data is truncated: its 88 bytes have no end mark",
    "lz4: flags 0x64 without the last 1 bytes": "the lz4 data is truncated: its 95 bytes have no end mark",
    "zstd: without the last 1 bytes": "the zstd data is truncated",
    "zstd: before format 2": "zstd is not supported by format 1 (KIP-110)",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message_names_the_rule(name: str) -> None:
    payload = next(payload for payload, _ in STORED if payload.name == name)
    refused = verdict_of(objects, payload)
    assert refused == ("refused", f"RecordBatch v{payload.magic}: batches[0]: batch at byte 0: {MESSAGES[name]}")


def test_snappy_length_has_at_most_5_bytes() -> None:
    texts = [verdict_of(objects, Payload("long length", 2, b"\xff" * count + b"\0"))[1] for count in (3, 5)]
    start = "RecordBatch v2: batches[0]: batch at byte 0:"
    assert texts == [
        f"{start} 4 bytes of snappy data cannot decompress to 2097151 bytes",
        f"{start} the snappy length is a varint of more than 5 bytes",
    ]


@pytest.mark.skipif(
    "KAFKA_JARS" not in os.environ or shutil.which("javac") is None,
    reason="KAFKA_JARS does not name a folder of jars, or there is no javac",
)
def test_kafka_gives_the_stored_verdicts() -> None:
    payloads, verdicts = zip(*STORED, strict=True)
    assert judged(payloads, Path(os.environ["KAFKA_JARS"])) == list(verdicts)
