"""Kafka's command line tools, and what they say about a cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

from .broker import Broker

SECONDS = 60
Partition: TypeAlias = tuple[str, int]


@dataclass(frozen=True)
class ToolOutput:
    """What Kafka's tools say about the running brokers."""

    topics: dict[str, dict[str, Any]]
    """Partitions and settings by topic (``kafka-topics --describe``)."""
    sizes: dict[Partition, dict[int, int]]
    """Bytes of each replica by broker (``kafka-log-dirs``)."""
    starts: dict[Partition, int]
    ends: dict[Partition, int]
    """Offsets of the log (``kafka-get-offsets``)."""
    lags: dict[tuple[str, str, int], tuple[int, int]]
    """Committed offset and lag by group and partition (``kafka-consumer-groups``)."""
    transactions: dict[str, tuple[str, int]]
    """State and producer id by transactional id (``kafka-transactions list``)."""
    hanging: set[tuple[str, int, int, int]]
    """Topic, partition, producer id and first offset (``kafka-transactions find-hanging``)."""


def tool(broker: Broker, name: str, *arguments: str) -> str:
    given = ("--bootstrap-server", broker.bootstrap, *arguments)
    return broker.java.run(f"org.apache.kafka.tools.{name}", *given, seconds=SECONDS)


def ask_tools(broker: Broker, *brokers: int) -> ToolOutput:
    """Return what Kafka's tools say about a cluster with the running ``brokers``."""
    logs = ("--describe", "--broker-list", ",".join(map(str, brokers)))
    groups = _table(tool(broker, "consumer.group.ConsumerGroupCommand", "--describe", "--all-groups"))
    hang = ("find-hanging", "--max-transaction-timeout", "0", "--broker-id")
    hanging = [_table(tool(broker, "TransactionsCommand", *hang, str(number))) for number in brokers]
    return ToolOutput(
        _topics(tool(broker, "TopicCommand", "--describe")),
        _sizes(tool(broker, "LogDirsCommand", *logs)),
        _offsets(tool(broker, "GetOffsetShell", "--time", "earliest")),
        _offsets(tool(broker, "GetOffsetShell", "--time", "latest")),
        {
            (row["GROUP"], row["TOPIC"], int(row["PARTITION"])): (int(row["CURRENT-OFFSET"]), int(row["LAG"]))
            for row in groups
        },
        {
            row["TransactionalId"]: (row["TransactionState"], int(row["ProducerId"]))
            for row in _table(tool(broker, "TransactionsCommand", "list"))
        },
        {
            (row["Topic"], int(row["Partition"]), int(row["ProducerId"]), int(row["StartOffset"]))
            for row in chain.from_iterable(hanging)
        },
    )


def _table(text: str) -> list[dict[str, str]]:
    """Return the rows below each header, a line that starts with a column of the tools."""
    rows, header = list[dict[str, str]](), list[str]()
    for words in map(str.split, text.splitlines()):
        if words[:1] in (["GROUP"], ["TransactionalId"], ["Topic"]):
            header = words
        elif len(words) >= len(header) > 0:
            rows.append(dict(zip(header, words, strict=False)))
    return rows


def _topics(text: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        pairs = (each.partition(":") for each in line.strip().split("\t"))
        fields = {name: value.strip() for name, _, value in pairs}
        topic = found.setdefault(fields["Topic"], {"partitions": {}})
        if "Partition" in fields:
            nodes = {name: [int(n) for n in fields[name].split(",") if n] for name in ("Replicas", "Isr")}
            leader = -1 if fields["Leader"] == "none" else int(fields["Leader"])
            topic["partitions"][int(fields["Partition"])] = {"leader": leader, **nodes}
        else:
            settings = (each.split("=", 1) for each in fields["Configs"].split(",") if each)
            topic |= {"id": fields["TopicId"], "configs": dict(settings)}
    return found


def _sizes(text: str) -> dict[Partition, dict[int, int]]:
    (answer,) = (line for line in text.splitlines() if line.startswith("{"))
    found: dict[Partition, dict[int, int]] = {}
    for broker in json.loads(answer)["brokers"]:
        for each in (each for folder in broker["logDirs"] for each in folder["partitions"]):
            topic, _, number = each["partition"].rpartition("-")
            found.setdefault((topic, int(number)), {})[broker["broker"]] = each["size"]
    return found


def _offsets(text: str) -> dict[Partition, int]:
    rows = (line.split(":") for line in text.splitlines() if line.count(":") == 2)
    return {(topic, int(number)): int(offset) for topic, number, offset in rows}
