"""State of incremental runs: for each file, the rows that a job derives from it, and the bytes that they cover.

A folder ``FOLDER/JOB/STREAM`` holds Parquet files of rows and ``files.json``, which lists them. A run writes new Parquet
files and replaces ``files.json`` at its end. What ``files.json`` does not list is ignored.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from struct import unpack_from
from typing import Any

import pyarrow as pa
from kafka_records.format import HEADER, OVERHEAD, SMALLEST
from pyarrow import fs

from ..sources._files import display_path, open_file, open_filesystem, write_file
from ..sources._segment_ranges import Resume
from ._rows import Live

# Version of files.json and of the rows.
FORMAT = 4
# Runs whose rows are kept apart; then all rows are written anew, also if less than half of the files are live.
MAX_GENERATIONS = 16
_MANIFEST = "files.json"
# Files that no run lists are deleted after this time, because another run may be writing them.
_ABANDONED_SECONDS = 86_400


@dataclass(frozen=True)
class LastBatch:
    """The last batch of a file, by which a later run recognizes the file."""

    position: int
    # First bytes of the batch.
    header: bytes
    end: int


@dataclass(frozen=True)
class StoredFile:
    size: int
    # Seconds since the epoch.
    modified: float
    is_closed: bool
    mark: LastBatch | None
    # Exclusive end of the column start in the rows that are still valid, or None for all, by generation.
    rows: Mapping[str, int | None]


@dataclass(frozen=True)
class ListedFile:
    path: str
    size: int
    modified: float
    is_closed: bool


@dataclass
class ReadPlan:
    """What to read, by path, and the stored files that stay valid, by display name."""

    reads: dict[str, Resume] = field(default_factory=dict)
    listed: dict[str, ListedFile] = field(default_factory=dict)
    kept: dict[str, StoredFile] = field(default_factory=dict)
    bytes: int = 0

    def live(self, *, by_start: bool) -> dict[str, dict[str, Live]]:
        """Return the rows to use, by generation and file; with ``by_start``, rows have ranges and the size of the file."""
        found: dict[str, dict[str, Live]] = {}
        for name, file in self.kept.items():
            for generation, end in file.rows.items():
                size = self.listed[name].size if by_start else None
                found.setdefault(generation, {})[name] = (None, end, size)
        return found


@dataclass
class StateFolder:
    """State of one stream of rows."""

    place: str
    # What determines the rows beside the files.
    options: Mapping[str, object]
    files: dict[str, StoredFile] = field(default_factory=dict)
    # Number of files, and size by Parquet file, by generation.
    counts: dict[str, int] = field(default_factory=dict)
    parts: dict[str, dict[str, int]] = field(default_factory=dict)
    # Why an existing state is not used.
    problem: str | None = None

    @classmethod
    def open(cls, place: str, options: Mapping[str, object]) -> StateFolder:
        found = cls(place, options)
        filesystem, folder, _ = open_filesystem(place, "--state")
        try:
            with filesystem.open_input_file(f"{folder}/{_MANIFEST}") as file:
                content = json.loads(file.read())
            if (content["format"], content["options"]) != (FORMAT, dict(options)):
                raise ValueError(f"it was written with other options or another version: {content['options']}")
            found._parse(content)
            found._check(filesystem, folder)
        except FileNotFoundError:
            return cls(place, options)
        except (ValueError, KeyError, TypeError, AttributeError, OSError, pa.ArrowException) as error:
            reason = f"missing {error}" if isinstance(error, KeyError) else str(error)
            return cls(place, options, problem=f"{display_path(place)}/{_MANIFEST} is not used: {reason}")
        return found

    def _parse(self, content: dict[str, Any]) -> None:
        self.counts, self.parts = content["counts"], content["parts"]
        for name, (size, modified, is_closed, mark, rows) in content["files"].items():
            self.files[name] = StoredFile(size, modified, is_closed, _mark_of(mark), rows)

    def _check(self, filesystem: Any, folder: str) -> None:
        sizes = {name: size for parts in self.parts.values() for name, size in parts.items()}
        there = filesystem.get_file_info([f"{folder}/{name}" for name in sizes])
        for info, (name, size) in zip(there, sizes.items(), strict=True):
            if info.size != size:
                raise ValueError(f"{name} is missing, or has not {size} bytes")
        if unknown := {key for file in self.files.values() for key in file.rows} - self.parts.keys():
            raise ValueError(f"unknown generation {min(unknown)}")

    @property
    def bytes(self) -> int:
        return sum(size for parts in self.parts.values() for size in parts.values())

    def plan(self, files: Iterable[ListedFile], most: int | None = None) -> ReadPlan:
        """Decide what to read; ``most`` is the size of the ranges if rows describe whole ranges."""
        plan = ReadPlan()
        for file in files:
            name = display_path(file.path)
            plan.listed[name] = file
            known = self.files.get(name)
            resume, kept = (None, None) if known is None else _resume(known, file)
            if kept is None:
                resume = Resume(None, 0, file.is_closed)
            elif resume is not None and most:
                start = resume.position // most * most
                rows = {key: start if end is None else min(end, start) for key, end in kept.rows.items()}
                kept = replace(kept, rows=rows)
            if kept is not None:
                plan.kept[name] = kept
            if resume is not None:
                plan.reads[file.path] = resume
                plan.bytes += max(0, file.size - resume.position)
        return plan

    def before(self, plan: ReadPlan, most: int) -> dict[str, dict[str, Live]]:
        """Return the rows of the ranges of ``most`` bytes in which reading goes on."""
        found: dict[str, dict[str, Live]] = {}
        for path, resume in plan.reads.items():
            name = display_path(path)
            for generation, end in self.files[name].rows.items() if resume.base is not None else ():
                start = resume.position // most * most
                if end is None or start < end:
                    found.setdefault(generation, {})[name] = (start, start + 1, plan.listed[name].size)
        return found

    def must_merge(self, plan: ReadPlan) -> bool:
        live = sum(len(file.rows) for file in plan.kept.values())
        return len(self.parts) >= MAX_GENERATIONS or 2 * live < sum(self.counts.values())

    def save(self, plan: ReadPlan, written: Iterable[Mapping[str, Any]], *, merged: bool) -> None:
        """Replace ``files.json``; ``written`` has the rows of ``writer``, of all rows if ``merged``."""
        if not plan.reads and not merged and plan.kept.keys() == self.files.keys():
            return
        generation = str(max(map(int, self.parts), default=0) + 1)
        parts: dict[str, int] = {}
        last: dict[str, tuple[int, int]] = {}
        corrupt: set[str] = set()
        for row in written:
            parts[row["part"]] = row["bytes"]
            last[row["file"]] = max(last.get(row["file"], (-1, -1)), (row["position"], row["offset"]))
            corrupt |= {row["file"]} if row["corrupt"] else set()
        files = {}
        for name, listed in plan.listed.items():
            kept = plan.kept.get(name)
            rows: dict[str, int | None] = {} if merged or kept is None else dict(kept.rows)
            if name in last:
                rows[generation] = None
            mark = None if kept is None else kept.mark
            if name not in corrupt and listed.path in plan.reads and last.get(name, (-1, -1))[0] >= 0:
                mark = _mark(listed.path, *last[name])
                if mark is None:
                    continue
            if name not in corrupt:
                files[name] = StoredFile(listed.size, listed.modified, listed.is_closed, mark, rows)
        used = {name for each in self.parts.values() for name in each}
        self.files, live = files, {key for file in files.values() for key in file.rows}
        self.parts = {key: each for key, each in (self.parts | {generation: parts}).items() if key in live}
        counts = self.counts | {generation: len(last)}
        self.counts = {key: counts[key] for key in self.parts}
        self._write(used)

    def _write(self, used: set[str]) -> None:
        filesystem, folder, _ = open_filesystem(self.place)
        filesystem.create_dir(folder)
        content = {"format": FORMAT, "options": dict(self.options), "counts": self.counts, "parts": self.parts}
        content["files"] = {name: _entry(file) for name, file in sorted(self.files.items())}
        write_file(filesystem, f"{folder}/{_MANIFEST}", json.dumps(content).encode())
        # Another run may still read what the state listed before.
        self._clean(filesystem, folder, used | {_MANIFEST})

    def _clean(self, filesystem: Any, folder: str, used: set[str]) -> None:
        listed = {name for parts in self.parts.values() for name in parts} | used
        for info in filesystem.get_file_info(fs.FileSelector(folder)):
            age = time.time() - (info.mtime_ns or 0) / 1e9
            if info.base_name not in listed and age > _ABANDONED_SECONDS:
                with contextlib.suppress(OSError):
                    filesystem.delete_file(info.path)


def _entry(file: StoredFile) -> list[Any]:
    mark = file.mark
    of_mark = [mark.position, mark.header.hex(), mark.end] if mark else None
    return [file.size, file.modified, file.is_closed, of_mark, file.rows]


def _mark_of(entry: list[Any] | None) -> LastBatch | None:
    return None if entry is None else LastBatch(entry[0], bytes.fromhex(entry[1]), entry[2])


def _resume(known: StoredFile, file: ListedFile) -> tuple[Resume | None, StoredFile | None]:
    """Return where to go on, or None for nowhere, and the stored file, or None if the file has to be read as a whole."""
    is_same = (known.size, known.modified) == (file.size, file.modified)
    if is_same and known.is_closed == file.is_closed:
        return None, known
    # The log cleaner may replace a closed file by a larger one that has the same last batch.
    has_grown = file.size > known.size and not file.is_closed and not known.is_closed
    mark = known.mark
    if mark is None or not (is_same or has_grown) or not _header(file.path, mark.position).startswith(mark.header):
        return None, None
    return Resume(mark.position, mark.end, file.is_closed), known


def _header(path: str, position: int) -> bytes:
    try:
        with contextlib.closing(open_file(path, open_filesystem(path)[1])) as file:
            file.seek(position)
            return bytes(file.read(HEADER))
    except OSError:
        return b""


def _mark(path: str, position: int, offset: int) -> LastBatch | None:
    """Return the mark of the batch at a position, or None if another batch than that with ``offset`` is there."""
    header = _header(path, position)
    if len(header) < SMALLEST[0]:
        return None
    base, length = unpack_from(">qi", header)
    delta = unpack_from(">i", header, 23)[0] if header[16] == 2 else 0
    size = OVERHEAD + length
    return LastBatch(position, header[:size], position + size) if offset in (base, base + delta) else None
