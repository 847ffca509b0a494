"""Arrow inputs of native columns: slices, unaligned buffers, and concurrent changes."""

from __future__ import annotations

import ctypes
import gc
import random
import threading
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from kafka_messages import MetadataRequest, MetadataResponse, OffsetCommitValue
from kafka_messages.arrow import EncodeRowError, RowError, decode, encode
from kafka_messages.messages.metadata_request import MetadataRequestTopic

from tests.support.both_columns import are_same, both, messages

extension: Any = pytest.importorskip("kafka_messages_native._columns")
ROWS = [OffsetCommitValue(offset=number, metadata=f"host-{number}").write(3) for number in range(100)]


def address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * 4096


def test_encoding_one_row_of_a_large_array_allocates_little() -> None:
    topics = [MetadataRequestTopic(name="x" * 30_000)] * 10
    large = decode(pa.array([MetadataRequest(topics=topics).write(4)] * 200), MetadataRequest, 4)
    size = large.nbytes
    assert size > 50 << 20
    encode(large[:1], MetadataRequest, 4)
    gc.collect()
    before = address_space()
    kept = [encode(large[number : number + 1], MetadataRequest, 4) for number in range(20)]
    assert address_space() - before < size
    assert {each[0].as_py() for each in kept} == {MetadataRequest(topics=topics).write(4)}


def test_encode_recovers_if_the_estimated_size_cannot_be_allocated() -> None:
    found = decode(pa.array(ROWS), OffsetCommitValue, 3)
    plan = extension.plan(OffsetCommitValue._plan, False)
    extension.encode(plan, *found.__arrow_c_array__(), 3, False)  # creates the programs
    results: set[int | bool] = set()
    for number in range(8):
        extension.fail_allocation(number)
        try:
            taken = extension.encode(plan, *found.__arrow_c_array__(), 3, False)
        except MemoryError:
            results.add(False)
        else:
            array = pa.Array._import_from_c_capsule(*taken)
            assert array.to_pylist() == ROWS
            results.add(number)
        finally:
            extension.fail_allocation(-1)
    assert False in results
    assert {4, 5} <= results  # after the allocations for capsules, inputs and offsets: the block and its memory


def with_unaligned_buffers(array: Any, by: int) -> Any:
    """Return the array with each buffer moved ``by`` bytes from an aligned address."""

    def buffer(old: Any) -> Any:
        if old is None:
            return None
        padded = np.zeros(len(old) + 64, np.uint8)
        start = -padded.ctypes.data % 64 + by
        padded[start : start + len(old)] = np.frombuffer(old, np.uint8)
        return pa.py_buffer(padded)[start : start + len(old)]

    kind = array.type
    if pa.types.is_struct(kind):
        children = [with_unaligned_buffers(array.field(place), by) for place in range(kind.num_fields)]
        return pa.Array.from_buffers(kind, len(array), [buffer(array.buffers()[0])], children=children)
    if pa.types.is_list(kind):
        buffers = [buffer(each) for each in array.buffers()[:2]]
        return pa.Array.from_buffers(kind, len(array), buffers, children=[with_unaligned_buffers(array.values, by)])
    return pa.Array.from_buffers(kind, len(array), [buffer(each) for each in array.buffers()])


@pytest.mark.parametrize("by", [1, 2, 3])
def test_unaligned_buffers_match_objects(by: int) -> None:
    rows = pa.array([data for version, data in messages()["MetadataResponse"].rows if version == 12])
    for array in (with_unaligned_buffers(rows, by), with_unaligned_buffers(rows.cast(pa.large_binary()), by)):
        got, wanted = both("decode", array, MetadataResponse, 12)
        assert are_same(got, wanted)
    versions = with_unaligned_buffers(pa.array([12] * len(rows)), by)
    assert are_same(*both("decode", rows, MetadataResponse, versions))
    got, wanted = both("encode", with_unaligned_buffers(got, by), MetadataResponse, 12)
    assert are_same(got, wanted)
    assert got.equals(rows)


