"""Look up the start and end of a log, and offsets by timestamp."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pyarrow as pa
import pyarrow.compute as pc
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.reader import read_segments

from .._files import File, FileView, open_file
from ._batch_scan import beyond_damage, scan_batches
from ._indexes import position_before
from ._progress import base_of

# Highest timestamp in microseconds; the column timestamp is null for later ones.
_LATEST = (1 << 63) - 1


def offset_for_time(files: Sequence[File], milliseconds: int) -> int | None:
    """Return the offset of the first record at or after a timestamp, as ListOffsets does, or None if all are earlier.

    ``files`` are sorted by name. Raises OSError.
    """
    found = []
    for file in files:
        if (offset := _offset_in(file, milliseconds)) is not None:
            found.append(offset)
            if base_of(file.base_name) is not None:
                break
    return min(found, default=None)


def first_offset(files: Sequence[File]) -> int | None:
    """Return the log start according to segment names, or None if a name has no offset."""
    bases = [base_of(file.base_name) for file in files]
    return None if None in bases else min((base for base in bases if base is not None), default=None)


def offset_after(files: Sequence[File]) -> int | None:
    """Return the log end: the end of the last complete batch, or the base offset of a later, empty segment, or None."""
    bases = [base for file in files if (base := base_of(file.base_name)) is not None]
    ends = (after for file in reversed(files) if (after := _after(file)) is not None)
    if len(bases) < len(files):
        return max(ends, default=None)
    return max((*bases, next(ends, 0)), default=None)


def _after(file: File) -> int | None:
    found = scan_batches(file, 0)
    if found.is_batch:
        return found.next_offset
    behind = beyond_damage(file, found.end).next_offset
    return found.next_offset if behind is None else behind


def headers(file: File, position: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield the sound batches from a position on, which is the start of a batch."""
    where = {"start": position, "base": position}
    with _opened(file) as view, read_batch_headers(view, mode="PERMISSIVE", check_crcs=False, **where) as batches:
        for batch in batches:
            corrupt = batch.column("corrupt")
            yield batch if corrupt.null_count == len(batch) else batch.filter(corrupt.is_null())


def _offset_in(file: File, milliseconds: int) -> int | None:
    time = pa.scalar(min(1000 * milliseconds, _LATEST), pa.timestamp("us", "UTC"))
    for batch in headers(file, position_before(file, milliseconds)):
        late = pc.fill_null(pc.greater_equal(batch.column("max_timestamp"), time), True)
        for position in batch.column("position").filter(late).to_pylist():
            if (offset := _offset_of_record(file, position, time)) is not None:
                return offset
    return None


def _offset_of_record(file: File, position: int, time: pa.Scalar) -> int | None:
    with (
        _opened(file) as view,
        read_segments(
            view,
            columns=["offset", "timestamp"],
            mode="PERMISSIVE",
            check_crcs=False,
            control_records=True,
            start=position,
            end=position + 1,
            base=position,
        ) as records,
    ):
        for found in records:
            late = pc.fill_null(pc.greater_equal(found.column("timestamp"), time), True)
            offsets = found.column("offset").filter(pc.and_(late, found.column("offset").is_valid()))
            if len(offsets):
                return int(pc.min(offsets).as_py())
    return None


@contextmanager
def _opened(file: File) -> Iterator[FileView]:
    with closing(FileView(open_file(file.root, file.path), file.name, 0)) as view:
        yield view
