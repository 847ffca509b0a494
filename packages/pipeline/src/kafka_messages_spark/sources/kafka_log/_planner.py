"""Planner of a stream's micro-batches.

Segments are read in the order of their base offsets; all segments with names before the current one are done. Other
files are tracked individually.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

from .._files import File
from ._batch_scan import BatchScan
from ._progress import VERSION, FolderPosition, Progress

# Time without writes after which a file with a successor is complete.
SETTLE_SECONDS = 60.0
_SEGMENT = re.compile(r"([0-9]{20})(?:[-.].*)?(\.[^.]+)")


@dataclass(frozen=True)
class LogAccess:
    # Find the end of the complete batches from a position on, in at most the given bytes (None: to the end of the file).
    scan_batches: Callable[[File, int, int | None], BatchScan]
    # The same from a position that is not the start of a batch, to the end of the file.
    beyond_damage: Callable[[File, int], BatchScan]
    # Callback for possible data loss; may raise.
    lost: Callable[[str], None]


@dataclass
class Limit:
    """Limits of one micro-batch; at least one file or record batch is taken."""

    files: int | None = None
    bytes: int | None = None
    count: int = 0

    def take(self, size: int) -> None:
        self.count += 1
        if self.bytes is not None:
            self.bytes = max(0, self.bytes - size)

    @property
    def is_reached(self) -> bool:
        return self.count > 0 and (self.bytes == 0 or (self.files is not None and self.count >= self.files))


class BatchPlanner:
    """Planner of successive micro-batches; remembers file names to detect files that appear late."""

    def __init__(self, access: LogAccess, clock: Callable[[], float] = time.time) -> None:
        self._access = access
        self._clock = clock
        self._seen: defaultdict[str, set[str]] = defaultdict(set)

    def plan(self, start: Progress, files: Iterable[File], limit: Limit) -> Progress:
        listed: defaultdict[str, list[File]] = defaultdict(list)
        for file in files:
            listed[group_of(file)].append(file)
        groups = []
        for key in sorted(listed.keys() | start.folders.keys()):
            group = _SegmentGroup(
                key, listed[key], start.folders.get(key, FolderPosition()), self._access, self._clock()
            )
            self._notice_late(group)
            groups.append(group)
        self._fill(groups, limit)
        if not any(group.has_news for group in groups):
            return start
        return Progress({group.key: folder for group in groups if (folder := group.folder()) != FolderPosition()})

    def _fill(self, groups: list[_SegmentGroup], limit: Limit) -> None:
        queue = [(ready.file.modified, number) for number, group in enumerate(groups) if (ready := group.peek())]
        heapify(queue)
        while queue and not limit.is_reached:
            _, number = heappop(queue)
            if not groups[number].take(limit):
                return
            if ready := groups[number].peek():
                heappush(queue, (ready.file.modified, number))

    def _notice_late(self, group: _SegmentGroup) -> None:
        seen, names = self._seen[group.key], group.names
        late = [name for name in names if seen and name not in seen and group.is_done(name)]
        seen.update(names)
        if late:
            self._access.lost(
                f"{group.name_of(late[0])} appeared after later segments of its folder had been read, and is skipped"
            )


@dataclass(frozen=True)
class _Ready:
    file: File
    position: int
    # For a rewritten file: read from the start, but skip records below this offset.
    from_offset: int | None = None


class _SegmentGroup:
    def __init__(self, key: str, files: list[File], start: FolderPosition, access: LogAccess, now: float) -> None:
        self.key = key
        self._in_order = is_in_order(key)
        self._files = {file.base_name: file for file in files}
        self.names = sorted(self._files)
        self._start = start
        self._scan_batches, self._beyond, self._lost = access.scan_batches, access.beyond_damage, access.lost
        self._now = now
        self._through = start.through
        self._read = (
            dict(start.files) if self._in_order else {n: at for n, at in start.files.items() if n in self._files}
        )
        self._again: dict[str, tuple[int, int]] = {}
        self._rewritten: set[str] = set()
        self._undecided: set[str] = set()
        self._next = start.next_offset
        self.has_news = False
        self._queue = self._ready()
        self._peeked: _Ready | None = None

    def is_done(self, name: str) -> bool:
        return self._in_order and self._through is not None and name <= self._through and name not in self._read

    def name_of(self, base_name: str) -> str:
        return self.key[: self.key.rfind("/") + 1] + base_name

    def peek(self) -> _Ready | None:
        if self._peeked is None:
            self._peeked = next(self._queue, None)
        return self._peeked

    def take(self, limit: Limit) -> bool:
        """Take new data of the next file within the limit; return False if nothing more fits."""
        ready = self.peek()
        assert ready is not None
        file = ready.file
        if ready.from_offset is not None:
            self._again[file.base_name] = (file.size, ready.from_offset)
            self._note(limit, file.size)
            return True
        found = self._new(ready, limit.bytes)
        size = found.end - ready.position
        if size and limit.count and limit.bytes is not None and size > limit.bytes:
            return False
        if size:
            self._read[file.base_name] = found.end
            if file.base_name == max(self._read):
                self._next = found.next_offset
            self._note(limit, size)
        if found.is_cut:
            self._queue = iter(())
        self._peeked = None
        return True

    def _note(self, limit: Limit, size: int) -> None:
        self._peeked = None
        self.has_news = True
        limit.take(size)

    def _new(self, ready: _Ready, most: int | None) -> BatchScan:
        file, position = ready.file, ready.position
        if self._is_settled(file) and (most is None or file.size - position <= most):
            return BatchScan(file.size)
        found = self._scan_batches(file, position, most)
        return found if found.is_batch or found.end > position else self._beyond(file, position)

    def folder(self) -> FolderPosition:
        if not self._in_order:
            return FolderPosition(files=self._read, from_offset=self._start.from_offset)
        if self._peeked is not None and self._peeked.from_offset is not None:
            return self._start  # the limit was reached before the rewritten file
        last = max(self._read, default="")
        for name in self.names:
            if name < last and not self.is_done(name):
                self._read.setdefault(name, 0)  # empty so far; the cleaner may fill it with records already read
        self._tidy()
        last = max(self._read, default=self._through or "")
        later = [name for name in self.names if name > last]
        next_offset = self._next
        is_partly_read = last in self._read and last in self._files and self._files[last].size > self._read[last]
        if last and later and not is_partly_read:
            # Remember the next file, to detect its deletion before it is read.
            self._read[later[0]] = 0
            next_offset = _base(later[0])
        from_offset = self._start.from_offset
        return FolderPosition(self._through, self._read, next_offset if self._read else None, self._again, from_offset)

    def _tidy(self) -> None:
        for name in sorted(self._read):
            if self._read[name] != self._start.files.get(name) or not self._is_superseded(name):
                return
            file = None if name in self._rewritten else self._files.get(name)
            if file is not None and (not self._is_settled(file) or file.size > self._read[name]):
                return
            del self._read[name]
            self._through = name

    def _ready(self) -> Iterator[_Ready]:
        if self._in_order:
            yield from self._resumed()
        for name in self.names:
            file, position = self._files[name], self._read.get(name, 0)
            if self.is_done(name) or name in self._rewritten | self._undecided or file.size <= position:
                if file.size < position and not self._in_order:
                    self._lost(f"{file.name} has {file.size} bytes, but {position} have been read")
                continue
            yield _Ready(file, position)

    def _resumed(self) -> Iterator[_Ready]:
        """Yield the file that now has the unread records, if the last read file was deleted, truncated or rewritten."""
        if not self._read:
            return
        last = max(self._read)
        for name, after in pairwise(sorted(self._read)):
            # All files but the last were complete: new bytes were copied late or written by compaction.
            if name in self._files:
                goes_on = self._goes_on(name, None, _base(after))
                (self._undecided if goes_on is None else self._rewritten if not goes_on else set()).add(name)
        file, position = self._files.get(last), self._read[last]
        goes_on = file is not None and self._goes_on(last, self._next, None)
        if goes_on is None:
            self._undecided.update(self.names)
        if goes_on is not False:
            return
        later = [name for name in self.names if name > last]
        if not later:
            if file is not None:
                self._lost(f"{file.name} was truncated or replaced after {position} bytes had been read")
                self._read[last] = self._scan_batches(file, 0, None).end
            return
        self._read.clear()
        self._through = last
        following = _base(later[0])
        if self._next is not None and following <= self._next:
            return
        before = [name for name in self.names if name <= last and self._next is not None and _base(name) <= self._next]
        if before and self._next is not None:
            yield _Ready(self._files[before[-1]], 0, self._next)
            return
        expected = "the following offset" if self._next is None else f"offset {self._next}"
        self._lost(
            f"{self.name_of(last)} was deleted or rewritten; expected {expected}, but "
            f"{self.name_of(later[0])} begins later"
        )

    def _goes_on(self, name: str, lowest: int | None, limit: int | None) -> bool | None:
        """Return whether reading can continue at the read position; False for a rewritten file, None if undecided.

        It can if the offset at this position is at least ``lowest`` and below ``limit``.
        """
        file, position = self._files[name], self._read[name]
        if file.size < position:
            return False
        if file.size == position:
            later = [_base(each) for each in self.names if each > name]
            return lowest is None or not later or later[0] <= lowest or self._ends_below(file, position, lowest)
        found = self._scan_batches(file, position, 1)
        if found.first_offset is not None:
            first = found.first_offset
            if lowest is not None and first > lowest and self._is_superseded(name):
                return self._ends_below(file, position, lowest)
            return (lowest is None or first >= lowest) and (limit is None or first < limit)
        if not self._is_superseded(name):
            return True  # an incomplete batch, or damage that the reader reports
        return False if self._is_settled(file) else None

    def _ends_below(self, file: File, position: int, offset: int) -> bool:
        if not position:
            return True
        before = self._scan_batches(file, 0, position)
        return not before.is_batch or before.next_offset is None or before.next_offset <= offset

    def _is_superseded(self, name: str) -> bool:
        return bool(self.names) and name < self.names[-1]

    def _is_settled(self, file: File) -> bool:
        is_last = not self._in_order or not self._is_superseded(file.base_name)
        return not is_last and self._now - file.modified >= SETTLE_SECONDS


def latest(progress: Progress, files: Iterable[File]) -> dict[str, Any]:
    """Return the last file of each group, and the numbers of unread files and bytes, as a JSON object."""
    folders: dict[str, Any] = {}
    unread = []
    for file in sorted(files, key=lambda each: each.name):
        key, name = group_of(file), file.base_name
        folders[key] = {"last": name, "bytes": file.size}
        read = progress.folders.get(key, FolderPosition())
        is_done = name in read.again or (read.is_done(name) and name not in read.files and is_in_order(key))
        unread.append(0 if is_done else max(0, file.size - read.files.get(name, 0)))
    behind = {"files": sum(map(bool, unread)), "bytes": sum(unread)}
    return {"version": VERSION, "folders": folders, "behind": behind}


def group_of(file: File) -> str:
    found = _SEGMENT.fullmatch(file.base_name)
    place = file.name.removesuffix(file.base_name)
    return f"{place}*{found[2]}" if found else place


def is_in_order(group: str) -> bool:
    return not group.endswith("/") and group != ""


def closed_files(files: Iterable[File]) -> set[str]:
    """Return the names of the segments that a later one follows."""
    groups: defaultdict[str, list[File]] = defaultdict(list)
    for file in files:
        groups[group_of(file)].append(file)
    last = {group: max(file.base_name for file in found) for group, found in groups.items() if is_in_order(group)}
    return {file.name for group in last for file in groups[group] if file.base_name < last[group]}


def _base(name: str) -> int:
    return int(name[:20])
