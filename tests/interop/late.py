"""Creates a hanging transaction as in KIP-664: a write that arrives after the end of its transaction.

Current clients prevent such writes, so ``kafka_messages`` sends old request versions. The broker must not verify
transactional writes (``transaction.partition.verification.enable=false``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kafka_messages import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    Message,
)
from kafka_messages.messages.add_partitions_to_txn_request import AddPartitionsToTxnTopic
from kafka_messages.protocol import ErrorCode
from kafka_records.segments.batch_writer import write_batches

from .kafka import InteropError
from .wire import Connection, accept

SECONDS = 20
TRANSACTION = 1
"""Key type of transactional ids in FindCoordinator."""
RETRIED = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR)


@dataclass(frozen=True)
class Late:
    """A hanging transaction."""

    transactional_id: str
    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    offset: int


def hang(port: int, transactional_id: str, topic: str, partition: int) -> Late:
    """Commit a transaction of one record, then write another record with the same producer and epoch."""
    with Connection(port) as broker:
        find = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=[transactional_id])
        _until_ok(find, lambda: broker.ask(find, 4, FindCoordinatorResponse).coordinators[0].error_code)
        producer = _Producer(broker, transactional_id, topic, partition)
        producer.write(0, b"in time")
        producer.commit()
        offset = producer.write(1, b"too late")
    return Late(transactional_id, topic, partition, producer.id, producer.epoch, offset)


class _Producer:
    """A transactional producer of one partition, with an open transaction."""

    def __init__(self, broker: Connection, transactional_id: str, topic: str, partition: int) -> None:
        self._broker = broker
        self._transactional_id = transactional_id
        self._topic = topic
        self._partition = partition
        start = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000)
        granted: InitProducerIdResponse | None = None

        def grant() -> int:
            nonlocal granted
            granted = broker.ask(start, 4, InitProducerIdResponse)
            return granted.error_code

        _until_ok(start, grant)
        assert granted is not None
        self.id, self.epoch = granted.producer_id, granted.producer_epoch
        add = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transactional_id,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
        )
        _until_ok(add, lambda: _added(broker.ask(add, 3, AddPartitionsToTxnResponse)))

    def write(self, sequence: int, value: bytes) -> int:
        """Write a record; return its offset."""
        batch = write_batches(
            [{"key": b"payment", "value": value, "timestamp": int(time.time() * 1000)}],
            producer_id=self.id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        return self._broker.produce(self._topic, self._partition, batch, self._transactional_id)

    def commit(self) -> None:
        """Commit, and wait until the transaction is completed."""
        end = EndTxnRequest(
            transactional_id=self._transactional_id, producer_id=self.id, producer_epoch=self.epoch, committed=True
        )
        _until_ok(end, lambda: self._broker.ask(end, 3, EndTxnResponse).error_code)
        describe = DescribeTransactionsRequest(transactional_ids=[self._transactional_id])
        deadline = time.monotonic() + SECONDS
        while True:
            state = self._broker.ask(describe, 0, DescribeTransactionsResponse).transaction_states[0]
            if state.transaction_state == "CompleteCommit":
                return
            if time.monotonic() > deadline:
                raise InteropError(f"{self._transactional_id} has state {state.transaction_state}: no commit in time")
            time.sleep(0.05)


def _added(answer: AddPartitionsToTxnResponse) -> int:
    (topic,) = answer.results_by_topic_v3_and_below
    (partition,) = topic.results_by_partition
    return partition.partition_error_code


def _until_ok(request: Message, ask: Callable[[], int]) -> None:
    deadline = time.monotonic() + SECONDS
    while (code := ask()) in RETRIED and time.monotonic() < deadline:
        time.sleep(0.05)
    accept(request, code)
