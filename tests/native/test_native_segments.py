"""Segments read with and without the native core: equal batches, reports and errors."""

from __future__ import annotations

import io
import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from kafka_records import CompressionName, _native
from kafka_records.compression import plain_xxh32
from kafka_records.crc import plain_crc32c
from kafka_records.segments.batch_writer import write_batches
from kafka_records.segments.frames import PADDING, LogData, faults
from kafka_records.segments.headers import HeaderColumns
from kafka_records.segments.objects import read_batches
from kafka_records.segments.reader import read_segments

from tests.support.replaced import counting
from tests.support.segment_implementations import (
    COLUMNS,
    FUNCTIONS,
    both,
    damaged,
    difference,
    native_core,
    outcome,
    repacked,
    some_batches,
    some_options,
)
from tests.support.segments import SEGMENTS, crafted, crafted_record, some_rows

core: Any = pytest.importorskip("kafka_messages_native._columns")
CLUSTER = sorted((Path(__file__).parents[2] / "examples" / "cluster" / "logs").rglob("*.log"))


def test_core_has_the_batch_format_of_the_package() -> None:
    assert _native.table() == core.BATCH_FORMAT
    assert native_core() is core


def test_core_with_another_batch_format_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(core.BATCH_FORMAT, "HEADER", 60)
    assert _native.load() is None
    monkeypatch.undo()


