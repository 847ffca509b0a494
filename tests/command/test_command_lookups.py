"""What is named on a command line and is not there, and what is found by an API, a key, a field or an entity type."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest
from kafka_messages import all_messages

from tests.support.cluster import COMMITTED
from tests.support.command import BODY, Told, rows

NEAR = "no message is called 'Metdata'; did you mean MetadataRequest?"
OF_API = "no message is called '18'; there are ApiVersionsRequest and ApiVersionsResponse"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "Metdata"), NEAR),
        (("explain", "Metdata", "3", "00"), NEAR),
        (("decode", "Metdata", "3", "00"), NEAR),
        (("diff", "Metdata", "3", "4"), NEAR),
        (("encode", "Metdata", "3", "{}"), NEAR),
        (("explain", "18", "3", "00"), OF_API),
        (
            ("decode", "metadata", "3", "00"),
            "no message is called 'metadata'; there are MetadataRequest and MetadataResponse",
        ),
        (("show", "MetadataRequest", "99"), "MetadataRequest has no version 99, only 0-13"),
        (
            ("show", "MetadataRequest", "--field", "topic.name"),
            "MetadataRequest has no field 'topic.name'; did you mean topics.name?",
        ),
        (
            ("show", "3", "--field", "nope"),
            "MetadataRequest and MetadataResponse have no field 'nope'",
        ),
        (("show", "--field", "nope"), "no message has a field called 'nope'"),
        (
            ("show", "--entity", "topicNam"),
            "no message has a field of entity type 'topicNam'; did you mean topicName?",
        ),
        (("show", "3", "--entity", "x"), "MetadataRequest and MetadataResponse have no field of entity type 'x'"),
        (("list", "MetadataRequst"), "no message has 'MetadataRequst' in its name; did you mean MetadataRequest?"),
        (("list", "Fetch", "--kind", "header"), "no message of the kind header has 'Fetch' in its name"),
        (("tags", "Nope"), "no message has 'Nope' in its name"),
        (("tags", "SaslHandshake"), "no message with 'SaslHandshake' in its name has tagged fields"),
        (("apis", "Metdata"), "no API has the key 'Metdata' or that in its name; did you mean Metadata?"),
        (("apis", "999"), "no API has the key '999' or that in its name"),
        (("errors", "9999"), "no error has the code or name '9999'"),
    ],
)
def test_what_is_not_there(words: Sequence[str], says: str, told: Told) -> None:
    """Scripts ask by the exit status whether something is there; it is one, and one line says what is missing."""
    assert told(*words) == (2, "", f"kafka-messages: {says}\n")


@pytest.mark.parametrize("word", ["Metadata", "metadata", "3"])
def test_both_messages_of_an_api(word: str, told: Told) -> None:
    """People know an API, and programs its key; whether it was the request or the response comes later."""
    _, out, _ = told("show", word, "--text", "--width", "120")
    assert [line.partition(" ")[0] for line in out.splitlines() if "key 3" in line] == [
        "MetadataRequest",
        "MetadataResponse",
    ]
    _, out, _ = told("show", word, "13", "--json")
    assert {row["message"] for row in rows(out)} == {"MetadataRequest", "MetadataResponse"}


@pytest.mark.parametrize("word", ["topics.topic_id", "topicId", "TOPICID", "Topics[].TopicId"])
def test_fields_in_any_spelling(word: str, told: Told) -> None:
    """Names come from Kafka's definitions, from Java and from Python."""
    _, out, _ = told("show", "MetadataRequest", "--field", word, "--json")
    assert [row["path"] for row in rows(out)] == ["topics.topic_id"]


def test_a_path_is_meant_before_a_name(told: Told) -> None:
    """``error_code`` of a response is its own, and not that of all its elements."""
    _, out, _ = told("show", "FetchResponse", "--field", "errorCode", "--json")
    assert [row["path"] for row in rows(out)] == ["error_code"]
    _, out, _ = told("show", "Metadata", "--field", "cluster_id", "--text")
    assert out.splitlines()[0] == "MetadataResponse"


