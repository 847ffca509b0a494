"""Conversations about producers and transactions."""

from __future__ import annotations

import asyncio

from kafka_messages import (
    DescribeGroupsRequest,
)

from .asked import add, add_offsets, batch, committed, end, fetch, init, list_offsets, produce, txn_commit
from .sides import Side


async def producers(side: Side) -> None:
    id = f"{side.name}-id"
    await side.ask("null", init(None))
    await side.ask("null with timeout", init(None, timeout=0))
    await side.ask("empty", init(""))
    for timeout in (0, -1, 900_000, 900_001):
        await side.ask(f"timeout {timeout}", init(f"{id}{timeout}", timeout=timeout))
    made = await side.ask("first", init(id))
    await side.ask("second", init(id))
    producer = (made.producer_id, made.producer_epoch)
    for label, given in {
        "older": producer,
        "same": (producer[0], producer[1] + 1),
        "newer": (producer[0], producer[1] + 7),
        "other": (producer[0] + 1, 0),
        "no epoch": (producer[0], -1),
        "no id": (-1, 0),
        "of another new": (5, 5),
    }.items():
        await side.ask(label, init(id if label != "of another new" else f"{id}-new", producer=given))
    await side.ask("idempotent with id", init(None, producer=producer))


async def unknown_transaction(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    for label, id in (("unknown", f"{side.name}-nobody"), ("empty", "")):
        await side.ask(label, add(id, (1, 0), name, 0))
        await side.ask(f"{label} topic", add(id, (1, 0), f"{side.name}-unknown", 0))
        await side.ask(label, add_offsets(id, (1, 0), group))
        await side.ask(f"{label} and empty group", add_offsets(id, (1, 0), ""))
        await side.ask(label, end(id, (1, 0)))
        await side.ask(label, txn_commit(side, id, (1, 0), group, name, 1))
        await side.ask(f"{label} and empty group", txn_commit(side, id, (1, 0), "", name, 1))
        await side.ask(f"{label} topic", txn_commit(side, id, (1, 0), group, f"{side.name}-unknown", 1))
    if await side.version(add("", (1, 0), name)) >= 4:
        await side.ask("verify", add(f"{side.name}-nobody", (1, 0), name, 0, verify_only=True))


async def transaction(side: Side) -> None:
    name, group, id = await side.topic(), f"{side.name}-group", f"{side.name}-id"
    made = await side.ask("init", init(id))
    producer = (made.producer_id, made.producer_epoch)
    wrong = {
        "old": (producer[0], producer[1] - 1),
        "new": (producer[0], producer[1] + 1),
        "other": (producer[0] + 1, 0),
    }

    def data(sequence: int, of: tuple[int, int]) -> bytes:
        return batch(producer_id=of[0], producer_epoch=of[1], base_sequence=sequence, is_transactional=True)

    await side.ask("commit nothing", end(id, producer))
    await side.ask("abort nothing", end(id, producer, False))
    made = await side.ask("init again", init(id))
    producer = (made.producer_id, made.producer_epoch)
    for label, given in wrong.items():
        await side.ask(label, add(id, given, name, 0))
        await side.ask(label, add_offsets(id, given, group))
        await side.ask(label, end(id, given))
        await side.ask(label, txn_commit(side, id, given, group, name, 1))
        await side.ask(label, produce(side, name, data(0, given), transactional_id=id))
    await side.ask("not added", txn_commit(side, id, producer, group, name, 1))
    await side.ask("some unknown", add(id, producer, name, 0, 9, -1))
    await side.ask("nothing", add(id, producer, name))
    await side.ask("valid", add(id, producer, name, 0))
    await side.ask("again", add(id, producer, name, 0))
    await side.ask("first", produce(side, name, data(0, producer), transactional_id=id))
    await side.ask("other partition", produce(side, name, data(0, producer), first=1, transactional_id=id))
    await side.ask(
        "not transactional",
        produce(side, name, batch(producer_id=producer[0], producer_epoch=producer[1], base_sequence=1)),
    )
    await side.ask("open", list_offsets(name, -1, -1, isolation_level=1))
    await side.ask("open uncommitted", list_offsets(name, -1, -1))
    await side.ask("open", fetch(side, name, 0, 0, isolation_level=1))
    await side.ask("valid", add_offsets(id, producer, group))
    await side.ask("valid", txn_commit(side, id, producer, group, name, 4))
    await side.ask(
        "member", txn_commit(side, id, producer, group, name, 4, member_id="member", generation_id_or_member_epoch=1)
    )
    await side.ask("unknown topic", txn_commit(side, id, producer, group, f"{side.name}-unknown", 4))
    await side.ask("unknown partition", txn_commit(side, id, producer, group, name, 4, first=9))
    await side.ask("open", committed(side, group, topics={name: [0, 1]}))
    await side.ask("open all", committed(side, group))
    await side.ask("open stable", committed(side, group, topics={name: [0, 1]}, require_stable=True))
    await side.ask("open stable all", committed(side, group, require_stable=True))
    await side.ask("open", DescribeGroupsRequest(groups=[group]))
    ended = await side.ask("commit", end(id, producer))
    await settled(side, name)
    await side.until(
        committed(side, group, topics={name: [0]}, require_stable=True),
        lambda it: not it.groups[0].topics[0].partitions[0].error_code,
    )
    await side.ask("commit again", end(id, producer))
    await side.ask("abort after commit", end(id, producer, False))
    await side.ask("committed", committed(side, group, topics={name: [0]}))
    await side.ask("committed", fetch(side, name, 0, 0, isolation_level=1))
    producer = producer if ended.producer_id < 0 else (ended.producer_id, ended.producer_epoch)
    await side.ask("next", add(id, producer, name, 1))
    await side.ask("next", produce(side, name, data(0, producer), first=1, transactional_id=id))
    await side.ask("next in sequence", produce(side, name, data(1, producer), first=1, transactional_id=id))
    ended = await side.ask("abort", end(id, producer, False))
    await settled(side, name)
    await side.ask("commit after abort", end(id, producer))
    await side.ask("aborted", fetch(side, name, 0, 0, isolation_level=1))
    await side.ask("aborted uncommitted", fetch(side, name, 0, 0))
    await side.ask("aborted at the latest", list_offsets(name, -3, -3, isolation_level=1))
    producer = producer if ended.producer_id < 0 else (ended.producer_id, ended.producer_epoch)
    await side.ask("third", add(id, producer, name, 0))
    await side.ask("while open", init(id), is_retried=False)
    made = await side.until(init(id), lambda it: it.error_code == 0)
    await settled(side, name)
    await side.ask("fenced", add(id, producer, name, 0))
    await side.ask("fenced", end(id, producer))
    await side.ask("fenced", produce(side, name, data(0, producer), transactional_id=id))
    await side.ask("after all", list_offsets(name, -1, -1))


async def settled(side: Side, name: str) -> None:
    """Wait until no transaction is open in the partitions of a topic."""

    async def offsets(level: int) -> list[int]:
        found = await side.tell(list_offsets(name, -1, -1, isolation_level=level))
        return [each.offset for each in found.topics[0].partitions]

    while await offsets(0) != await offsets(1):
        await asyncio.sleep(0.02)


TRANSACTIONS = (
    producers,
    unknown_transaction,
    transaction,
)