@pytest.fixture(autouse=True)
def with_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the extension even if the environment disables it."""
    monkeypatch.setattr(_native, "core", native_core())


@pytest.mark.parametrize("mode", ["PERMISSIVE", "FAILFAST"])
@pytest.mark.parametrize("segment", [*SEGMENTS, *CLUSTER], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_kafkas_segments_match_the_pure_code(segment: Path, mode: str) -> None:
    data = segment.read_bytes()
    for batch_metadata in (False, True):
        for columns in COLUMNS:
            options = {"mode": mode, "columns": columns, "batch_metadata": batch_metadata}
            native, pure = both(read_segments, data, **options)
            assert not native.error
            assert difference(native, pure) == ""
    assert difference(*both(FUNCTIONS["read_batch_headers"], data, mode=mode)) == ""


@pytest.mark.parametrize("seed", range(40))
def test_intact_batches_match_the_pure_code(seed: int) -> None:
    random_ = random.Random(seed)
    data = some_batches(random_)
    for _ in range(4):
        name, options = some_options(random_, len(data))
        assert difference(*both(FUNCTIONS[name], data, **options)) == ""


@pytest.mark.parametrize("seed", range(300))
def test_damaged_batches_match_the_pure_code(seed: int) -> None:
    random_ = random.Random(seed)
    segments = [segment.read_bytes() for segment in SEGMENTS]
    for _ in range(3):
        kind = random_.randrange(3)
        if kind == 0:
            data = repacked(random_)
        else:
            data = damaged(random_.choice(segments) if kind == 1 else some_batches(random_), random_)
        name, options = some_options(random_, len(data))
        found = difference(*both(FUNCTIONS[name], data, **options))
        assert not found, f"{name} {options}: {found}"


HEADERS = {
    "text": (b"trace", b"value"),
    "null": (b"trace", None),
    "empty": (b"", b""),
    "umlaut": ("gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n".encode(), b""),
    "emoji": ("\N{GRINNING FACE}".encode(), b""),
    "highest": ("\U0010ffff".encode(), b""),
    "too high": (b"\xf4\x90\x80\x80", b""),
    "surrogate": (b"\xed\xa0\x80", b""),
    "overlong 2": (b"\xc0\x80", b""),
    "overlong 3": (b"\xe0\x9f\xbf", b""),
    "overlong 4": (b"\xf0\x8f\xbf\xbf", b""),
    "truncated": (b"abc\xe2\x82", b""),
    "lone continuation byte": (b"\x80", b""),
    "latin": (b"gr\xfcn", b""),
}


@pytest.mark.parametrize("name", HEADERS)
def test_header_keys_match_the_pure_code(name: str) -> None:
    key, value = HEADERS[name]
    fields = (len(key), key, *((-1,) if value is None else (len(value), value)))
    record = crafted_record(0, 0, -1, -1, 2, 1, b"a", 1, b"b", *fields)
    native, pure = both(read_segments, crafted(record, 1))
    assert difference(native, pure) == ""
    assert native.batches[0].column("headers").to_pylist() == [
        [{"key": "a", "value": b"b"}, {"key": key.decode("utf-8", "replace"), "value": value}]
    ]


@pytest.mark.parametrize("key", [None, b"", b"\0", b"\0\0\0", b"\xff\xff\0\0", b"\0\0\0\1"])
def test_control_record_keys_match_the_pure_code(key: bytes | None) -> None:
    record = crafted_record(0, 0, *((-1,) if key is None else (len(key), key)), -1, 0)
    for columns in (None, ["value"], ["control_type"]):
        for mode in ("PERMISSIVE", "FAILFAST"):
            options = {"columns": columns, "mode": mode, "control_records": True, "batch_metadata": True}
            assert difference(*both(read_segments, crafted(record, 1, attributes=1 << 5), **options)) == ""
    headers = both(FUNCTIONS["read_batch_headers"], crafted(record, 1, attributes=1 << 5), mode="PERMISSIVE")
    assert difference(*headers) == ""


def test_utf8_split_across_two_header_keys_is_invalid() -> None:
    record = crafted_record(0, 0, -1, -1, 2, 1, b"\xc3", -1, 1, b"\xbc", -1)
    native, pure = both(read_segments, crafted(record, 1))
    assert difference(native, pure) == ""
    assert [header["key"] for header in native.batches[0].column("headers").to_pylist()[0]] == ["\ufffd", "\ufffd"]


def test_output_buffers_grow_as_needed() -> None:
    rows = [
        {"key": b"k" * (number % 97 * 40), "value": b"", "headers": [("h" * (number % 31), b"v" * (number % 53))] * 9}
        for number in range(3000)
    ]
    data = write_batches(rows, max_records=500)
    native, pure = both(read_segments, data)
    assert difference(native, pure) == ""
    assert sum(len(batch) for batch in native.batches) == len(rows)


def test_intact_batches_are_read_by_the_core() -> None:
    of_the_slow_path = (read_batches, faults)
    codecs: tuple[CompressionName | None, ...] = (None, "gzip", "snappy", "lz4", "zstd")
    for codec in codecs:
        data = write_batches(some_rows(500, 7), compression=codec)
        with counting(*of_the_slow_path) as counts:
            found = outcome(read_segments, data, batch_metadata=True)
        assert counts == {}
        assert not found.error
        assert sum(map(len, found.batches)) == 500
    damaged = bytearray(write_batches(some_rows(500, 7)))
    damaged[-1] ^= 1
    with counting(*of_the_slow_path) as counts:
        both(read_segments, write_batches(some_rows(500, 7)))  # also the pure code
        outcome(read_segments, bytes(damaged))
    assert counts.keys() == {"read_batches", "faults"}


def test_single_column_does_not_keep_the_others_alive() -> None:
    data = write_batches(some_rows(2000, 3, headers=False, widest=4000), max_records=100)
    before = pa.total_allocated_bytes()
    (batch,) = read_segments(io.BytesIO(data))
    kept = batch.column("offset")
    del batch
    assert pa.total_allocated_bytes() - before < 100_000
    assert len(kept) == 2000


def test_repeated_reads_do_not_leak_arrow_memory() -> None:
    random_ = random.Random(5)
    cases = [*(some_batches(random_) for _ in range(5)), *(repacked(random_) for _ in range(20))]
    before = pa.total_allocated_bytes()
    for _ in range(3):
        for data in cases:
            outcome(read_segments, data, mode="PERMISSIVE")
            outcome(FUNCTIONS["read_batch_headers"], data, mode="PERMISSIVE")
    assert pa.total_allocated_bytes() == before


def test_concurrent_threads_read_equal_batches() -> None:
    datas = [write_batches(some_rows(3000, seed), max_records=300) for seed in range(4)]
    wanted = [outcome(read_segments, data).batches for data in datas]
    found: list[Any] = [None] * len(datas)

    def run(number: int) -> None:
        for _ in range(5):
            found[number] = outcome(read_segments, datas[number]).batches

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(datas))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == wanted


def test_crc32c_implementations_agree() -> None:
    random_ = random.Random(11)
    data = random_.randbytes(20_000)
    for size in (*range(800), *range(6100, 6200), *random_.sample(range(20_000), 100)):
        start = random_.randrange(8)
        piece = data[start : start + size]
        assert core.crc32c(piece) == core.crc32c_portable(piece) == plain_crc32c(piece)
    assert core.crc32c(b"123456789") == 0xE3069283


def test_xxh32_implementations_agree() -> None:
    """Published value: python-xxhash's README."""
    random_ = random.Random(12)
    data = random_.randbytes(5000)
    for size in (*range(100), *random_.sample(range(5000), 20)):
        piece = memoryview(data)[random_.randrange(8) :][:size]
        assert core.xxh32(piece) == plain_xxh32(piece) == plain_xxh32(bytes(piece))
    assert core.xxh32(b"Nobody inspects the spammish repetition") == 0xE2293B2F


