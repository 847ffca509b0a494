"""Transactional ids and their transactions, as Kafka 4.4 keeps them (``TransactionCoordinator``, ``TransactionMetadata``).

Two protocols: version 1 (KIP-98), and version 2 (KIP-890), where each commit or abort raises the producer epoch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from kafka_messages.enums import TransactionState
from kafka_messages.protocol import ErrorCode

from .errors import RequestError

Partition: TypeAlias = tuple[str, int]
"""Name of a topic and number of a partition."""
ProducerIdAndEpoch: TypeAlias = tuple[int, int]

NONE: ProducerIdAndEpoch = (-1, -1)
_HIGHEST_EPOCH = 0x7FFF
_LONGEST_TIMEOUT = 900_000
"""Milliseconds; default of the broker's ``transaction.max.timeout.ms``."""
_RETRY = 0.02
"""Seconds between attempts to write the markers of partitions without a leader."""
_PREPARED = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
_COMPLETE = (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
"""States of a commit, and of an abort."""


@dataclass(slots=True, eq=False)
class Transaction:
    """A transactional id with its producer and its current transaction."""

    id: str
    producer_id: int
    timeout: int
    """Milliseconds until the coordinator aborts a transaction."""
    epoch: int = -1
    previous_id: int = -1
    """Producer id before the last change of the state."""
    last_epoch: int = -1
    """Epoch before the last one that the producer itself asked for; -1 after another producer took over (KIP-360)."""
    next_id: int = -1
    """Producer id after the current end of a transaction; -1 to keep it."""
    state: TransactionState = TransactionState.EMPTY
    partitions: set[Partition] = field(default_factory=set)
    timer: asyncio.TimerHandle | None = None

    @property
    def is_exhausted(self) -> bool:
        """True if the producer needs a new id, as the next epoch is kept to fence it."""
        return self.epoch >= _HIGHEST_EPOCH - 1

    def enter(self, state: TransactionState) -> None:
        self.previous_id, self.state = self.producer_id, state

    def check(self, producer: ProducerIdAndEpoch) -> None:
        """Raise RequestError for a producer that is not the current one."""
        if producer[0] != self.producer_id:
            raise RequestError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if producer[1] != self.epoch:
            raise RequestError(ErrorCode.PRODUCER_FENCED)

    def check_completed(self) -> None:
        """Raise RequestError while the markers of a transaction are missing."""
        if self.state in _PREPARED:
            raise RequestError(ErrorCode.CONCURRENT_TRANSACTIONS)

    def schedule(self, seconds: float, function: Callable[[Transaction], None]) -> None:
        """Call a function later, instead of the one that was scheduled before."""
        self.cancel()
        self.timer = asyncio.get_running_loop().call_later(seconds, function, self)

    def cancel(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Transactions:
    """All transactional ids. Methods raise RequestError with the error codes of ``TransactionCoordinator``.

    ``mark`` writes the marker of a transaction to a partition, with the arguments partition, producer and True for a
    commit; it returns False if it must be called again later. ``is_version_2`` is True if the cluster announces
    ``transaction.version`` 2 (KIP-890); the coordinator then also fences producers as in that version.
    """

    def __init__(self, mark: Callable[[Partition, ProducerIdAndEpoch, bool], bool], is_version_2: bool = True) -> None:
        self.is_version_2 = is_version_2
        self.by_id: dict[str, Transaction] = {}
        self._mark = mark
        self._ids = count()

    def new_producer_id(self) -> int:
        return next(self._ids)

    def start(self, id: str, timeout: int, expected: ProducerIdAndEpoch = NONE) -> ProducerIdAndEpoch:
        """Return the producer id and epoch for InitProducerId; ``expected`` is what the client has (KIP-360)."""
        if not 0 < timeout <= _LONGEST_TIMEOUT:
            raise RequestError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        found = self.by_id.get(id)
        if found is None:
            found = self.by_id[id] = Transaction(id, self.new_producer_id(), timeout)
        found.check_completed()
        is_known = expected == NONE or found.epoch == -1 or expected[0] == found.producer_id
        if not (is_known or (expected[0] == found.previous_id and expected[1] >= _HIGHEST_EPOCH - 1)):
            raise RequestError(ErrorCode.PRODUCER_FENCED)
        if found.state is TransactionState.ONGOING:
            self._fence(found)
            raise RequestError(ErrorCode.CONCURRENT_TRANSACTIONS)  # the client asks again
        producer_id, epoch, found.last_epoch = self._next(found, expected)
        found.enter(TransactionState.EMPTY)
        found.producer_id, found.epoch, found.timeout = producer_id, epoch, timeout
        return producer_id, epoch

    def _next(self, found: Transaction, expected: ProducerIdAndEpoch) -> tuple[int, int, int]:
        """Return the next producer id and epoch, and the epoch that a repeated request may have."""
        is_given = expected != NONE
        if found.is_exhausted:
            if is_given and expected[1] != found.epoch:
                raise RequestError(ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka's IllegalStateException
            return self.new_producer_id(), 0, found.epoch if is_given else -1
        if not is_given:
            return found.producer_id, found.epoch + 1, -1
        if found.epoch in (-1, expected[1]):
            return found.producer_id, found.epoch + 1, found.epoch
        if expected[1] == found.last_epoch:
            return found.producer_id, found.epoch, found.last_epoch
        raise RequestError(ErrorCode.PRODUCER_FENCED)

    def add(self, id: str, producer: ProducerIdAndEpoch, partitions: Set[Partition]) -> None:
        """Add partitions to the transaction; begin one if there is none."""
        found = self._find(id)
        found.check_completed()
        found.check(producer)
        if found.state is not TransactionState.ONGOING:
            found.schedule(found.timeout / 1000, self._fence)
        elif partitions <= found.partitions:
            return
        found.enter(TransactionState.ONGOING)
        found.partitions |= partitions

    def missing(self, id: str, producer: ProducerIdAndEpoch, partitions: Set[Partition]) -> Set[Partition]:
        """Return the partitions that are not in the transaction (``handleVerifyPartitionsInTransaction``)."""
        found = self._find(id)
        found.check(producer)
        found.check_completed()
        return partitions - found.partitions

    def end(self, id: str, producer: ProducerIdAndEpoch, is_commit: bool, is_version_2: bool) -> ProducerIdAndEpoch:
        """Commit or abort the transaction. Return the producer id and epoch of the next one; -1 in version 1."""
        found = self._find(id)
        if is_version_2:
            return self._end_version_2(found, producer, is_commit)
        found.check(producer)
        found.check_completed()
        if found.state is TransactionState.ONGOING:
            self._complete(found, is_commit)
        elif found.state is not _COMPLETE[not is_commit]:
            raise RequestError(ErrorCode.INVALID_TXN_STATE)
        return NONE

    def _end_version_2(self, found: Transaction, producer: ProducerIdAndEpoch, is_commit: bool) -> ProducerIdAndEpoch:
        found.check_completed()
        is_rotated = producer == (found.previous_id, _HIGHEST_EPOCH - 1) and found.epoch == 0
        is_repeated = is_rotated or producer == (found.producer_id, found.epoch - 1)
        if is_repeated and found.state in _COMPLETE:
            if found.state is not _COMPLETE[not is_commit]:
                raise RequestError(ErrorCode.INVALID_TXN_STATE)
            return found.producer_id, found.epoch
        if is_rotated:
            raise RequestError(ErrorCode.PRODUCER_FENCED)
        found.check(producer)
        if is_commit and found.state is not TransactionState.ONGOING:
            raise RequestError(ErrorCode.INVALID_TXN_STATE)
        self._raise_epoch(found)
        following = (found.producer_id, found.epoch) if found.next_id < 0 else (found.next_id, 0)
        self._complete(found, is_commit)
        return following

    def check_produce(self, id: str, producer: ProducerIdAndEpoch, partition: Partition, version: int) -> None:
        """Check a transactional batch; Produce adds its partition from version 12 on (KIP-890).

        Raises RequestError, as ``ReplicaManager.handleProduceAppend``.
        """
        try:
            self.join(id, producer, partition, is_added=version >= 12, is_abortable=version >= 11)
        except RequestError as error:
            code, text = error.code, None
            if code == ErrorCode.INVALID_TXN_STATE:
                text = "Partition was not added to the transaction"
            elif code == ErrorCode.CONCURRENT_TRANSACTIONS and version < 12:
                code, text = ErrorCode.NOT_ENOUGH_REPLICAS, f"The transaction cannot be verified: {code.name}"
            raise RequestError(code, text) from None

    def join(
        self, id: str, producer: ProducerIdAndEpoch, partition: Partition, *, is_added: bool, is_abortable: bool
    ) -> None:
        """Add a partition, or check that it was added, with the error codes of ``AddPartitionsToTxnManager``.

        ``is_abortable`` is True if the version of the request has TRANSACTION_ABORTABLE.
        """
        try:
            if is_added:
                self.add(id, producer, {partition})
            elif self.missing(id, producer, {partition}):
                code = ErrorCode.TRANSACTION_ABORTABLE if is_abortable else ErrorCode.INVALID_TXN_STATE
                raise RequestError(code)
        except RequestError as error:
            if error.code == ErrorCode.PRODUCER_FENCED:
                raise RequestError(ErrorCode.INVALID_PRODUCER_EPOCH) from None
            raise

    def _find(self, id: str) -> Transaction:
        if not id:
            raise RequestError(ErrorCode.INVALID_REQUEST)
        found = self.by_id.get(id)
        if found is None:
            raise RequestError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return found

    def _fence(self, found: Transaction) -> None:
        """Abort the transaction and raise the epoch: after a timeout, or as another producer takes over."""
        if self.is_version_2:
            self._raise_epoch(found)
        else:
            found.epoch, found.last_epoch = min(found.epoch + 1, _HIGHEST_EPOCH), -1
        self._complete(found, is_commit=False)

    def _raise_epoch(self, found: Transaction) -> None:
        found.next_id = self.new_producer_id() if found.is_exhausted else -1
        found.last_epoch, found.epoch = found.epoch, min(found.epoch + 1, _HIGHEST_EPOCH)

    def _complete(self, found: Transaction, is_commit: bool) -> None:
        found.cancel()
        found.enter(_PREPARED[not is_commit])
        self._write_markers(found)

    def _write_markers(self, found: Transaction) -> None:
        index, producer = _PREPARED.index(found.state), (found.producer_id, found.epoch)
        found.partitions = {each for each in sorted(found.partitions) if not self._mark(each, producer, index == 0)}
        if found.partitions:
            found.schedule(_RETRY, self._write_markers)
            return
        found.cancel()
        found.enter(_COMPLETE[index])
        if found.next_id >= 0:
            found.producer_id, found.epoch, found.next_id = found.next_id, 0, -1