def test_renamed_capsules_are_freed_safely() -> None:
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = (ctypes.py_object, ctypes.c_char_p)
    plan = extension.plan(OffsetCommitValue._plan, False)
    name = b"used_arrow"
    for _ in range(3):
        capsules = extension.decode(plan, *pa.array(ROWS).__arrow_c_array__(), 3, 2, None, None)
        for capsule in capsules:
            assert rename(capsule, name) == 0
        del capsule, capsules
        gc.collect()
    with pytest.raises(ValueError, match="incorrect name"):
        extension.address(pa.array(ROWS).__arrow_c_array__()[0])


def test_corrupt_and_trailing_columns_have_their_names() -> None:
    rows = pa.array([*ROWS, b"bad"])
    for corrupt, trailing in (("a", None), (None, "a"), ("b", "a"), ("a", "b"), ("é", None), (None, None)) * 2:
        found = decode(rows, OffsetCommitValue, 3, mode="PERMISSIVE", corrupt_column=corrupt, trailing_column=trailing)
        found.validate(full=True)
        names = [field.name for field in found.type][6:]
        assert names == [name for name in (trailing, corrupt) if name is not None]
        assert corrupt is None or found.field(corrupt)[100].as_py() == b"bad"
    for number in range(100):
        found = decode(rows[:1], OffsetCommitValue, 3, mode="PERMISSIVE", corrupt_column=f"c{number}")
        assert found.type[6].name == f"c{number}"


def test_concurrent_changes_of_bytes_keep_the_row_count() -> None:
    plain = OffsetCommitValue(offset=1).write(4)[:-1]
    row = plain + bytes([40]) + b"".join(bytes([100 - tag, 2]) + b"xy" for tag in range(40))
    data = np.frombuffer(row * 2000, np.uint8).copy()
    bounds = pa.array(range(0, len(data) + 1, len(row)), pa.int32()).buffers()[1]
    rows = pa.Array.from_buffers(pa.binary(), 2000, [None, bounds, pa.py_buffer(data)])
    is_over = threading.Event()

    def write() -> None:
        rnd = random.Random(1)
        while not is_over.is_set():
            at = rnd.randrange(len(data))
            kept = data[at]
            for value in (255, 128, 0, 1):
                data[at] = value
            data[at] = kept

    writer = threading.Thread(target=write)
    writer.start()
    try:
        start = time.monotonic()
        while time.monotonic() < start + 1.5:
            found = decode(rows, OffsetCommitValue, 4, mode="PERMISSIVE", unknown_tagged_fields=True)
            assert len(found) == 2000
    finally:
        is_over.set()
        writer.join()
    try:
        assert len(decode(rows, OffsetCommitValue, 4)) == 2000
    except RowError:
        pytest.fail("decode rejects the restored bytes")


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_failing_calls_do_not_grow_memory() -> None:
    rows = pa.array(ROWS * 200)
    good = decode(rows, OffsetCommitValue, 3)
    lying = pa.Array.from_buffers(
        pa.binary(), 2, [None, pa.array([0, 2_000_000, 5], pa.int32()).buffers()[1], rows.buffers()[2]]
    )
    children = [good.field(place) for place in range(good.type.num_fields)]
    last = [*good.field("offset").to_pylist()[:-1], None]
    bad = pa.StructArray.from_arrays([pa.array(last, pa.int64()), *children[1:]], fields=list(good.type))
    bounds = pa.array([*range(len(good) - 1), 5, len(good)], pa.int32()).buffers()[1]
    text = pa.Array.from_buffers(pa.string(), len(good), [None, bounds, pa.py_buffer(bytes(len(good)))])
    names = [field.name for field in good.type]
    down = pa.StructArray.from_arrays([text if name == "metadata" else good.field(name) for name in names], names=names)
    cut = pa.array([*ROWS * 200, b"short"])

    def once(number: int) -> None:
        for call, array, error in (
            (decode, lying, TypeError),
            (decode, cut, RowError),
            (encode, bad, EncodeRowError),
            (encode, down, TypeError),
        ):
            with pytest.raises(error):
                call(array, OffsetCommitValue, 3)
        for call, array in ((decode, rows), (encode, good)):
            extension.fail_allocation(number % 12)
            with suppress(MemoryError):
                call(array, OffsetCommitValue, 3)
            extension.fail_allocation(-1)

    for number in range(24):
        once(number)
    gc.collect()
    before = resident()
    for number in range(100):
        once(number)
    gc.collect()
    assert resident() - before < 20 * rows.nbytes
