"""States of transactions, compared with ``TransactionCoordinator`` and ``TransactionMetadata`` of Kafka 4.4."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest
from kafka_messages.enums import TransactionState
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit.state.errors import RequestError
from kafka_messages_testkit.state.transactions import Transactions

HIGHEST = 0x7FFF
ORDERS, PAID = ("orders", 0), ("paid", 1)


class Coordinator(Transactions):
    """``markers`` are what was written; markers of partitions in ``unavailable`` are refused."""

    def __init__(self, is_version_2: bool = True) -> None:
        super().__init__(self._write, is_version_2)
        self.markers: list[Any] = []
        self.unavailable: set[Any] = set()
        self.written = asyncio.Event()

    def _write(self, partition: Any, producer: Any, is_commit: bool) -> bool:
        if partition in self.unavailable:
            return False
        self.markers.append((partition, producer, "commit" if is_commit else "abort"))
        self.written.set()
        return True


def looped(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in an event loop."""

    @wraps(test)
    def run(*arguments: Any, **options: Any) -> None:
        asyncio.run(test(*arguments, **options))

    return run


def refused(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return the name of the error that a call raises."""
    with pytest.raises(RequestError) as caught:
        function(*arguments, **options)
    return ErrorCode(caught.value.code).name


def begun(is_version_2: bool = True) -> Coordinator:
    """Return a coordinator with an ongoing transaction of producer id 0 and epoch 0."""
    made = Coordinator(is_version_2)
    assert made.start("t", 60_000) == (0, 0)
    made.add("t", (0, 0), {ORDERS})
    return made


def at(epoch: int, is_version_2: bool = True) -> Coordinator:
    """Return a coordinator with a producer of id 0 and the given epoch, without a transaction."""
    made = Coordinator(is_version_2)
    made.start("t", 60_000)
    made.by_id["t"].epoch = epoch
    return made


def test_each_start_raises_the_epoch() -> None:
    coordinator = Coordinator()
    assert [coordinator.start("t", 1) for _ in range(3)] == [(0, 0), (0, 1), (0, 2)]
    assert coordinator.start("other", 1) == (1, 0)


@pytest.mark.parametrize("timeout", [0, -1, 900_001])
def test_an_invalid_timeout_is_refused(timeout: int) -> None:
    coordinator = Coordinator()
    assert refused(coordinator.start, "t", timeout) == "INVALID_TRANSACTION_TIMEOUT"
    assert coordinator.start("t", 900_000) == (0, 0)


def test_a_producer_raises_its_own_epoch_once() -> None:
    """A repeated request gets the same epoch (KIP-360)."""
    coordinator = at(4)
    assert [coordinator.start("t", 1, (0, 4)) for _ in range(2)] == [(0, 5)] * 2
    assert refused(coordinator.start, "t", 1, (0, 3)) == "PRODUCER_FENCED"
    assert refused(coordinator.start, "t", 1, (9, 5)) == "PRODUCER_FENCED"
    assert coordinator.start("t", 1) == (0, 6)
    assert refused(coordinator.start, "t", 1, (0, 5)) == "PRODUCER_FENCED"


def test_an_unknown_transactional_id_accepts_any_producer() -> None:
    assert Coordinator().start("t", 1, (77, 5)) == (0, 0)


def test_the_producer_id_changes_after_the_last_epoch() -> None:
    coordinator = at(HIGHEST - 1)
    assert refused(coordinator.start, "t", 1, (0, 3)) == "UNKNOWN_SERVER_ERROR"
    assert coordinator.start("t", 1, (0, HIGHEST - 1)) == (1, 0)
    assert coordinator.start("t", 1, (0, HIGHEST - 1)) == (1, 0)
    other = at(HIGHEST - 1)
    assert other.start("t", 1) == (1, 0)
    assert refused(other.start, "t", 1, (0, HIGHEST - 1)) == "PRODUCER_FENCED"


@looped
async def test_start_aborts_an_ongoing_transaction() -> None:
    """The epoch is raised twice: to fence the producer, and for the new one."""
    for is_version_2 in (False, True):
        coordinator = begun(is_version_2)
        assert refused(coordinator.start, "t", 1) == "CONCURRENT_TRANSACTIONS"
        assert coordinator.markers == [(ORDERS, (0, 1), "abort")]
        assert coordinator.start("t", 1) == (0, 2)


@looped
async def test_a_fenced_producer_may_continue_in_version_2_only() -> None:
    for is_version_2 in (False, True):
        coordinator = begun(is_version_2)
        coordinator._fence(coordinator.by_id["t"])
        if is_version_2:
            assert coordinator.start("t", 1, (0, 0)) == (0, 1)
        else:
            assert refused(coordinator.start, "t", 1, (0, 0)) == "PRODUCER_FENCED"


@looped
async def test_partitions_are_added() -> None:
    coordinator = begun()
    coordinator.add("t", (0, 0), {ORDERS, PAID})
    assert coordinator.missing("t", (0, 0), {ORDERS, PAID, ("other", 0)}) == {("other", 0)}
    for function in (coordinator.add, coordinator.missing):
        assert refused(function, "t", (1, 0), {ORDERS}) == "INVALID_PRODUCER_ID_MAPPING"
        assert refused(function, "t", (0, 1), {ORDERS}) == "PRODUCER_FENCED"
        assert refused(function, "unknown", (0, 0), {ORDERS}) == "INVALID_PRODUCER_ID_MAPPING"
        assert refused(function, "", (0, 0), {ORDERS}) == "INVALID_REQUEST"


@looped
async def test_version_1_keeps_the_epoch() -> None:
    coordinator = begun(False)
    assert coordinator.end("t", (0, 0), True, False) == (-1, -1)
    assert coordinator.markers == [(ORDERS, (0, 0), "commit")]
    assert coordinator.missing("t", (0, 0), {ORDERS}) == {ORDERS}
    assert coordinator.end("t", (0, 0), True, False) == (-1, -1)
    assert refused(coordinator.end, "t", (0, 0), False, False) == "INVALID_TXN_STATE"
    assert refused(coordinator.end, "t", (0, 1), True, False) == "PRODUCER_FENCED"
    assert refused(coordinator.end, "t", (1, 0), True, False) == "INVALID_PRODUCER_ID_MAPPING"
    assert len(coordinator.markers) == 1


def test_version_1_needs_a_transaction() -> None:
    for is_commit in (False, True):
        assert refused(at(0).end, "t", (0, 0), is_commit, False) == "INVALID_TXN_STATE"


@looped
async def test_version_2_raises_the_epoch() -> None:
    coordinator = begun()
    assert coordinator.end("t", (0, 0), True, True) == (0, 1)
    assert coordinator.markers == [(ORDERS, (0, 1), "commit")]
    coordinator.add("t", (0, 1), {ORDERS, PAID})
    assert coordinator.end("t", (0, 1), False, True) == (0, 2)
    assert coordinator.markers[1:] == [(ORDERS, (0, 2), "abort"), (PAID, (0, 2), "abort")]


EMPTY, ABORTED, COMMITTED = TransactionState.EMPTY, TransactionState.COMPLETE_ABORT, TransactionState.COMPLETE_COMMIT


@pytest.mark.parametrize(
    ("state", "is_commit", "repeated", "current"),
    [
        (EMPTY, False, "PRODUCER_FENCED", (0, 6)),
        (EMPTY, True, "PRODUCER_FENCED", "INVALID_TXN_STATE"),
        (ABORTED, False, (0, 5), (0, 6)),
        (ABORTED, True, "INVALID_TXN_STATE", "INVALID_TXN_STATE"),
        (COMMITTED, False, "INVALID_TXN_STATE", (0, 6)),
        (COMMITTED, True, (0, 5), "INVALID_TXN_STATE"),
    ],
)
def test_version_2_without_a_transaction(state: TransactionState, is_commit: bool, repeated: Any, current: Any) -> None:
    """The table above ``TransactionCoordinator.endTransaction``."""

    def ended(epoch: int) -> Any:
        coordinator = at(5)
        coordinator.by_id["t"].state = state
        try:
            return coordinator.end("t", (0, epoch), is_commit, True)
        except RequestError as error:
            return ErrorCode(error.code).name

    assert (ended(4), ended(5), ended(6)) == (repeated, current, "PRODUCER_FENCED")


@looped
async def test_version_2_changes_the_producer_id_after_the_last_epoch() -> None:
    coordinator = at(HIGHEST - 1)
    coordinator.add("t", (0, HIGHEST - 1), {ORDERS})
    assert coordinator.end("t", (0, HIGHEST - 1), True, True) == (1, 0)
    assert coordinator.markers == [(ORDERS, (0, HIGHEST), "commit")]
    assert coordinator.end("t", (0, HIGHEST - 1), True, True) == (1, 0)
    assert refused(coordinator.end, "t", (0, HIGHEST - 1), False, True) == "INVALID_TXN_STATE"
    coordinator.add("t", (1, 0), {ORDERS})
    assert refused(coordinator.end, "t", (0, HIGHEST - 1), True, True) == "INVALID_PRODUCER_ID_MAPPING"


@looped
async def test_requests_wait_for_missing_markers() -> None:
    coordinator = begun()
    coordinator.add("t", (0, 0), {PAID})
    coordinator.unavailable = {ORDERS}
    assert coordinator.end("t", (0, 0), True, True) == (0, 1)
    assert coordinator.markers == [(PAID, (0, 1), "commit")]
    for function, arguments in (
        (coordinator.start, ("t", 1)),
        (coordinator.add, ("t", (0, 1), {ORDERS})),
        (coordinator.missing, ("t", (0, 1), {ORDERS})),
        (coordinator.end, ("t", (0, 0), True, True)),
    ):
        assert refused(function, *arguments) == "CONCURRENT_TRANSACTIONS"
    for version, code in ((11, "NOT_ENOUGH_REPLICAS"), (12, "CONCURRENT_TRANSACTIONS")):
        assert refused(coordinator.check_produce, "t", (0, 1), ORDERS, version) == code
    coordinator.unavailable.clear()
    coordinator.written.clear()
    await asyncio.wait_for(coordinator.written.wait(), 5)
    assert coordinator.markers[1:] == [(ORDERS, (0, 1), "commit")]
    coordinator.add("t", (0, 1), {ORDERS})


@looped
async def test_a_transaction_times_out() -> None:
    for is_version_2 in (False, True):
        coordinator = Coordinator(is_version_2)
        coordinator.start("t", 1)
        coordinator.add("t", (0, 0), {ORDERS})
        await asyncio.wait_for(coordinator.written.wait(), 5)
        assert coordinator.markers == [(ORDERS, (0, 1), "abort")]
        assert refused(coordinator.add, "t", (0, 0), {ORDERS}) == "PRODUCER_FENCED"
        if is_version_2:
            assert refused(coordinator.end, "t", (0, 0), True, True) == "INVALID_TXN_STATE"
        else:
            assert refused(coordinator.end, "t", (0, 0), True, False) == "PRODUCER_FENCED"


@looped
async def test_a_complete_transaction_does_not_time_out() -> None:
    coordinator = begun()
    timer = coordinator.by_id["t"].timer
    coordinator.end("t", (0, 0), True, True)
    assert timer is not None
    assert timer.cancelled()
    assert coordinator.by_id["t"].timer is None


@looped
async def test_produce_checks_the_transaction() -> None:
    coordinator = begun()
    coordinator.check_produce("t", (0, 0), ORDERS, 7)
    for version, code in ((10, "INVALID_TXN_STATE"), (11, "TRANSACTION_ABORTABLE")):
        assert refused(coordinator.check_produce, "t", (0, 0), PAID, version) == code
        assert refused(coordinator.check_produce, "t", (0, 1), ORDERS, version) == "INVALID_PRODUCER_EPOCH"
        assert refused(coordinator.check_produce, "t", (1, 0), ORDERS, version) == "INVALID_PRODUCER_ID_MAPPING"


@looped
async def test_produce_adds_the_partition_from_version_12_on() -> None:
    coordinator = Coordinator()
    coordinator.start("t", 60_000)
    coordinator.check_produce("t", (0, 0), ORDERS, 12)
    assert coordinator.by_id["t"].state is TransactionState.ONGOING
    assert coordinator.by_id["t"].partitions == {ORDERS}
    assert refused(coordinator.check_produce, "t", (0, 1), ORDERS, 12) == "INVALID_PRODUCER_EPOCH"
