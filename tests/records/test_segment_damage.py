"""Damaged segments: every intact batch is read once, and every damaged batch is reported."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, partial
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

from kafka_records import BatchEncodeError, CorruptSegmentError
from kafka_records.segments import chain, frames, reader, scan
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.batch_writer import write_batches, write_control_batch
from kafka_records.segments.reader import SegmentReport, read_segments

from tests.support.implementations import pure
from tests.support.segments import (
    SEGMENTS,
    Damage,
    common_prefix,
    crafted,
    crafted_record,
    extents,
    outside_checksum,
    some_rows,
)

Rows = list[dict[str, Any]]

CHANGED = "the header changed during the read"

WIDEST = 32_000
"""Upper bound of the batch sizes in these tests, used as a smaller ``LOOKBACK``."""


@cache
def sample_segment() -> bytes:
    """Return batches of all compressions and many sizes; some record values contain a batch."""
    quoted = write_batches(some_rows(3, 7), base_offset=12)
    parts = []
    offset = 0
    for number in range(120):
        rows = some_rows(number % 5 + 1 if number % 40 else 700, number)
        if number % 9 == 0:
            rows[0]["value"] = quoted
        packing = (None, None, None, "lz4", "zstd", "gzip", "snappy")[number % 7]
        parts.append(write_batches(rows, base_offset=offset, compression=packing))
        offset += len(rows)
        if number % 30 == 0:
            parts.append(write_control_batch("COMMIT", offset=offset, producer_id=5, producer_epoch=0))
            offset += 1
    return b"".join(parts)


@cache
def sources() -> list[bytes]:
    return [*(segment.read_bytes() for segment in SEGMENTS), sample_segment()]


def read_permissively(data: bytes, **options: Any) -> tuple[Rows, Rows, SegmentReport]:
    """Read in PERMISSIVE mode; return valid rows, ``corrupt`` values of the other rows, and the report."""
    with read_segments(io.BytesIO(data), mode="PERMISSIVE", batch_metadata=True, **options) as reader:
        rows: Rows = []
        for batch in reader:
            batch.validate(full=True)
            rows += batch.to_pylist()
    (report,) = reader.reports
    assert report.done
    sound = [row for row in rows if row["corrupt"] is None]
    corrupt = [row["corrupt"] for row in rows if row["corrupt"] is not None]
    assert report.records == len(sound)
    assert report.corrupt_batches == len(corrupt)
    places = [row["position"] for row in rows]
    assert places == sorted(places)
    return sound, corrupt, report


@cache
def sound_rows(number: int) -> Rows:
    rows, corrupt, _ = read_permissively(sources()[number])
    assert not corrupt
    return rows


@st.composite
def damages(draw: st.DrawFn, segment: bytes) -> Damage:
    """Draw one damage: bit flip, cut, zeros, random bytes or a copy, biased towards the start of a batch."""
    borders = [at for at, _ in extents(segment)]
    place = st.one_of(
        st.integers(0, len(segment)),
        st.builds(
            lambda at, delta: min(max(at + delta, 0), len(segment)), st.sampled_from(borders), st.integers(-3, 61)
        ),
    )
    start = draw(place)
    kind = draw(st.sampled_from(("flip", "byte", "cut", "zeros", "noise", "insert", "delete", "piece", "zero tail")))
    random_ = random.Random(draw(st.integers(0, 1 << 16)))
    size = draw(st.one_of(st.integers(1, 80), st.integers(1, 4000)))
    end = min(start + size, len(segment))
    if kind in ("flip", "byte"):
        start = min(start, len(segment) - 1)
        changed = segment[start] ^ 1 << random_.randrange(8) if kind == "flip" else random_.randrange(256)
        return Damage(start, start + 1, bytes((changed,)))
    if kind == "cut":
        return Damage(start, len(segment), b"")
    if kind == "zero tail":
        return Damage(start, len(segment), bytes(len(segment) - start + random_.randrange(200)))
    if kind == "zeros":
        return Damage(start, end, bytes(end - start))
    if kind == "noise":
        return Damage(start, end, random_.randbytes(end - start))
    if kind == "insert":
        return Damage(start, start, random_.randbytes(size))
    if kind == "delete":
        return Damage(start, end, b"")
    low = random_.randrange(len(segment))
    return Damage(start, end, segment[low : low + size])


def expectation(number: int, damage: Damage) -> tuple[Rows, bool]:
    """Return the rows of intact batches at their new positions, and whether all changed bytes are outside the checksum.

    Deleted or inserted bytes may equal the bytes after them. Then the batch before the damage counts as intact, and the
    batch after the damage does not.
    """
    segment = sources()[number]
    same = common_prefix(segment, damage.of(segment))
    moved: dict[int, int] = {}
    whole = 0
    only_outside_checksum = damage.grown == 0
    for at, end in extents(segment):
        if end <= same:
            moved[at] = at
            whole = end
        elif at >= damage.end:
            if at + damage.grown >= whole:
                moved[at] = at + damage.grown
        elif damage.grown == 0:
            touched = range(max(at, damage.start), min(end, damage.end))
            changed = {place for place in touched if damage.data[place - damage.start] != segment[place]}
            only_outside_checksum &= changed <= outside_checksum(segment, at)
    rows = sound_rows(number)
    return [
        row | {"position": moved[row["position"]]} for row in rows if row["position"] in moved
    ], only_outside_checksum


def copies_later_batch(others: Rows, expected: Rows) -> bool:
    """Return whether the damage copied a batch before an intact batch with lower offsets.

    The reader may then report the rest of the file as an incomplete tail.
    """
    return any(
        row["position"] < each["position"] and row["offset"] > each["offset"] for row in others for each in expected
    )


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_random_damage_loses_only_damaged_batches(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(sources()) - 1))
    damage = data.draw(damages(sources()[number]))
    damaged = damage.of(sources()[number])
    expected, only_outside_checksum = expectation(number, damage)
    rows, corrupt, report = read_permissively(damaged)
    places = {row["position"] for row in expected}
    if not only_outside_checksum and not copies_later_batch(
        [row for row in rows if row["position"] not in places], expected
    ):
        assert [row for row in rows if row["position"] in places] == expected
    ends = [(place["position"], place["size"]) for place in corrupt]
    assert report.batch_bytes + sum(size for _, size in ends) + report.incomplete_tail + report.zero_tail == len(
        damaged
    )
    assert report.next_position + report.incomplete_tail + report.zero_tail == len(damaged)
    for place in corrupt:
        low = place["position"]
        assert place["bytes"] == damaged[low : low + place["size"]]
        assert place["reason"]
    _agrees_failfast(damaged, rows, corrupt)


def _agrees_failfast(damaged: bytes, rows: Rows, corrupt: Rows) -> None:
    with read_segments(io.BytesIO(damaged), batch_metadata=True) as reader:
        found: Rows = []
        if not corrupt:
            for batch in reader:
                found += batch.to_pylist()
        else:
            with pytest.raises(CorruptSegmentError) as caught:
                found.extend(row for batch in reader for row in batch.to_pylist())
            assert caught.value.position == corrupt[0]["position"]
            rows = [row for row in rows if row["position"] < corrupt[0]["position"]]
    assert found == [{name: value for name, value in row.items() if name != "corrupt"} for row in rows]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_adjacent_byte_ranges_yield_every_record_once(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(sources()) - 1))
    damaged = sources()[number]
    if data.draw(st.booleans()):
        damaged = data.draw(damages(damaged)).of(damaged)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(damaged)), max_size=6))) if damaged else []
    rows, corrupt, report = read_permissively(damaged)
    found: Rows = []
    places: Rows = []
    reports = []
    lookback = data.draw(st.sampled_from((WIDEST, scan.LOOKBACK)))
    for start, end in zip([0, *cuts], [*cuts, None], strict=True):
        with mock.patch.object(reader, "LOOKBACK", lookback):
            some, bad, one = read_permissively(damaged, start=start, end=end)
        found += some
        places += bad
        reports.append(one)
    assert found == rows
    assert places == corrupt
    assert sum(one.batches for one in reports) == report.batches
    assert sum(one.batch_bytes for one in reports) == report.batch_bytes
    assert sum(one.incomplete_tail for one in reports) == report.incomplete_tail
    assert sum(one.zero_tail for one in reports) == report.zero_tail


def test_batch_with_producer_id_below_minus_1_is_read_in_byte_ranges() -> None:
    odd = crafted(crafted_record(0, 0, -1, 1, b"v", 0), 1, base_offset=7, producer_id=-5)
    data = bytearray(write_batches([{"value": b"v" * 50}], base_offset=6) + odd)
    data[70] ^= 1
    rows, corrupt, _ = read_permissively(bytes(data))
    assert [row["offset"] for row in rows] == [7]
    for cut in (50, len(data) - len(odd)):
        parts = [read_permissively(bytes(data), start=start, end=end) for start, end in ((0, cut), (cut, None))]
        assert [row for some, _, _ in parts for row in some] == rows
        assert [place for _, some, _ in parts for place in some] == corrupt


def test_position_of_a_known_batch_replaces_the_search() -> None:
    segment = sample_segment()
    places = [at for at, _ in extents(segment)]
    rows, _, _ = read_permissively(segment)
    for base, start in ((places[4], places[9]), (places[4], places[4]), (0, places[3] + 1)):
        found, corrupt, _ = read_permissively(segment, base=base, start=start)
        assert found == [row for row in rows if row["position"] >= start]
        assert not corrupt
    damaged = bytearray(segment)
    damaged[places[5] - 1] ^= 1  # a search would take the batch at places[4] for a part of an earlier one
    _, corrupt, _ = read_permissively(bytes(damaged), base=places[4], start=places[4])
    assert [(each["position"], each["size"]) for each in corrupt] == [(places[4], places[5] - places[4])]
    with pytest.raises(ValueError, match=r"^base must be 0 to 4 \(start\), not 5$"):
        read_segments(io.BytesIO(segment), start=4, base=5)


def test_search_that_gives_up_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    first, last = (write_batches([{"value": b"v"}], base_offset=offset) for offset in (5, 6))
    monkeypatch.setattr(frames, "_SEARCH_BYTES", 0)
    monkeypatch.setattr(frames, "_SEARCH_FACTOR", 0)
    too_many = "; the search for the next batch ended after too many false candidates"
    beyond = "a size of 16843021 bytes extends past the end of the file, and the offset is out of order"
    for noise, reason in (
        (b"\x01" * 50, beyond),
        (b"\xff" * 50, "invalid length of -1 bytes; 14 to 134217716 are possible"),
    ):
        rows, corrupt, report = read_permissively(first + noise + last)
        assert [row["offset"] for row in rows] == [5]
        size = len(noise) + len(last)
        assert [(each["position"], each["size"], each["reason"]) for each in corrupt] == [
            (len(first), size, reason + too_many)
        ]
        assert report.incomplete_tail == 0
    unfinished = last[:8] + (200).to_bytes(4, "big") + last[12:] + last
    _, corrupt, report = read_permissively(first + unfinished)
    assert not corrupt
    assert report.incomplete_tail == len(unfinished)


def log_of(count: int) -> list[bytearray]:
    return [bytearray(write_batches([{"value": b"v" * 50}], base_offset=number)) for number in range(count)]


BEYOND = (10_000_000).to_bytes(4, "big")


@pytest.mark.parametrize("cut", [0, 20, 90], ids=["whole", "cut", "cut in a header"])
@pytest.mark.parametrize("displaced", [0x40, 0], ids=["changed offset", "copy of a later batch"])
@pytest.mark.parametrize("is_pure", [False, True], ids=["native", "python"])
def test_intact_batches_after_an_out_of_order_offset_are_read(is_pure: bool, displaced: int, cut: int) -> None:
    parts = log_of(40)
    if displaced:
        parts[3][0] ^= displaced  # the checksum does not cover the base offset
    else:
        parts[3] = parts[39]
    parts[4][8:12] = BEYOND
    data = b"".join(parts)
    data = data[: len(data) - cut]
    with pure() if is_pure else nullcontext():
        rows, corrupt, report = read_permissively(data)
    size = len(parts[0])
    assert [row["position"] for row in rows] == [size * number for number in range(40 - bool(cut)) if number != 4]
    assert [(each["position"], each["size"]) for each in corrupt] == [(4 * size, size)]
    assert report.incomplete_tail == (size - cut if cut else 0)


def test_batches_in_values_of_an_incomplete_batch_are_not_read() -> None:
    quoted = b"".join(log_of(5))
    last = write_batches([{"value": quoted + b"!" * 500}], base_offset=101)
    first = write_batches([{"value": b"v"}], base_offset=100)
    for left in (len(last) - 1, len(last) - 520, last.index(quoted) + len(quoted) - 30):
        rows, corrupt, report = read_permissively(first + last[:left])
        assert [row["offset"] for row in rows] == [100]
        assert not corrupt
        assert report.incomplete_tail == left


def test_corrupt_batches_with_fake_large_headers_cost_few_checksums() -> None:
    far = crafted(b"", 1, length=(3 << 20) - 12)
    body = crafted_record(0, 0, -1, 10 * len(far), far * 10, 0)
    bad, good = bytearray(crafted(body, 1)), write_batches([{"value": b"v"}], base_offset=1)
    bad[17] ^= 1
    data = (bytes(bad) + good) * 40 + b"\xff" * (4 << 20)
    with mock.patch.object(frames, "intact", wraps=frames.intact) as intact:
        rows, corrupt, _ = read_permissively(data)
    assert len(rows) == 40
    assert [each["size"] for each in corrupt] == [*[len(bad)] * 40, 4 << 20]
    assert sum(int(call.args[2].sum()) for call in intact.call_args_list) < 40 << 20


def test_batches_in_values_of_a_damaged_batch_are_not_read() -> None:
    quoted = write_batches([{"value": b"q"}], base_offset=3) + b"!"
    big = write_batches([{"value": quoted * 3000}], base_offset=1000)
    small = write_batches([{"value": b"v"}], base_offset=900)
    last = write_batches([{"value": b"v"}], base_offset=1001)
    longer = big[:8] + (len(big) + 100).to_bytes(4, "big") + big[12:]
    for damaged, tail in ((big[:90] + b"?" + big[91:] + last, 0), (longer + last, 0), (longer, len(longer))):
        rows, corrupt, report = read_permissively(small + damaged)
        assert [row["offset"] for row in rows] == [900, *([1001] if damaged.endswith(last) else [])]
        assert [(place["position"], place["size"]) for place in corrupt] == ([] if tail else [(len(small), len(big))])
        assert report.incomplete_tail == tail


def test_byte_range_among_records_that_resemble_headers_is_read() -> None:
    row = struct.Struct(">iqiqhhh").pack
    values = [{"value": row(at, at * 31, 7, 1_700_000_000_000 + at, 1, 2, 0) * 3} for at in range(150)]
    data = b"".join(write_batches(values, base_offset=number * 150) for number in range(400))
    start = len(data) // 2

    rows, corrupt, report = read_permissively(data, start=start)

    assert not corrupt
    assert [each["offset"] for each in rows] == list(range(30_000, 60_000))
    assert report.batches == 200


@pytest.mark.parametrize(
    "read", [partial(read_segments, batch_metadata=True), read_batch_headers], ids=["records", "headers"]
)
@pytest.mark.parametrize(
    ("magic", "place", "byte"),
    [(2, 16, 132), (1, 16, 3), (0, 16, 1), (1, 16, 2), (2, 22, 7), (1, 17, 6), (2, 57, 255)],
    ids=["negative magic", "unknown magic", "magic 1", "magic 2", "compression", "message compression", "count"],
)
def test_header_changed_during_a_read_is_corrupt(
    read: Callable[..., Any], magic: int, place: int, byte: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = [write_batches([{"value": b""}], base_offset=offset, magic=magic) for offset in range(3)]
    changed = len(batches[0])
    follow = chain.Follower.follow

    def follow_then_change(*arguments: Any) -> chain.Chain:
        result = follow(*arguments)
        if len(result.start):
            arguments[1].bytes[changed + place] = byte
        return result

    monkeypatch.setattr(chain.Follower, "follow", follow_then_change)
    data = b"".join(batches)
    with read(io.BytesIO(data), mode="PERMISSIVE") as reader:
        rows = [row for batch in reader for row in batch.to_pylist()]
    assert [row["corrupt"] and row["corrupt"]["reason"] for row in rows] == [None, CHANGED, None]
    with read(io.BytesIO(data)) as reader, pytest.raises(CorruptSegmentError) as caught:
        list(reader)
    assert str(caught.value) == f"<segment>: batch at byte {changed}: {CHANGED}"


def test_table_without_a_column_of_records_is_rejected() -> None:
    with pytest.raises(BatchEncodeError) as caught:
        write_batches(pa.table({"text": ["a"]}))
    assert (
        str(caught.value) == "records: expected at least one of the columns key, value, offset, timestamp and headers"
    )
