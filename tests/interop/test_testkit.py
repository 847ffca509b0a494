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
from kafka_messages_testkit.handlers.table import FAMILIES

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


FEATURES = "announces features of the controller and of other groups"
UNEXPECTED = "returns UNKNOWN_SERVER_ERROR for unexpected values, such as an unknown isolation level or a negative size"
WITHOUT_PARTITIONS = "leaves out topics without partitions in some responses"
TEXTS = "adds a text to some errors"
CONFIGS = "applies configurations of topics, and returns them"
INTERNAL = "keeps offsets and transactions in internal topics"
TWICE = "refuses or merges two elements for the same topic or partition, also by name and id"
TIMEOUT = "answers REQUEST_TIMED_OUT at a timeout of 0, and creates or deletes topics later"
EMPTY = "returns UNKNOWN_TOPIC_OR_PARTITION for an empty name"
VALIDATED = "returns a topic id for `validate_only`"
SESSIONS = "keeps fetch sessions (KIP-227)"
PARTIAL = "may end a Fetch response in the middle of a batch"
START = "returns the start of the log with batches that it refuses after their checksum"
APPEND_TIME = "stores batches whose timestamp type is LogAppendTime as CreateTime"
MIGRATION = "converts between classic and new groups with members"
KNOWN = (
    Known("api_versions", "ApiVersionsRequest valid", "*_features", FEATURES),
    Known("everything", "ApiVersionsRequest filled", "*_features", FEATURES),
    Known("everything", "DeleteTopicsRequest filled", "responses.error_code", TIMEOUT),
    Known("topics", "MetadataRequest of a null name", "*", UNEXPECTED),
    Known("described_topics", "DescribeTopicPartitionsRequest empty name", "topics.*", UNEXPECTED),
    Known("created_topics", "*", "topics.configs", CONFIGS),
    Known("created_topics", "CreateTopicsRequest config [1-4]", "topics.*", CONFIGS),
    Known("created_topics", "CreateTopicsRequest named 6", "topics.*", INTERNAL),
    Known("created_topics", "CreateTopicsRequest validated", "topics.topic_id", VALIDATED),
    Known("deleted_topics", "DeleteTopicsRequest empty", "responses.error_code", EMPTY),
    Known("deleted_topics", "DeleteTopicsRequest name and id", "responses", TWICE),
    Known("produced", "ProduceRequest no partitions", "responses", WITHOUT_PARTITIONS),
    Known("produced", "ProduceRequest to an empty name", "*.error_code", EMPTY),
    Known("produced", "ProduceRequest negative *", "*.log_start_offset", START),
    Known("produced", "ProduceRequest high count", "*.log_start_offset", START),
    Known("produced", "ProduceRequest unknown compression", "*.log_start_offset", START),
    Known("produced", "ProduceRequest unknown format", "*.error_message", TEXTS),
    Known("produced", "FetchRequest all", "responses.partitions.records.header", APPEND_TIME),
    Known("produced_twice", "ProduceRequest to a partition twice", "responses.partition_responses", TWICE),
    Known("produced_twice", "ListOffsetsRequest end", "topics.partitions.offset", TWICE),
    Known("fetched", "FetchRequest max [12]00*", "responses.partitions.records.incomplete", PARTIAL),
    Known("fetched", "FetchRequest of an empty name", "responses.partitions.error_code", EMPTY),
    Known("fetched", "FetchRequest negative max", "responses.partitions.*", UNEXPECTED),
    Known("fetched", "FetchRequest isolation 2", "*", UNEXPECTED),
    Known("fetched", "FetchRequest no partitions", "responses", WITHOUT_PARTITIONS),
    Known("fetched", "FetchRequest a partition twice", "responses.partitions", TWICE),
    Known("fetched", "FetchRequest new session", "session_id", SESSIONS),
    Known("listed_offsets", "ListOffsetsRequest of an empty name", "topics.partitions.error_code", EMPTY),
    Known("listed_offsets", "ListOffsetsRequest a partition twice", "topics.partitions", TWICE),
    Known("listed_offsets", "ListOffsetsRequest no partitions", "topics", WITHOUT_PARTITIONS),
    Known("listed_offsets", "ListOffsetsRequest isolation 2", "topics.partitions.*", UNEXPECTED),
    Known("coordinators", "*", "*error_message", TEXTS),
    Known("commits", "OffsetCommitRequest empty name", "topics.partitions.error_code", EMPTY),
    Known("commits", "OffsetCommitRequest no partitions", "topics", WITHOUT_PARTITIONS),
    Known("consumer_group", "JoinGroupRequest as classic", "*", MIGRATION),
    Known("consumer_group", "OffsetFetchRequest only epoch", "groups.error_code", UNEXPECTED),
)


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """Yield the ports of a real broker and of the cluster."""
    node = Node.formatted(Java.of("kafka", WORK), tmp_path_factory.mktemp("real"), settings=SETTINGS)
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
