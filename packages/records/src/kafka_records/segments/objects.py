"""Record columns built from record objects, for formats 0 and 1 and for data that the C extension does not decode."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..contents import unwrapped
from ..errors import CompressionError, MalformedRecord
from ..legacy import read_messages as read
from ..records import Record, read_records
from .arrays import HEADERS_TYPE, timestamps
from .compression import CODECS_OF_ARROW
from .frames import Ints
from .headers import HeaderColumns
from .record_columns import RecordColumns, RecordSections
from .run import BatchRun

_ANY_NUMBER = 1 << 62  # the batch size already limits records and headers


class Faults:
    def __init__(self) -> None:
        self.reasons: dict[int, str] = {}

    def add(self, batch: int, reason: str) -> None:
        self.reasons.setdefault(batch, reason)


class RecordLists:
    def __init__(self) -> None:
        self.counts: list[int] = []
        self._columns: tuple[list[Any], ...] = tuple([] for _ in Record._fields)

    def add(self, records: Sequence[Record]) -> None:
        self.counts.append(len(records))
        for column, values in zip(self._columns, zip(*records, strict=True), strict=False):
            column.extend(values)

    def columns(self, names: Collection[str]) -> RecordColumns:
        offsets, times, keys, values, headers = self._columns
        columns: dict[str, pa.Array] = {}
        if "offset" in names or "base_offset" in names:
            columns["offset"] = pa.array(offsets, pa.int64())
        if "timestamp" in names:
            columns["timestamp"] = timestamps(np.array(times, np.int64))
        if "key" in names:
            columns["key"] = pa.array(keys, pa.binary())
        if "value" in names:
            columns["value"] = pa.array(values, pa.binary())
        if "headers" in names:
            columns["headers"] = _header_lists(headers)
        return RecordColumns(np.array(self.counts, np.int64), columns)


def read_batches(sections: RecordSections, faults: Faults) -> RecordLists:
    found = RecordLists()
    for number, (pos, end, count, offset, timestamp, append_time, is_appended) in enumerate(
        sections.table().T.tolist()
    ):
        data, time = sections.data[pos:end].tobytes(), append_time if is_appended else None
        try:
            found.add(read_records(data, 0, end - pos, count, offset, timestamp, time, _ANY_NUMBER))
        except MalformedRecord as error:
            faults.add(number, str(error))
            found.add(())
    return found


def read_messages(
    run: BatchRun,
    headers: HeaderColumns,
    chosen: Ints,
    faults: Faults,
    *,
    check_crcs: bool,
    limit: int,
    most_bytes: int,
) -> RecordLists:
    """Decode outermost messages (formats 0 and 1) until their decompressed size reaches ``most_bytes``."""
    found = RecordLists()
    total = 0
    columns = (run.start, run.size, headers.magic, headers.codec, headers.timestamp_type, headers.max_timestamp)
    rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
    for number, (at, size, magic, codec, timestamp_type, append_time) in enumerate(rows):
        message, inner = run.log.bytes[at : at + size].tobytes(), None
        try:
            if codec:
                inner = unwrapped(codec, message, magic, limit, CODECS_OF_ARROW)
            total += len(inner or message)
            time = append_time if timestamp_type == 1 else None
            found.add(read(message, 0, size, magic, time, inner, check_crcs, _ANY_NUMBER))
        except (CompressionError, MalformedRecord) as error:
            faults.add(number, str(error))
            found.add(())
        if total >= most_bytes:
            break
    return found


def _header_lists(headers: Sequence[Sequence[tuple[str, bytes | None]]]) -> pa.Array:
    if not any(headers):
        return pa.nulls(len(headers), HEADERS_TYPE)
    try:
        return pa.array([pairs or None for pairs in headers], HEADERS_TYPE)
    except UnicodeEncodeError:
        lists = ([(_replaced(key), value) for key, value in pairs] or None for pairs in headers)
        return pa.array(list(lists), HEADERS_TYPE)


def _replaced(key: str) -> str:
    return key.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
