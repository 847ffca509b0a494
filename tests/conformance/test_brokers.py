"""Real brokers: they pass all cases, and a run leaves nothing behind."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kafka_conformance.broker_case import broker_cases
from kafka_conformance.broker_run import run_broker
from kafka_conformance.cluster import Address
from kafka_conformance.result import Report
from kafka_messages import ClearElrRecord, ConfigRecord, NoOpRecord, ProducerIdsRecord, RemoveTopicRecord, TopicRecord
from kafka_messages.internal_topics import read_coordinator_record, read_metadata_record
from kafka_records import read_batches

from tests.interop import broker
from tests.interop.broker import Broker, Node
from tests.interop.kafka import Java
from tests.interop.make import WORK
from tests.interop.releases import RELEASES

PREFIX = "conformance-state"
TOPIC = 2
"""Resource type of topics in configurations."""
GROUPS = "__consumer_offsets"
pytestmark = pytest.mark.nightly


@contextmanager
def running(release: str, folder: Path) -> Iterator[Broker]:
    """Run a broker of a release."""
    if release == "4.4":
        with broker.running(Java.prepare(WORK), folder) as made:
            yield made
    for each in RELEASES:
        if each.name == release:
            with each.running(each.prepare(WORK), folder) as made:
                yield made


def run(address: Address, **options: Any) -> Report:
    return run_broker(address, broker_cases(), **options)


def addresses(folder: Path) -> set[Address]:
    """Return the addresses in a broker's settings, with that of its controller."""
    text = (folder / "server.properties").read_text(encoding="utf-8")
    return {("localhost", int(port)) for port in re.findall(r"localhost:(\d+)", text)}


def problems(report: Report) -> list[tuple[str, str]]:
    return [(each.id, each.problem) for each in report.results if each.outcome not in ("passed", "not run")]


@pytest.mark.parametrize(("release", "passed"), [("4.4", 384), ("3.9", 337), ("2.8", 282)])
def test_brokers_of_kafka_pass(release: str, passed: int, tmp_path: Path) -> None:
    with running(release, tmp_path) as made:
        started = time.monotonic()
        report = run(("localhost", made.port), expected=addresses(tmp_path))
        assert time.monotonic() - started < 180
    assert problems(report) == []
    assert report.counts["passed"] == passed
    assert [each for each in report.notes if each.startswith("not removed")] == []


def test_requests_for_disposable_clusters(tmp_path: Path) -> None:
    with running("4.4", tmp_path) as made:
        report = run(("localhost", made.port), access="cluster")
    assert problems(report) == []
    assert report.counts["passed"] > 384


def test_a_cluster_of_two_brokers_passes(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for each in folders:
        each.mkdir()
    first = Node.formatted(Java.prepare(WORK), folders[0])
    second = Node.formatted(Java.prepare(WORK), folders[1], first=first)
    with first.running() as made, second.running():
        report = run(("localhost", made.port), access="own")
    assert problems(report) == []
    assert report.counts["passed"] == 385


def records(logs: Path, topic: str) -> Iterator[Any]:
    """Yield the records of a topic, without control records."""
    for path in sorted(logs.glob(f"{topic}-[0-9]*/*.log")):
        for batch in read_batches(path.read_bytes()):
            if not batch.is_control:
                yield from batch.records()


def described(logs: Path) -> tuple[dict[Any, str], list[str], set[str]]:
    """Return the topics that the metadata log describes, other settings, and the names of all topics that it mentions."""
    topics: dict[Any, str] = {}
    names: set[str] = set()
    others: list[str] = []
    for record in records(logs, "__cluster_metadata"):
        message = read_metadata_record(record.value).message
        if isinstance(message, TopicRecord):
            topics[message.topic_id] = message.name
            names.add(message.name)
        elif isinstance(message, RemoveTopicRecord):
            del topics[message.topic_id]
        elif isinstance(message, ConfigRecord) and message.resource_type == TOPIC:
            names.add(message.resource_name)
        elif isinstance(message, ClearElrRecord):
            names.add(message.topic_name)
        elif not isinstance(message, NoOpRecord | ProducerIdsRecord) and not hasattr(message, "topic_id"):
            others.append(repr(message))
    return topics, others, names


@pytest.mark.parametrize("release", ["4.4", "3.9"])
def test_the_metadata_log_describes_the_same_state_after_a_run(release: str, tmp_path: Path) -> None:
    with running(release, tmp_path) as made:
        before, others_before, names_before = described(made.logs)
        report = run(("localhost", made.port), prefix=PREFIX)
        after, others_after, names = described(made.logs)
        groups = {key for key, _ in keyed(made.logs, GROUPS)}
        remaining = {key for key, value in dict(keyed(made.logs, GROUPS)).items() if value is not None}
        ids = {key for key, _ in keyed(made.logs, "__transaction_state")}
    created = {name for name in names - names_before if not name.startswith("__")}
    assert len(created) > 100
    assert [name for name in created if not name.startswith(PREFIX)] == []
    assert others_after == others_before
    left = sorted({after[each] for each in after.keys() - before.keys()})
    (note,) = (each for each in report.notes if "internal topics" in each)
    assert note == f"the broker created internal topics: {', '.join(left)}"
    assert all(each.startswith("__") for each in left)
    assert len(groups) > 20
    assert [each for each in groups | ids if f"'{PREFIX}-" not in each] == []
    assert remaining == set()


def keyed(logs: Path, topic: str) -> Iterator[tuple[str, object]]:
    """Yield keys of a coordinator's log with their values, None for tombstones."""
    for record in records(logs, topic):
        found = read_coordinator_record(topic, record.key, record.value)
        yield repr(found.key), found.value
