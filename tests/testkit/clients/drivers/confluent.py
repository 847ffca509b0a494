"""Driver of confluent-kafka, the Python client of librdkafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import confluent_kafka as rd

from .lines import HANDLES, Command, NotSupported, Row, offsets, polled, serve

BACKOFFS = ("retry.backoff.ms", "retry.backoff.max.ms", "reconnect.backoff.ms", "reconnect.backoff.max.ms")


def settings(command: Command, own: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that consumers and producers have in common, and ``own``, without None."""
    backoffs = dict.fromkeys((*BACKOFFS, "topic.metadata.refresh.fast.interval.ms"), command["backoff_ms"])
    ages = {"topic.metadata.refresh.interval.ms": command["metadata_ms"]}
    common = {"bootstrap.servers": command["servers"], "socket.timeout.ms": command["request_ms"]}
    return {key: value for key, value in {**backoffs, **ages, **common, **own}.items() if value is not None}


def checked(error: rd.KafkaError | None) -> None:
    if error:
        raise rd.KafkaException(error)


class Handle:
    client: Any  # rd.Consumer or rd.Producer, whose type information lacks methods and parameters

    def metadata(self, command: Command) -> int:
        topic = self.client.list_topics(command["topic"], command["seconds"]).topics[command["topic"]]
        checked(topic.error)
        return len(topic.partitions)


class Consumer(Handle):
    """``rows`` are the records of the last poll."""

    def __init__(self, command: Command) -> None:
        if command["strategy"] == "sticky":
            raise NotSupported
        classic = command if command["protocol"] == "classic" else {}
        own = {
            "group.id": command["group"] or "none",  # required
            "group.instance.id": command["instance"],
            "group.protocol": command["protocol"],
            "session.timeout.ms": classic.get("session_ms"),
            "heartbeat.interval.ms": classic.get("heartbeat_ms"),
            "partition.assignment.strategy": classic.get("strategy"),
            "isolation.level": command["isolation"],
            "auto.offset.reset": command["reset"].replace("none", "error"),
            "max.poll.interval.ms": command["max_poll_ms"],
            "fetch.wait.max.ms": command["fetch_ms"],
            "fetch.error.backoff.ms": command["backoff_ms"],
            "enable.auto.commit": False,
        }
        self.client = rd.Consumer(settings(command, own))
        self.rows: list[Row] = []
        if command["topics"]:
            self.client.subscribe(command["topics"])

    def assign(self, command: Command) -> None:
        self.client.assign([rd.TopicPartition(topic, index, offset) for topic, index, offset in command["partitions"]])

    def poll(self, command: Command) -> list[Row]:
        self.rows = []
        return polled(command, self.rows, self.fetch)

    def fetch(self, seconds: float, count: int) -> list[Row]:
        message = self.client.poll(seconds)
        if message is None:
            return []
        checked(message.error())
        return [(message.topic(), message.partition(), message.offset(), message.value().decode())]

    def commit(self, command: Command) -> None:
        for each in self.client.commit(asynchronous=False):
            checked(each.error)

    def position(self, command: Command) -> int | None:
        return self.offset(command, self.client.position)

    def committed(self, command: Command) -> int | None:
        return self.offset(command, self.client.committed, command["seconds"])

    def offset(self, command: Command, find: Callable[..., list[rd.TopicPartition]], *bound: float) -> int | None:
        found = find([rd.TopicPartition(command["topic"], command["partition"])], *bound)[0]
        checked(found.error)
        return found.offset if found.offset >= 0 else None

    def close(self, command: Command) -> None:
        self.client.close()


class Producer(Handle):
    report: list[Any]
    """Arguments of the last delivery callback."""

    def __init__(self, command: Command) -> None:
        own = {
            "enable.idempotence": command["idempotence"],
            "acks": command["acks"],
            "retries": command["retries"],
            "request.timeout.ms": command["request_ms"],
            "message.timeout.ms": command["delivery_ms"],
            "transactional.id": command["transactional_id"],
            "transaction.timeout.ms": command["transaction_ms"],
        }
        self.client = rd.Producer(settings(command, own))

    def send(self, command: Command) -> int:
        self.report = []

        def delivered(*given: Any) -> None:  # no call in it: librdkafka may have set an exception that flush raises
            self.report = [*given]

        value = command["value"].encode()
        self.client.produce(command["topic"], value, partition=command["partition"], on_delivery=delivered)
        self.client.flush(command["seconds"])
        if not self.report:
            raise TimeoutError
        checked(self.report[0])
        return int(self.report[1].offset())

    def init(self, command: Command) -> None:
        self.client.init_transactions(command["seconds"])

    def begin(self, command: Command) -> None:
        self.client.begin_transaction()

    def send_offsets(self, command: Command) -> None:
        consumer = HANDLES[command["consumer"]]
        ends = [rd.TopicPartition(*key, end) for key, end in offsets(consumer.rows).items()]
        self.client.send_offsets_to_transaction(ends, consumer.client.consumer_group_metadata(), command["seconds"])

    def end(self, command: Command) -> bool:
        (self.client.commit_transaction if command["commit"] else self.client.abort_transaction)(command["seconds"])
        return bool(command["commit"])

    def close(self, command: Command) -> None:
        self.client.close(command["seconds"])


def describe(error: Exception) -> dict[str, Any]:
    """Return librdkafka's name of the error; names of errors in the client start with an underscore."""
    if not isinstance(error, rd.KafkaException) or not isinstance(failed := error.args[0], rd.KafkaError):
        return {}
    flags = {"fatal": failed.fatal(), "retriable": failed.retriable(), "abortable": failed.txn_requires_abort()}
    return {"error": failed.name(), "code": failed.code() if failed.code() >= -1 else None, **flags}


if __name__ == "__main__":
    serve({"consumer": Consumer, "producer": Producer}, describe)
