"""The state of incremental runs holds the rows of a full run, whatever happens to the files and to the runs."""

from __future__ import annotations

import io
import json
import os
import random
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from kafka_records.segments import reader
from pyspark.errors import PySparkValueError

from kafka_messages_spark.analyses.batches import batches_in
from kafka_messages_spark.analyses.batching import combined_batches, keyed_records, sized_batches
from kafka_messages_spark.analyses.packed import packed
from kafka_messages_spark.analyses.segments import checked_ranges
from kafka_messages_spark.analyses.transactions import condensed
from kafka_messages_spark.sources import _segment_ranges
from kafka_messages_spark.sources.kafka_log._range_reader import records_in
from kafka_messages_spark.state import _folder, _rows
from tests.pipeline.job_files import data, marker, segment
from tests.support.full_disk import fill_disk

# Bytes of a range in these tests, a few batches.
MOST = 300
Rows = list[dict[str, Any]]


@dataclass
class Frame:
    """The part of a data frame that functions of byte ranges use."""

    batches: list[pa.RecordBatch]

    def where(self, _: object) -> Frame:
        return self

    def mapInArrow(self, function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], _: object) -> Frame:
        return Frame(list(function(iter(self.batches))))


def _condition(*_: object) -> mock.Mock:
    return mock.MagicMock()


STREAMS: Mapping[str, Callable[[Any, Any], Any]] = {
    "checks": lambda found, before: checked_ranges(found, "records", before),
    "transactions": lambda found, _: batches_in(found, condense=condensed),
    "groups": lambda found, _: batches_in(found, condense=packed),
    "records": lambda found, _: records_in(found),
    "batching": lambda found, _: sized_batches(found),
    "sums": lambda found, _: combined_batches(found),
    "keys": lambda found, _: keyed_records(found),
}


@pytest.fixture(autouse=True)
def _no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_messages_spark.analyses.batching._combined.F.col", _condition)


def ranges_of(
    paths: list[str], resume: dict[str, list[Any]] | None = None, *, most: int = MOST
) -> list[dict[str, Any]]:
    ranges = _segment_ranges._RangesReader("test", paths, None, True, most, [], resume)
    return [row for part in ranges.partitions() for batch in ranges.read(part) for row in batch.to_pylist()]


def read(stream: str, ranges: Rows, before: Mapping[str, Rows]) -> list[pa.RecordBatch]:
    frame = Frame([pa.RecordBatch.from_pylist(ranges, schema=_segment_ranges.SCHEMA)] if ranges else [])
    found: list[pa.RecordBatch] = STREAMS[stream](frame, before).batches
    return found


@dataclass
class Run:
    """A run as ``_incremental.rows_of`` does it, without Spark."""

    logs: Path
    place: Path
    stream: str
    options: Mapping[str, object] = field(default_factory=dict)
    plan: _folder.ReadPlan = field(default_factory=_folder.ReadPlan)

    def rows(self, *, most: int = MOST) -> Rows:
        by_start = self.stream == "checks"
        folder = _folder.StateFolder.open(str(self.place / self.stream), self.options)
        names = ("path", "size", "modified", "is_closed")
        found = [row for row in ranges_of([str(self.logs)], most=most) if row["start"] == 0]
        listed = [_folder.ListedFile(*(row[name] for name in names)) for row in found]
        self.plan = plan = folder.plan(listed, most if by_start else None)
        before: dict[str, Rows] = {}
        if by_start:
            for row in self._stored(folder, folder.before(plan, most)):
                before.setdefault(row["file"], []).append(row)
        resume = {path: [each.base, each.position, each.is_closed] for path, each in plan.reads.items()}
        fresh = read(self.stream, ranges_of(list(plan.reads), resume, most=most) if resume else [], before)
        stored = self._batches(folder, plan.live(by_start=by_start))
        merged = bool(plan.kept) and folder.must_merge(plan)
        written = [
            row
            for each in _rows.writer(folder.place)([*stored, *fresh] if merged else fresh)
            for row in each.to_pylist()
        ]
        folder.save(plan, written, merged=merged)
        self.problem = folder.problem
        return normal(self.stream, [*stored, *fresh])

    @staticmethod
    def _batches(folder: _folder.StateFolder, live: Any) -> list[pa.RecordBatch]:
        live = json.loads(json.dumps(live))
        stored = _rows.StoredReader(folder.place, folder.parts, live)
        return [batch for part in stored.partitions() for batch in stored.read(part)]

    def _stored(self, folder: _folder.StateFolder, live: Any) -> Rows:
        return [row for batch in self._batches(folder, live) for row in batch.to_pylist()]


