"""What a consumer with ``isolation.level=read_committed`` gets of a log, told by the headers and markers of its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc

from .._files import File
from ._batch_filter import AbortedTransaction
from ._lookup import headers

_MARKERS = ("COMMIT", "ABORT")

_Event = tuple[int, int, str | None]
"""Base offset and producer id of a transactional batch, and what its marker says if it is one."""


@dataclass(frozen=True)
class CommittedView:
    """What of a log is committed: all before ``until_offset`` but what is of aborted transactions."""

    until_offset: int | None = None
    """The last stable offset: that of the first transaction that has no marker, else the end of the log as it was when it
    was looked at: what is written since then may be of a transaction. None: everything."""
    aborted: tuple[AbortedTransaction, ...] = ()
    is_open: bool = False
    """Whether there is such a transaction."""

    @classmethod
    def of(cls, files: Iterable[File]) -> CommittedView:
        """Read the headers of all files of a log, and its markers (KIP-98). Raises OSError.

        Where the beginning of the log is gone nothing is missing: a marker comes after all that it is about.
        """
        begun: dict[int, int] = {}
        aborted: set[AbortedTransaction] = set()
        events: set[_Event] = set()
        end = 0
        for file in files:
            for batch in headers(file):
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
        """The transactions that may have batches between two offsets."""
        return tuple(
            each
            for each in self.aborted
            if (low is None or each.last_offset >= low) and (high is None or each.first_offset < high)
        )


def _events(batch: pa.RecordBatch) -> Iterator[_Event]:
    """The transactional batches with records, and the markers; the cleaner leaves batches without records behind."""
    control = batch.column("is_control")
    data = pc.and_(pc.invert(control), pc.greater(pc.fill_null(batch.column("records"), 0), 0))
    markers = pc.and_(control, pc.fill_null(pc.is_in(batch.column("control_type"), pa.array(_MARKERS)), False))
    some = batch.filter(pc.and_(batch.column("is_transactional"), pc.or_(data, markers)))
    names = ("base_offset", "producer_id", "control_type")
    yield from zip(*(some.column(name).to_pylist() for name in names), strict=True)
