"""Random record batches, valid and damaged, read with ``read_batches`` and with ``read_segments``."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_records import BatchDecodeError, Record, read_batches, write_batch

HAS_ARROW = bool(find_spec("pyarrow") and find_spec("numpy"))
CODECS = [
    "none",
    "gzip",
    *(["snappy", "lz4"] if find_spec("cramjam") else ()),
    *(["zstd"] if find_spec("zstandard") else ()),
]
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
NUMBERS = st.integers(-1, 300) | st.integers(0, 1 << 41) | INT64
BYTES = st.none() | st.binary(max_size=9) | st.integers(60, 200).map(bytes)
TEXT = st.text(max_size=5)
NO_TEXT = st.binary(max_size=5).map(lambda name: name.decode("utf-8", "surrogateescape"))
"""Header keys with invalid UTF-8, which Arrow strings cannot represent."""


@st.composite
def batches(
    draw: st.DrawFn, magics: tuple[int, ...] = (2, 1, 0), names: st.SearchStrategy[str] = TEXT
) -> tuple[list[Record], dict[str, Any]]:
    """Draw records with ascending offsets, and arguments for ``write_batch``."""
    magic = draw(st.sampled_from(magics))
    headers_of_one = st.lists(st.tuples(names, BYTES), max_size=3).map(tuple)
    fields = st.tuples(st.integers(1, 200) | st.integers(1, 1 << 26), NUMBERS, BYTES, BYTES, headers_of_one)
    offset = draw(st.integers(-1, 1 << 40))
    records = []
    for gap, timestamp, key, value, headers in draw(st.lists(fields, min_size=1, max_size=20)):
        offset += gap
        records.append(Record(offset, timestamp if magic else -1, key, value, headers if magic == 2 else ()))
    arguments: dict[str, Any] = {"magic": magic}
    arguments["compression"] = draw(st.sampled_from([name for name in CODECS if magic == 2 or name != "zstd"]))
    if magic == 2 and draw(st.booleans()):
        arguments |= {"producer_id": draw(st.integers(0, (1 << 63) - 1)), "producer_epoch": draw(st.integers(0, 32767))}
        arguments |= {"base_sequence": draw(st.integers(0, (1 << 31) - 1)), "is_transactional": draw(st.booleans())}
        arguments |= {"leader_epoch": draw(st.integers(-1, (1 << 31) - 1))}
    if magic == 2 and draw(st.booleans()):
        arguments["delete_horizon"] = draw(INT64)
    return records, arguments


def read_by_batches(data: bytes, *, verify: bool = True) -> list[tuple[object, ...]] | None:
    """Return offset, key, value and headers of the data records, or None if ``read_batches`` raises an error."""
    try:
        found = list(read_batches(data, verify=verify).records())
    except BatchDecodeError:
        return None
    return [(each.offset, each.key, each.value, as_text(each.headers)) for each in found]


def as_text(headers: Sequence[tuple[str, bytes | None]]) -> tuple[tuple[str, bytes | None], ...]:
    """Return headers as ``read_segments`` does, with invalid UTF-8 in keys replaced by U+FFFD."""
    return tuple((name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), value) for name, value in headers)


def read_by_segments(data: bytes, *, verify: bool = True) -> list[tuple[object, ...]] | None:
    from kafka_records.segments import read_segments

    columns = ["offset", "key", "value", "headers", "corrupt"]
    found = read_segments(io.BytesIO(data), mode="PERMISSIVE", columns=columns, check_crcs=verify)
    rows = [row for batch in found for row in batch.to_pylist()]
    if any(row["corrupt"] for row in rows):
        return None
    return [
        (row["offset"], row["key"], row["value"], tuple((each["key"], each["value"]) for each in row["headers"] or ()))
        for row in rows
    ]


@settings(max_examples=300, deadline=None)
@given(batches(names=TEXT | NO_TEXT))
def test_written_batches_are_read_back(batch: tuple[list[Record], dict[str, Any]]) -> None:
    records, arguments = batch
    data = write_batch(iter(records), **arguments)
    assert list(read_batches(bytearray(data)).records()) == records
    assert [record for each in read_batches(data) for record in each.records()] == records
    assert all(data.startswith(each.data, each.position) for each in read_batches(data))


@pytest.mark.skipif(not HAS_ARROW, reason="the extra `arrow` is not installed")
@settings(max_examples=150, deadline=None)
@given(batches())
def test_read_segments_and_read_batches_agree(batch: tuple[list[Record], dict[str, Any]]) -> None:
    from kafka_records.segments import write_batches

    records, arguments = batch
    data = write_batch(records, **arguments)
    theirs = write_batches([record._asdict() for record in records], **arguments)
    if arguments["compression"] in ("none", "gzip"):
        assert theirs == data
    expected = [(each.offset, each.key, each.value, each.headers) for each in records]
    assert read_by_batches(theirs) == expected
    assert read_by_segments(data) == expected


@pytest.mark.skipif(not HAS_ARROW, reason="the extra `arrow` is not installed")
@settings(max_examples=300, deadline=None)
@given(
    batches((2,)),
    st.lists(st.tuples(st.integers(17, 400), st.integers(0, 255)), min_size=1, max_size=3),
    st.booleans(),
)
def test_read_segments_and_read_batches_agree_on_damaged_batches(
    batch: tuple[list[Record], dict[str, Any]], changes: list[tuple[int, int]], verify: bool
) -> None:
    data = bytearray(write_batch(batch[0], **batch[1]))
    for place, byte in changes:
        if place < len(data):
            data[place] = byte
    assert read_by_batches(bytes(data), verify=verify) == read_by_segments(bytes(data), verify=verify)
