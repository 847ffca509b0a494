"""The committed log files of Kafka's classes and of a real cluster, read record by record."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

from kafka_messages.batches import Batch, MissingCodecError, Record, read_batches, with_base_offset, write_batch

from tests.support.pages import ROOT
from tests.support.segments import SEGMENTS, kafkas_rows

CLUSTER = sorted((ROOT / "examples" / "cluster").rglob("*.log"))


def row(batch: Batch, record: Record) -> tuple[object, ...]:
    """What Kafka's classes say of a record, by our names."""
    key, value = (None if each is None else each.hex() for each in (record.key, record.value))
    headers = [[name, None if content is None else content.hex()] for name, content in record.headers]
    of_batch = (batch.leader_epoch, batch.producer_id, batch.producer_epoch, batch.compression, batch.magic)
    return (record.offset, record.timestamp, key, value, headers, *of_batch, batch.is_transactional, batch.is_control)


FIELDS = ("offset", "timestamp", "key", "value", "headers", "leader_epoch", "producer_id", "producer_epoch")
FIELDS += ("compression", "magic", "is_transactional", "is_control")


@pytest.mark.parametrize("path", SEGMENTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_kafkas_classes_read_the_same(path: Path) -> None:
    """Every format, compression and kind of batch, as Kafka 4.4's own classes print it."""
    pytest.importorskip("cramjam", reason="the extra `compression` is not installed")
    pytest.importorskip("zstandard", reason="the extra `compression` is not installed")
    found = [row(batch, record) for batch in read_batches(path.read_bytes()) for record in batch.records()]
    assert found == [tuple(each[name] for name in FIELDS) for each in kafkas_rows(path)]


@pytest.mark.parametrize("path", [*SEGMENTS, *CLUSTER], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_batches_are_written_as_they_were(path: Path) -> None:
    """What Kafka wrote uncompressed comes out the same to the byte; the offset alone moves without a new sum."""
    for batch in read_batches(path.read_bytes()):
        if batch.magic != 2 or batch.is_control or batch.delete_horizon is not None or not batch.count:
            continue
        assert with_base_offset(batch.data, batch.base_offset) == batch.data
        try:
            records = batch.records()
        except MissingCodecError:
            continue
        if batch.compression != "none" or records[0].offset != batch.base_offset:
            continue
        if records[-1].offset != batch.last_offset or records[0].timestamp != batch.base_timestamp:
            continue
        again = write_batch(
            records,
            log_append_time=batch.max_timestamp if batch.timestamp_type == "LogAppendTime" else None,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            is_transactional=batch.is_transactional,
            leader_epoch=batch.leader_epoch,
        )
        if max(record.timestamp for record in records) == batch.max_timestamp:
            assert again == batch.data
