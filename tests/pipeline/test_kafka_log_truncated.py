"""Truncated segments before the last one in kafka_log, tested without Spark."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from kafka_records import CorruptSegmentError
from pyspark.sql.types import LongType, StructType

from tests.pipeline.growing_log import open_stream, plan
from tests.pipeline.log_files import batch_of, offsets_of, reader_of, rows_of, segment

POSITION = sum(len(batch_of(range(base, base + 5))) for base in (0, 5, 10))
"""Position of the truncated batch."""
CUT = 40
"""Size of what is left of the truncated batch."""


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    folder = tmp_path / "orders-0"
    for base in (0, 20, 40):
        file = segment(folder, base, 4)
        if base != 20:
            size = sum(len(batch_of(range(at, at + 5))) for at in range(base, base + 15, 5))
            os.truncate(file, size + CUT)
    return folder


def reason(folder: Path) -> str:
    return (
        f"{folder / f'{0:020}.log'}: batch at byte {POSITION}: "
        f"{CUT} bytes of a batch that ends beyond the file, although a later segment exists"
    )


@pytest.mark.parametrize("most", [1 << 20, 100], ids=["whole files", "a range for each batch"])
def test_failfast_raises_corrupt_segment_error(cut: Path, most: int) -> None:
    with pytest.raises(CorruptSegmentError, match=f"^{re.escape(reason(cut))}$"):
        rows_of(reader_of(cut, maxPartitionBytes=str(most)))


@pytest.mark.parametrize("most", [1 << 20, 100], ids=["whole files", "a range for each batch"])
def test_permissive_mode_yields_a_corrupt_row(cut: Path, most: int) -> None:
    rows = rows_of(reader_of(cut, mode="PERMISSIVE", maxPartitionBytes=str(most)))
    assert [row["offset"] for row in rows] == [*range(15), None, *range(20, 55)]
    (bad,) = (row for row in rows if row["corrupt"])
    assert (bad["topic"], bad["partition"], bad["value"]) == ("orders", 0, None)
    assert bad["corrupt"] == {
        "position": POSITION,
        "size": CUT,
        "reason": f"{CUT} bytes of a batch that ends beyond the file, although a later segment exists",
        "bytes": batch_of(range(15, 20))[:CUT],
    }


def test_ignore_corrupt_files_skips_and_logs_the_rest_of_a_file(cut: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert offsets_of(reader_of(cut, ignoreCorruptFiles="true")) == [*range(15), *range(20, 55)]
    assert caplog.messages == [
        f"Skipped the rest of the content in the corrupted file: {cut / f'{0:020}.log'}: {reason(cut)}"
    ]


def test_truncated_last_segment_is_accepted(cut: Path, tmp_path: Path) -> None:
    for name in (f"{20:020}.log", f"{40:020}.log"):
        (cut / name).unlink()
    segment(tmp_path / "orders-1", 20, 1)
    (cut / "notes.log").write_bytes(batch_of(range(90, 95)))
    (cut / f"{30:020}-{1:010}.checkpoint").write_bytes(batch_of(range(95, 100)))
    reader = reader_of(tmp_path, recursiveFileLookup="true")
    assert sorted(offsets_of(reader)) == [*range(15), *range(20, 25), *range(90, 100)]


def test_stream_raises_corrupt_segment_error(cut: Path) -> None:
    for file in cut.iterdir():
        os.utime(file, (0, 0))
    stream = open_stream(cut)
    start = stream.initialOffset()
    end = plan(stream, start)
    first, *_ = stream.partitions(start, end)
    with pytest.raises(CorruptSegmentError, match=f"^{re.escape(reason(cut))}$"):
        list(stream.read(first))


def test_duplicate_column_is_rejected(cut: Path) -> None:
    twice = StructType().add("offset", LongType()).add("offset", LongType())
    with pytest.raises(ValueError, match=r"^kafka_log: duplicate column 'offset' in the schema$"):
        reader_of(cut, twice)
