"""The records visible with ``isolation.level=read_committed``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._files import File
from ._indexes import KnownTransactions, transactions_before
from ._lookup import headers as headers_of

if TYPE_CHECKING:
    from kafka_records.segments.headers import HeaderColumns

_MARKERS = ("COMMIT", "ABORT")

# Base offset and producer ID of a transactional batch, and its control type if it is a marker.
_Event = tuple[int, int, str | None]


@dataclass(frozen=True, order=True)
class AbortedTransaction:
    """Aborted transaction, as in a transaction index."""

    producer_id: int
    # Offset of its first batch.
    first_offset: int
    # Offset of its marker.
    last_offset: int


@dataclass(frozen=True)
class CommittedView:
    """Offsets below ``until_offset``, except aborted transactions."""

    # Last stable offset: start of the first open transaction, else the log end at the time of reading. None: no limit.
    until_offset: int | None = None
    aborted: tuple[AbortedTransaction, ...] = ()
    # True if there is an open transaction.
    is_open: bool = False

    @classmethod
    def of(cls, files: Sequence[File]) -> CommittedView:
        """Find open and aborted transactions of a log (KIP-98). Raises OSError.

        They are in the index files of the log, and in the batch headers and markers of segments without usable ones.
        """
        known = transactions_before(files) or KnownTransactions(0, {}, [])
        begun = dict(known.begun)
        aborted = {AbortedTransaction(*each) for each in known.aborted}
        events: set[_Event] = set()
        end = known.offset
        files = [file for file in files if not known.offset or int(file.base_name[:20]) >= known.offset]
        for file in files:
            for batch in headers_of(file):
                events.update(_events(batch))
                if len(batch):
                    end = max(end, pc.max(batch.column("last_offset")).as_py() + 1)
        for offset, producer, marker in sorted(events, key=itemgetter(0)):
            if marker is None:
                begun.setdefault(producer, offset)
                continue
            first = begun.pop(producer, None)
            if first is not None and marker == "ABORT":
                aborted.add(AbortedTransaction(producer, first, offset))
        return cls(min(begun.values(), default=end), tuple(sorted(aborted)), bool(begun))

    def aborted_within(self, low: int | None, high: int | None) -> tuple[AbortedTransaction, ...]:
        return tuple(
            each
            for each in self.aborted
            if (low is None or each.last_offset >= low) and (high is None or each.first_offset < high)
        )


def are_aborted(aborted: Iterable[AbortedTransaction], headers: HeaderColumns) -> Any:
    """Return which batches belong to an aborted transaction, as an array of bool; markers do not."""
    found = np.zeros(len(headers.start), np.bool_)
    rows = np.flatnonzero(headers.transactional & ~headers.control)
    producer, offset = headers.producer_id[rows], headers.base_offset[rows]
    for one in np.unique(producer).tolist():
        of_one = sorted(each for each in aborted if each.producer_id == one)
        if not of_one:
            continue
        firsts = np.array([each.first_offset for each in of_one])
        lasts = np.array([each.last_offset for each in of_one])
        mine = np.flatnonzero(producer == one)
        at = np.searchsorted(firsts, offset[mine], "right") - 1
        found[rows[mine]] = (at >= 0) & (offset[mine] < lasts[at])
    return found


def _events(batch: pa.RecordBatch) -> Iterator[_Event]:
    control = batch.column("is_control")
    data = pc.and_(pc.invert(control), pc.greater(pc.fill_null(batch.column("records"), 0), 0))
    markers = pc.and_(control, pc.fill_null(pc.is_in(batch.column("control_type"), pa.array(_MARKERS)), False))
    some = batch.filter(pc.and_(batch.column("is_transactional"), pc.or_(data, markers)))
    names = ("base_offset", "producer_id", "control_type")
    yield from zip(*(some.column(name).to_pylist() for name in names), strict=True)