def test_fields_of_all_messages(told: Told) -> None:
    """Where is an id of a topic, which messages name a transaction: nobody wants to ask 290 messages one by one."""
    found = rows(told("show", "--field", "topic_id", "--json")[1])
    assert {row["message"] for row in found} >= {"FetchRequest", "FetchResponse", "MetadataRequest", "TopicRecord"}
    fetch = [row for row in found if row["message"] == "FetchRequest"]
    assert [(row["path"], row["versions"][0], row["nullable_versions"]) for row in fetch] == [
        ("topics.topic_id", 13, []),
        ("forgotten_topics_data.topic_id", 13, []),
    ]
    named = {row["message"] for row in rows(told("show", "--entity", "transactionalid", "--json")[1])}
    assert {"InitProducerIdRequest", "ProduceRequest"} <= named
    assert named == {
        row["message"]
        for message in all_messages()
        for row in rows(told("show", message.name, "--json")[1])
        if "transactionalId" in row["entity_types"]
    }
    _, out, _ = told("show", "--field", "name", "--entity", "topicName")
    assert ["MetadataRequest", "topics.name", "string", "0-13", "10-13"] in [line.split() for line in out.splitlines()]


def test_fields_that_hold_error_codes(told: Told) -> None:
    """Error 16 can stand in each of them; the code alone does not say where to look."""
    found = rows(told("errors", "16", "--fields", "--json")[1])
    assert found[0]["name"] == "NOT_COORDINATOR"
    paths = {(row["message"], row["path"]) for row in found[1:]}
    assert ("OffsetCommitResponse", "topics.partitions.error_code") in paths
    assert ("FetchResponse", "error_code") in paths
    assert all("error" in path for _, path in paths)


def test_tags_name_their_versions_as_runs(told: Told) -> None:
    """Both ends of what has gaps would say too much."""
    found = rows(told("tags", "FetchRequest", "--json")[1])
    assert {(row["path"], row["versions"]) for row in found} >= {("cluster_id", "12-18"), ("replica_state", "15-18")}


@pytest.mark.parametrize("word", ["payments-0", "__consumer_offsets-1"])
def test_a_log_from_standard_input(word: str) -> None:
    """A segment comes out of a container by a pipe, in which nobody can go back. Nothing says its topic then."""
    file = COMMITTED / "logs" / word / "00000000000000000000.log"
    topic = word.rpartition("-")[0]
    words = [sys.executable, "-m", "kafka_messages", "log", "-", "--topic", topic]
    piped = subprocess.run(words, input=file.read_bytes() + bytes(100), capture_output=True, check=False)
    named = subprocess.run([*words[:4], str(file)], capture_output=True, check=False)
    assert piped.stderr == b""
    assert (piped.returncode, piped.stdout) == (named.returncode, named.stdout)  # 1 where a codec is not installed
    assert piped.stdout != b""


def test_what_follows_zeros_in_a_pipe() -> None:
    """The place is counted, not asked of the file."""
    data = (COMMITTED / "logs" / "payments-0" / "00000000000000000000.log").read_bytes()
    words = [sys.executable, "-m", "kafka_messages", "log", "-"]
    found = subprocess.run(words, input=data + bytes(40) + data, capture_output=True, check=False)
    at = len(data) + 40 + next(number for number, byte in enumerate(data) if byte)
    assert found.returncode == 1
    assert f"at byte {len(data)}: zeros, and at byte {at} something else" in found.stderr.decode()


def test_other_exit_statuses(told: Told) -> None:
    """1 is of bytes and of differences; a script can tell these from what it has written wrong."""
    assert told("explain", "ApiVersionsRequest", "3", BODY[:3].hex())[0] == 1
    assert told("diff", "MetadataRequest", "9", "12")[0] == 1
    assert told("guess", "ff" * 31)[0] == 1
    assert told("log", "nowhere.log")[0] == 2