def sections(*batches: tuple[int, int, int]) -> Any:
    """Return position, end and record count of each batch as the int64 table that the core expects."""
    found = np.zeros((7, len(batches)), np.int64)
    found[:3] = np.array(batches).T
    return found


@pytest.mark.parametrize(
    ("batches", "rows"),
    [
        (((0, 100, 1),), 1),
        (((-1, 8, 1),), 1),
        (((4, 2, 1),), 1),
        (((0, 8, -1),), 1),
        (((0, 8, 2),), 2),
        (((0, 8, 1),), 2),
        (((0, 8, 1), (0, 8, 1)), 1),
        ((), 1),
    ],
)
def test_invalid_batch_positions_are_declined(batches: tuple[tuple[int, int, int], ...], rows: int) -> None:
    record = crafted_record(0, 0, -1, -1, 0)
    offsets = bytearray(8 * rows)
    table = sections(*batches) if batches else np.zeros((7, 0), np.int64)
    assert core.read_record_columns(record + b"\0", table, rows, offsets, None, None, None, None) is None


def test_short_buffers_and_invalid_capacity_raise_value_error() -> None:
    record = crafted_record(0, 0, -1, -1, 0)
    table = sections((0, len(record), 1))
    with pytest.raises(ValueError, match=r"^expected a buffer of at least 8 bytes, got 7$"):
        core.read_record_columns(record, table, 1, bytearray(7), None, None, None, None)
    with pytest.raises(ValueError, match=r"^expected a buffer of at least 8 bytes, got 4$"):
        core.read_record_columns(record, table, 1, None, None, (bytearray(4), bytearray(1), bytearray(0)), None, None)
    with pytest.raises(ValueError, match=r"^expected a header capacity of 0 to 2147483647, got -1$"):
        core.read_record_columns(record, table, 1, None, None, None, None, (-1, None, None, (), ()))
    with pytest.raises(ValueError, match=r"^expected aligned buffers of matching sizes, and positions within them$"):
        core.read_headers(bytes(60), np.zeros(1, np.int64), np.zeros(11, np.int64))
    with pytest.raises(ValueError, match=r"^expected aligned buffers of matching sizes, and positions within them$"):
        core.read_headers(bytes(61), np.zeros(1, np.int64), np.zeros(10, np.int64))
    with pytest.raises(ValueError, match=r"^expected aligned buffers of matching sizes, and positions within them$"):
        core.read_headers(bytes(69), bytes(12), np.zeros(22, np.int64))
    with pytest.raises(ValueError, match=r"^expected aligned buffers of matching sizes, and positions within them$"):
        core.follow_batches(bytes(61), 0, 61, 61, 14, 100, True, bytearray(9), bytearray(1), bytearray(1))
    with pytest.raises(ValueError, match=r"^expected aligned buffers of matching sizes, and positions within them$"):
        core.follow_batches(bytes(61), 0, 61, 62, 14, 100, True, bytearray(8), bytearray(1), bytearray(1))
    end = (1 << 63) - 1  # positions after the log must not overflow
    found = core.follow_batches(bytes(61), end, end, 61, 14, 100, True, bytearray(8), bytearray(1), bytearray(1))
    assert found == (0, end, 12)  # 12 bytes are needed: base offset and length of a batch


def test_unaligned_buffers_raise_value_error() -> None:
    record = crafted_record(0, 0, -1, -1, 0)
    table = sections((0, len(record), 1))
    aside = np.zeros(8 * 12, np.uint8)[1:]
    with pytest.raises(ValueError, match=r"^expected a buffer aligned to 8 bytes$"):
        core.read_record_columns(record, table, 1, aside, None, None, None, None)
    with pytest.raises(ValueError, match=r"^expected a buffer aligned to 4 bytes$"):
        core.read_record_columns(record, table, 1, None, None, (aside, bytearray(1), bytearray(0)), None, None)
    with pytest.raises(ValueError, match=r"^expected batches as an aligned int64 buffer$"):
        core.read_record_columns(record, aside[:56], 1, None, None, None, None, None)
    with pytest.raises(ValueError, match=r"^expected aligned buffers of matching sizes, and positions within them$"):
        core.read_headers(bytes(69), np.zeros(1, np.int64), aside[:88])


def test_int32_starts_are_accepted() -> None:
    data = np.frombuffer(some_batches(random.Random(1)) + bytes(PADDING), np.uint8)
    log = LogData(data, len(data) - PADDING)
    starts: Any = np.zeros(3, np.int32)
    wanted, found = HeaderColumns(log, starts.astype(np.int64)), HeaderColumns(log, starts)
    assert all((value == getattr(wanted, name)).all() for name, value in vars(found).items())