def full(logs: Path, stream: str, *, most: int = MOST) -> Rows:
    return normal(stream, read(stream, ranges_of([str(logs)], most=most), {}))


def normal(stream: str, batches: list[pa.RecordBatch]) -> Rows:
    rows = [row for batch in batches for row in batch.to_pylist()]
    if stream in _KEYS:
        rows = _combined(rows, _KEYS[stream])
    return sorted(rows, key=repr)


# Keys of rows that combine batches; a run with state has several where a full run has one.
_KEYS = {
    **dict.fromkeys(("transactions", "groups"), ("file", "leader_epoch")),
    "sums": ("file", "producer_id", "compression"),
}
_LOWEST = {"base_offset", "first_offset", "first_timestamp", "lowest_type", "lowest"}
_HIGHEST = {"position", "last_offset", "max_timestamp", "last_timestamp", "highest_type"}


def _combined(rows: Rows, keys: tuple[str, ...]) -> Rows:
    sums: dict[tuple[Any, ...], dict[str, Any]] = {}
    found = []
    for row in rows:
        if row["corrupt"] is not None or row.get("base_sequence") is not None:
            found.append(row)
            continue
        known = sums.setdefault(tuple(row[name] for name in keys), row)
        if known is not row:
            for name in known.keys() - {"topic", "partition", *keys}:
                known[name] = _merged(name, [known[name], row[name]])
    return found + list(sums.values())


def _merged(name: str, values: list[Any]) -> Any:
    there = [value for value in values if value is not None]
    if not there or isinstance(there[0], bool):
        return there[0] if there else None
    if name == "packed":
        return sorted((each for value in there for each in value), key=lambda each: each["last_offset"])
    if isinstance(there[0], list):
        counts = Counter[int]()
        for each in (each for value in there for each in value):
            counts[each["value"]] += each["count"]
        return [{"value": value, "count": count} for value, count in sorted(counts.items())]
    return min(there) if name in _LOWEST else max(there) if name in _HIGHEST else sum(there)


def equal(logs: Path, place: Path) -> dict[str, _folder.ReadPlan]:
    plans = {}
    for stream in STREAMS:
        run = Run(logs, place, stream)
        assert run.rows() == full(logs, stream), stream
        plans[stream] = run.plan
    return plans


