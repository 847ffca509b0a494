"""The cluster of the test kit answers as a broker of the pinned release, except for the known differences.

Each conversation is held at each version of its APIs, and whole responses are compared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

import pytest
from kafka_messages_testkit import KafkaCluster
from kafka_messages_testkit.broker.handlers import FAMILIES

from tests.interop.about_groups import GROUPS
from tests.interop.about_topics import TOPICS
from tests.interop.about_transactions import TRANSACTIONS
from tests.interop.asked import everything
from tests.interop.broker import Node
from tests.interop.kafka import ROOT, Java, release
from tests.interop.make import WORK
from tests.interop.sides import Side, differences, held, warm_up

CONVERSATIONS = {each.__name__: each for each in (everything, *TOPICS, *GROUPS, *TRANSACTIONS)}
LEVELS = range(19)
"""All versions; the highest is that of Fetch."""
TABLE = ROOT / "docs" / "testkit-differences.md"
SETTINGS = """\
# One segment, whatever the timestamps are: a Fetch response comes from a single segment.
log.roll.hours=1000000
# As in the cluster.
group.min.session.timeout.ms=1
group.consumer.min.heartbeat.interval.ms=100
group.consumer.heartbeat.interval.ms=100
group.consumer.assignor.offload.enable=false
group.consumer.min.assignment.interval.ms=0
group.consumer.assignment.interval.ms=0
# Kafka's default.
transaction.partition.verification.enable=true
"""


class Known(NamedTuple):
    """A known difference: patterns of a conversation, a label and a path, and its row in the table."""

    conversation: str
    label: str
    path: str
    row: str

    def covers(self, conversation: str, label: str, path: str) -> bool:
        given = (conversation, label, path)
        return all(fnmatchcase(value, pattern) for value, pattern in zip(given, self, strict=False))


KNOWN = ()


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """Yield the ports of a real broker and of the cluster."""
    node = Node.formatted(Java.of("kafka", WORK / "kafka"), tmp_path_factory.mktemp("real"), settings=SETTINGS)
    with node.running() as broker, KafkaCluster(release=release()) as cluster:
        asyncio.run(warm_up(Side(broker.port, "warm-up", LEVELS[-1])))
        yield broker.port, int(cluster.bootstrap_servers.rpartition(":")[2])


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_responses_equal_those_of_a_real_broker(ports: tuple[int, int], name: str) -> None:
    real, mock = ports
    found: dict[tuple[str, str], str] = {}
    for level in LEVELS:
        theirs, ours = (asyncio.run(held(CONVERSATIONS[name], port, f"{name}-{level}", level)) for port in (real, mock))
        assert theirs.keys() == ours.keys()
        for label, answer in theirs.items():
            for path, their, our in differences(answer, ours[label]):
                found[label, path] = f"level {level}: {their!r} at the broker, {our!r} at the cluster"
    known = [each for each in KNOWN if each.conversation == name]
    unknown = {place: text for place, text in found.items() if not any(each.covers(name, *place) for each in known)}
    assert unknown == {}
    assert [each for each in known if not any(each.covers(name, *place) for place in found)] == []


def test_all_apis_are_asked() -> None:
    asked = {label.partition("Request ")[0] for label in asyncio.run(_labels())}
    assert asked == {"ApiVersions", *(name for names in FAMILIES.values() for name in names)}


async def _labels() -> set[str]:
    with KafkaCluster() as cluster:
        port = int(cluster.bootstrap_servers.rpartition(":")[2])
        return set(await held(everything, port, "labels", LEVELS[-1]))


def test_known_differences_are_in_the_table() -> None:
    rows = [line.split("|")[1].strip() for line in TABLE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert {each.row for each in KNOWN} <= set(rows)
