"""Batch headers of log segments as Arrow data; only the records of control batches are decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import CorruptSegmentError
from ..format import CODECS, CONTROL_TYPES, MAX_BATCH_BYTES
from .arrays import TIMESTAMP, timestamps
from .frames import Ints, stored_sums
from .groups import GroupDecoder, control_types
from .headers import HeaderColumns
from .reader import MAX_ROWS, SegmentReader, Source, checked_sources, count_batches
from .record_columns import ColumnMaker
from .report import SegmentReport
from .rows import BATCH_COLUMNS, CORRUPT_COLUMN, CORRUPT_TYPE, PLAIN, horizons, named
from .run import BatchRun

__all__ = ["read_batch_headers"]

_OWN = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "file": pa.string(),
    "position": pa.int64(),
    "size": pa.int32(),
    "base_offset": pa.int64(),
    "last_offset": pa.int64(),
    "records": pa.int32(),
    "timestampType": pa.int32(),
    "first_timestamp": TIMESTAMP,
    "max_timestamp": TIMESTAMP,
    "crc": pa.int64(),
}
HEADER_COLUMNS: dict[str, Any] = _OWN | {name: kind for name, kind in BATCH_COLUMNS.items() if name not in _OWN}


class _HeaderReader(SegmentReader):
    def _of_run(self, report: SegmentReport, run: BatchRun) -> Iterator[Any]:
        headers = HeaderColumns.of(run)
        first = min(run.bad, default=None)
        count = len(run.start) if first is None or not self._failfast else first
        count_batches(report, run, headers, 0, count, run.bad)
        chosen = np.setdiff1d(np.arange(count), list(run.bad))
        if first is None or self._failfast:
            for low in range(0, count, self._max_rows):
                yield self._rows(report, run, headers, chosen[low : low + self._max_rows])
            if first is not None:
                raise CorruptSegmentError(report.file, run.base + int(run.start[first]), run.bad[first])
            return
        yield from self._with_corrupt(report, run, self._rows(report, run, headers, chosen), chosen, run.bad)

    def _rows(self, report: SegmentReport, run: BatchRun, headers: HeaderColumns, chosen: Ints) -> pa.RecordBatch:
        count = len(chosen)
        outer = headers.new[chosen] | (headers.codec[chosen] == 0)  # other messages would have to be decompressed
        last = (headers.base_offset + headers.last_offset_delta)[chosen]
        columns: dict[str, Any] = {
            "topic": pa.repeat(pa.scalar(report.topic, pa.string()), count),
            "partition": pa.repeat(pa.scalar(report.partition, pa.int32()), count),
            "file": pa.repeat(pa.scalar(report.file, pa.string()), count),
            "position": run.base + run.start[chosen],
            "size": run.size[chosen],
            "base_offset": pa.array(headers.base_offset[chosen], mask=~outer),
            "last_offset": last,
            "records": pa.array(headers.count[chosen], mask=~outer),
            "timestampType": headers.timestamp_type[chosen],
            "first_timestamp": _first_timestamps(headers, chosen),
            "max_timestamp": timestamps(headers.max_timestamp[chosen]),
            "crc": stored_sums(run.log, run.start[chosen], headers.magic[chosen]),
            **{name: getattr(headers, name.removeprefix("is_"))[chosen] for name in PLAIN},
            "control_type": self._control_types(run, headers, chosen),
            "delete_horizon": horizons(headers.base_timestamp, headers.horizon, chosen),
            "compression": named(headers.codec[chosen], CODECS),
            "crc_ok": pa.nulls(count, pa.bool_()) if run.sums is None else run.sums[chosen],
            "corrupt": pa.nulls(count, CORRUPT_TYPE),
        }
        arrays = []
        for field in self.schema:
            values = columns[field.name]
            arrays.append(pa.array(values).cast(field.type, safe=False) if isinstance(values, np.ndarray) else values)
            if arrays[-1].type != field.type:
                arrays[-1] = arrays[-1].cast(field.type)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _control_types(self, run: BatchRun, headers: HeaderColumns, chosen: Ints) -> pa.Array:
        if not headers.control[chosen].any():
            return pa.nulls(len(chosen), pa.string())
        unknown = len(CONTROL_TYPES) - 1
        kinds = np.full(len(run.start), -1)
        decoder = GroupDecoder(
            run,
            ColumnMaker(()),
            control_records=True,
            check_crcs=self._check,
            limit=self._max,
            wanted=lambda headers: headers.control,
            headers=headers,
        )
        for group in decoder.groups():
            rows = np.flatnonzero(np.diff(group.records.batch, prepend=-1))
            if len(rows) == 0:
                continue
            found = control_types(group.records, rows)[1]
            kinds[group.records.batch[rows]] = np.where((found < 0) | (found > unknown), unknown, found)
        return named(np.maximum(kinds[chosen], 0), CONTROL_TYPES, kinds[chosen] < 0)


def _first_timestamps(headers: HeaderColumns, chosen: Ints) -> pa.Array:
    milliseconds = np.where(headers.timestamp_type == 1, headers.max_timestamp, headers.base_timestamp)[chosen]
    known = pa.array((headers.new & ~headers.horizon)[chosen])
    return pc.if_else(known, timestamps(milliseconds), pa.scalar(None, TIMESTAMP))


def read_batch_headers(
    source: Source | Iterable[Source],
    *,
    check_crcs: bool = True,
    mode: str = "FAILFAST",
    max_batch_bytes: int = MAX_BATCH_BYTES,
    start: int = 0,
    end: int | None = None,
    base: int | None = None,
    max_rows: int = MAX_ROWS,
    filesystem: Any = None,
) -> SegmentReader:
    """Read log segments as Arrow data with one row per record batch. Only control batches are decompressed.

    Arguments, errors and reports are as for ``read_segments``, but the reports have 0 ``records`` and ``decoded_batches``.

    Columns: ``topic``, ``partition``, ``file``, ``position`` and ``size`` (stored bytes), ``base_offset``,
    ``last_offset``, ``records``, ``timestampType``, ``first_timestamp``, ``max_timestamp``, ``crc`` (the stored checksum),
    the columns of ``batch_metadata``, and ``corrupt`` in PERMISSIVE mode. ``first_timestamp`` is null in formats 0 and 1
    and for batches with a delete horizon.

    In formats 0 and 1 a row is an outermost message; if that is compressed, ``base_offset`` and ``records`` are null.
    """
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, not {max_rows}")
    columns = HEADER_COLUMNS | (CORRUPT_COLUMN if mode == "PERMISSIVE" else {})
    return _HeaderReader(
        checked_sources(source, mode, max_batch_bytes, start, end, base),
        pa.schema(list(columns.items())),
        failfast=mode == "FAILFAST",
        check_crcs=check_crcs,
        control_records=True,
        max_batch_bytes=max_batch_bytes,
        start=start,
        end=end,
        base=base,
        max_rows=max_rows,
        filesystem=filesystem,
    )
