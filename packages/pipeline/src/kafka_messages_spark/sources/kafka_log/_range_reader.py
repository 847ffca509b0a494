"""Read byte ranges of segments in the workers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from kafka_records import CorruptSegmentError
from kafka_records.segments.reader import SegmentReader, read_segments
from kafka_records.segments.rows import corrupt_rows
from kafka_records.segments.run import CORRUPT_BYTES, CorruptRange
from kafka_records.segments.scan import LOOKBACK
from pyspark.sql.datasource import InputPartition

from ..._core.spark_types import struct_type
from ...columns._records import MalformedRecordError
from .._files import FileView, display_path, is_local, open_file, open_filesystem
from .._shares import Share, cuts
from ._batch_filter import BatchFilter, Bounds
from ._batch_scan import batch_before
from ._filters import PushedFilters
from ._isolation import AbortedTransaction
from ._log_options import NAME, LogColumns, LogOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Rows per Arrow batch: Spark's default for maxRecordsPerBatch, and the fastest size.
MAX_ROWS = 10000

NO_FILTERS = PushedFilters()

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Range:
    """Byte range of a file; the batches that start in the range are read."""

    # Display name of the file.
    name: str
    root: str
    # Path in the file system that root opens.
    path: str
    start: int
    # None: end of the file when it is read.
    end: int | None
    # Known start of a batch, at or before start.
    base: int = 0
    # File size that the plan of a stream requires; None: not checked.
    planned: int | None = None
    # Skip records below this offset.
    from_offset: int | None = None
    # Skip records from this offset on; if planned is set, such records mean that the file was rewritten.
    limit: int | None = None
    aborted: tuple[AbortedTransaction, ...] = ()
    # Bytes to read, as listed.
    size: int = 0
    # True if a later segment follows, so that the file is complete.
    is_closed: bool = False


def split(whole: Range, most: int) -> list[Range]:
    *some, (low, high) = cuts(whole.start, whole.size, most)
    parts = [replace(whole, start=start, end=end, size=end - start) for start, end in some]
    return [*parts, replace(whole, start=low, size=high - low)]


def read_share(
    options: LogOptions, columns: LogColumns, share: InputPartition, pushed: PushedFilters = NO_FILTERS
) -> Iterator[pa.RecordBatch]:
    for part in share.pieces if isinstance(share, Share) else ():
        if isinstance(part, Range):
            yield from read_range(options, columns, part, pushed)


def records_in(files: DataFrame) -> DataFrame:
    """Return the records in byte ranges (``_segment_ranges``), with batch metadata, and corrupt batches as rows."""
    options = LogOptions.parse({"path": "", "mode": "PERMISSIVE", "includeBatchMetadata": "true"})
    columns = LogColumns.of(options, ())

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in (row for batch in batches for row in batch.to_pylist()):
            root = row["path"]
            start = row["start"] if row["resume"] is None else row["resume"]
            file = display_path(root), root, open_filesystem(root)[1]
            part = Range(*file, start, row["end"], row["base"] or 0, is_closed=row["is_closed"])
            yield from read_range(options, columns, part)

    return files.mapInArrow(read, struct_type(columns.out))


def read_range(
    options: LogOptions, columns: LogColumns, part: Range, pushed: PushedFilters = NO_FILTERS
) -> Iterator[pa.RecordBatch]:
    """Yield a range's records in Arrow batches.

    Raises DataLossError, and unless corrupt files are ignored, OSError and CorruptSegmentError.
    """
    try:
        with closing(FileView(open_file(part.root, part.path), part.name, 0)) as file:
            if part.planned is not None and (size := file.size()) < part.planned:
                report_data_loss(
                    options, f"{part.name} had {part.planned} bytes when this batch was planned, and has {size} now"
                )
            yield from _batches(options, columns, part, file, pushed)
    except FileNotFoundError:
        if part.planned is None and not options.ignore_corrupt:
            raise
        if part.planned is not None:
            report_data_loss(options, f"{part.name} was deleted after this batch was planned")
    except (CorruptSegmentError, OSError) as error:
        if part.planned is not None and isinstance(error, CorruptSegmentError) and _is_rewritten(part):
            report_data_loss(
                options,
                f"{part.name} was rewritten since this batch was planned: no record batch begins at byte {part.base} now",
            )
            return
        if not options.ignore_corrupt:
            raise
        _log.warning("Skipped the rest of the content in the corrupted file: %s: %s", part.name, error)


def _base(part: Range) -> int | None:
    if part.start <= part.base + LOOKBACK:
        return part.base
    if not is_local(open_filesystem(part.root)[0]):
        return None
    with closing(open_file(part.root, part.path)) as file:
        return batch_before(file, part.base, part.start - LOOKBACK)


def _is_rewritten(part: Range) -> bool:
    if not part.base or not is_local(open_filesystem(part.root)[0]):
        return False
    with closing(open_file(part.root, part.path)) as file:
        return batch_before(file, 0, part.base) not in (None, part.base)


def report_data_loss(options: LogOptions, what: str) -> None:
    """Raise DataLossError, or log a warning if ``failOnDataLoss`` is false."""
    if options.fail_on_data_loss:
        raise DataLossError(what)
    _log.warning("Some data may have been lost: %s", what)


class DataLossError(ValueError):
    """Possible loss of records that a query should read."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{NAME}: {what}. Some data may have been lost: records may have been removed by retention, or with their "
            "topic, before they were read. To get a warning instead of this error, set the option 'failOnDataLoss' to "
            "'false'."
        )


