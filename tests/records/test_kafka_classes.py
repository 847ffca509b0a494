"""Batches exchanged with Kafka's own classes. Needs a JDK; KAFKA_JARS names a folder with Kafka's jars."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

import kafka_records as batches
from kafka_records.segments.batch_writer import write_batches, write_control_batch
from kafka_records.segments.reader import read_segments

from tests.support.segments import our_rows, some_rows

JARS = os.environ.get("KAFKA_JARS")
pytestmark = pytest.mark.skipif(
    JARS is None or shutil.which("javac") is None,
    reason="KAFKA_JARS does not name a folder of jars, or there is no javac",
)
SOURCE = Path(__file__).with_name("java") / "Segments.java"


@pytest.fixture(scope="module")
def classpath(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the class path of the compiled program and the jars."""
    folder = tmp_path_factory.mktemp("classes")
    jars = f"{JARS}/*"
    subprocess.run(["javac", "-encoding", "UTF-8", "-cp", jars, "-d", folder, SOURCE], check=True, timeout=120)
    return f"{folder}{os.pathsep}{jars}"


def java(classpath: str, *arguments: object) -> str:
    command = ["java", "-cp", classpath, "Segments", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_of(classpath: str, segment: Path) -> list[Any]:
    return [json.loads(line) for line in java(classpath, "read", segment).splitlines()]


@pytest.mark.parametrize(("seed", "scale"), [(11, 1), (12, 30), (13, 1000)])
def test_segments_written_by_kafka_are_read(classpath: str, tmp_path: Path, seed: int, scale: int) -> None:
    java(classpath, "write", tmp_path, seed, scale)
    segments = sorted([*tmp_path.glob("*/*.log"), *tmp_path.glob("*/*.checkpoint")])
    assert len(segments) == 4
    for segment in segments:
        assert our_rows(read_segments(segment, batch_metadata=True)) == rows_of(classpath, segment)


@pytest.mark.parametrize("widest", [30, 2000])
def test_kafka_reads_the_output_of_write_batches(classpath: str, tmp_path: Path, widest: int) -> None:
    parts = []
    offset = 0
    numbers = {"producer_id": 77, "producer_epoch": 3, "base_sequence": (1 << 31) - 5}
    appended = {"timestamp_type": 1, "log_append_time": 1_700_000_009_999}
    options: list[dict[str, Any]] = [
        {},
        numbers,
        numbers | {"is_transactional": True, "base_sequence": 4},
        appended,
        {"delete_horizon": 1_700_000_600_000},
        {"leader_epoch": 9},
    ]
    for magic in (0, 1, 2):
        for compression in (None, "gzip", "snappy", "lz4", "zstd")[: 5 if magic == 2 else 4]:
            for chosen in options if magic == 2 else [{}, appended][: magic + 1]:
                for most in (1, 7, 400):
                    rows = some_rows(450, offset, headers=magic == 2, widest=widest)
                    parts.append(
                        write_batches(
                            rows, compression=compression, magic=magic, base_offset=offset, max_records=most, **chosen
                        )
                    )
                    offset += len(rows)
    for kind in ("COMMIT", "ABORT"):
        parts.append(
            write_control_batch(
                kind,
                offset=offset,
                timestamp=1_700_000_000_000,
                producer_id=77,
                producer_epoch=3,
                coordinator_epoch=5,
            )
        )

        offset += 1
    segment = tmp_path / "00000000000000000000.log"
    segment.write_bytes(b"".join(parts))
    rows_by_kafka = rows_of(classpath, segment)
    assert len(rows_by_kafka) == offset
    assert our_rows(read_segments(segment, batch_metadata=True)) == rows_by_kafka


def test_kafka_reads_the_output_of_write_batch(classpath: str, tmp_path: Path) -> None:
    pytest.importorskip("cramjam", reason="the extra `compression` is not installed")
    pytest.importorskip("zstandard", reason="the extra `compression` is not installed")
    parts = []
    offset = 0
    for magic in (0, 1, 2):
        for compression in ("none", "gzip", "snappy", "lz4", "zstd")[: 5 if magic == 2 else 4]:
            for count in (1, 7, 3000):
                rows = some_rows(count, offset, headers=magic == 2, widest=200)
                records = [
                    batches.Record(-1, row["timestamp"], row["key"], row["value"], tuple(row["headers"] or ()))
                    for row in rows
                ]
                parts.append(batches.write_batch(records, base_offset=offset, compression=compression, magic=magic))
                offset += count
    for kind in ("COMMIT", "ABORT"):
        parts.append(batches.write_control_batch(kind, offset=offset, timestamp=5, producer_id=77, producer_epoch=3))
        offset += 1
    segment = tmp_path / "00000000000000000000.log"
    segment.write_bytes(b"".join(parts))
    found = rows_of(classpath, segment)
    assert [row["offset"] for row in found] == [*range(offset)]
    read = [record for batch in batches.read_batches(segment.read_bytes()) for record in batch.records()]
    assert [
        (None if record.key is None else record.key.hex(), None if record.value is None else record.value.hex())
        for record in read
    ] == [(row["key"], row["value"]) for row in found]
    assert [record.timestamp for record in read] == [row["timestamp"] for row in found]
