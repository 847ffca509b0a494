"""Fallback to row-by-row encoding: equal bytes with and without the native core."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from decimal import Decimal
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
np = pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

import pyarrow.compute as pc
from kafka_messages import (
    ApiVersionsRequest,
    FindCoordinatorRequest,
    ListGroupsRequest,
    MetadataRequest,
    OffsetCommitValue,
)
from kafka_messages.arrow import EncodeRowError, decode, encode

from tests.support.implementations import pure

TEXTS = ["", "host", "a text that a view does not hold itself", "host"]
ROWS = [OffsetCommitValue(offset=number, metadata=text).write(3) for number, text in enumerate(TEXTS)]
SPOILT = [*ROWS[:3], ROWS[3].replace(b"host", b"ho\xffs")]


def with_columns(array: Any, mask: Any = None, **columns: Any) -> Any:
    children = [columns.pop(field.name, array.field(field.name)) for field in array.type]
    names = [*(field.name for field in array.type), *columns]
    return pa.StructArray.from_arrays([*children, *columns.values()], names=names, mask=mask)


def encode_both_ways(array: Any, message: Any, version: int) -> list[bytes | None]:
    """Encode with and without the native core; return the equal results."""
    found = encode(array, message, version).to_pylist()
    with pure():
        assert encode(array, message, version).to_pylist() == found
    return list(found)


def encode_error_text(array: Any, message: Any, version: int) -> str:
    """Return the error text, equal with and without the native core."""
    with pytest.raises(EncodeRowError) as caught:
        encode(array, message, version)
    with pure(), pytest.raises(EncodeRowError) as again:
        encode(array, message, version)
    assert str(caught.value) == str(again.value)
    return str(caught.value)


def run_end_encoded(array: Any) -> Any:
    return pa.RunEndEncodedArray.from_arrays(pa.array(range(1, len(array) + 1), pa.int32()), array)


def as_string_views(array: Any) -> Any:
    return array.view(pa.binary()).cast(pa.binary_view()).view(pa.string_view())


def dictionary_encoded(array: Any) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(range(len(array))), array)


STORED: dict[str, Callable[[Any], Any]] = {
    "large": lambda array: array.view(pa.binary()).cast(pa.large_binary()).view(pa.large_string()),
    "views": as_string_views,
    "a dictionary": dictionary_encoded,
    "a dictionary of views": lambda array: dictionary_encoded(as_string_views(array)),
    "a dictionary of runs": lambda array: dictionary_encoded(run_end_encoded(array)),
    "runs of views": lambda array: run_end_encoded(as_string_views(array)),
    "runs of a dictionary of views": lambda array: run_end_encoded(dictionary_encoded(as_string_views(array))),
}
"""Alternative storage types of text; Polars' categories are dictionaries of views."""


@pytest.mark.parametrize("how", STORED)
def test_every_text_type_is_encoded(how: str) -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    other = with_columns(found, metadata=STORED[how](found.field("metadata")))
    assert encode_both_ways(other, OffsetCommitValue, 3) == ROWS
    assert encode_both_ways(other[1:3], OffsetCommitValue, 3) == ROWS[1:3]
    assert encode_both_ways(other[:0], OffsetCommitValue, 3) == []
    none = with_columns(other, mask=pa.array([False, True, False, True]))
    assert encode_both_ways(none, OffsetCommitValue, 3) == [ROWS[0], None, ROWS[2], None]


@pytest.mark.parametrize("how", [how for how in STORED if "runs" not in how])
def test_invalid_utf8_texts_are_encoded_unchanged(how: str) -> None:
    found = decode(pa.array(SPOILT), OffsetCommitValue, 3, validate_utf8=False)
    texts = STORED[how](found.field("metadata"))
    assert encode_both_ways(with_columns(found, metadata=texts), OffsetCommitValue, 3) == SPOILT
    bad = with_columns(found, metadata=texts, offset=pa.array([1.0, 2.5, 3.0, 4.0]))
    assert encode_error_text(bad, OffsetCommitValue, 3) == (
        "row 1: OffsetCommitValue v3: offset: expected int for INT64, got float (2.5)"
    )


