"""Decoder that splits consecutive batches into groups of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import CompressionError
from ..format import CONTROL_KEY, HEADER
from .compression import DecompressedData
from .frames import PADDING, Bools, Bytes, Ints, LogData
from .headers import HeaderColumns
from .objects import Faults, read_batches, read_messages
from .record_columns import ColumnMaker, RecordColumns, RecordSections
from .run import BatchRun

# Maximum number of records in a group, unless one batch has more.
GROUP_ROWS = 131072
# Decompressed size in bytes at which a group ends, if it has compressed batches or old messages.
GROUP_BYTES = 16 << 20

Wanted = Callable[[HeaderColumns], Bools]


@dataclass(slots=True)
class BatchGroup:
    """Records and errors of the batches ``low`` to ``high - 1`` of a ``BatchRun``."""

    low: int
    high: int
    records: RecordColumns
    # Error messages of corrupt batches by index in the `BatchRun`.
    corrupt: dict[int, str]


class GroupDecoder:
    """Decoder for the batches of one ``BatchRun``; ``limit`` is the maximum decompressed size of a batch in bytes."""

    def __init__(
        self,
        run: BatchRun,
        maker: ColumnMaker,
        *,
        control_records: bool,
        check_crcs: bool,
        limit: int,
        wanted: Wanted | None = None,
        headers: HeaderColumns | None = None,
    ) -> None:
        self.headers = headers or HeaderColumns.of(run)
        self._run = run
        self._maker = maker
        self._check = check_crcs
        self._limit = limit
        keep = np.ones(len(run.start), np.bool_)
        keep[list(run.bad)] = False
        if not control_records:
            keep &= ~self.headers.control
        if wanted is not None:
            keep &= wanted(self.headers)
        self._keep = keep
        self._output = DecompressedData()

    @property
    def decoded(self) -> int:
        return int(np.count_nonzero(self._keep))

    def groups(self) -> Iterator[BatchGroup]:
        new = self.headers.new
        rows = np.cumsum(self._keep * np.minimum(np.maximum(self.headers.count, 0), 1 << 24))
        borders = [*(np.flatnonzero(new[1:] != new[:-1]) + 1).tolist(), len(new)]
        low = 0
        for border in borders:
            while low < border:
                done = int(rows[low - 1]) if low else 0
                high = max(low + 1, min(border, int(np.searchsorted(rows, done + GROUP_ROWS, "right"))))
                group = self._batches(low, high) if new[low] else self._messages(low, high)
                low = group.high
                yield group

    def _corrupt(self, low: int, high: int, chosen: Ints, faults: Faults) -> dict[int, str]:
        found = {number: reason for number, reason in self._run.bad.items() if low <= number < high}
        found |= {int(chosen[number]): reason for number, reason in faults.reasons.items()}
        return found

    def _messages(self, low: int, high: int) -> BatchGroup:
        chosen = low + np.flatnonzero(self._keep[low:high])
        faults = Faults()
        lists = read_messages(
            self._run, self.headers, chosen, faults, check_crcs=self._check, limit=self._limit, most_bytes=GROUP_BYTES
        )
        if len(lists.counts) < len(chosen):
            high = int(chosen[len(lists.counts)])
        records = lists.columns(self._maker.names)
        records.number(chosen)
        return BatchGroup(low, high, records, self._corrupt(low, high, chosen, faults))

    def _batches(self, low: int, high: int) -> BatchGroup:
        run, headers = self._run, self.headers
        chosen = low + np.flatnonzero(self._keep[low:high])
        faults = Faults()
        pos, end, data = run.start[chosen] + HEADER, (run.start + run.size)[chosen], run.log.bytes
        if headers.codec[chosen].any():
            data, end = self._decompressed(chosen, faults)
            if len(end) < len(chosen):
                high = int(chosen[len(end)])
                chosen = chosen[: len(end)]
            pos = np.concatenate((np.zeros(1, np.int64), end[:-1]))
        del_count = np.fromiter(faults.reasons, np.int64, len(faults.reasons))
        count = headers.count[chosen]
        count[del_count] = 0
        sections = RecordSections(
            data,
            pos,
            end,
            count,
            headers.base_offset[chosen],
            headers.base_timestamp[chosen],
            headers.max_timestamp[chosen],
            headers.timestamp_type[chosen] == 1,
        )
        records = self._records(sections, headers.control[chosen], faults)
        records.number(chosen)
        return BatchGroup(low, high, records, self._corrupt(low, high, chosen, faults))

    def _records(self, sections: RecordSections, control: Bools, faults: Faults) -> RecordColumns:
        with_control = bool(control.any())
        names = self._maker.names | {"key"} if with_control else self._maker.names
        while True:
            columns = self._maker.make(sections, with_key=with_control) or read_batches(sections, faults).columns(names)
            wrong = control_faults(columns, control) if with_control else {}
            if not wrong:
                return columns
            for number, reason in wrong.items():
                faults.add(number, reason)
            sections.count[list(wrong)] = 0

    def _decompressed(self, chosen: Ints, faults: Faults) -> tuple[Bytes, Ints]:
        run, headers = self._run, self.headers
        view, output = run.log.bytes.data, self._output
        output.size = 0
        found: list[int] = []
        begins = (run.start[chosen] + HEADER).tolist()
        ends = (run.start + run.size)[chosen].tolist()
        columns = zip(begins, ends, headers.codec[chosen].tolist(), headers.count[chosen].tolist(), strict=True)
        for number, (begin, end, codec, count) in enumerate(columns):
            if count and codec:
                try:
                    output.decompress(codec, view[begin:end], self._limit)
                except CompressionError as error:
                    faults.add(number, str(error))
            elif count:
                output.append(view[begin:end])
            found.append(output.size)
            if output.size >= GROUP_BYTES:
                break
        return output.data[: output.size + PADDING], np.array(found, np.int64)


def control_types(records: RecordColumns, rows: Ints) -> tuple[Ints, Ints]:
    log = LogData(records.data, len(records.data))
    return log.at(records.key_pos[rows], ">i2"), log.at(records.key_pos[rows] + 2, ">i2")


def control_faults(records: RecordColumns, control: Bools) -> dict[int, str]:
    batch = records.batch
    rows = np.flatnonzero(control[batch])
    is_short = records.key_size[rows] < CONTROL_KEY.size
    short, rows = rows[is_short], rows[~is_short]
    # Without rows, the data may be shorter than a key.
    negative = rows[control_types(records, rows)[0] < 0] if len(rows) else rows
    found = dict.fromkeys(batch[negative].tolist(), "the key of a control record has a negative version")
    return found | dict.fromkeys(batch[short].tolist(), "the key of a control record has fewer than 4 bytes")
