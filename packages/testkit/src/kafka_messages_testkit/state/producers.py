"""Idempotent and transactional producers of a partition (KIP-98)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from kafka_messages.protocol import ErrorCode
from kafka_records import Batch

from .errors import RequestError

_RECENT = 5
_SEQUENCES = 1 << 31


@dataclass(slots=True)
class ProducerState:
    """State of a producer id in a partition, as Kafka's ``ProducerStateEntry`` and ``ProducerAppendInfo`` keep it."""

    epoch: int = -1
    coordinator_epoch: int = -1
    transaction_start: int | None = None
    """First offset of the open transaction."""
    recent: deque[Batch] = field(default_factory=lambda: deque(maxlen=_RECENT))

    @property
    def next_sequence(self) -> int:
        return (self.recent[-1].base_sequence + self.recent[-1].count) % _SEQUENCES if self.recent else 0

    def duplicate(self, batch: Batch) -> Batch | None:
        """Return the stored batch that a producer sends again, if it is one of the last five."""
        same = (batch.producer_epoch, batch.base_sequence, batch.count)
        return next((each for each in self.recent if (self.epoch, each.base_sequence, each.count) == same), None)

    def check(self, batch: Batch) -> None:
        """Raise RequestError for an old epoch, or a sequence number that does not follow the last one.

        A producer without state may start with any sequence number.
        """
        self._check_epoch(batch.producer_epoch)
        if batch.producer_epoch != self.epoch:
            is_in_sequence = batch.base_sequence == 0 or self.epoch < 0
        else:
            is_in_sequence = batch.base_sequence == self.next_sequence
        if not is_in_sequence:
            raise RequestError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
        if self.transaction_start is not None and not batch.is_transactional:
            raise RequestError(ErrorCode.INVALID_TXN_STATE)

    def add(self, batch: Batch) -> None:
        self._set_epoch(batch.producer_epoch)
        self.recent.append(batch)
        if batch.is_transactional and self.transaction_start is None:
            self.transaction_start = batch.base_offset

    def check_marker(self, epoch: int, coordinator_epoch: int) -> None:
        """Raise RequestError for a marker of an old producer or coordinator."""
        self._check_epoch(epoch)
        if coordinator_epoch < self.coordinator_epoch:
            raise RequestError(ErrorCode.TRANSACTION_COORDINATOR_FENCED)

    def end_transaction(self, epoch: int, coordinator_epoch: int) -> int | None:
        """Return the first offset of the transaction that a marker ends; None if it has no records here."""
        self._set_epoch(epoch)
        self.coordinator_epoch = coordinator_epoch
        start, self.transaction_start = self.transaction_start, None
        return start

    def _check_epoch(self, epoch: int) -> None:
        if epoch < self.epoch:
            raise RequestError(ErrorCode.INVALID_PRODUCER_EPOCH)

    def _set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.recent.clear()
