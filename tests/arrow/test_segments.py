"""Log segments that Kafka's own classes wrote, read record by record as those classes read them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

from kafka_messages.arrow.segments import read_segments

from tests.support.segments import SEGMENTS, kafkas_rows, our_rows

IDS = [f"{segment.parent.name}/{segment.name}" for segment in SEGMENTS]


def test_there_are_segments_of_every_kind() -> None:
    """The parametrised tests below would be silent about files that are missing."""
    assert IDS == [
        "__cluster_metadata-0/00000000000000000000.log",
        "__cluster_metadata-0/00000000000000000042-0000000003.checkpoint",
        "legacy-3/00000000000000000000.log",
        "orders-0/00000000000000000000.log",
    ]
    rows = [row for segment in SEGMENTS for row in kafkas_rows(segment)]
    assert {(row["magic"], row["compression"]) for row in rows} == {
        *((magic, codec) for magic in (0, 1, 2) for codec in ("none", "gzip", "snappy", "lz4")),
        (2, "zstd"),
    }


@pytest.mark.parametrize("segment", SEGMENTS, ids=IDS)
def test_committed_segments(segment: Path) -> None:
    """Every record and every fact about its batch is what Kafka's classes printed; all of the file is accounted for."""
    expected = kafkas_rows(segment)
    with read_segments(segment, batch_metadata=True) as reader:
        assert our_rows(reader) == expected
        (report,) = reader.reports
    assert report.done
    assert report.records == len(expected)
    assert report.batch_bytes == report.next_position == segment.stat().st_size
    assert (report.incomplete_tail, report.zero_tail, report.corrupt_batches) == (0, 0, 0)
    topic, _, partition = segment.parent.name.rpartition("-")
    assert (report.topic, report.partition) == (topic, int(partition))
