"""Driver of confluent-kafka, the Python client of librdkafka."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer as RdConsumer
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka import Producer as RdProducer

from .lines import HANDLES, Command, NotSupported, Row, offsets, polled, serve

RESETS = {"earliest": "earliest", "latest": "latest", "none": "error"}
BACKOFFS = ("retry.backoff.ms", "retry.backoff.max.ms", "reconnect.backoff.ms", "reconnect.backoff.max.ms")


def settings(command: Command, own: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that consumers and producers have in common, and ``own``, without None."""
    backoffs = dict.fromkeys((*BACKOFFS, "topic.metadata.refresh.fast.interval.ms"), command["backoff_ms"])
    common = {
        "bootstrap.servers": command["servers"],
        "socket.timeout.ms": command["request_ms"],
        "topic.metadata.refresh.interval.ms": command["metadata_ms"],
    }
    return {key: value for key, value in {**backoffs, **common, **own}.items() if value is not None}


def checked(error: KafkaError | None) -> None:
    if error:
        raise KafkaException(error)


def metadata(client: RdConsumer | RdProducer, command: Command) -> int:
    topic = client.list_topics(command["topic"], command["seconds"]).topics[command["topic"]]
    checked(topic.error)
    return len(topic.partitions)


class Consumer:
    """``rows`` are the records of the last poll."""

    def __init__(self, command: Command) -> None:
        if command["strategy"] == "sticky":
            raise NotSupported
        own: dict[str, Any] = {
            "group.id": command["group"] or "none",  # required
            "group.instance.id": command["instance"],
            "group.protocol": command["protocol"],
            "isolation.level": command["isolation"],
            "auto.offset.reset": RESETS[command["reset"]],
            "max.poll.interval.ms": command["max_poll_ms"],
            "fetch.wait.max.ms": command["fetch_ms"],
            "fetch.error.backoff.ms": command["backoff_ms"],
            "enable.auto.commit": False,
        }
        if command["protocol"] == "classic":
            own["session.timeout.ms"] = command["session_ms"]
            own["heartbeat.interval.ms"] = command["heartbeat_ms"]
            own["partition.assignment.strategy"] = command["strategy"]
        self.client = RdConsumer(settings(command, own))
        self.rows: list[Row] = []
        if command["topics"]:
            self.client.subscribe(command["topics"])

    def assign(self, command: Command) -> None:
        self.client.assign([TopicPartition(topic, index, offset) for topic, index, offset in command["partitions"]])

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
        return _offset(self.client.position([TopicPartition(command["topic"], command["partition"])]))

    def committed(self, command: Command) -> int | None:
        where = [TopicPartition(command["topic"], command["partition"])]
        return _offset(self.client.committed(where, command["seconds"]))

    def metadata(self, command: Command) -> int:
        return metadata(self.client, command)

    def close(self, command: Command) -> None:
        self.client.close()


def _offset(partitions: list[TopicPartition]) -> int | None:
    checked(partitions[0].error)
    return partitions[0].offset if partitions[0].offset >= 0 else None


class Producer:
    def __init__(self, command: Command) -> None:
        own = {
            "enable.idempotence": command["idempotence"],
            "acks": command["acks"],
            "retries": command["retries"],
            "request.timeout.ms": command["request_ms"],
            "message.timeout.ms": command["delivery_ms"],
            "transactional.id": command["transactional_id"],
            "transaction.timeout.ms": command["transaction_ms"],
            "linger.ms": 0,
        }
        self.client = RdProducer(settings(command, own))

    def send(self, command: Command) -> int:
        report: tuple[KafkaError | None, Message] | None = None

        def delivered(*given: Any) -> None:
            nonlocal report
            report = given

        topic, value, index = command["topic"], command["value"].encode(), command["partition"]
        self.client.produce(topic, value, partition=index, on_delivery=delivered)
        self.client.flush(command["seconds"])
        if report is None:
            raise TimeoutError
        error, message = report
        checked(error)
        return int(message.offset())

    def init(self, command: Command) -> None:
        self.client.init_transactions(command["seconds"])

    def begin(self, command: Command) -> None:
        self.client.begin_transaction()

    def send_offsets(self, command: Command) -> None:
        consumer = HANDLES[command["consumer"]]
        ends = [TopicPartition(*key, end) for key, end in offsets(consumer.rows).items()]
        self.client.send_offsets_to_transaction(ends, consumer.client.consumer_group_metadata(), command["seconds"])

    def end(self, command: Command) -> bool:
        (self.client.commit_transaction if command["commit"] else self.client.abort_transaction)(command["seconds"])
        return bool(command["commit"])

    def metadata(self, command: Command) -> int:
        return metadata(self.client, command)

    def close(self, command: Command) -> None:
        self.client.flush(command["seconds"])


def describe(error: Exception) -> dict[str, Any]:
    """Return librdkafka's name of the error; names of errors in the client start with an underscore."""
    if not isinstance(error, KafkaException) or not isinstance(failed := error.args[0], KafkaError):
        return {}
    flags = {"fatal": failed.fatal(), "retriable": failed.retriable(), "abortable": failed.txn_requires_abort()}
    return {"error": failed.name(), "code": failed.code() if failed.code() >= -1 else None, **flags}


if __name__ == "__main__":
    serve({"consumer": Consumer, "producer": Producer}, describe)
