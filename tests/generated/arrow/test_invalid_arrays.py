"""Arrow arrays with invalid offsets, views or indices: a TypeError that names the column."""

from __future__ import annotations

from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

from kafka_messages import MetadataRequest, OffsetCommitValue
from kafka_messages.arrow import EncodeRowError, decode, encode

from tests.support.implementations import pure, script

ROWS = [OffsetCommitValue(offset=number, metadata=f"host-{number}").write(3) for number in range(3)]
OFFSETS = [[0, 9, 2, 6], [0, 2_000_000_000, 2, 6], [0, -4, 2, 6], [0, 6, 6, 3]]
REASONS = [
    "Offset invariant failure: offset for slot 1 out of bounds: 9 > 6",
    "Offset invariant failure: offset for slot 1 out of bounds: 2000000000 > 6",
    "Offset invariant failure: non-monotonic offset at slot 1: -4 < 0",
    "Offset invariant failure: non-monotonic offset at slot 3: 3 < 6",
]


def buffer(numbers: list[int], kind: Any = None) -> Any:
    return pa.array(numbers, kind or pa.int32()).buffers()[1]


def commit_columns_with(metadata: Any) -> Any:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    children = [metadata if field.name == "metadata" else found.field(field.name) for field in found.type]
    return pa.StructArray.from_arrays(children, names=[field.name for field in found.type])


def type_error_text(array: Any, message: Any, version: int) -> str:
    """Return the text of the TypeError, equal with and without the native core."""
    with pytest.raises(TypeError) as caught:
        encode(array, message, version)
    with pure(), pytest.raises(TypeError) as again:
        encode(array, message, version)
    assert str(caught.value) == str(again.value)
    return str(caught.value)


@pytest.mark.parametrize(("offsets", "reason"), list(zip(OFFSETS, REASONS, strict=True)))
def test_texts_with_invalid_offsets_raise(offsets: list[int], reason: str) -> None:
    for kind in (pa.string(), pa.binary()):
        texts = pa.Array.from_buffers(kind, 3, [None, buffer(offsets), pa.py_buffer(b"sixsix")])
        assert type_error_text(commit_columns_with(texts), OffsetCommitValue, 3) == (
            f"OffsetCommitValue.metadata: invalid Arrow array: {reason}"
        )


def test_invalid_texts_of_other_types_raise() -> None:
    large = pa.Array.from_buffers(
        pa.large_string(), 3, [None, buffer([0, 9, 2, 6], pa.int64()), pa.py_buffer(b"sixsix")]
    )
    index = pa.DictionaryArray.from_arrays(pa.array([0, 7, 0]), pa.array(["a", "b"]), safe=False)
    below = pa.DictionaryArray.from_arrays(pa.array([0, -1, 0]), pa.array(["a", "b"]), safe=False)
    inner = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0]), pa.Array.from_buffers(pa.string(), 2, [None, buffer([0, 9, 2]), pa.py_buffer(b"ab")])
    )
    for texts, reason in (
        (large, "Offset invariant failure: offset for slot 1 out of bounds: 9 > 6"),
        (index, "index 7 is out of range for a dictionary of 2 values"),
        (below, "index -1 is out of range for a dictionary of 2 values"),
        (inner, "Offset invariant failure: offset for slot 1 out of bounds: 9 > 2"),
    ):
        assert type_error_text(commit_columns_with(texts), OffsetCommitValue, 3) == (
            f"OffsetCommitValue.metadata: invalid Arrow array: {reason}"
        )
    views = pa.array(["a" * 20, "b", "c"], pa.string_view())
    places = bytearray(views.buffers()[1].to_pybytes())
    places[12:16] = (10**6).to_bytes(4, "little")  # start of the first text
    lying = pa.Array.from_buffers(pa.string_view(), 3, [None, pa.py_buffer(bytes(places)), views.buffers()[2]])
    assert type_error_text(commit_columns_with(lying), OffsetCommitValue, 3).startswith(
        "OffsetCommitValue.metadata: invalid Arrow array: "
    )


