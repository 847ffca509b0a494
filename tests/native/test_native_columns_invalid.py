"""Invalid Arrow arrays and hand-made plans: no out-of-bounds reads."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from kafka_messages import ApiVersionsRequest, MetadataResponse, OffsetCommitValue
from kafka_messages.arrow import decode, encode

from tests.support.both_columns import assert_same, binary, messages, result

extension: Any = pytest.importorskip("kafka_messages_native._columns")
NAMES = sorted(messages())
ROWS = [OffsetCommitValue(offset=number, metadata=f"host-{number}").write(3) for number in range(100)]


def list_with_offsets(offsets: list[int], values: Any, kind: Any = None) -> Any:
    """Return a list array with unchecked offsets."""
    kind = pa.list_(pa.field("element", values.type))
    return pa.Array.from_buffers(
        kind, len(offsets) - 1, [None, pa.py_buffer(pa.array(offsets, pa.int32()).buffers()[1])], children=[values]
    )


@pytest.mark.parametrize(
    "offsets",
    [[0, 5, 2, 6], [0, 2_000_000_000, 2, 6], [0, -4, 2, 6], [0, 6, 6, 3], [3, 0, 0, 3]],
    ids=["decreasing", "beyond the data", "negative", "decreasing at the end", "decreasing at the start"],
)
def test_lists_with_invalid_offsets_are_declined(offsets: list[int]) -> None:
    found = decode(pa.array([MetadataResponse().write(12)] * 3), MetadataResponse, 12)
    brokers = pa.nulls(6, found.type.field("brokers").type.value_type)
    children = [
        list_with_offsets(offsets, brokers) if field.name == "brokers" else found.field(field.name)
        for field in found.type
    ]
    array = pa.StructArray.from_arrays(children, fields=list(found.type))
    assert is_declined(array, MetadataResponse, 12)


@pytest.mark.parametrize("offsets", [[0, 9, 2, 6], [0, 2_000_000_000, 2, 6], [0, -4, 2, 6]])
def test_texts_with_invalid_offsets_are_declined(offsets: list[int]) -> None:
    found = decode(pa.array(ROWS[:3]), OffsetCommitValue, 3)
    bounds = pa.array(offsets, pa.int32()).buffers()[1]
    text = pa.Array.from_buffers(pa.string(), 3, [None, bounds, pa.py_buffer(b"sixsix")])
    children = [text if field.name == "metadata" else found.field(field.name) for field in found.type]
    assert is_declined(pa.StructArray.from_arrays(children, fields=list(found.type)), OffsetCommitValue, 3)


@pytest.mark.parametrize("length", [2**62 - 1, 2**62, 2**63 - 1])
def test_lengths_beyond_memory_are_refused(length: int) -> None:
    array = pa.Array.from_buffers(pa.struct([]), length, [None])
    with pytest.raises(MemoryError):
        encode(array, ApiVersionsRequest, 0)


def test_headers_without_keys_are_refused() -> None:
    data, numbers = bytes(100), pa.array([0] * 8, pa.int64()).buffers()[1]
    with pytest.raises(TypeError, match="tuple"):
        extension.read_record_columns(data, bytes(56), 1, None, None, None, None, (8, numbers, numbers, None, None))


@pytest.mark.parametrize("lie", [3000, 30_000, 1_000_000])
def test_texts_with_invalid_offsets_in_a_slice_are_declined(lie: int) -> None:
    found = decode(pa.array(ROWS[:1] * 6), OffsetCommitValue, 3)
    bounds = pa.array([0, 1, lie, 3, 4, 5, 6], pa.int32()).buffers()[1]
    text = pa.Array.from_buffers(pa.string(), 6, [None, bounds, pa.py_buffer(b"sixsix")])
    children = [text if field.name == "metadata" else found.field(field.name) for field in found.type]
    array = pa.StructArray.from_arrays(children, fields=list(found.type))
    assert is_declined(array[:2], OffsetCommitValue, 3)
    assert is_declined(array[1:3], OffsetCommitValue, 3)


def test_duplicate_column_is_declined() -> None:
    found = decode(pa.array(ROWS[:1]), OffsetCommitValue, 3)
    names = ["leader_epoch", *(field.name for field in found.type if field.name != "offset"), "offset"]
    array = pa.StructArray.from_arrays([found.field(name) for name in names], names=names)
    assert array.type.get_all_field_indices("leader_epoch") == [0, 1]
    assert is_declined(array, OffsetCommitValue, 3)


def is_declined(array: Any, message: Any, version: int) -> bool:
    plan = extension.plan(message._plan, False)
    return not isinstance(extension.encode(plan, *array.__arrow_c_array__(), version, False), tuple)


class ArrowArray(ctypes.Structure):
    """``struct ArrowArray`` of the Arrow C data interface."""


ArrowArray._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    *((name, ctypes.c_void_p) for name in ("dictionary", "release", "private_data")),
]


def with_changed_export(array: Any, change: Callable[[ArrowArray], object]) -> Any:
    """Return the array, imported from an export with a changed ArrowArray."""
    exported, schema = ArrowArray(), (ctypes.c_byte * 72)()
    array._export_to_c(ctypes.addressof(exported), ctypes.addressof(schema))
    change(exported)
    return pa.Array._import_from_c(ctypes.addressof(exported), ctypes.addressof(schema))


def test_children_shorter_than_their_parent_are_rejected() -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    array = with_changed_export(found, lambda exported: setattr(exported.children[0].contents, "length", 3))
    got = assert_same("encode", array, OffsetCommitValue, 3)
    text = "invalid Arrow array: Struct child array #0 has length smaller than expected for struct array (3 < 100)"
    assert got == (TypeError, text)
    assert is_declined(array, OffsetCommitValue, 3)


def capsule(struct: Any, name: bytes) -> Any:
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(ctypes.addressof(struct), name, None)


@pytest.mark.parametrize("place", [1, 2], ids=["offsets", "bytes"])
def test_missing_buffers_are_declined(place: int) -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    plan = extension.plan(OffsetCommitValue._plan, False)
    for array, path in ((pa.array(ROWS), ()), (found, (2,))):
        exported, schema = ArrowArray(), (ctypes.c_byte * 72)()
        array._export_to_c(ctypes.addressof(exported), ctypes.addressof(schema))
        column = exported.children[path[0]].contents if path else exported
        kept, column.buffers[place] = column.buffers[place], None
        capsules = capsule(schema, b"arrow_schema"), capsule(exported, b"arrow_array")
        if path:
            assert extension.encode(plan, *capsules, 3, False) is None
        else:
            assert extension.decode(plan, *capsules, 3, 2, None, None) is None
        column.buffers[place] = kept
        pa.Array._import_from_c(ctypes.addressof(exported), ctypes.addressof(schema))  # releases it


def test_decreasing_message_offsets_are_declined() -> None:
    bounds = pa.array([0, 30, 10, 40], pa.int32()).buffers()[1]
    rows = pa.Array.from_buffers(pa.binary(), 3, [None, bounds, pa.py_buffer(bytes(40))])
    plan = extension.plan(OffsetCommitValue._plan, False)
    assert extension.decode(plan, *rows.__arrow_c_array__(), 3, 2, None, None) is None


def test_wrong_arguments_of_the_extension_are_rejected() -> None:
    plan = extension.plan(OffsetCommitValue._plan, False)
    capsules = pa.array(ROWS).__arrow_c_array__()
    numbers = pa.array([1, 2]).__arrow_c_array__()
    assert result(extension.decode, None, *capsules, 3, 0, None, None)[0] in (ValueError, TypeError)
    assert result(extension.decode, plan, *numbers, 3, 0, None, None) == (
        TypeError,
        "expected encoded messages as a binary or large_binary array",
    )
    assert result(extension.decode, plan, *capsules, numbers, 0, None, None) == (
        TypeError,
        "expected versions as an int64 array with one element per row",
    )
    assert result(extension.decode, capsules[0], *capsules, 3, 0, None, None)[0] is ValueError
    assert result(extension.encode, plan, *capsules, 3, False) is None


def wide_plan(more: int) -> str:
    """Return a plan of 255 structs with 255 fields each, and some fields more."""
    inner = " ".join(f"f{n}/i" for n in range(255)), " ".join(map(str, range(255)))
    outer = " ".join([f"s{n}/@S" for n in range(255)] + [f"x{n}/i" for n in range(more)])
    places = " ".join([f"{n}@0" for n in range(255)] + [f"{n}" for n in range(255, 255 + more)])
    return f"1\n:S {inner[0]}\n0 {inner[1]}\n:T {outer}\n0 {places}\n"


def test_invalid_plans_are_rejected_or_harmless() -> None:
    assert result(extension.plan, "7\n", False) == (ValueError, "line 1 of the plan: unsupported plan format")
    assert result(extension.plan, "1\n:A a/i\n0 0 0\n", False) == (
        ValueError,
        "line 3 of the plan: a layout has a field twice",
    )
    deep = "1\n:S0 a/i\n0 0\n" + "".join(
        f":S{n} a/@S{n - 1} b/@S{n - 1}\n0 0@{n - 1} 1@{n - 1}\n" for n in range(1, 20)
    )
    assert result(extension.plan, deep, False) == (ValueError, "the plan has too many columns")
    assert not isinstance(result(extension.plan, wide_plan(253), False), tuple)  # 65,536 columns with those of the plan
    assert result(extension.plan, wide_plan(254), False) == (ValueError, "the plan has too many columns")
    for digits in ("0" * 31, "g" * 32):
        expected = "line 2 of the plan: a default does not have the type of its field"
        assert result(extension.plan, f"1\n:A a/u={digits}\n0 0\n", False) == (ValueError, expected)
    rnd = random.Random(5)
    taken = 0
    for name in NAMES[::3]:
        text, rows = messages()[name].cls._plan, binary([data for _, data in messages()[name].rows])
        for _ in range(20):
            at = rnd.randrange(len(text))
            other = (
                text[:at]
                + rnd.choice(("", "0", "9", "n", "c", "[", "\n", " ", "-", ";", "?"))
                + text[at + rnd.choice((0, 1)) :]
            )
            try:
                plan, writer = extension.plan(other, True), extension.plan(other, False)
            except ValueError:
                continue
            taken += 1
            for version in messages()[name].versions[-2:]:
                found = extension.decode(plan, *rows.__arrow_c_array__(), version, 8, "rest", "bad")
                if found is not None:
                    array = pa.Array._import_from_c_capsule(*found)
                    array.validate(full=False)
                    assert extension.encode(plan, *array.__arrow_c_array__(), version, False) is None
                    extension.encode(writer, *array.__arrow_c_array__(), version, False)
    assert taken > 50
