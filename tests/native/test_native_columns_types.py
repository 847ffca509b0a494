"""Native columns equal columns made from message objects, for array types and row sizes."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from kafka_messages import MetadataResponse, OffsetCommitValue, UpdateRaftVoterResponse
from kafka_messages.arrow import EncodeRowError, decode

from tests.support.both_columns import OFFSETS, ROWS, assert_same, binary, exact, messages

extension: Any = pytest.importorskip("kafka_messages_native._columns")


@pytest.mark.parametrize("order", ["small first", "large first", "mixed"])
def test_rows_of_very_different_sizes_round_trip(order: str) -> None:
    small, large = MetadataResponse().write(12), max(
        (data for v, data in messages()["MetadataResponse"].rows if v == 12), key=len
    )
    rows = [small] * 4000 + [large] * 300
    if order == "large first":
        rows.reverse()
    elif order == "mixed":
        random.Random(1).shuffle(rows)
    found = assert_same("decode", binary(rows), MetadataResponse, 12)
    assert assert_same("encode", exact(found), MetadataResponse, 12).to_pylist() == rows


def test_row_versions_with_nulls_match_objects() -> None:
    rows = binary([ROWS[0], ROWS[1], None, ROWS[2]])
    for versions in (pa.array([3, None, 3, 3]), pa.array([3, 99, None, -5]), pa.array([None] * 4), [3, 3, 3, 3]):
        assert_same("decode", rows, OffsetCommitValue, versions)
        assert_same("decode", rows, OffsetCommitValue, versions, mode="PERMISSIVE", corrupt_column="bad")
    assert_same("decode", rows, OffsetCommitValue, 99, mode="PERMISSIVE")
    assert_same("decode", rows, OffsetCommitValue, 99)
    assert_same("decode", binary([]), OffsetCommitValue, 3)
    assert_same("decode", binary([b"", b"\0", b"\0\3"]), OffsetCommitValue, None, mode="PERMISSIVE")
    assert_same("decode", binary([b"\0"]), OffsetCommitValue, None)


@pytest.mark.parametrize("kind", [pa.binary_view(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())], ids=str)
def test_other_binary_array_types_are_decoded(kind: Any) -> None:
    rows = pa.array(ROWS)
    rows = rows.dictionary_encode() if pa.types.is_dictionary(kind) else rows.cast(kind)
    assert assert_same("decode", rows, OffsetCommitValue, 3).field("offset").to_pylist() == OFFSETS
    chunked = pa.chunked_array([rows[:40], rows[40:]])
    assert assert_same("decode", chunked, OffsetCommitValue, 3).field("offset").to_pylist() == OFFSETS


@pytest.mark.parametrize(
    "change",
    [
        lambda child: child.cast(pa.large_string()) if pa.types.is_string(child.type) else child,
        lambda child: child.cast(pa.int64()) if pa.types.is_integer(child.type) else child,
        lambda child: child.cast(pa.float64()) if child.type == pa.int32() else child,
        lambda child: child.dictionary_encode() if pa.types.is_string(child.type) else child,
        lambda child: pa.nulls(len(child)) if child.null_count == len(child) else child,
    ],
    ids=["large", "wide", "float", "dictionary", "null"],
)
def test_columns_of_other_arrow_types_are_encoded(change: Any) -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    children = [change(found.field(place)) for place in range(found.type.num_fields)]
    other = pa.StructArray.from_arrays(children, names=[field.name for field in found.type])
    assert assert_same("encode", other, OffsetCommitValue, 3).to_pylist() == ROWS
    shuffled = pa.StructArray.from_arrays(children[::-1], names=[field.name for field in found.type][::-1])
    assert assert_same("encode", shuffled, OffsetCommitValue, 3).to_pylist() == ROWS


def test_null_columns_are_encoded_natively() -> None:
    found = decode(pa.array([MetadataResponse().write(8)] * 3), MetadataResponse, 8)
    names = [field.name for field in found.type]
    children = [pa.nulls(3) if name == "cluster_id" else found.field(name) for name in names]
    given = pa.StructArray.from_arrays(children, names=names)
    plan = extension.plan(MetadataResponse._plan, False)
    assert isinstance(extension.encode(plan, *given.__arrow_c_array__(), 8, False, given.buffers()), tuple)
    assert assert_same("encode", given, MetadataResponse, 8).to_pylist() == [MetadataResponse().write(8)] * 3


def test_texts_of_the_zero_uuid_are_its_default() -> None:
    found = decode(pa.array([OffsetCommitValue().write(4)]), OffsetCommitValue, 4)
    names = [field.name for field in found.type]
    children = [pa.array(["A" * 21 + "B"]) if name == "topic_id" else found.field(name) for name in names]
    given = pa.StructArray.from_arrays(children, names=names)
    assert assert_same("encode", given, OffsetCommitValue, 4).to_pylist() == [OffsetCommitValue().write(4)]


def test_null_in_a_struct_that_cannot_be_null_is_an_error() -> None:
    found = decode(pa.array([UpdateRaftVoterResponse().write(0)] * 2), UpdateRaftVoterResponse, 0)
    names = [field.name for field in found.type]
    leader = found.field("current_leader")
    children = [
        pa.array([leader[0].as_py(), None], leader.type) if name == "current_leader" else found.field(name)
        for name in names
    ]
    assert_same("encode", pa.StructArray.from_arrays(children, names=names), UpdateRaftVoterResponse, 0)


def test_missing_and_duplicate_columns_match_objects() -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    children = {field.name: found.field(field.name) for field in found.type}
    less = {name: child for name, child in children.items() if name not in ("expire_timestamp", "topic_id")}
    assert (
        assert_same(
            "encode", pa.StructArray.from_arrays(list(less.values()), names=list(less)), OffsetCommitValue, 3
        ).to_pylist()
        == ROWS
    )
    less.pop("metadata")
    missing = pa.StructArray.from_arrays(list(less.values()), names=list(less))
    assert assert_same("encode", missing, OffsetCommitValue, 3) == (KeyError, "'metadata'")
    twice = pa.StructArray.from_arrays([*children.values(), children["offset"]], names=[*children, "offset"])
    assert assert_same("encode", twice, OffsetCommitValue, 3)[0] is TypeError


def test_null_elements_raise_encode_row_error() -> None:
    rows = [data for version, data in messages()["MetadataResponse"].rows if version == 12]
    row = max(rows, key=len)
    found = decode(pa.array([row]), MetadataResponse, 12)
    brokers = found.field("brokers")
    structs = brokers.values
    assert len(structs)
    children = [structs.field(place) for place in range(structs.type.num_fields)]
    holes = pa.array([False] * len(structs)).buffers()[1]
    values = pa.Array.from_buffers(structs.type, len(structs), [holes], children=children)
    lists = pa.Array.from_buffers(brokers.type, 1, brokers.buffers()[:2], children=[values])
    fields = [lists if field.name == "brokers" else found.field(field.name) for field in found.type]
    spoiled = pa.StructArray.from_arrays(fields, fields=list(found.type))
    assert assert_same("encode", spoiled, MetadataResponse, 12)[0] is EncodeRowError
    untyped = pa.Array.from_buffers(pa.list_(pa.null()), 1, brokers.buffers()[:2], children=[pa.nulls(len(structs))])
    fields = [untyped if field.name == "brokers" else found.field(field.name) for field in found.type]
    nameless = pa.StructArray.from_arrays(fields, names=[field.name for field in found.type])
    assert assert_same("encode", nameless, MetadataResponse, 12)[0] is EncodeRowError
