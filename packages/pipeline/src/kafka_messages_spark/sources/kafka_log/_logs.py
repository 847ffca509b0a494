"""Logs as groups of files, limited by options and filters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from kafka_records.segments.names import topic_of

from ..._core.errors import invalid_argument
from .._files import File
from ._batch_filter import Bounds
from ._isolation import CommittedView
from ._log_options import NAME, LogOptions
from ._lookup import first_offset, offset_after, offset_for_time
from ._offset_options import EARLIEST, LATEST, OffsetOption, TopicPartition, check_partitions, no_offset_matched
from ._planner import closed_files, group_of, is_in_order
from ._progress import FolderPosition, Progress, base_of
from ._range_reader import Range, report_data_loss


@dataclass(frozen=True)
class LogFiles:
    """Files of one folder, or in streams of one group (``group_of``), sorted by name."""

    folder: str
    files: tuple[File, ...]

    @property
    def partition(self) -> TopicPartition | None:
        """Topic and partition in the folder name, or None."""
        topic, partition = topic_of(self.files[0].name)
        return None if topic is None or partition is None else (topic, partition)

    def within(self, bounds: Bounds) -> Iterator[tuple[File, Bounds]]:
        """Yield the files that may have records within ``bounds``, each with the offsets that its name implies.

        If one has no segment name, yield all files, without offsets: tiered copies, for example, may overlap.
        """
        bases = [base_of(file.base_name) for file in self.files]
        if None in bases:
            yield from ((file, Bounds()) for file in self.files)
            return
        for file, low, high in zip(self.files, bases, [*bases[1:], None], strict=True):
            own = Bounds(low, high)
            if not own.is_apart_from(bounds):
                yield file, own


def logs_of(files: Iterable[File], key_of: Callable[[File], str] = attrgetter("folder")) -> list[LogFiles]:
    found: defaultdict[str, list[File]] = defaultdict(list)
    for file in files:
        found[key_of(file)].append(file)
    return [LogFiles(key, tuple(sorted(each, key=lambda f: f.base_name))) for key, each in found.items()]


def bounds_by_folder(options: LogOptions, logs: Sequence[LogFiles]) -> dict[str, Bounds]:
    """Return each folder's bounds according to the offset options.

    Raises PySparkValueError or DataLossError if the options do not fit the logs, or OSError.
    """
    edges = (options.start, options.end)
    if options.start.is_all(EARLIEST) and options.end.is_all(LATEST):
        return {log.folder: Bounds() for log in logs}
    _check_log_files(edges, logs)
    there = {log.partition for log in logs if log.partition is not None}
    for edge in edges:
        check_partitions(NAME, edge, there)
    return {log.folder: Bounds(_start(options, log), _end(options, log)) for log in logs}


def starting_progress(options: LogOptions, files: Iterable[File]) -> Progress:
    logs = logs_of(files, group_of)
    bounds = bounds_by_folder(options, logs)
    began = (log for log in logs if bounds[log.folder] != Bounds())
    return Progress({log.folder: _starting_folder(log, bounds[log.folder]) for log in began})


def _starting_folder(log: LogFiles, bounds: Bounds) -> FolderPosition:
    first = next(log.within(bounds))[0].base_name
    before = [file.base_name for file in log.files if file.base_name < first]
    through = before[-1] if before and is_in_order(log.folder) else None
    return FolderPosition(through=through, from_offset=bounds.from_offset)


def ranges_within(log: LogFiles, bounds: Bounds, pushed: Bounds, committed: CommittedView) -> list[Range]:
    bounds = bounds.within(Bounds(None, committed.until_offset))
    closed = closed_files(log.files)
    return [
        Range(
            file.name,
            file.root,
            file.path,
            0,
            None,
            from_offset=bounds.from_offset,
            limit=bounds.until_offset,
            aborted=committed.aborted_within(own.from_offset, own.until_offset),
            size=file.size,
            is_closed=file.name in closed,
        )
        for file, own in log.within(bounds.within(pushed))
    ]


def _check_log_files(edges: Iterable[OffsetOption], logs: Iterable[LogFiles]) -> None:
    option = next(edge.option for edge in edges if not edge.is_all(EARLIEST) and not edge.is_all(LATEST))
    for log in logs:
        for file in log.files:
            if file.base_name.endswith(".checkpoint"):
                raise invalid_argument(
                    f"{NAME}: the option {option!r} is not supported for the snapshot {file.name}, which has its own "
                    "offsets; set the option 'pathGlobFilter' to '*.log' to exclude snapshots"
                )
        if log.partition is None and any(edge.number is None for edge in edges):
            raise invalid_argument(
                f"{NAME}: the option {option!r} lists partitions, but the folder of {log.files[0].name} does not name one"
            )


def _start(options: LogOptions, log: LogFiles) -> int | None:
    edge = options.start
    number = edge.of(log.partition or ("", 0))
    if edge.is_time:
        found = offset_for_time(log.files, number)
        if found is None and not options.start_at_end:
            raise no_offset_matched(NAME, _name(log), number)
        return (offset_after(log.files) or 0) if found is None else found
    if number == EARLIEST:
        return None
    if number == LATEST:
        return offset_after(log.files)
    _check_start(options, log, number)
    return number


def _end(options: LogOptions, log: LogFiles) -> int | None:
    edge = options.end
    number = edge.of(log.partition or ("", 0))
    if edge.is_time:
        return offset_for_time(log.files, number)
    if number == LATEST:
        return None
    after = offset_after(log.files)
    if after is not None and number > after:
        report_data_loss(
            options, f"{edge.option} of {_name(log)} is {number}, but {_where(log)} ends before offset {after}"
        )
    return number


def _check_start(options: LogOptions, log: LogFiles, number: int) -> None:
    first, after = first_offset(log.files), offset_after(log.files)
    if first is not None and number < first:
        report_data_loss(options, f"startingOffsets of {_name(log)} is {number}, but {_where(log)} begins at {first}")
    if after is not None and number > after:
        report_data_loss(
            options, f"startingOffsets of {_name(log)} is {number}, but {_where(log)} ends before offset {after}"
        )


def _name(log: LogFiles) -> str:
    return f"{log.partition[0]}-{log.partition[1]}" if log.partition else log.folder


def _where(log: LogFiles) -> str:
    return f"the log in {log.files[0].folder}"