def test_binary_column_with_invalid_utf8_raises() -> None:
    found = decode(pa.array(SPOILT), OffsetCommitValue, 3, validate_utf8=False)
    array = with_columns(found, metadata=found.field("metadata").view(pa.binary()))
    reason = "invalid UTF-8: 'utf-8' codec can't decode byte 0xff in position 2: invalid start byte"
    assert encode_error_text(array, OffsetCommitValue, 3) == f"row 3: OffsetCommitValue v3: metadata: {reason}"


def test_invalid_utf8_with_unknown_tagged_fields_round_trips() -> None:
    row = ApiVersionsRequest(client_software_name="abc", client_software_version="1").write(3)
    rows = [row.replace(b"abc", b"a\xffc"), row[:-1] + b"\x01\x63\x02zz"]
    found = decode(pa.array(rows), ApiVersionsRequest, 3, validate_utf8=False, unknown_tagged_fields=True)
    assert encode_both_ways(found, ApiVersionsRequest, 3) == rows


@pytest.mark.parametrize("store", [as_string_views, run_end_encoded, dictionary_encoded])
def test_lists_of_structs_are_encoded(store: Callable[[Any], Any]) -> None:
    topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in ("a", "host")]
    requests = [MetadataRequest(topics=None), MetadataRequest(topics=topics), MetadataRequest(topics=topics)]
    rows = [request.write(4) for request in requests]
    found = decode(pa.array(rows), MetadataRequest, 4)
    column = found.field("topics")
    values = with_columns(column.values, name=store(column.values.field("name")))
    lists = pa.ListArray.from_arrays(column.offsets, values, mask=column.is_null())
    assert encode_both_ways(with_columns(found, topics=lists), MetadataRequest, 4) == rows
    hidden = pa.ListArray.from_arrays(pa.array([0, 2, 4, 4], pa.int32()), values, mask=pa.array([True, False, False]))
    none = MetadataRequest(topics=[]).write(4)
    assert encode_both_ways(with_columns(found, topics=hidden), MetadataRequest, 4) == [rows[0], rows[2], none]


def test_invalid_values_in_null_rows_are_ignored() -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    array = with_columns(found, mask=pa.array([False, True, False, False]), offset=pa.array([0.0, 2.5, 2.0, 3.0]))
    assert encode_both_ways(array, OffsetCommitValue, 3) == [ROWS[0], None, *ROWS[2:]]


def test_unused_invalid_columns_are_ignored() -> None:
    offsets = pa.array([0, 9, 2, 6, 6], pa.int32()).buffers()[1]
    lying = pa.Array.from_buffers(pa.string(), 4, [None, offsets, pa.py_buffer(b"sixsix")])
    union = pa.UnionArray.from_dense(
        pa.array([0] * 4, pa.int8()), pa.array([0, 9**9, 0, 0], pa.int32()), [pa.array(["a"])]
    )
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    assert encode_both_ways(with_columns(found, other=lying, union=union), OffsetCommitValue, 3) == ROWS


def test_invalid_unions_in_chunks_raise_type_error() -> None:
    for kinds, places in (([0, 0], [0, 9**9]), ([0, 100], [0, 0])):
        union = pa.UnionArray.from_dense(pa.array(kinds, pa.int8()), pa.array(places, pa.int32()), [pa.array(["a"])])
        array = with_columns(decode(pa.array(ROWS[:2]), OffsetCommitValue, 3), union=union)
        with pytest.raises(TypeError, match=r"^OffsetCommitValue.union: invalid Arrow array: "):
            encode(pa.chunked_array([array, array]), OffsetCommitValue, 3)


