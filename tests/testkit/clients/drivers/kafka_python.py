"""Driver of kafka-python."""

from __future__ import annotations

from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.structs import OffsetAndMetadata

from .lines import HANDLES, Command, NotSupported, Row, offsets, polled, serve

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


def shared(command: Command) -> dict[str, Any]:
    """Return the settings that consumers and producers have in common."""
    return {
        "bootstrap_servers": command["servers"],
        "bootstrap_timeout_ms": command["block_ms"],
        "request_timeout_ms": command["request_ms"],
        "retry_backoff_ms": command["backoff_ms"],
        "reconnect_backoff_ms": command["backoff_ms"],
        "reconnect_backoff_max_ms": command["backoff_ms"],
        "metadata_max_age_ms": command["metadata_ms"],
    }


def milliseconds(command: Command) -> float:
    return float(command["seconds"] * 1000)


def where(command: Command) -> TopicPartition:
    return TopicPartition(command["topic"], command["partition"])


class Consumer:
    """``rows`` are the records of the last poll."""

    def __init__(self, command: Command) -> None:
        if command["protocol"] != "classic":
            raise NotSupported
        settings = shared(command)
        if command["strategy"]:
            settings["partition_assignment_strategy"] = (ASSIGNORS[command["strategy"]],)
        self.rows: list[Row] = []
        self.client = KafkaConsumer(
            *command["topics"],
            group_id=command["group"],
            group_instance_id=command["instance"],
            isolation_level=command["isolation"],
            auto_offset_reset=command["reset"],
            session_timeout_ms=command["session_ms"],
            heartbeat_interval_ms=command["heartbeat_ms"],
            max_poll_interval_ms=command["max_poll_ms"],
            fetch_max_wait_ms=command["fetch_ms"],
            enable_auto_commit=False,
            metrics_enabled=False,
            **settings,
        )

    def assign(self, command: Command) -> None:
        partitions = [(TopicPartition(topic, index), offset) for topic, index, offset in command["partitions"]]
        self.client.assign([partition for partition, _ in partitions])
        for partition, offset in partitions:
            self.client.seek(partition, offset)

    def poll(self, command: Command) -> list[Row]:
        self.rows = []
        return polled(command, self.rows, self.fetch)

    def fetch(self, seconds: float, count: int) -> list[Row]:
        batches = self.client.poll(int(seconds * 1000), max_records=count)
        records = [record for records in batches.values() for record in records]
        return [(each.topic, each.partition, each.offset, each.value.decode()) for each in records]

    def commit(self, command: Command) -> None:
        self.client.commit(timeout_ms=milliseconds(command))

    def position(self, command: Command) -> int | None:
        found: int | None = self.client.position(where(command), timeout_ms=milliseconds(command))
        return found

    def committed(self, command: Command) -> int | None:
        found: int | None = self.client.committed(where(command), timeout_ms=milliseconds(command))
        return found

    def metadata(self, command: Command) -> int:
        return len(self.client.partitions_for_topic(command["topic"]) or ())

    def close(self, command: Command) -> None:
        self.client.close(timeout_ms=milliseconds(command))


class Producer:
    def __init__(self, command: Command) -> None:
        settings = shared(command)
        if command["retries"] is not None:
            settings["retries"] = command["retries"]
        self.client = KafkaProducer(
            enable_idempotence=command["idempotence"],
            transactional_id=command["transactional_id"],
            transaction_timeout_ms=command["transaction_ms"],
            acks=command["acks"],
            delivery_timeout_ms=command["delivery_ms"],
            max_block_ms=command["block_ms"],
            metrics_enabled=False,
            **settings,
        )

    def send(self, command: Command) -> int:
        future = self.client.send(command["topic"], command["value"].encode(), partition=command["partition"])
        offset: int = future.get(command["seconds"]).offset
        return offset

    def init(self, command: Command) -> None:
        self.client.init_transactions()

    def begin(self, command: Command) -> None:
        self.client.begin_transaction()

    def send_offsets(self, command: Command) -> None:
        consumer = HANDLES[command["consumer"]]
        ends = {TopicPartition(*key): OffsetAndMetadata(end, "", -1) for key, end in offsets(consumer.rows).items()}
        self.client.send_offsets_to_transaction(ends, consumer.client.group_metadata())

    def end(self, command: Command) -> bool:
        (self.client.commit_transaction if command["commit"] else self.client.abort_transaction)()
        return bool(command["commit"])

    def metadata(self, command: Command) -> int:
        return len(self.client.partitions_for(command["topic"]))

    def close(self, command: Command) -> None:
        self.client.close(command["seconds"])


if __name__ == "__main__":
    serve({"consumer": Consumer, "producer": Producer})
