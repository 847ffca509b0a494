"""Driver of aiokafka; its event loop runs in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from .lines import HANDLES, Command, NotSupported, Row, offsets, polled, serve

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}
LOOP = asyncio.new_event_loop()


def wait(coroutine: Coroutine[Any, Any, Any], command: Command) -> Any:
    """Run a coroutine in the event loop. Raise TimeoutError after the seconds of the command."""
    return asyncio.run_coroutine_threadsafe(asyncio.wait_for(coroutine, command["seconds"]), LOOP).result()


def shared(command: Command) -> dict[str, Any]:
    """Return the settings that consumers and producers have in common."""
    return {
        "bootstrap_servers": command["servers"],
        "request_timeout_ms": command["request_ms"],
        "retry_backoff_ms": command["backoff_ms"],
        "metadata_max_age_ms": command["metadata_ms"],
    }


class Consumer:
    """``rows`` are the records of the last poll."""

    def __init__(self, command: Command) -> None:
        settings = shared(command)
        if command["protocol"] != "classic" or command["strategy"] not in {None, *ASSIGNORS}:
            raise NotSupported
        if command["strategy"]:
            settings["partition_assignment_strategy"] = (ASSIGNORS[command["strategy"]],)
        self.group = command["group"]
        self.rows: list[Row] = []

        async def start() -> AIOKafkaConsumer:
            client = AIOKafkaConsumer(
                *command["topics"],
                group_id=self.group,
                group_instance_id=command["instance"],
                isolation_level=command["isolation"],
                auto_offset_reset=command["reset"],
                session_timeout_ms=command["session_ms"],
                heartbeat_interval_ms=command["heartbeat_ms"],
                max_poll_interval_ms=command["max_poll_ms"],
                rebalance_timeout_ms=command["max_poll_ms"],
                fetch_max_wait_ms=command["fetch_ms"],
                enable_auto_commit=False,
                **settings,
            )
            await client.start()
            return client

        self.client = wait(start(), command)

    def assign(self, command: Command) -> None:
        async def assign() -> None:
            partitions = [(TopicPartition(topic, index), offset) for topic, index, offset in command["partitions"]]
            self.client.assign([partition for partition, _ in partitions])
            for partition, offset in partitions:
                self.client.seek(partition, offset)

        wait(assign(), command)

    def poll(self, command: Command) -> list[Row]:
        self.rows = []
        return polled(command, self.rows, self.fetch)

    def fetch(self, seconds: float, count: int) -> list[Row]:
        got = self.client.getmany(timeout_ms=int(seconds * 1000), max_records=count)
        batches = asyncio.run_coroutine_threadsafe(got, LOOP).result()
        records = [record for records in batches.values() for record in records]
        return [(each.topic, each.partition, each.offset, each.value.decode()) for each in records]

    def commit(self, command: Command) -> None:
        wait(self.client.commit(), command)

    def position(self, command: Command) -> Any:
        return wait(self.client.position(TopicPartition(command["topic"], command["partition"])), command)

    def committed(self, command: Command) -> Any:
        return wait(self.client.committed(TopicPartition(command["topic"], command["partition"])), command)

    def metadata(self, command: Command) -> int:
        return len(self.client.partitions_for_topic(command["topic"]) or ())

    def close(self, command: Command) -> None:
        wait(self.client.stop(), command)


class Producer:
    def __init__(self, command: Command) -> None:
        async def start() -> AIOKafkaProducer:
            client = AIOKafkaProducer(
                enable_idempotence=command["idempotence"],
                transactional_id=command["transactional_id"],
                transaction_timeout_ms=command["transaction_ms"],
                acks=command["acks"],
                **shared(command),
            )
            await client.start()  # also init_transactions
            return client

        self.client = wait(start(), command)

    def send(self, command: Command) -> Any:
        sent = self.client.send_and_wait(command["topic"], command["value"].encode(), partition=command["partition"])
        return wait(sent, command).offset

    def init(self, command: Command) -> None:
        """Do nothing: ``start`` has done it."""

    def begin(self, command: Command) -> None:
        wait(self.client.begin_transaction(), command)

    def send_offsets(self, command: Command) -> None:
        consumer = HANDLES[command["consumer"]]
        ends = {TopicPartition(*key): end for key, end in offsets(consumer.rows).items()}
        wait(self.client.send_offsets_to_transaction(ends, consumer.group), command)

    def end(self, command: Command) -> bool:
        wait(self.client.commit_transaction() if command["commit"] else self.client.abort_transaction(), command)
        return bool(command["commit"])

    def metadata(self, command: Command) -> int:
        return len(wait(self.client.partitions_for(command["topic"]), command))

    def close(self, command: Command) -> None:
        wait(self.client.stop(), command)


if __name__ == "__main__":
    Thread(target=LOOP.run_forever, daemon=True).start()
    serve({"consumer": Consumer, "producer": Producer})