class Partition:
    """A partition whose files change as those of a broker, or are damaged; each change takes a second."""

    def __init__(self, folder: Path, random_: random.Random) -> None:
        self.folder, self.random = folder, random_
        self.next = self.clock = 0
        self.pending = b""
        folder.mkdir(parents=True)
        self._path(0).touch()

    def _path(self, base: int) -> Path:
        return self.folder / f"{base:020}.log"

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.log"))

    def _batch(self) -> bytes:
        kind, count = self.random.randrange(5), self.random.randrange(1, 4)
        offset, producer = self.next, self.random.randrange(3)
        self.next += count if kind else 1
        if kind == 0:
            return marker(self.random.choice(["COMMIT", "ABORT"]), offset, offset, producer)
        if kind == 1:
            return data(offset, offset, count=count, compression=self.random.choice([None, "gzip"]))
        sequence = 10**6 * self.random.randrange(2) + offset
        return data(offset, offset, count=count, producer=producer, sequence=sequence, transactional=kind < 4)

    def _write(self, file: Path, content: bytes) -> None:
        self.clock += 1
        file.write_bytes(content)
        os.utime(file, (self.clock, self.clock))

    def append(self) -> None:
        content = b"".join(self._batch() for _ in range(self.random.randrange(1, 6)))
        cut = self.random.randrange(len(content)) if self.random.random() < 0.4 else len(content)
        self._write(self.files[-1], self.files[-1].read_bytes() + self.pending + content[:cut])
        self.pending = content[cut:]

    def roll(self) -> None:
        self._write(self.files[-1], self.files[-1].read_bytes() + self.pending)
        self.pending = b""
        if self.files[-1].stat().st_size:
            self._write(self._path(self.next), b"")

    def lose_offsets(self) -> None:
        self.next += 5

    def clean(self) -> None:
        """Replace closed files by their first and last batches, and more batches, as the log cleaner may."""
        for file in self.files[:-1]:
            batches = _batches(file.read_bytes())
            more = [self._batch()] if self.random.random() < 0.5 else []
            self._write(file, b"".join(batches[:1] + batches[2:] + more))

    def merge(self) -> None:
        """Change the first batch, keep the last and append another, so that the file grows."""
        if len(self.files) > 1 and len(batches := _batches(self.files[0].read_bytes())) > 1:
            changed = data(0, 7, count=9)
            self._write(self.files[0], changed + b"".join(batches[1:]) + data(10**6, 9))

    def retain(self) -> None:
        if len(self.files) > 1:
            self.files[0].unlink()

    def truncate(self) -> None:
        content = self.files[-1].read_bytes()
        self._write(self.files[-1], content[: self.random.randrange(len(content) + 1)] if content else b"")
        self.pending = b""

    def create_anew(self) -> None:
        size = sum(file.stat().st_size for file in self.files)
        for file in self.files:
            file.unlink()
        self.next, self.pending = 0, b""
        self._write(self._path(0), b"")
        while self.files[0].stat().st_size < size:
            self.append()

    def preallocate(self) -> None:
        self._write(self.files[-1], self.files[-1].read_bytes() + self.pending + bytes(200))
        self.pending = b""

    def fill(self) -> None:
        """Write into the zeros of a preallocated file."""
        content = self.files[-1].read_bytes()
        used = content.rstrip(b"\0")
        self._write(self.files[-1], (used + self._batch()).ljust(len(content), b"\0"))

    def damage(self) -> None:
        file = self.random.choice(self.files)
        content = bytearray(file.read_bytes())
        if content:
            content[self.random.randrange(len(content))] ^= 0xFF
            self._write(file, bytes(content))

    def touch(self) -> None:
        self._write(self.files[0], self.files[0].read_bytes())


def _batches(content: bytes) -> list[bytes]:
    found, start = [], 0
    while start + 12 <= len(content):
        size = 12 + int.from_bytes(content[start + 8 : start + 12])
        if not 12 < size <= len(content) - start:
            break
        found.append(content[start : start + size])
        start += size
    return found


CHANGES = (
    *[Partition.append] * 4,
    *(Partition.roll, Partition.roll, Partition.lose_offsets, Partition.clean, Partition.merge, Partition.retain),
    *(Partition.truncate, Partition.create_anew, Partition.preallocate, Partition.fill, Partition.damage),
    Partition.touch,
)


@pytest.mark.parametrize("seed", range(3))
def test_stored_rows_equal_those_of_a_full_read_after_any_changes(seed: int, tmp_path: Path) -> None:
    random_ = random.Random(seed)
    partitions = [Partition(tmp_path / "logs" / name, random_) for name in ("orders-0", "orders-1", "unnamed")]
    generations = set()
    for _ in range(20):
        for partition in partitions:
            for change in random_.choices(CHANGES, k=random_.randrange(3)):
                # Damage to bytes that were read is not detected if the file also grows before the next run.
                if change is Partition.damage:
                    equal(tmp_path / "logs", tmp_path / "state")
                change(partition)
                if change is Partition.damage:
                    equal(tmp_path / "logs", tmp_path / "state")
        equal(tmp_path / "logs", tmp_path / "state")
        generations.add(len(_folder.StateFolder.open(str(tmp_path / "state" / "checks"), {}).parts))
    assert max(generations) > 1


class Recording(io.FileIO):
    read_ranges: list[tuple[str, int, int]]

    def readinto(self, buffer: Any) -> int:
        start = self.tell()
        size = super().readinto(buffer) or 0
        if size:
            self.read_ranges.append((os.path.basename(str(self.name)), start, start + size))
        return size