@pytest.mark.parametrize("yes", ["yes", 4, np.True_, [1]])
@pytest.mark.parametrize("no", ["", 0, None, []])
def test_options_accept_truthy_and_falsy_values(yes: Any, no: Any) -> None:
    data = pa.array(ROWS)
    for name in ("emit_defaults", "validate_utf8", "unknown_tagged_fields"):
        for given, meant in ((yes, True), (no, False)):
            options: dict[str, Any] = {name: given}
            wanted: dict[str, Any] = {name: meant}
            found = decode(data, OffsetCommitValue, 3, **options)
            assert found.equals(decode(data, OffsetCommitValue, 3, **wanted))
    found = decode(data, OffsetCommitValue, 3)
    assert encode(found, OffsetCommitValue, 3, prefix=yes).equals(encode(found, OffsetCommitValue, 3, prefix=True))
    assert encode(found, OffsetCommitValue, 3, prefix=no).equals(encode(found, OffsetCommitValue, 3))


def test_version_arrays_of_wrong_type_raise() -> None:
    offsets = pa.array([0, 2_000_000_000, 2, 1, 1], pa.int32()).buffers()[1]
    texts = pa.Array.from_buffers(pa.string(), 4, [None, offsets, pa.py_buffer(b"sixsix")])
    lists = pa.Array.from_buffers(pa.list_(pa.int32()), 4, [None, offsets], children=[pa.array([1], pa.int32())])
    index = pa.DictionaryArray.from_arrays(pa.array([0, 700_000_000, 0, 0]), pa.array([3]), safe=False)
    for versions in (texts, lists, index, pa.chunked_array([texts])):
        with pytest.raises(TypeError) as caught:
            decode(pa.array(ROWS), OffsetCommitValue, versions)
        assert str(caught.value) == f"versions must be integers, not {versions.type}"


def test_type_errors_are_raised_before_value_errors() -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    bad = {"offset": pa.array([0.0, 2.5, 2.0, 3.0])}
    for wrong, reason in (
        ({"leader_epoch": pa.array([True] * 4)}, "OffsetCommitValue.leader_epoch: expected int32, got bool"),
        ({"metadata": pa.array([{"a": 1}] * 4)}, "OffsetCommitValue.metadata: expected string, got struct<a: int64>"),
    ):
        for native in (True, False):
            with nullcontext() if native else pure(), pytest.raises(TypeError) as caught:
                encode(with_columns(found, **bad, **wrong), OffsetCommitValue, 3)
            assert str(caught.value) == reason
    with pytest.raises(KeyError, match="leader_epoch"):
        encode(pa.table({**bad, "metadata": found.field("metadata")}), OffsetCommitValue, 3)


def test_unknown_tagged_fields_of_wrong_type_raise() -> None:
    found = decode(pa.array([ApiVersionsRequest().write(3)]), ApiVersionsRequest, 3)
    for value in ([(1, 2)], [("a", b"b")], [(1.5, b"b")]):
        kind = pa.map_(pa.infer_type([value[0][0]]), pa.infer_type([value[0][1]]))
        array = with_columns(found, _unknown_tagged_fields=pa.array([value], kind))
        with pytest.raises(TypeError) as caught:
            encode(array, ApiVersionsRequest, 3)
        assert str(caught.value) == (
            f"ApiVersionsRequest._unknown_tagged_fields: expected map<int64, binary>, got {kind}"
        )


def test_unknown_tagged_fields_in_some_rows_are_encoded() -> None:
    plain = ApiVersionsRequest(client_software_name="abc", client_software_version="1").write(3)
    tagged = plain[:-1] + b"\x01\x63\x02zz"
    found = decode(pa.array([plain, tagged, plain, tagged]), ApiVersionsRequest, 3, unknown_tagged_fields=True)
    assert encode_both_ways(found, ApiVersionsRequest, 3) == [plain, tagged, plain, tagged]
    assert encode_both_ways(found[1:3], ApiVersionsRequest, 3) == [tagged, plain]
    for names, row in ((["a", "a", None, None], 2), (["a", None, None, "a"], 1), (["a", "a", "a", None], 3)):
        array = with_columns(found, client_software_name=pa.array(names))
        reason = "client_software_name: must not be None in this version"
        assert encode_error_text(array, ApiVersionsRequest, 3) == f"row {row}: ApiVersionsRequest v3: {reason}"


