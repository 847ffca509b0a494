"""Record batches by Kafka's classes, read and written with ``kafka_records``."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

pytest.importorskip("cramjam", reason="the extra `compression` is not installed")
pytest.importorskip("zstandard", reason="the extra `compression` is not installed")

from kafka_records import (
    Batch,
    BatchEncodeError,
    Record,
    RecordError,
    read_batches,
    read_headers,
    write_batch,
    write_control_batch,
)
from kafka_records.compression import codecs
from kafka_records.contents import unwrapped
from kafka_records.format import CODECS

import kafka_protocol_vectors as package
from kafka_protocol_vectors import BatchVector

BATCHES = {vector.id: vector for vector in package.batches()}
LIMIT = 1 << 20
MADE_BY_CLEANER = re.compile(r"batch-2-.*(compacted|delete-horizon|-empty)")
"""Batches with a header that does not follow from the records; ``write_batch`` has no arguments for such headers."""


def hex_of(content: bytes | None) -> str | None:
    return None if content is None else content.hex()


def record_json(record: Record) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": hex_of(record.key),
        "value": hex_of(record.value),
        "headers": [[key, hex_of(value)] for key, value in record.headers],
    }


def batch_json(batch: Batch) -> dict[str, Any]:
    """Return a batch in the form of the vectors."""
    records = [record_json(record) for record in batch.records()]
    for row, control in zip(records, batch.control_records(), strict=batch.is_control):
        row |= {"control_type": control.type, "coordinator_epoch": control.coordinator_epoch}
    found = {
        "position": batch.position,
        "size": batch.size,
        "magic": batch.magic,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "leader_epoch": batch.leader_epoch,
        "crc": batch.crc,
        "compression": batch.compression,
        "timestamp_type": batch.timestamp_type or "NoTimestampType",
        "base_timestamp": batch.base_timestamp,
        "max_timestamp": batch.max_timestamp,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "last_sequence": -1 if batch.base_sequence < 0 else (batch.base_sequence + batch.last_offset_delta) % (1 << 31),
        "is_transactional": batch.is_transactional,
        "is_control": batch.is_control,
        "delete_horizon": batch.delete_horizon,
        "count": batch.count,
        "records": records,
    }
    if batch.magic < 2:
        # Kafka reports the first offset of the messages within, and neither a base timestamp nor a count.
        found |= {"base_offset": records[0]["offset"], "base_timestamp": None, "count": None}
    return found


def differences(vector: BatchVector, data: bytes) -> list[str]:
    """Return the names of what differs from the vector in ``data``."""
    reader = read_batches(data)
    try:
        found = [batch_json(batch) for batch in reader]
    except RecordError as error:
        return [type(error).__name__]
    pairs: Any = itertools.zip_longest(found, vector.batches, fillvalue={})
    names = {name for ours, kafkas in pairs for name in {**ours, **kafkas} if ours.get(name) != kafkas.get(name)}
    return sorted(names | ({"incomplete"} if reader.incomplete != vector.incomplete else set()))


def test_batches_decode_to_their_json() -> None:
    assert {vector.id: found for vector in BATCHES.values() if (found := differences(vector, vector.data))} == {}


def stored_records(batch: Batch) -> list[Record]:
    """Return the records with the timestamps that are stored, which a log append time hides."""
    if batch.timestamp_type != "LogAppendTime":
        return batch.records()
    data = bytearray(batch.data)
    data[22 if batch.magic == 2 else 17] &= ~8  # in the attributes
    return next(read_headers(data)).records(verify=False)


def encoded(batch: Batch) -> bytes:
    """Return our own encoding of a batch."""
    if batch.is_control:
        (control,) = batch.control_records()
        is_end = control.coordinator_epoch is not None
        return write_control_batch(
            control.type,
            None if is_end else control.value,
            offset=control.offset,
            timestamp=control.timestamp,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            coordinator_epoch=control.coordinator_epoch or 0,
            leader_epoch=batch.leader_epoch,
        )
    return write_batch(
        stored_records(batch),
        base_offset=batch.base_offset,
        compression=batch.compression,
        log_append_time=batch.max_timestamp if batch.timestamp_type == "LogAppendTime" else None,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        leader_epoch=batch.leader_epoch,
        delete_horizon=batch.delete_horizon,
        magic=batch.magic,
    )


def plain(data: bytes) -> tuple[bytes, ...]:
    """Return a batch of which the records are decompressed, without length and checksum."""
    (batch,) = read_batches(data)
    if batch.magic == 2:
        return data[:8], data[12:17], data[21:61], batch.decompressed()
    codec = CODECS.index(batch.compression)
    start = 18 if batch.magic == 0 else 26
    inner = unwrapped(codec, memoryview(data), batch.magic, LIMIT, codecs()) if codec else data[start:]
    return data[:8], data[16:start], inner


def test_batches_encode_to_the_same_bytes() -> None:
    count = 0
    for vector in BATCHES.values():
        for batch in read_batches(vector.data) if not MADE_BY_CLEANER.match(vector.id) else ():
            if vector.id in ("control-unknown-type", "control-commit-delete-horizon"):
                continue
            ours = encoded(batch)
            if batch.compression == "none":
                assert ours == batch.data, vector
            assert plain(ours) == plain(batch.data), vector
            count += 1
    assert count == 171


def test_damage_is_a_difference() -> None:
    vector = BATCHES["batch-2-none-headers"]
    for at in range(len(vector.data)):
        damaged = bytearray(vector.data)
        damaged[at] ^= 1
        assert differences(vector, bytes(damaged)), at
    found = differences(vector, vector.data[:7] + b"\x65" + vector.data[8:])
    assert found == ["base_offset", "last_offset", "records"]
    assert plain(vector.data) != plain(write_batch([Record(100, 1_700_000_000_000, b"key", b"value")]))


def test_every_combination_that_exists_has_a_vector() -> None:
    contents = ("single", "several", "nulls", "large")
    for magic, codec in itertools.product(range(3), CODECS):
        wanted = (
            contents + (("no-timestamp", "log-append-time") if magic else ()) + (("headers",) if magic == 2 else ())
        )
        found = {id for id in BATCHES if id.startswith(f"batch-{magic}-{codec}-")}
        expected = {f"batch-{magic}-{codec}-{content}" for content in wanted}
        if codec == "zstd" and magic < 2:
            assert found == set()
        else:
            assert found >= expected


RECORD = Record(0, 1, b"key", b"value")
MISSING: list[tuple[Record, dict[str, Any]]] = [
    (RECORD, {"compression": "zstd"}),
    (RECORD._replace(headers=(("a", b"b"),)), {}),
    (RECORD, {"leader_epoch": 1}),
    (RECORD, {"producer_id": 1, "producer_epoch": 1, "base_sequence": 1}),
    (RECORD, {"is_transactional": True}),
    (RECORD, {"delete_horizon": 1}),
]


@pytest.mark.parametrize("magic", [0, 1])
def test_missing_combinations_cannot_be_written(magic: int) -> None:
    for record, arguments in MISSING:
        with pytest.raises(BatchEncodeError):
            write_batch([record], magic=magic, **arguments)
    with pytest.raises(BatchEncodeError):
        write_batch([RECORD], magic=0, log_append_time=1)


def test_batches_cover_the_edges_of_the_format() -> None:
    batches = [batch for vector in BATCHES.values() for batch in vector.batches]
    rows = [(batch, row) for batch in batches for row in batch["records"]]
    assert max(row["timestamp"] - batch["base_timestamp"] for batch, row in rows if batch["magic"] == 2) >= 1 << 63
    assert max(row["offset"] - batch["base_offset"] for batch, row in rows) == (1 << 31) - 1
    assert any(0 <= batch["last_sequence"] < batch["base_sequence"] for batch in batches)
    assert any(batch["delete_horizon"] for batch in batches)
    assert sum(not batch["records"] for batch in batches) == 5
    assert {row["control_type"] for batch, row in rows if batch["is_control"]} == {
        "ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS", "UNKNOWN",
    }  # fmt: skip
    headers = [header for _, row in rows for header in row["headers"]]
    assert [header in headers for header in (["null", None], ["empty", ""])] == [True, True]
    assert "" in {key for key, _ in headers}
    assert {vector.incomplete for vector in BATCHES.values()} == {0, 1, 12, 40, 100, 106, 119, 125}


def test_an_aborted_transaction_is_a_sequence_of_batches() -> None:
    batches = BATCHES["sequence-aborted-transaction"].batches
    assert [(batch["producer_id"], batch["is_transactional"], batch["is_control"]) for batch in batches] == [
        (9000, True, False),
        (-1, False, False),
        (9000, True, False),
        (9001, True, False),
        (9000, True, True),
        (9001, True, True),
    ]
    assert [batch["records"][0]["control_type"] for batch in batches[4:]] == ["ABORT", "COMMIT"]
