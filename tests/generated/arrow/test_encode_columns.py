"""Encoding of columns: types, null values and errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pc = pytest.importorskip("pyarrow.compute", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

from kafka_messages import (
    ListTransactionsRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitValue,
    UnsupportedVersionError,
)
from kafka_messages.arrow import EncodeRowError, decode, encode, schema
from kafka_messages.messages.metadata_request import MetadataRequestTopic

from tests.support.columns import COMMITS, COMMITTED


def test_fields_missing_in_the_version_raise_on_encode() -> None:
    columns = decode(pa.array([MetadataResponse(cluster_authorized_operations=1).write(8)]), MetadataResponse, 8)

    with pytest.raises(EncodeRowError) as caught:
        encode(columns, MetadataResponse, 11)
    assert str(caught.value) == (
        "row 0: MetadataResponse v11: cluster_authorized_operations: is set, but is not supported by version 11"
    )
    with pytest.raises(UnsupportedVersionError):
        encode(columns, MetadataResponse, 99)


def test_null_typed_columns_are_encoded() -> None:
    request = {"topics": None, "allow_auto_topic_creation": True}
    request |= {f"include_{what}_authorized_operations": False for what in ("topic", "cluster")}
    rows = pa.array([request] * 2)
    assert rows.field("topics").type == pa.null()
    expected = MetadataRequest(topics=None).write(12)
    assert encode(rows, MetadataRequest, 12).to_pylist() == [expected] * 2

    topic = {"name": None, "topic_id": None}
    with pytest.raises(EncodeRowError) as caught:
        encode(pa.array([request | {"topics": [topic]}]), MetadataRequest, 9)
    assert str(caught.value) == "row 0: MetadataRequest v9: topics[0].name: must not be None in this version"

    with pytest.raises(EncodeRowError) as caught:
        encode(pa.array([request | {"topics": [None]}]), MetadataRequest, 9)
    assert str(caught.value) == "row 0: MetadataRequest v9: topics[0]: must not be None in this version"

    assert encode(pa.nulls(3), MetadataRequest, 12).to_pylist() == [None, None, None]
    assert encode(pa.nulls(3), MetadataRequest, 12).type == pa.binary()


def commit_columns(**columns: object) -> object:
    """Return commit values as a struct array, with some columns replaced."""
    made = {name: pa.array([row[name] for row in COMMITS]) for name in COMMITS[0]} | columns
    made |= {name: pa.nulls(4) for name in ("expire_timestamp", "topic_id")}
    return pa.StructArray.from_arrays(list(made.values()), names=list(made))


OFFSETS, TEXTS = pa.array(range(4)), pa.array([row["metadata"] for row in COMMITS])


@pytest.mark.parametrize(
    "columns",
    [
        *({"metadata": TEXTS.cast(kind)} for kind in (pa.large_string(), pa.string_view(), pa.binary_view())),
        {"metadata": TEXTS.dictionary_encode()},
        {"metadata": pc.run_end_encode(TEXTS)},
        *({"offset": OFFSETS.cast(kind)} for kind in (pa.int8(), pa.uint64(), pa.float64(), pa.decimal128(21, 2))),
        {"offset": OFFSETS.dictionary_encode()},
    ],
    ids=lambda columns: "-".join(f"{name} {array.type}" for name, array in columns.items()),
)
def test_columns_of_convertible_types_are_encoded(columns: dict[str, object]) -> None:
    assert encode(commit_columns(**columns), OffsetCommitValue, 3).to_pylist() == COMMITTED


def test_tables_and_record_batches_are_encoded() -> None:
    table = pa.Table.from_struct_array(commit_columns()).append_column("more", pa.array("abcd"))
    assert encode(pa.concat_tables([table, table]), OffsetCommitValue, 3).to_pylist() == COMMITTED * 2
    assert encode(table.to_batches()[0], OffsetCommitValue, 3).to_pylist() == COMMITTED


@pytest.mark.parametrize("kind", [pa.large_list, pa.list_view, pa.large_list_view, lambda kind: pa.list_(kind, 1)])
def test_every_list_type_is_encoded(kind: Callable[[object], object]) -> None:
    topic = {"name": "a", "topic_id": "A" * 22}
    rows = [{"topics": [topic | {"name": name}] if name else None} for name in ("x", None, "y", "z")]
    of_struct = schema(MetadataRequest).field("topics").type.value_type
    flags = [f"include_{what}_authorized_operations" for what in ("cluster", "topic")]
    columns = {name: pa.array([False] * 4) for name in ("allow_auto_topic_creation", *flags)}
    columns["topics"] = pa.array([row["topics"] for row in rows], kind(of_struct))
    array = pa.StructArray.from_arrays(list(columns.values()), names=list(columns)).slice(1, 3)

    topics = [None, *([MetadataRequestTopic(name=name)] for name in "yz")]
    expected = [MetadataRequest(topics=each, allow_auto_topic_creation=False).write(12) for each in topics]
    assert encode(array, MetadataRequest, 12).to_pylist() == expected


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"metadata": OFFSETS}, "OffsetCommitValue.metadata: expected string, got int64"),
        ({"offset": TEXTS}, "OffsetCommitValue.offset: expected int64, got string"),
        ({"offset": OFFSETS.cast(pa.timestamp("us"))}, "OffsetCommitValue.offset: expected int64, got timestamp[us]"),
        ({"offset": pa.array([True] * 4)}, "OffsetCommitValue.offset: expected int64, got bool"),
        ({"offset": pa.array([[1]] * 4)}, "OffsetCommitValue.offset: expected int64, got list<item: int64>"),
    ],
    ids=lambda columns: "" if isinstance(columns, str) else "-".join(str(array.type) for array in columns.values()),
)
def test_columns_of_incompatible_types_raise_type_error(columns: dict[str, object], reason: str) -> None:
    with pytest.raises(TypeError) as caught:
        encode(commit_columns(**columns), OffsetCommitValue, 3)
    assert str(caught.value) == reason


def test_arrays_of_wrong_type_raise_type_error() -> None:
    twice = pa.StructArray.from_arrays([OFFSETS, OFFSETS], names=["offset", "offset"])
    for array, reason in (
        (twice, "OffsetCommitValue has 2 columns named offset"),
        (OFFSETS, "OffsetCommitValue: expected a struct, got int64"),
        (COMMITS, "expected a struct array of messages, got list"),
    ):
        with pytest.raises(TypeError) as caught:
            encode(array, OffsetCommitValue, 3)
        assert str(caught.value) == reason
    for data in (COMMITTED, pa.array(["text"])):
        with pytest.raises(TypeError, match=r"^expected a binary array of encoded messages, got (list|string)$"):
            decode(data, OffsetCommitValue, 3)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"offset": pa.array([0, 1, 2.5, 3])}, "row 2: {}offset: expected int for INT64, got float (2.5)"),
        ({"offset": pa.array([0, 1, 2, math.nan])}, "row 3: {}offset: expected int for INT64, got float (nan)"),
        (
            {"offset": pa.array([0, 1, 2, 2**63], pa.uint64())},
            "row 3: {}offset: 9223372036854775808 is out of range for INT64, -9223372036854775808 to 9223372036854775807",
        ),
        (
            {"metadata": pa.array([b"a", b"\xff", b"c", b"d"])},
            "row 1: {}metadata: invalid UTF-8: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        ),
    ],
    ids=["fraction", "nan", "uint64", "invalid UTF-8"],
)
def test_inconvertible_values_raise_encode_row_error(columns: dict[str, object], reason: str) -> None:
    with pytest.raises(EncodeRowError) as caught:
        encode(commit_columns(**columns), OffsetCommitValue, 3)
    assert str(caught.value) == reason.format("OffsetCommitValue v3: ")


def test_row_numbers_in_errors_count_null_rows() -> None:
    kind = pa.struct(list(schema(ListTransactionsRequest, unknown_tagged_fields=True)))
    lists: dict[str, list[Any]] = {"state_filters": [], "producer_id_filters": []}
    array = pa.array([None, lists | {"_unknown_tagged_fields": [(7, b"a"), (7, b"b")]}], kind)
    with pytest.raises(EncodeRowError, match=r"^row 1: ListTransactionsRequest v0: "):
        encode(array, ListTransactionsRequest, 0)