def test_empty_lists_without_offsets_are_encoded() -> None:
    found = decode(pa.array([MetadataRequest(topics=[]).write(4)]), MetadataRequest, 4)
    lists = found.field("topics")
    none = pa.Array.from_buffers(lists.type, 0, [None, None], children=[lists.values[:0]])
    with pure():
        assert encode(with_columns(found[:0], topics=none), MetadataRequest, 4).to_pylist() == []


def test_messages_without_fields_are_encoded() -> None:
    offsets = pa.array([0, 9, 2, 6], pa.int32()).buffers()[1]
    lying = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"sixsix")])
    array = pa.StructArray.from_arrays([lying], names=["other"], mask=pa.array([False, True, False]))
    assert encode_both_ways(array, ListGroupsRequest, 0) == [b"", None, b""]


def test_lists_of_extension_types_are_encoded() -> None:
    """pyarrow's ``flatten`` returns views of an extension over the wrong buffers."""
    texts = as_string_views(
        pa.array(["a text that a view does not hold itself", "another, which is as long as that one"])
    )
    names = pa.ExtensionArray.from_storage(pa.opaque(pa.string_view(), "texts", "tests"), texts)
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=texts.to_pylist())
    found = decode(pa.array([request.write(4)] * 2), FindCoordinatorRequest, 4)
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 2], pa.int32()), names)
    array = with_columns(found, coordinator_keys=lists)
    assert encode_both_ways(array, FindCoordinatorRequest, 4)[0] == request.write(4)


@pytest.mark.parametrize(
    ("given", "error", "reason"),
    [
        ([3, "a", 3, 3], TypeError, "versions must be integers, one for each row, not [3, 'a', 3, 3]"),
        ([[3], [3, 3]], TypeError, "versions must be integers, not list<item: int64>"),
        ([1 << 70], TypeError, f"versions must be integers, one for each row, not {[1 << 70]}"),
        (
            pa.array([3, 3, 3, (1 << 64) - 1], pa.uint64()),
            ValueError,
            f"version {(1 << 64) - 1} is out of range for INT64",
        ),
    ],
)
def test_invalid_versions_raise(given: Any, error: type[Exception], reason: str) -> None:
    with pytest.raises(error) as caught:
        decode(pa.array(ROWS), OffsetCommitValue, given)
    assert str(caught.value) == reason


def test_big_endian_versions_are_accepted() -> None:
    wanted = decode(pa.array(ROWS), OffsetCommitValue, 3)
    assert decode(pa.array(ROWS), OffsetCommitValue, np.full(4, 3, ">i4")).equals(wanted)


def test_decimals_above_int64_raise() -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    array = with_columns(
        found, offset=pa.array([Decimal(0), Decimal(10) ** 30, Decimal(2), Decimal(3)], pa.decimal128(38))
    )
    assert encode_error_text(array, OffsetCommitValue, 3) == (
        f"row 1: OffsetCommitValue v3: offset: {10**30} is out of range for INT64, {-(1 << 63)} to {(1 << 63) - 1}"
    )


def test_slices_of_run_end_encoded_columns_are_encoded() -> None:
    found = decode(pa.array([ROWS[1]] * 3 + [ROWS[2]] * 3), OffsetCommitValue, 3)
    array = with_columns(found, metadata=pc.run_end_encode(found.field("metadata")))
    assert encode_both_ways(array[2:5], OffsetCommitValue, 3) == [ROWS[1], ROWS[2], ROWS[2]]
