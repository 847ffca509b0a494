"""Limits on decompressed sizes and record counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kafka_records import BatchDecodeError, Record, read_batches, write_batch
from kafka_records.format import MAX_BATCH_RECORDS

MANY = [Record()] * 20
HEADERS = [Record(headers=(("", None),) * 7), Record(headers=(("", None),) * 4)]


def test_too_many_records_for_the_default_limit_raise() -> None:
    data = write_batch([Record()] * (MAX_BATCH_RECORDS + 1), compression="gzip")
    with pytest.raises(BatchDecodeError) as raised:
        list(read_batches(data).records())
    assert str(raised.value) == (
        "RecordBatch v2: batches[0]: batch at byte 0: 1000001 or more records, "
        "at most 1000000 allowed (max_batch_records)"
    )


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("magic", [2, 1, 0])
def test_max_batch_records_limits_records(magic: int, compression: str) -> None:
    data = write_batch(MANY, compression=compression, magic=magic)
    assert len(list(read_batches(data, max_batch_records=20).records())) == 20
    if compression == "none" and magic < 2:
        assert len(list(read_batches(data, max_batch_records=1).records())) == 20
        return
    for read in (lambda reader: list(reader.records()), lambda reader: next(reader).records()):
        with pytest.raises(BatchDecodeError) as raised:
            read(read_batches(data, max_batch_records=19))
        assert str(raised.value) == (
            f"RecordBatch v{magic}: batches[0]: batch at byte 0: 20 or more records, "
            "at most 19 allowed (max_batch_records)"
        )


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_max_batch_records_limits_headers(compression: str) -> None:
    data = write_batch(HEADERS, compression=compression)
    assert [len(each.headers) for each in read_batches(data, max_batch_records=11).records()] == [7, 4]
    for most, record in ((10, 1), (2, 0)):
        with pytest.raises(BatchDecodeError) as raised:
            list(read_batches(data, max_batch_records=most).records())
        assert str(raised.value) == (
            f"RecordBatch v2: batches[0].records[{record}]: batch at byte 0: {most + 1} or more headers, "
            f"at most {most} allowed (max_batch_records)"
        )


@pytest.mark.parametrize("argument", ["max_batch_bytes", "max_batch_records"])
@pytest.mark.parametrize(
    ("given", "error", "expected"),
    [
        (None, TypeError, "{} must be an int, not None"),
        (True, TypeError, "{} must be an int, not True"),
        (1e6, TypeError, "{} must be an int, not 1000000.0"),
        (0, ValueError, "{} must be at least 1, not 0"),
    ],
)
def test_invalid_limits_are_rejected(argument: str, given: Any, error: type[Exception], expected: str) -> None:
    read: Callable[..., Any] = read_batches
    with pytest.raises(error) as raised:
        read(b"", **{argument: given})
    assert str(raised.value) == expected.format(argument)
