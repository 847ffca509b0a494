"""Log files in the repository, from Kafka's classes and from a real cluster, read as record objects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

from kafka_records import (
    Batch,
    Record,
    read_batches,
    with_base_offset,
    write_batch,
    write_control_batch,
)
from kafka_records.compression import codecs
from kafka_records.format import COMPRESSION, HEADER, MAX_BATCH_BYTES

from tests.support.pages import ROOT
from tests.support.segments import SEGMENTS, kafkas_rows

CLUSTER = sorted((ROOT / "examples" / "cluster").rglob("*.log"))


def comparable_row(batch: Batch, record: Record) -> tuple[object, ...]:
    key, value = (None if each is None else each.hex() for each in (record.key, record.value))
    headers = [[name, None if content is None else content.hex()] for name, content in record.headers]
    of_batch = (batch.leader_epoch, batch.producer_id, batch.producer_epoch, batch.compression, batch.magic)
    return (record.offset, record.timestamp, key, value, headers, *of_batch, batch.is_transactional, batch.is_control)


NO_RECORDS = "the batch has no records"
NO_TIMESTAMPS = "log append time hides the timestamps of the records"
SEVERAL = "the control batch has several records"
LEFT = {"legacy-3": {NO_TIMESTAMPS: 7}, "orders-0": {NO_TIMESTAMPS: 5, NO_RECORDS: 1}}
"""Number of batches that the writers cannot reproduce, by folder of ``data`` and reason."""

FIELDS = (
    *("offset", "timestamp", "key", "value", "headers", "leader_epoch", "producer_id", "producer_epoch"),
    *("compression", "magic", "is_transactional", "is_control"),
)


@pytest.mark.parametrize("path", SEGMENTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_records_equal_those_read_by_kafkas_classes(path: Path) -> None:
    pytest.importorskip("cramjam", reason="the extra `compression` is not installed")
    pytest.importorskip("zstandard", reason="the extra `compression` is not installed")
    found = [comparable_row(batch, record) for batch in read_batches(path.read_bytes()) for record in batch.records()]
    assert found == [tuple(each[name] for name in FIELDS) for each in kafkas_rows(path)]


def reason_not_reproducible(batch: Batch, records: list[Record]) -> str:
    """Return why ``write_batch`` cannot reproduce a batch; empty if it can."""
    if not records:
        return NO_RECORDS
    if batch.magic == 2 and (records[0].offset != batch.base_offset or records[-1].offset != batch.last_offset):
        return "compaction removed the first or last record"
    if batch.timestamp_type == "LogAppendTime":
        return NO_TIMESTAMPS
    if batch.magic == 2 and batch.delete_horizon is None and records[0].timestamp != batch.base_timestamp:
        return "compaction removed the record with the base timestamp"
    if batch.magic == 2 and max(record.timestamp for record in records) != batch.max_timestamp:
        return "compaction removed the record with the highest timestamp"
    return ""


def uncompressed(batch: Batch) -> bytes:
    codec = batch.attributes & COMPRESSION
    body = batch.data[HEADER:]
    return bytes(codecs().decompress(codec, memoryview(body), MAX_BATCH_BYTES)) if codec else body


def rewritten(batch: Batch, records: list[Record]) -> bytes:
    if batch.is_control:
        (control,) = batch.control_records()
        return write_control_batch(
            control.type,
            None if control.type in ("COMMIT", "ABORT") else control.value,
            offset=control.offset,
            timestamp=control.timestamp,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            coordinator_epoch=control.coordinator_epoch or 0,
            leader_epoch=batch.leader_epoch,
        )
    return write_batch(
        records,
        compression=batch.compression,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        leader_epoch=batch.leader_epoch,
        delete_horizon=batch.delete_horizon,
        magic=batch.magic,
    )


@pytest.mark.parametrize("path", [*SEGMENTS, *CLUSTER], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_rewritten_batches_equal_the_original(path: Path) -> None:
    pytest.importorskip("cramjam", reason="the extra `compression` is not installed")
    pytest.importorskip("zstandard", reason="the extra `compression` is not installed")
    left: Counter[str] = Counter()
    for batch in read_batches(path.read_bytes()):
        if batch.magic == 2:
            assert with_base_offset(batch.data, batch.base_offset, leader_epoch=batch.leader_epoch) == batch.data
        records = batch.records()
        if reason := reason_not_reproducible(batch, records):
            left[reason] += 1
            continue
        if batch.is_control and len(records) > 1:
            left[SEVERAL] += 1
            continue
        again = rewritten(batch, records)
        if batch.compression == "none":
            assert again == batch.data
        elif batch.magic == 2:
            (ours,) = read_batches(again)
            assert uncompressed(ours) == uncompressed(batch)
            assert (
                again[:8] + again[12:17] + again[21:HEADER]
                == batch.data[:8] + batch.data[12:17] + batch.data[21:HEADER]
            )
        else:
            assert [record for each in read_batches(again) for record in each.records()] == records
    if path in SEGMENTS:
        assert left == LEFT.get(path.parent.name, {})
    assert {*left} <= {NO_RECORDS, NO_TIMESTAMPS, SEVERAL}