def _batches(
    options: LogOptions, columns: LogColumns, part: Range, file: FileView, pushed: PushedFilters
) -> Iterator[pa.RecordBatch]:
    names = columns.read
    needed = (
        part.from_offset is not None,
        part.limit is not None,
        columns.decoder is not None and columns.decoder.failfast,
    )
    with_offset = any(needed) and "offset" not in names
    with read_segments(
        file,
        columns=[*names, "offset"] if with_offset else list(names),
        mode=options.mode,
        check_crcs=options.check_crcs,
        control_records=options.batch_metadata and not options.committed,
        start=part.start,
        end=part.end,
        base=_base(part),
        max_rows=MAX_ROWS,
        wanted=_batch_filter(part, pushed),
    ) as batches:
        for batch in chain(batches, _cut_end(options, part, file, batches)):
            found = batch if part.limit is None else _planned(options, part, part.limit, batch)
            if part.from_offset is not None:
                found = found.filter(pc.fill_null(pc.greater_equal(found.column("offset"), part.from_offset), True))
            found = pushed.rows(found)
            yield _made(columns, part, found.drop_columns("offset") if with_offset else found, found)


def _cut_end(options: LogOptions, part: Range, file: FileView, batches: SegmentReader) -> Iterator[pa.RecordBatch]:
    report = batches.reports[0]
    size, position = report.incomplete_tail, report.next_position
    if not size or not part.is_closed or position + size < (part.planned or 0):
        return
    reason = f"{size} bytes of a batch that ends beyond the file, although a later segment exists"
    if options.mode == "FAILFAST":
        raise CorruptSegmentError(part.name, position, reason)
    file.seek(position)
    yield corrupt_rows(
        batches.schema, report, [CorruptRange(position, size, reason, file.read(min(size, CORRUPT_BYTES)))]
    )


def _batch_filter(part: Range, pushed: PushedFilters) -> BatchFilter | None:
    bounds = pushed.bounds.within(Bounds(part.from_offset, part.limit if part.planned is None else None))
    return None if bounds == Bounds() and not part.aborted else BatchFilter(bounds, part.aborted)


def _planned(options: LogOptions, part: Range, limit: int, batch: pa.RecordBatch) -> pa.RecordBatch:
    highest = pc.max(batch.column("offset")).as_py()
    if highest is None or highest < limit:
        return batch
    if part.planned is not None:
        report_data_loss(
            options,
            f"{part.name} was rewritten since this batch was planned: "
            f"it has offset {highest}, but all offsets were below {limit}",
        )
    return batch.filter(pc.fill_null(pc.less(batch.column("offset"), limit), True))


def _made(columns: LogColumns, part: Range, batch: pa.RecordBatch, found: pa.RecordBatch) -> pa.RecordBatch:
    try:
        return columns.made(batch)
    except MalformedRecordError as error:
        place = f"The record with offset {found.column('offset')[error.row]}"
        raise ValueError(f"{part.name}: {MalformedRecordError(error.log, error.row, error.reason, place)}") from None