@pytest.mark.parametrize("stream", STREAMS)
def test_only_new_bytes_are_read(stream: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = b"".join(data(offset, count=5) for offset in range(0, 500, 5))
    segment(tmp_path / "logs", "orders-0", old)
    active = segment(tmp_path / "logs", "orders-0", old, data(500), base=500)
    most = 1 << 20
    assert Run(tmp_path / "logs", tmp_path / "state", stream).rows(most=most) == full(
        tmp_path / "logs", stream, most=most
    )
    new = data(501, count=5)
    last = len(data(500))
    with active.open("ab") as file:
        file.write(new)
    segment(tmp_path / "logs", "orders-1", data(0))
    found: list[tuple[str, int, int]] = []
    Recording.read_ranges = found
    opened = lambda path, *_, **__: Recording(path)  # noqa: E731
    with monkeypatch.context() as patch:
        patch.setattr(reader, "open", opened, raising=False)
        patch.setattr("kafka_messages_spark.sources._files.open", opened, raising=False)
        rows = Run(tmp_path / "logs", tmp_path / "state", stream).rows(most=most)
    assert rows == full(tmp_path / "logs", stream, most=most)
    # The header of the last known batch, and from this batch on.
    assert {(name, start) for name, start, _ in found} == {(active.name, len(old)), (f"{0:020}.log", 0)}
    assert max(end for name, _, end in found if name == active.name) == active.stat().st_size
    assert sum(end - start for _, start, end in found) < 6 * (last + len(new)) < len(old)


def test_unchanged_files_are_not_read_and_removed_files_leave_the_state(tmp_path: Path) -> None:
    first = segment(tmp_path / "logs", "orders-0", data(0))
    segment(tmp_path / "logs", "orders-0", data(1), base=1)
    equal(tmp_path / "logs", tmp_path / "state")
    assert not any(plan.reads for plan in equal(tmp_path / "logs", tmp_path / "state").values())
    first.unlink()
    assert not any(plan.reads for plan in equal(tmp_path / "logs", tmp_path / "state").values())
    for stream in STREAMS:
        assert str(first) not in _folder.StateFolder.open(str(tmp_path / "state" / stream), {}).files


def test_many_runs_are_merged(tmp_path: Path) -> None:
    logs, place = tmp_path / "logs", tmp_path / "state"
    counts = []
    for offset in range(40):
        file = segment(logs, "orders-0", *(data(each) for each in range(offset + 1)))
        os.utime(file, (offset, offset))
        assert Run(logs, place, "batching").rows() == full(logs, "batching")
        counts.append(len(_folder.StateFolder.open(str(place / "batching"), {}).parts))
    assert max(counts) == _folder.MAX_GENERATIONS
    assert counts[-1] < _folder.MAX_GENERATIONS


def _kill(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    "place",
    [
        "kafka_messages_spark.state._rows._last",
        "kafka_messages_spark.state._folder.StateFolder.save",
        "kafka_messages_spark.state._folder.StateFolder._write",
        "kafka_messages_spark.state._folder.json.dumps",
        "kafka_messages_spark.state._folder.StateFolder._clean",
    ],
)
def test_killed_run_leaves_a_valid_state(place: str, tmp_path: Path) -> None:
    logs, state = tmp_path / "logs", tmp_path / "state"
    segment(logs, "orders-0", data(0), data(1))
    equal(logs, state)
    segment(logs, "orders-0", data(0), data(1), data(2))
    segment(logs, "orders-1", data(0))
    child = os.fork()
    if not child:
        with mock.patch(place, _kill):
            equal(logs, state)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    plans = equal(logs, state)
    assert bool(plans["checks"].reads) == (not place.endswith("_clean"))


def test_full_disk_leaves_the_earlier_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs, state = tmp_path / "logs", tmp_path / "state"
    segment(logs, "orders-0", data(0))
    equal(logs, state)
    place = state / "keys" / "files.json"
    before = place.read_bytes()
    fill_disk(monkeypatch)
    with pytest.raises(OSError, match=re.escape(f"No space left on device: '{place}'")):
        _folder.StateFolder.open(str(state / "keys"), {}).save(_folder.ReadPlan(), [], merged=True)
    assert place.read_bytes() == before
    assert not [each for each in place.parent.iterdir() if each.name != place.name and each.suffix != ".parquet"]


def test_runs_at_the_same_time_do_not_damage_the_state(tmp_path: Path) -> None:
    logs, state = tmp_path / "logs", tmp_path / "state"
    segment(logs, "orders-0", data(0))
    equal(logs, state)
    first = _folder.StateFolder.open(str(state / "keys"), {})
    segment(logs, "orders-0", data(0), data(1))
    equal(logs, state)
    first.save(_folder.ReadPlan(), [], merged=True)
    equal(logs, state)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda text: text[:-1], "Expecting ',' delimiter: line 1 column"),
        (
            lambda text: text.replace(f'"format": {_folder.FORMAT}', '"format": 0'),
            "it was written with other options or another version",
        ),
        (lambda text: text.replace('"counts"', '"x"'), "missing 'counts'"),
        (lambda text: text.replace('.parquet": ', '.parquet": 1'), "is missing, or has not"),
        (lambda text: text.replace('"parts": {"1"', '"parts": {"2"'), "unknown generation 1"),
    ],
    ids=["json", "version", "content", "part", "generation"],
)
def test_damaged_state_starts_anew(damage: Callable[[str], str], problem: str, tmp_path: Path) -> None:
    logs, state = tmp_path / "logs", tmp_path / "state"
    segment(logs, "orders-0", data(0))
    equal(logs, state)
    manifest = state / "keys" / "files.json"
    manifest.write_text(damage(manifest.read_text()))
    run = Run(logs, state, "keys")
    assert run.rows() == full(logs, "keys")
    assert run.problem is not None
    assert run.problem.startswith(f"{manifest} is not used: ")
    assert problem in run.problem
    assert len(run.plan.reads) == 1
    again = Run(logs, state, "keys")
    again.rows()
    assert (again.problem, again.plan.reads) == (None, {})


