"""Stream reader of ``kafka_log``; offsets are exact byte ranges, so that a restart repeats the same batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from ..._core.errors import invalid_argument
from .._files import File, is_local, locate, open_filesystem
from .._shares import shares
from ._batch_scan import BatchScan, beyond_damage, scan_batches
from ._log_options import NAME, LogColumns, LogOptions, topic_to_decode
from ._logs import starting_progress
from ._offset_options import EARLIEST, LATEST, check_stream_offsets
from ._planner import BatchPlanner, Limit, LogAccess, latest
from ._progress import FolderPosition, Progress, base_of
from ._range_reader import Range, read_share, report_data_loss, split

# Key that marks an offset as the configured start of the stream.
_INITIAL = "initial"
# Key of the initial offset in the offset after the first batch.
_FIRST = "first"


class StreamReplay:
    """Find the records of a planned batch again after a restart and compaction."""

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


class LogStream:
    def __init__(self, options: LogOptions, schema: StructType) -> None:
        self._options = options
        if options.files.modified_after is not None or options.files.modified_before is not None:
            raise invalid_argument(
                f"{NAME}: the options 'modifiedAfter' and 'modifiedBefore' are not supported by streams"
            )
        if options.committed:
            raise invalid_argument(f"{NAME}: isolationLevel=read_committed is not supported by streams")
        check_stream_offsets(NAME, options.end)
        self._columns = LogColumns.of(options).chosen(schema)
        self._planner = BatchPlanner(LogAccess(self._scan_batches, self._beyond_damage, self._lost))
        self._places = options.files.places(NAME)
        self._target: list[File] | None = None
        self._first: dict[str, Any] | None = None
        self._last: dict[str, Any] | None = None
        self._listed: list[File] = []

    def initialOffset(self) -> dict[str, Any]:
        if self._first is None:
            start, files = self._options.start, self._files
            if start.is_all(EARLIEST):
                self._first = Progress().to_json()
            elif start.is_all(LATEST):
                self._first = self._planner.plan(Progress(), files(), Limit()).to_json() | {_INITIAL: True}
            else:
                self._first = starting_progress(self._options, files()).to_json() | {_INITIAL: True}
        return self._first

    def planned(self, start: dict[str, Any], limit: Limit) -> dict[str, Any]:
        """Return the offset after the next batch, or ``start`` itself if there is no new data.

        Unless the stream starts at earliest, the first batch's offset contains the initial offset: Spark does not store the
        initial offset, but needs it after a crash.
        """
        progress = Progress.from_json(NAME, start)
        files = self._files() if self._target is None else self._target
        self._listed = files
        found = self._planner.plan(progress, files, limit)
        first = {_FIRST: start} if _INITIAL in start else {}
        self._last = start if found is progress else found.to_json() | first
        return self._last

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """Report the last files and the unread data to ``StreamingQueryProgress`` (Spark 4.2); None before the first plan."""
        if self._last is None:
            return None
        return latest(Progress.from_json(NAME, self._last), self._listed)

    def freeze_files(self) -> None:
        self._target = self._files()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if _INITIAL in start:
            start = end.get(_FIRST, start)
        before, after = Progress.from_json(NAME, start), Progress.from_json(NAME, end)
        most = self._options.max_partition_bytes
        replay = None if end == self._last else StreamReplay(self._files(), self._scan_batches)
        parts = [
            part
            for key, folder in after.folders.items()
            for whole, lowest in self._ranges(key, before.folders.get(key, FolderPosition()), folder)
            for part in split(whole if replay is None else replay.found(whole, lowest), most)
        ]
        return shares(parts, most)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return read_share(self._options, self._columns, partition)

    def _ranges(self, key: str, before: FolderPosition, after: FolderPosition) -> Iterator[tuple[Range, int | None]]:
        place, limits, least = key[: key.rfind("/") + 1], after.limits(), after.from_offset
        for name, (end, offset) in after.again.items():
            if before.again.get(name) != (end, offset):  # equal: an earlier batch has read the file
                yield self._range(place + name, 0, end, max(offset, least or 0), limits.get(name)), offset
        for name, end in after.files.items():
            start = before.files.get(name, 0)
            if start < end and not before.is_done(name):
                is_last = start > 0 and name == max(before.files)
                lowest = base_of(name) if not start else before.next_offset if is_last else None
                yield self._range(place + name, start, end, least, limits.get(name)), lowest

    def _range(self, name: str, start: int, end: int, from_offset: int | None, limit: int | None) -> Range:
        root, path = locate(NAME, self._places, name)
        # The plan for an open segment ends at its last complete batch, so an incomplete batch belongs to a closed segment.
        return Range(name, root, path, start, end, start, end, from_offset, limit, size=end - start, is_closed=True)

    def _files(self) -> list[File]:
        # Skip folders being deleted or moved; another folder has or had the partition.
        files = [each for each in self._options.files.find(NAME, lenient=True) if each.ending is None]
        if self._options.decode and files:
            topic_to_decode(self._options, files)
        return files

    def _scan_batches(self, file: File, position: int, most: int | None) -> BatchScan:
        try:
            return scan_batches(file, position, most)
        except FileNotFoundError:
            return BatchScan(position)  # deleted since the last listing; the next one omits the file

    def _beyond_damage(self, file: File, position: int) -> BatchScan:
        return beyond_damage(file, position)

    def _lost(self, what: str) -> None:
        report_data_loss(self._options, what)


try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )
except ImportError:  # before Spark 4.2, latestOffset has no arguments

    class KafkaLogStreamReader(LogStream, DataSourceStreamReader):
        """Stream for Spark 4.1: each batch contains all available data."""

        def __init__(self, options: LogOptions, schema: StructType) -> None:
            for name, value in (("maxFilesPerTrigger", options.max_files), ("maxBytesPerTrigger", options.max_bytes)):
                if value is not None:
                    raise invalid_argument(
                        f"{NAME}: the option {name!r} requires Spark 4.2 or later; earlier versions read all new data at once"
                    )
            super().__init__(options, schema)
            self._known = Progress().to_json()
            self._planned_from: dict[str, Any] | None = None

        def initialOffset(self) -> dict[str, Any]:
            self._known = super().initialOffset()
            return self._known

        def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # as Spark 4.1 calls it
            self._planned_from = self._known
            return self.planned(self._known, Limit())

        def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
            if self._planned_from not in (None, start):
                self._report_rewritten_files(Progress.from_json(NAME, start), Progress.from_json(NAME, end))
            self._known = end
            return super().partitions(start, end)

        def _report_rewritten_files(self, start: Progress, end: Progress) -> None:
            whole = self._planner.plan(start, self._files(), Limit())
            for key, after in end.folders.items():
                before, found = (each.folders.get(key, FolderPosition()) for each in (start, whole))
                extended = {name: size for name, size in after.files.items() if size > before.files.get(name, 0)}
                rewritten = found.again.keys() - after.again.keys() - before.again.keys()
                rewritten |= {name for name, size in extended.items() if size > found.files.get(name, 0)}
                if name := min(
                    (each for each in rewritten if each in found.again or not before.is_done(each)), default=""
                ):
                    self._lost(
                        f"{key[: key.rfind('/') + 1]}{name} was rewritten while the query was stopped; before Spark 4.2 a "
                        "source cannot determine which part is new"
                    )

else:

    class KafkaLogStreamReader(LogStream, DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[no-redef]
        """Stream for Spark 4.2 and later, with read limits."""

        def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
            if isinstance(limit, ReadMaxFiles):
                return self.planned(start, Limit(files=limit.max_files))
            if isinstance(limit, ReadMaxBytes):
                return self.planned(start, Limit(bytes=limit.max_bytes))
            return self.planned(start, Limit())

        def getDefaultReadLimit(self) -> ReadLimit:
            if self._options.max_files is not None:
                return ReadMaxFiles(self._options.max_files)
            if self._options.max_bytes is not None:
                return ReadMaxBytes(self._options.max_bytes)
            return ReadAllAvailable()

        def prepareForTriggerAvailableNow(self) -> None:
            self.freeze_files()
