"""Reader of log segments as Arrow record batches, with the columns of Spark's Kafka source."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa

from .._native import warn_if_missing
from ..errors import CorruptSegmentError
from ..format import MAX_BATCH_BYTES, SMALLEST
from .arrays import RepeatedArrays
from .frames import MAX_BATCH_BYTES_LIMIT, Ints
from .groups import BatchGroup, GroupDecoder, Wanted
from .headers import HeaderColumns
from .names import topic_of
from .record_columns import ColumnMaker
from .report import CorruptBatch, SegmentReport
from .rows import BATCH_COLUMNS, COLUMNS, CORRUPT_COLUMN, HEADERS_COLUMN, KAFKA_COLUMNS, Rows, corrupt_rows, merged
from .run import CORRUPT_BYTES, BatchRun, CorruptRange
from .scan import LOOKBACK, Scanner
from .window import BinaryFile, Window

__all__ = ["CorruptBatch", "SegmentReader", "SegmentReport", "read_segments"]

# Default maximum number of rows in an Arrow record batch.
MAX_ROWS = 65536
MODES = ("PERMISSIVE", "FAILFAST")

Source = str | os.PathLike[str] | BinaryFile


class SegmentReader(Iterator[Any]):
    """Lazy iterator over Arrow record batches of log segments.

    ``schema`` is their common schema; ``reports`` has a ``SegmentReport`` per file opened so far.
    ``pa.RecordBatchReader.from_batches(reader.schema, reader)`` converts the iterator. Call ``close`` or use a ``with``
    block if the iteration may stop early.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        schema: pa.Schema,
        *,
        failfast: bool,
        check_crcs: bool,
        control_records: bool,
        max_batch_bytes: int,
        start: int,
        end: int | None,
        base: int | None,
        max_rows: int,
        filesystem: Any,
        wanted: Wanted | None = None,
    ) -> None:
        warn_if_missing()
        self.schema = schema
        self.reports: list[SegmentReport] = []
        self._failfast = failfast
        self._check = check_crcs
        self._control = control_records
        self._max = max_batch_bytes
        self._start = start
        self._end = end
        self._base = base
        self._max_rows = max_rows
        self._filesystem = filesystem
        self._wanted = wanted
        self._maker = ColumnMaker(schema.names)
        self._repeated = RepeatedArrays()
        self._batches = self._all(sources)

    def __next__(self) -> Any:
        return next(self._batches)

    def __enter__(self) -> SegmentReader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the iteration, and close the current file if it was opened from a path."""
        self._batches.close()

    def _all(self, sources: Sequence[Source]) -> Generator[Any, None, None]:
        for source in sources:
            if isinstance(source, str | os.PathLike):
                path = os.fspath(source)
                with closing(self._open(path)) as file:
                    yield from self._of_file(file, path)
            else:
                name = getattr(source, "name", "")
                yield from self._of_file(source, name if isinstance(name, str) else "")

    def _open(self, path: str) -> Any:
        return open(path, "rb", buffering=0) if self._filesystem is None else self._filesystem.open_input_file(path)

    def _of_file(self, file: BinaryFile, name: str) -> Iterator[Any]:
        report = SegmentReport(name, *topic_of(name), self._start, self._end)
        self._repeated = RepeatedArrays()
        self.reports.append(report)
        scanner = Scanner(
            Window(file, max(0, self._start - LOOKBACK) if self._base is None else self._base, self._end),
            report,
            is_synchronized=self._base is not None,
            check_crcs=self._check,
            sums="crc_ok" in self.schema.names,
            failfast=self._failfast,
            max_batch_bytes=self._max,
        )
        for item in scanner:
            if isinstance(item, CorruptRange):
                report.add_corrupt(item.position, item.size, item.reason)
                yield corrupt_rows(self.schema, report, [item])
                continue
            yield from self._of_run(report, item)
        report.done = True

    def _of_run(self, report: SegmentReport, run: BatchRun) -> Iterator[Any]:
        decoder = GroupDecoder(
            run,
            self._maker,
            control_records=self._control,
            check_crcs=self._check,
            limit=self._max,
            wanted=self._wanted,
        )
        report.decoded_batches += decoder.decoded
        for group in decoder.groups():
            yield from self._of_group(report, run, decoder.headers, group)

    def _of_group(
        self, report: SegmentReport, run: BatchRun, headers: HeaderColumns, group: BatchGroup
    ) -> Iterator[Any]:
        first = min(group.corrupt, default=None)
        high = group.high if first is None or not self._failfast else first
        count_batches(report, run, headers, group.low, high, group.corrupt)
        rows = Rows(report, run, headers, group, self._repeated)
        count = len(rows) if high == group.high else int(np.searchsorted(group.records.batch, high))
        report.records += count
        if first is None or self._failfast:
            for low in range(0, count, self._max_rows):
                yield rows.batch(self.schema, low, min(low + self._max_rows, count))
            if first is not None:
                raise CorruptSegmentError(report.file, run.base + int(run.start[first]), group.corrupt[first])
            return
        yield from self._with_corrupt(
            report, run, rows.batch(self.schema, 0, count), group.records.batch, group.corrupt
        )

    def _with_corrupt(
        self, report: SegmentReport, run: BatchRun, good: pa.RecordBatch, good_batch: Ints, corrupt: Mapping[int, str]
    ) -> Iterator[Any]:
        numbers = sorted(corrupt)
        gaps = []
        for number in numbers:
            low, size = int(run.start[number]), int(run.size[number])
            data = run.log.bytes[low : low + min(size, CORRUPT_BYTES)].tobytes()
            gaps.append(CorruptRange(run.base + low, size, corrupt[number], data))
            report.add_corrupt(run.base + low, size, corrupt[number])
        batch = merged(good, good_batch, corrupt_rows(self.schema, report, gaps), np.array(numbers))
        for low in range(0, len(batch), self._max_rows):
            yield batch.slice(low, self._max_rows)


def count_batches(
    report: SegmentReport, run: BatchRun, headers: HeaderColumns, low: int, high: int, corrupt: Mapping[int, str]
) -> None:
    numbers = np.arange(low, high)
    if corrupt:
        numbers = np.setdiff1d(numbers, list(corrupt))
    if len(numbers) == 0:
        return
    report.batches += len(numbers)
    report.control_batches += int(np.count_nonzero(headers.control[numbers]))
    report.batch_bytes += int(run.size[numbers].sum())
    last = numbers[-1]
    report.next_offset = int(headers.base_offset[last]) + int(headers.last_offset_delta[last]) + 1


def read_segments(
    source: Source | Iterable[Source],
    *,
    check_crcs: bool = True,
    mode: str = "FAILFAST",
    columns: Sequence[str] | None = None,
    headers: bool = True,
    batch_metadata: bool = False,
    control_records: bool | None = None,
    max_batch_bytes: int = MAX_BATCH_BYTES,
    start: int = 0,
    end: int | None = None,
    base: int | None = None,
    max_rows: int = MAX_ROWS,
    filesystem: Any = None,
    wanted: Wanted | None = None,
) -> SegmentReader:
    """Read log segments (``.log``, also from tiered storage) and KRaft snapshots (``.checkpoint``) as Arrow data.

    ``source`` is a path, a binary file, or an iterable of these; ``filesystem`` is a ``pyarrow.fs.FileSystem`` for
    paths. All formats (0 to 2) and compressions are supported.

    Columns of Spark's Kafka source: ``key`` and ``value`` (binary), ``topic`` and ``partition`` (from the directory
    name, else null), ``offset``, ``timestamp`` (microseconds, UTC), ``timestampType`` (0 create time, 1 log append time,
    -1 none). A record without a timestamp has -1 ms, 1969-12-31 23:59:59.999; a timestamp that overflows microseconds is
    null. ``headers`` adds the list ``headers``, null for a record without headers.

    ``batch_metadata`` adds ``file``, ``position`` (of the batch, in bytes), ``base_offset``, ``leader_epoch``,
    ``producer_id``, ``producer_epoch``, ``base_sequence`` (the last four are -1 if not set), ``is_transactional``,
    ``is_control``, ``control_type`` (null for data records), ``delete_horizon``, ``compression``, ``magic`` and ``crc_ok``.

    ``columns`` is a list of column names, which replaces this selection. ``control_records`` includes control records
    (default: the value of ``batch_metadata``).

    ``mode`` FAILFAST raises CorruptSegmentError at the first corrupt batch, after the rows before it. PERMISSIVE adds
    the struct column ``corrupt``: ``position``, ``size``, ``reason`` and ``bytes`` (first MiB), null for valid
    records. A corrupt batch or range becomes one row. A truncated batch or zeros at the end of a file are not
    corrupt; the ``SegmentReport`` has the size of each.

    ``check_crcs=False`` accepts checksum mismatches; ``crc_ok`` still reports them. A batch larger than
    ``max_batch_bytes``, stored or decompressed, is corrupt.

    ``start`` and ``end`` select the batches of one file that begin in this byte range. The reader searches for the
    first batch, beginning at most 2 MiB before ``start``. ``base``, the position of a known batch, replaces this search.
    ``max_rows`` limits the rows of each Arrow batch.

    ``wanted`` is called with header fields (``headers.HeaderColumns``) and returns a numpy array of bool: True for each
    batch to decode.

    Raises ValueError for invalid options and TypeError for a source of bytes; iteration raises OSError and
    CorruptSegmentError. Sources: KIP-98 (format 2), KIP-31 and KIP-32 (formats 0 and 1), KIP-82 (headers), KIP-534 (delete
    horizon), KIP-630 (snapshots).
    """
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, not {max_rows}")
    return SegmentReader(
        checked_sources(source, mode, max_batch_bytes, start, end, base),
        _schema(mode, columns, headers, batch_metadata),
        failfast=mode == "FAILFAST",
        check_crcs=check_crcs,
        control_records=batch_metadata if control_records is None else control_records,
        max_batch_bytes=max_batch_bytes,
        start=start,
        end=end,
        base=base,
        max_rows=max_rows,
        filesystem=filesystem,
        wanted=wanted,
    )


def checked_sources(
    source: Source | Iterable[Source],
    mode: str,
    max_batch_bytes: int,
    start: int,
    end: int | None,
    base: int | None = None,
) -> list[Source]:
    if mode not in MODES:
        raise ValueError(f"mode must be {' or '.join(MODES)}, not {mode!r}")
    if not SMALLEST[2] <= max_batch_bytes <= MAX_BATCH_BYTES_LIMIT:
        raise ValueError(f"max_batch_bytes must be {SMALLEST[2]} to {MAX_BATCH_BYTES_LIMIT}, not {max_batch_bytes}")
    if start < 0 or (end is not None and end < start):
        raise ValueError(f"expected 0 <= start <= end, got start {start} and end {end}")
    if base is not None and not 0 <= base <= start:
        raise ValueError(f"base must be 0 to {start} (start), not {base}")
    if isinstance(source, bytes | bytearray | memoryview):
        raise TypeError(f"source must be a path or binary file, not {type(source).__name__}; wrap bytes in io.BytesIO")
    single = isinstance(source, str | os.PathLike) or hasattr(source, "read")
    sources: list[Source] = [source] if single else list(source)  # type: ignore[arg-type,list-item]  # checked above
    if len(sources) != 1 and (start or end is not None):
        raise ValueError(f"start and end require exactly one file, got {len(sources)}")
    return sources


def _schema(mode: str, columns: Sequence[str] | None, headers: bool, batch_metadata: bool) -> pa.Schema:
    if columns is None:
        chosen = KAFKA_COLUMNS | (HEADERS_COLUMN if headers else {}) | (BATCH_COLUMNS if batch_metadata else {})
        return pa.schema(list((chosen | (CORRUPT_COLUMN if mode == "PERMISSIVE" else {})).items()))
    if isinstance(columns, str) or not columns:
        raise ValueError(f"columns must be a list of at least one column name, not {columns!r}")
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise ValueError(f"unknown columns {', '.join(unknown)}; expected some of {', '.join(COLUMNS)}")
    if len(set(columns)) < len(columns):
        raise ValueError(f"columns has a duplicate name: {', '.join(columns)}")
    return pa.schema([(name, COLUMNS[name]) for name in columns])
