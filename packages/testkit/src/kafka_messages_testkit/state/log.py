"""Log of a partition: batches, producers, transactions and leader epochs."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from kafka_messages.protocol import ErrorCode
from kafka_records import Batch, Record, read_batches, with_base_offset, write_control_batch

from .batches import checked_batch, now_ms
from .errors import RequestError
from .producers import ProducerState


class Abort(NamedTuple):
    producer_id: int
    first_offset: int
    marker_offset: int


class Timed(NamedTuple):
    """Offset of a record, its timestamp in milliseconds, and its leader epoch; -1 if unknown."""

    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1


@dataclass(slots=True, eq=False)
class Log:
    """Batches of a partition, its leader, and the requests that wait for a change.

    There are no followers: the high watermark is the end of the log.
    """

    index: int
    leader: int
    """Node id of the leader, which may be stopped."""
    leader_epoch: int = 0
    start: int = 0
    """First offset."""
    batches: list[Batch] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    """Leader epochs and their first offsets, ascending, without those that wrote nothing (``LeaderEpochFileCache``)."""
    producers: dict[int, ProducerState] = field(default_factory=dict)
    aborted_transactions: list[Abort] = field(default_factory=list)
    waiting: set[asyncio.Event] = field(default_factory=set)

    @property
    def end(self) -> int:
        """Offset after the last record."""
        return self.batches[-1].last_offset + 1 if self.batches else self.start

    @property
    def last_stable_offset(self) -> int:
        """First offset of the oldest open transaction; without one the end."""
        starts = (each.transaction_start for each in self.producers.values())
        return min((start for start in starts if start is not None), default=self.end)

    def append(self, data: bytes) -> int:
        """Append one batch of format 2 and return its offset; that of the first time for a batch that is sent again.

        Raises RequestError for an invalid batch, producer epoch or sequence number; nothing is appended then.
        """
        batch = checked_batch(data)
        if batch.producer_id < 0:
            return self._store(data).base_offset
        producer = self.producers.get(batch.producer_id) or ProducerState()
        if (duplicate := producer.duplicate(batch)) is not None:
            return duplicate.base_offset
        producer.check(batch)
        stored = self._store(data)
        producer.add(stored)
        self.producers[batch.producer_id] = producer
        return stored.base_offset

    def append_marker(self, producer_id: int, producer_epoch: int, is_commit: bool, coordinator_epoch: int = 0) -> int:
        """End the transaction of a producer, and return the offset of the marker. Raises RequestError."""
        producer = self.producers.setdefault(producer_id, ProducerState())
        producer.check_marker(producer_epoch, coordinator_epoch)
        marker = write_control_batch(
            "COMMIT" if is_commit else "ABORT",
            timestamp=now_ms(),
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
        )
        first = producer.end_transaction(producer_epoch, coordinator_epoch)
        offset = self._store(marker).base_offset
        if first is not None and not is_commit:
            self.aborted_transactions.append(Abort(producer_id, first, offset))
        return offset

    def _store(self, data: bytes) -> Batch:
        [batch] = read_batches(with_base_offset(data, self.end, leader_epoch=self.leader_epoch), verify=False)
        self.batches.append(batch)
        self.notify()
        return batch

    def read(self, offset: int, end: int, max_bytes: int, at_least_one: bool) -> list[Batch]:
        """Return the batches with offsets from ``offset`` to ``end``, exclusive, up to ``max_bytes``.

        With ``at_least_one`` the first batch may be larger. Raises RequestError for an offset outside of the log.
        """
        if not self.start <= offset <= self.end:
            raise RequestError(ErrorCode.OFFSET_OUT_OF_RANGE)
        found: list[Batch] = []
        for number in range(bisect_left(self.batches, offset, key=attrgetter("last_offset")), len(self.batches)):
            batch = self.batches[number]
            max_bytes -= batch.size
            if batch.base_offset >= end or (max_bytes < 0 and (found or not at_least_one)):
                break
            found.append(batch)
        return found

    def records(self) -> list[Record]:
        """Return the data records, those of aborted and open transactions included."""
        return [record for batch in self.batches if not batch.is_control for record in batch.records()]

    def batch_at(self, offset: int) -> Batch:
        return self.batches[bisect_left(self.batches, offset, key=attrgetter("last_offset"))]

    def aborted(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return producer ids and first offsets of the aborted transactions in the offsets from ``start`` to ``end``.

        ``end`` is exclusive. The order is that of the markers.
        """
        return [
            (each.producer_id, each.first_offset)
            for each in self.aborted_transactions
            if each.marker_offset >= start and each.first_offset < end
        ]

    def find_timestamp(self, timestamp: int) -> Timed:
        """Return the first record with at least this timestamp."""
        return _first(self.batches, timestamp)

    def find_latest_timestamp(self) -> Timed:
        """Return the first record with the highest timestamp (KIP-734)."""
        return _first(self.batches, max((batch.max_timestamp for batch in self.batches), default=-1))

    def lead(self, node_id: int) -> None:
        """Elect a leader: the next leader epoch begins."""
        self.leader, self.leader_epoch = node_id, self.leader_epoch + 1
        while self.epochs and self.epochs[-1][1] >= self.end:
            self.epochs.pop()
        self.epochs.append((self.leader_epoch, self.end))
        self.notify()

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """Return the latest leader epoch up to ``epoch`` that has records, and its end; (-1, -1) for an unknown one.

        As ``LeaderEpochFileCache.endOffsetFor``.
        """
        if epoch == self.epochs[-1][0]:
            return epoch, self.end
        after = bisect_right(self.epochs, epoch, key=lambda each: each[0])
        if epoch == -1 or after == len(self.epochs):
            return -1, -1
        return self.epochs[after - 1][0] if after else epoch, self.epochs[after][1]

    def notify(self) -> None:
        """Wake up the requests that wait for a change of this log."""
        for event in self.waiting:
            event.set()
        self.waiting.clear()


def _first(batches: Iterable[Batch], timestamp: int) -> Timed:
    for batch in batches:
        if batch.max_timestamp >= timestamp:
            for record in batch.records():
                if record.timestamp >= timestamp:
                    return Timed(record.timestamp, record.offset, batch.leader_epoch)
    return Timed()
