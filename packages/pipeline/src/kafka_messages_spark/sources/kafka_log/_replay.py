"""Find the records of a planned batch again after a restart and compaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from .._files import File, is_local, open_filesystem
from ._batch_scan import BatchScan
from ._progress import base_of
from ._range_reader import Range


class StreamReplay:
    def __init__(self, files: Iterable[File], scan_batches: Callable[[File, int, int | None], BatchScan]) -> None:
        self._scan_batches = scan_batches
        self._folders: defaultdict[str, list[File]] = defaultdict(list)
        for file in files:
            self._folders[file.folder].append(file)

    def found(self, part: Range, lowest: int | None) -> Range:
        """Return ``part``, or a range of the file into which the cleaner moved the records of ``part``.

        The cleaner moves records to a file with a lower base offset, never from the last file.
        """
        files = self._folders[part.name.rpartition("/")[0]]
        if part.limit is None or lowest is None or self._is_as_planned(part, files):
            return part
        segments = sorted((base, file.name, file) for file in files if (base := base_of(file.base_name)) is not None)
        before = [file for base, _, file in segments[:-1] if base <= lowest]
        if not before:
            return part
        now = before[-1]
        lowest = max(lowest, part.from_offset or 0)
        return Range(now.name, now.root, now.path, 0, now.size, from_offset=lowest, limit=part.limit, size=now.size)

    def _is_as_planned(self, part: Range, files: Iterable[File]) -> bool:
        assert part.end is not None
        assert part.limit is not None
        file = next((each for each in files if each.name == part.name), None)
        if file is None or file.size < part.end:
            return False
        if not is_local(open_filesystem(part.root)[0]):
            return True  # checking would read most of the file
        return all(self._is_boundary(file, place, part.limit) for place in (part.start, part.end) if place)

    def _is_boundary(self, file: File, place: int, limit: int) -> bool:
        found = self._scan_batches(file, 0, place)
        if not found.is_batch or found.next_offset is None:
            return True
        return (found.end == place or not found.is_cut) and found.next_offset <= limit
