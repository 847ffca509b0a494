"""The column codec against the object codec, for every message with mixed versions in one array."""

from __future__ import annotations

import random
import struct
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pc = pytest.importorskip("pyarrow.compute", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

import kafka_messages as km
from kafka_messages import ListTransactionsRequest, MetadataResponse, OffsetCommitValue
from kafka_messages.arrow import RowError, decode, encode, schema
from kafka_messages.schema.descriptors import descriptor_of

from tests.support.columns import COMMITTED, expected
from tests.support.implementations import pure, script
from tests.support.vectors import committed

MESSAGES = committed()


def repetitions() -> Iterator[int]:
    """Yield few rows, and more rows than the lowered limit of objects in memory."""
    yield 1
    with mock.patch("kafka_messages.arrow._objects.MOST_ROWS", 24):
        yield 30


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_columns_equal_the_object_codec(name: str) -> None:
    cls, descriptor = getattr(km, name), descriptor_of(getattr(km, name))
    wanted = [
        repr(expected(descriptor, descriptor.fields, cls.read(v.data, v.version), v.version)) for v in MESSAGES[name]
    ]
    for times in repetitions():
        vectors = [*zip(MESSAGES[name], wanted, strict=True)] * times
        random.Random(name).shuffle(vectors)
        array = pa.array([vector.data for vector, _ in vectors], pa.binary())

        columns = decode(array, cls, pa.array([vector.version for vector, _ in vectors]))

        columns.validate(full=True)
        assert columns.type == pa.struct(list(schema(cls)))
        # repr, because NaN differs from itself
        assert [repr(row) for row in columns.to_pylist()] == [row for _, row in vectors]


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_columns_encode_to_the_same_bytes(name: str) -> None:
    cls = getattr(km, name)
    for version in sorted({vector.version for vector in MESSAGES[name]}):
        data = [vector.data for vector in MESSAGES[name] if vector.version == version] * 3
        columns = decode(pa.array(data, pa.binary()), cls, version)

        assert encode(columns, cls, version).to_pylist() == data


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_damaged_rows_are_null_and_do_not_affect_others(name: str) -> None:
    cls, descriptor = getattr(km, name), descriptor_of(getattr(km, name))
    draw = random.Random(name)
    rows, versions = [], []
    for vector in MESSAGES[name]:
        for _ in range(3):
            at = draw.randrange(len(vector.data) + 1)
            rows.append(
                vector.data[:at] + draw.choice((b"", b"\xff", b"\x80\x00", b"\x7f\xff")) + vector.data[at + 1 :]
            )
            versions.append(vector.version)
    columns = decode(pa.array(rows, pa.binary()), cls, pa.array(versions), mode="PERMISSIVE")

    wanted: list[object] = []
    for data, version in zip(rows, versions, strict=True):
        try:
            wanted.append(expected(descriptor, descriptor.fields, cls.read(data, version), version))
        except km.DecodeError:
            wanted.append(None)
    assert repr(columns.to_pylist()) == repr(wanted)


ROWS = [MetadataResponse().write(12), None, b"\0\0"]


def test_failfast_error_contains_row_and_field() -> None:
    with pytest.raises(RowError) as caught:
        decode(pa.array(ROWS, pa.binary()), MetadataResponse, 12)

    assert (
        str(caught.value) == "row 2: MetadataResponse v12: throttle_time_ms: INT32: 4 bytes needed at offset 0, 2 left"
    )
    assert (caught.value.row, caught.value.offset, caught.value.path) == (2, 0, "throttle_time_ms")


def test_permissive_returns_corrupt_bytes() -> None:
    columns = decode(
        pa.array(ROWS, pa.binary()), MetadataResponse, 12, mode="PERMISSIVE", corrupt_column="_corrupt_record"
    ).to_pylist()

    assert columns[0]["_corrupt_record"] is None
    assert columns[0]["topics"] == []
    assert columns[1] is None
    assert columns[2] == dict.fromkeys(columns[2]) | {"_corrupt_record": b"\0\0"}


def test_version_prefix_is_read_and_written() -> None:
    rows = [(v).to_bytes(2, "big") + OffsetCommitValue(offset=v, metadata="m").write(v) for v in (0, 3, 1)]

    columns = decode(pa.array(rows), OffsetCommitValue)

    assert columns.field("offset").to_pylist() == [0, 3, 1]
    assert columns.field("expire_timestamp").to_pylist() == [None, None, -1]
    assert encode(columns.slice(1, 1), OffsetCommitValue, 3, prefix=True).to_pylist() == [rows[1]]


def test_truncated_version_prefix_raises_with_the_path_version() -> None:
    with pytest.raises(RowError, match=r"^row 0: OffsetCommitValue: version: 2 bytes needed at offset 0") as caught:
        decode(pa.array([b"\0"]), OffsetCommitValue)
    assert caught.value.path == "version"


def test_emit_defaults_replaces_nulls() -> None:
    columns = decode(pa.array([MetadataResponse().write(0)]), MetadataResponse, 0, emit_defaults=True)

    assert columns.field("controller_id").to_pylist() == [-1]


def test_unknown_tagged_fields_round_trip() -> None:
    data = b"\x01\x01\x02\x07\x01a\x87\x07\x01b"
    columns = decode(pa.array([data]), ListTransactionsRequest, 0, unknown_tagged_fields=True)

    assert columns.field("_unknown_tagged_fields").to_pylist() == [[(7, b"a"), (903, b"b")]]
    assert encode(columns, ListTransactionsRequest, 0).to_pylist() == [data]


def test_unknown_tagged_fields_are_sorted_by_tag() -> None:
    data = b"\x01\x01\x02\x63\x02ab\x62\x01c"
    columns = decode(pa.array([data]), ListTransactionsRequest, 0, unknown_tagged_fields=True)

    assert columns.field("_unknown_tagged_fields").to_pylist() == [[(98, b"c"), (99, b"ab")]]


def test_trailing_bytes_raise_unless_ignored() -> None:
    rows = pa.array([MetadataResponse().write(12) + b"x"])

    with pytest.raises(
        RowError, match=r"^row 0: MetadataResponse v12: 1 byte\(s\) left after the message, at offset 12"
    ):
        decode(rows, MetadataResponse, 12)
    assert len(decode(rows, MetadataResponse, 12, trailing="ignore")) == 1


def test_trailing_column_contains_trailing_bytes() -> None:
    good = MetadataResponse(cluster_id="c").write(12)
    rows = [None, good, good + b"one", b"\0\0", MetadataResponse().write(0) + b"\0" * 70, good + b"2"]
    versions = pa.array([12, 12, 12, 12, 0, 12])
    wanted = [None, None, b"one", None, b"\0" * 70, b"2"]
    for array in (pa.array(rows), pa.array([b"before", *rows], pa.large_binary())[1:]):
        ignoring: dict[str, Any] = {"mode": "PERMISSIVE", "trailing": "ignore", "trailing_column": "rest"}
        columns = decode(array, MetadataResponse, versions, **ignoring)
        columns.validate(full=True)
        assert columns.type == pa.struct([*schema(MetadataResponse), pa.field("rest", pa.binary())])
        assert columns.field("rest").to_pylist() == wanted
        assert columns.is_valid().to_pylist() == [False, True, True, False, True, True]
        plain = decode(array, MetadataResponse, versions, mode="PERMISSIVE", trailing="ignore").to_pylist()
        assert [row and row | {"rest": rest} for row, rest in zip(plain, wanted, strict=True)] == columns.to_pylist()

        both = decode(array, MetadataResponse, versions, **ignoring, corrupt_column="bad")
        assert both.field("rest").to_pylist() == wanted
        assert both.field("bad").to_pylist() == [None, None, None, b"\0\0", None, None]
        assert both.is_valid().to_pylist() == [False, True, True, True, True, True]
    strict = decode(pa.array(rows), MetadataResponse, versions, mode="PERMISSIVE", trailing_column="rest")
    assert strict.field("rest").null_count == 6
    assert strict.is_valid().to_pylist() == [False, True, False, False, False, False]


def test_invalid_utf8_raises_unless_validation_is_disabled() -> None:
    rows = pa.array([OffsetCommitValue(metadata="ok").write(3).replace(b"ok", b"\xff!")])

    with pytest.raises(RowError, match=r"^row 0: OffsetCommitValue v3: metadata: .*UTF-8"):
        decode(rows, OffsetCommitValue, 3)
    column = decode(rows, OffsetCommitValue, 3, validate_utf8=False).field("metadata")
    assert column.type == pa.string()
    assert column.cast(pa.binary()).to_pylist() == [b"\xff!"]


def test_slices_of_arrays_above_two_gibibytes_are_decoded(tmp_path: Path) -> None:
    place, row = (1 << 31) + 100, COMMITTED[3]
    with (tmp_path / "sparse").open("wb") as file:
        file.seek(place)
        file.write(row)
    data = pa.memory_map(str(tmp_path / "sparse")).read_buffer()
    offsets = pa.py_buffer(struct.pack("=4q", 0, 22, place, place + len(row)))
    array = pa.Array.from_buffers(pa.large_binary(), 3, [None, offsets, data])

    assert decode(array.slice(2), OffsetCommitValue, 3).field("metadata").to_pylist() == ["host-3"]
    bad = decode(array.slice(2), OffsetCommitValue, 4, mode="PERMISSIVE", corrupt_column="bad")
    assert bad.field("bad").to_pylist() == [row]
    reason = f"3 rows have {place + len(row)} bytes, the limit is 2147483647; decode the array in slices"
    with pytest.raises(ValueError, match=f"^{reason}$"):
        decode(array, OffsetCommitValue, 3, mode="PERMISSIVE")


def test_dictionary_and_null_arrays_are_decoded() -> None:
    assert decode(pa.array(COMMITTED).dictionary_encode(), OffsetCommitValue, 3).field("offset").to_pylist() == [
        *range(4)
    ]
    assert decode(pa.nulls(2), OffsetCommitValue, 3).to_pylist() == [None, None]


@pytest.mark.parametrize(
    ("version", "error", "reason"),
    [
        (True, TypeError, "version must be an integer, an array of integers or None, not True"),
        ("3", TypeError, "version must be an integer, an array of integers or None, not '3'"),
        (10**30, ValueError, f"version {10**30} is out of range for INT64"),
        ([3.5] * 4, TypeError, "versions must be integers, not double"),
        (pa.array(["3"] * 4), TypeError, "versions must be integers, not string"),
        ([3], ValueError, "got 1 versions for 4 rows"),
    ],
)
def test_invalid_versions_raise(version: Any, error: type[Exception], reason: str) -> None:
    for mode in ("FAILFAST", "PERMISSIVE"):
        with pytest.raises(error) as caught:
            decode(pa.array(COMMITTED), OffsetCommitValue, version, mode=mode)
        assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"mode": "DROPMALFORMED"}, "mode must be one of FAILFAST, PERMISSIVE, not 'DROPMALFORMED'"),
        ({"trailing": "keep"}, "trailing must be one of error, ignore, not 'keep'"),
        (
            {"mode": "PERMISSIVE", "corrupt_column": "topics"},
            "corrupt_column is 'topics', which is already a field of the message; choose another name",
        ),
        (
            {"trailing_column": "topics"},
            "trailing_column is 'topics', which is already a field of the message; choose another name",
        ),
        (
            {"corrupt_column": "x", "trailing_column": "x"},
            "corrupt_column and trailing_column are both 'x'; choose different names",
        ),
        (
            {"mode": "PERMISSIVE", "corrupt_column": "a\0b"},
            "corrupt_column is 'a\\x00b': Arrow column names cannot contain NUL or lone surrogates",
        ),
        (
            {"trailing_column": "\ud800"},
            "trailing_column is '\\ud800': Arrow column names cannot contain NUL or lone surrogates",
        ),
    ],
)
def test_invalid_options_raise_value_error(arguments: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        decode(pa.array([MetadataResponse().write(12)]), MetadataResponse, 12, **arguments)  # type: ignore[arg-type]
    assert str(caught.value) == reason


def test_corrupt_column_of_wrong_type_raises() -> None:
    with pytest.raises(TypeError, match=r"^corrupt_column must be a name or None, not 5$"):
        decode(pa.array(COMMITTED), OffsetCommitValue, 3, corrupt_column=5)  # type: ignore[arg-type]  # refused


def test_huge_array_count_makes_the_row_null() -> None:
    rows = pa.array([b"\0\0\0\0\xff\xff\xff\xff\x07"] * 1000)

    assert decode(rows, MetadataResponse, 12, mode="PERMISSIVE").null_count == 1000


def test_forged_array_count_makes_the_row_null() -> None:
    rows = [b"\0\0\0\0\xff\xff\x03" + b"\xff" * 70_000] * 130

    with pure():
        columns = decode(pa.array(rows), MetadataResponse, 12, mode="PERMISSIVE")

    assert columns.null_count == len(rows)


def test_missing_native_core_warns_once() -> None:
    text = """
import warnings
import pyarrow as pa
from kafka_messages import OffsetCommitValue
from kafka_messages.arrow import decode, encode
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        assert encode(decode(pa.array([OffsetCommitValue().write(3)]), OffsetCommitValue, 3), OffsetCommitValue, 3)
for each in caught:
    print(each.category.__name__, each.filename, each.message)
"""
    assert script(text, KAFKA_MESSAGES_NATIVE="0") == (
        "RuntimeWarning <string> columns are built from message objects, which is slow; "
        "install kafka-messages-native\n"
    )


def test_number_of_rows_decoded_together_is_limited_by_their_size() -> None:
    rows = [OffsetCommitValue(metadata="m" * 3000).write(3)] * 3000
    data = pa.array(rows)
    tracemalloc.start()  # of Python's objects; not of Arrow's buffers
    try:
        with pure():
            columns = decode(data, OffsetCommitValue, 3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(columns) == 3000
    assert peak < 5 << 20  # all messages have 9 MB


def test_slices_and_chunked_arrays_are_decoded() -> None:
    rows = [OffsetCommitValue(offset=each).write(3) for each in range(10)]
    array = pa.array(rows).slice(4, 3)

    assert decode(array, OffsetCommitValue, 3).field("offset").to_pylist() == [4, 5, 6]
    chunked = pa.chunked_array([rows[:2], rows[8:]])
    assert decode(chunked, OffsetCommitValue, 3).field("offset").to_pylist() == [0, 1, 8, 9]