@pytest.mark.parametrize("offsets", OFFSETS)
def test_lists_with_invalid_offsets_raise(offsets: list[int]) -> None:
    structs = pa.StructArray.from_arrays([pa.array(["a"] * 6)], names=["name"])
    lists = pa.Array.from_buffers(pa.list_(structs.type), 3, [None, buffer(offsets)], children=[structs])
    array = pa.StructArray.from_arrays([lists, pa.array([True] * 3)], names=["topics", "allow_auto_topic_creation"])
    assert type_error_text(array, MetadataRequest, 4).startswith(
        "MetadataRequest.topics: invalid Arrow array: Offset invariant"
    )
    texts = pa.Array.from_buffers(pa.string(), 3, [None, buffer(offsets), pa.py_buffer(b"sixsix")])
    structs = pa.StructArray.from_arrays([texts], names=["name"])
    sizes = buffer([1, 1, 1])
    for kind, buffers in (
        (pa.list_, [None, buffer([0, 1, 2, 3])]),
        (pa.list_view, [None, buffer([0, 1, 2]), sizes]),
    ):
        lists = pa.Array.from_buffers(kind(structs.type), 3, buffers, children=[structs])
        array = pa.StructArray.from_arrays([lists, pa.array([True] * 3)], names=["topics", "allow_auto_topic_creation"])
        reason = REASONS[OFFSETS.index(offsets)]
        assert (
            type_error_text(array, MetadataRequest, 4)
            == f"MetadataRequest.topics[].name: invalid Arrow array: {reason}"
        )


def test_invalid_list_views_and_fixed_size_lists_raise() -> None:
    structs = pa.StructArray.from_arrays([pa.array(["a"] * 6)], names=["name"])
    auto = pa.array([True] * 3)
    lists = pa.Array.from_buffers(
        pa.list_view(structs.type), 3, [None, buffer([0, 9, 0]), buffer([1, 1, 1])], children=[structs]
    )
    array = pa.StructArray.from_arrays([lists, auto], names=["topics", "allow_auto_topic_creation"])
    assert type_error_text(array, MetadataRequest, 4) == (
        "MetadataRequest.topics: invalid Arrow array: Offset invariant failure: offset for slot 1 out of bounds. "
        "Expected 9 to be at least 0 and less than 6"
    )
    texts = pa.Array.from_buffers(pa.string(), 6, [None, buffer([0, 9, 0, 1, 2, 3, 4]), pa.py_buffer(b"sixsix")])
    structs = pa.StructArray.from_arrays([texts], names=["name"])
    lists = pa.FixedSizeListArray.from_arrays(structs, 2)
    array = pa.StructArray.from_arrays([lists, auto], names=["topics", "allow_auto_topic_creation"])
    assert type_error_text(array, MetadataRequest, 4).startswith("MetadataRequest.topics[].name: invalid Arrow array: ")
    assert len(encode(array[1:], MetadataRequest, 4)) == 2


def test_invalid_message_arrays_raise_on_decode() -> None:
    rows = pa.Array.from_buffers(pa.binary(), 3, [None, buffer([0, 30, 10, 40]), pa.py_buffer(bytes(40))])
    index = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(ROWS), safe=False)
    for array, reason in (
        (rows, "Offset invariant failure: non-monotonic offset at slot 2: 10 < 30"),
        (pa.chunked_array([rows, pa.array(ROWS)]), "Offset invariant failure: non-monotonic offset at slot 2: 10 < 30"),
        (index, "index 7 is out of range for a dictionary of 3 values"),
    ):
        for mode in ("FAILFAST", "PERMISSIVE"):
            with pytest.raises(TypeError) as caught:
                decode(array, OffsetCommitValue, 3, mode=mode)
            with pure(), pytest.raises(TypeError) as again:
                decode(array, OffsetCommitValue, 3, mode=mode)
            assert str(caught.value) == str(again.value) == f"invalid Arrow array: {reason}"


def test_invalid_utf8_texts_are_encoded_unchanged() -> None:
    row = ROWS[0].replace(b"host-0", b"host-\xff")
    found = decode(pa.array([row, ROWS[1]]), OffsetCommitValue, 3, validate_utf8=False)
    assert encode(found, OffsetCommitValue, 3).to_pylist() == [row, ROWS[1]]
    with pure():
        assert encode(found, OffsetCommitValue, 3).to_pylist() == [row, ROWS[1]]
    none = [None if field.name == "offset" else found.field(field.name) for field in found.type]
    children = [pa.nulls(2, pa.int64()) if child is None else child for child in none]
    array = pa.StructArray.from_arrays(children, fields=list(found.type))
    with pytest.raises(EncodeRowError) as caught:
        encode(array, OffsetCommitValue, 3)
    assert str(caught.value) == "row 0: OffsetCommitValue v3: offset: expected int for INT64, got None"


