"""Timestamps in batch headers, read without decompression."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.batch_writer import write_batches, write_control_batch


def seconds(value: int) -> datetime:
    return datetime.fromtimestamp(value, UTC)


def test_batch_headers_have_first_and_max_timestamp() -> None:
    rows = [{"value": b"a", "timestamp": 3000}, {"value": b"b", "timestamp": 2000}]
    data = b"".join(
        (
            write_batches(rows, compression="zstd"),
            write_batches(rows, base_offset=2, timestamp_type=1, log_append_time=9000),
            write_batches(rows, base_offset=4, delete_horizon=1),
            write_control_batch("ABORT", offset=6, timestamp=5000, producer_id=1, producer_epoch=0),
            write_batches(rows[:1], base_offset=7, magic=1),
        )
    )
    (batch,) = list(read_batch_headers(io.BytesIO(data)))
    first, most = batch.column("first_timestamp").to_pylist(), batch.column("max_timestamp").to_pylist()
    assert first == [seconds(3), seconds(9), None, seconds(5), None]
    assert most == [seconds(3), seconds(9), seconds(3), seconds(5), seconds(3)]
