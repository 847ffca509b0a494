"""Record counts by headers, compared with reading the records."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("kafka_records.segments.batch_writer", reason="nothing writes segments for the tests")

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafka_messages_spark import count_records, register
from tests.pipeline.log_files import batch_of, segment

LOGS = Path(__file__).parents[2] / "examples" / "cluster" / "logs"


def test_counts_equal_the_read_rows(spark: SparkSession) -> None:
    register(spark)
    paths = [f"{LOGS}/{topic}-[0-9]" for topic in ("orders", "payments", "settings", "readings", "clicks")]
    found = {(row.topic, row.partition): row.records for row in count_records(spark, paths).collect()}
    rows = spark.read.format("kafka_log").load(paths).groupBy("topic", "partition").count().collect()
    assert found == {(row.topic, row.partition): row["count"] for row in rows}
    assert len(found) > 5


def test_columns_uncounted_and_corrupt_count_batches(spark: SparkSession, tmp_path: Path) -> None:
    segment(tmp_path / "b1" / "orders-0", 5, 2)
    segment(tmp_path / "b2" / "orders-0", 5, 1)
    old = segment(tmp_path / "b1" / "clicks-0", 0, 1)
    damaged = bytearray(batch_of(range(8, 10)))
    damaged[-1] ^= 1
    parts = [batch_of(range(5), magic=1, compression="gzip"), batch_of(range(5, 8), magic=1), bytes(damaged)]
    old.write_bytes(b"".join(parts))
    names = ("records", "batches", "first_offset", "last_offset", "uncounted", "corrupt")
    found = {
        str(Path(row.folder).relative_to(tmp_path)): tuple(row[name] for name in names)
        for row in count_records(spark, [str(tmp_path)], check_crcs=True).collect()
    }
    assert found == {
        "b1/orders-0": (10, 2, 5, 14, 0, 0),
        "b2/orders-0": (5, 1, 5, 9, 0, 0),
        "b1/clicks-0": (3, 4, 5, 7, 1, 1),
    }
    (without,) = count_records(spark, [str(tmp_path / "b1" / "clicks-0")]).collect()
    assert (without.records, without.corrupt, without.bytes) == (5, 0, old.stat().st_size)


def test_folders_without_batches_are_omitted(spark: SparkSession, tmp_path: Path) -> None:
    segment(tmp_path / "orders-0", 5, 2)
    (tmp_path / "orders-1").mkdir()
    (tmp_path / "orders-1" / f"{7:020}.log").write_bytes(b"")
    assert [(row.partition, row.records) for row in count_records(spark, [str(tmp_path)]).collect()] == [(0, 10)]


def test_invalid_paths_are_rejected(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        count_records(spark, str(tmp_path))
    assert str(caught.value) == f"count_records: paths must be a list of at least one path, not {str(tmp_path)!r}"
    with pytest.raises(ValueError, match=r".") as caught:
        count_records(spark, [tmp_path])  # type: ignore[list-item]  # the invalid argument
    assert str(caught.value) == f"count_records: a path must be a str, not {tmp_path!r}"
    with pytest.raises(PySparkException, match=r"count_records: \[PATH_NOT_FOUND\] Path does not exist: "):
        count_records(spark, [str(tmp_path / "nothing")]).collect()
