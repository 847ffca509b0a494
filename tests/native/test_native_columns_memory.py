"""Native columns: failing allocations, leaks and threads."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest
from kafka_messages import MetadataResponse, OffsetCommitValue
from kafka_messages.arrow import decode, encode

from tests.support.both_columns import ROWS, binary, messages, result

extension: Any = pytest.importorskip("kafka_messages_native._columns")


def test_failing_allocations_raise_memory_error() -> None:
    large = [data for version, data in messages()["MetadataResponse"].rows if version == 12]
    rows = binary([*(large * (600_000 // sum(map(len, large)) + 1))[:2000], None])
    good = decode(rows, MetadataResponse, 12)
    failures = 0
    for call, argument in ((decode, rows), (encode, good)):
        wanted = call(argument, MetadataResponse, 12)
        for number in range(400):
            extension.fail_allocation(number)
            found = result(call, argument, MetadataResponse, 12)
            extension.fail_allocation(-1)
            if isinstance(found, tuple):
                assert found[0] is MemoryError
                failures += 1
            else:
                assert found.equals(wanted)
    assert failures > 50


def test_failing_allocations_in_plans_raise_memory_error() -> None:
    text = MetadataResponse._plan
    for number in range(100):
        extension.fail_allocation(number)
        found = result(extension.plan, text, True)
        extension.fail_allocation(-1)
        assert type(found) is not tuple or found[0] is MemoryError
        if type(found) is not tuple:
            break
    else:
        pytest.fail("the plan still fails after 100 allocations")


def test_repeated_calls_do_not_grow_memory() -> None:
    rows = binary([data for version, data in messages()["MetadataResponse"].rows if version == 12] * 200)
    bad = binary([rows[0].as_py()[:-1]] * 500)

    def once() -> None:
        found = decode(rows, MetadataResponse, 12)
        encode(found, MetadataResponse, 12)
        decode(bad, MetadataResponse, 12, mode="PERMISSIVE")
        result(decode, bad, MetadataResponse, 12)
        extension.plan(MetadataResponse._plan, True)

    for _ in range(5):
        once()
    gc.collect()
    before = resident()
    size = decode(rows, MetadataResponse, 12).nbytes
    for _ in range(100):
        once()
    assert resident() - before < 20 * size + (8 << 20)


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_one_column_stays_valid_after_the_others_are_freed() -> None:
    rows = binary(ROWS * 300)
    column = decode(rows, OffsetCommitValue, 3).field("metadata")
    wanted = [f"host-{number}" for number in range(100)] * 300
    for _ in range(20):
        decode(rows, OffsetCommitValue, 3)
    gc.collect()
    assert column.to_pylist() == wanted
    assert pa.concat_arrays([column, column[:1]]).to_pylist() == [*wanted, "host-0"]


def test_concurrent_threads_get_equal_columns() -> None:
    rows = binary([data for version, data in messages()["MetadataResponse"].rows if version == 12] * 50)
    wanted = decode(rows, MetadataResponse, 12)
    from kafka_messages.arrow import _native

    _native._plans.clear()
    gate = threading.Barrier(4)

    def work(_: int) -> bool:
        gate.wait()
        same = True
        for _ in range(20):
            found = decode(rows, MetadataResponse, 12)
            same = same and found.equals(wanted) and encode(found, MetadataResponse, 12).equals(rows)
        return same

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