def test_other_options_start_anew(tmp_path: Path) -> None:
    logs, state = tmp_path / "logs", tmp_path / "state"
    segment(logs, "orders-0", data(0))
    Run(logs, state, "checks", {"depth": "records"}).rows()
    run = Run(logs, state, "checks", {"depth": "batches"})
    run.rows()
    assert run.problem == (
        f"{state}/checks/files.json is not used: it was written with other options or another version: {{'depth': 'records'}}"
    )


def test_damaged_rows_are_an_error(tmp_path: Path) -> None:
    logs, state = tmp_path / "logs", tmp_path / "state"
    segment(logs, "orders-0", data(0, count=50))
    equal(logs, state)
    (part,) = (state / "keys").glob("*.parquet")
    content = bytearray(part.read_bytes())
    content[60] ^= 0xFF
    part.write_bytes(content)
    with pytest.raises(PySparkValueError) as caught:
        Run(logs, state, "keys").rows()
    assert str(caught.value).startswith(f"--state: {part} is missing or damaged; delete its folder to start anew: ")


def test_times_are_stored_in_utc(tmp_path: Path) -> None:
    tokyo, utc = (pa.timestamp("us", tz=zone) for zone in ("Asia/Tokyo", "UTC"))

    def schema(kind: pa.DataType) -> pa.Schema:
        of_batch = pa.list_(pa.field("element", pa.struct([pa.field("time", kind)])))
        names = {"file": pa.string(), "position": pa.int64(), "base_offset": pa.int64(), "corrupt": pa.bool_()}
        return pa.schema({**names, "time": kind, "packed": of_batch})

    row = {"file": "a", "position": 0, "base_offset": 0, "time": 1_000_000, "packed": [{"time": 2_000_000}]}
    (found,) = _rows.writer(str(tmp_path))([pa.RecordBatch.from_pylist([row], schema=schema(tokyo))])
    (name,) = found.column("part").to_pylist()
    stored = _rows.StoredReader(str(tmp_path), {"1": {name: 1}}, {"1": {"a": (None, None, None)}})
    (batch,) = stored.read(stored.partitions()[0])
    assert batch == pa.RecordBatch.from_pylist([row], schema=schema(utc))