def test_chunks_without_offsets_are_decoded() -> None:
    text = """
import pyarrow as pa
from kafka_messages import OffsetCommitValue
from kafka_messages.arrow import decode
rows = pa.array([OffsetCommitValue(offset=7).write(3)])
for kind in (pa.binary(), pa.large_binary()):
    bare = pa.Array.from_buffers(kind, 0, [None, None, pa.py_buffer(b"12345678")])
    bare.validate(full=True)
    for chunks in ([bare], [bare, bare], [bare, rows.cast(kind)], [rows.cast(kind), bare, rows.cast(kind)]):
        found = decode(pa.chunked_array(chunks), OffsetCommitValue, 3)
        print(found.field("offset").to_pylist())
print(len(decode(pa.chunked_array([], pa.binary()), OffsetCommitValue, 3)))
"""
    assert script(text) == "[]\n[]\n[7]\n[7, 7]\n" * 2 + "0\n"


def test_chunks_with_children_without_offsets_are_encoded() -> None:
    text = """
import pyarrow as pa
from kafka_messages import RegisterBrokerRecord
from kafka_messages.arrow import decode, encode
expected = RegisterBrokerRecord().write(0)
columns = decode(pa.array([expected] * 2), RegisterBrokerRecord, 0)
zeros, ones = pa.py_buffer(bytes(24)), pa.py_buffer(bytes([1, 1]))

def bare(kind):
    return pa.Array.from_buffers(kind, 0, [None, None, pa.py_buffer(b"12345678")])

def of_lists(kind, count, elements, buffers=2):
    return pa.Array.from_buffers(kind, count, [None, *[zeros] * (buffers - 1)], children=[elements])

strings = bare(pa.string())
no_lists = pa.Array.from_buffers(pa.list_(pa.string()), 0, [None, None], children=[strings])
structs = pa.StructArray.from_arrays([of_lists(pa.list_(pa.string()), 2, strings)], names=["inner"])
entry = [pa.field("key", pa.string(), False), pa.field("value", pa.string())]
entries = pa.StructArray.from_arrays([strings, strings], fields=entry)
union = pa.dense_union([pa.field("a", pa.string()), pa.field("b", pa.bool_())], [0, 1])
others = {
    "struct": structs,
    "list_of_lists": of_lists(pa.list_(no_lists.type), 2, no_lists),
    "list_of_structs": of_lists(pa.list_(structs.type), 2, structs[:0]),
    "list_view": of_lists(pa.list_view(pa.string()), 2, strings, 3),
    "fixed": of_lists(pa.list_(pa.string(), 0), 2, strings, 1),
    "map": of_lists(pa.map_(pa.string(), pa.string()), 2, entries),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), strings),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), structs[:1]),
    "dense": pa.Array.from_buffers(union, 2, [None, ones, zeros], children=[strings, pa.array([True])]),
    "sparse": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [structs]),
}
names = [field.name for field in columns.type] + list(others)
lists = of_lists(pa.list_(pa.field("element", pa.string())), 2, strings)
children = [lists if name == "log_dirs" else columns.field(name) for name in names[: -len(others)]]
array = pa.StructArray.from_arrays([*children, *others.values()], names=names)
array.validate(full=True)
for chunks in ([array], [array, array], [array[1:], array[:1], array[:0]]):
    found = encode(pa.chunked_array(chunks), RegisterBrokerRecord, 0)
    assert found.to_pylist() == [expected] * sum(map(len, chunks))
table = pa.Table.from_struct_array(pa.chunked_array([array, array]))
print(encode(table, RegisterBrokerRecord, 0).to_pylist() == [expected] * 4)
"""
    assert script(text) == "True\n"


def test_unsupported_extension_type_raises_type_error() -> None:
    class Wrapped(pa.ExtensionType):  # type: ignore[misc, name-defined]  # pyarrow has no type information
        def __init__(self, storage: Any) -> None:
            super().__init__(storage, "tests.wrapped")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Any:
            return cls(storage)

    values = pa.StructArray.from_arrays([pa.array(["a"], pa.string_view())], names=["text"])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([3], pa.int32()), values)
    array = commit_columns_with(pa.ExtensionArray.from_storage(Wrapped(runs.type), runs))
    assert type_error_text(array, OffsetCommitValue, 3) == (
        "OffsetCommitValue: pyarrow cannot read these columns: Function 'array_take' has no kernel matching input types "
        "(string_view, int64)"
    )
