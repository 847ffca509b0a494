"""The subcommands show, diff, guess, log, errors, apis, tags and list."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka_messages import ApiVersionsRequest, MetadataRequest
from kafka_messages.protocol import ErrorCode

from tests.support.cluster import COMMITTED
from tests.support.command import BODY, FRAME, Told, rows
from tests.support.kafka_protocol import FETCH
from tests.support.vectors import message_names


def test_show_matrix(told: Told) -> None:
    _, out, _ = told("show", "MetadataRequest", "--text", "--width", "120")
    lines = out.splitlines()
    assert lines[0].startswith(
        "MetadataRequest  request, key 3, versions 0-13, flexible 9+, header version 1, from 9 on 2"
    )
    assert lines[1] == (
        "  Kafka: versions 0-7: since 2.2.0 or before; version 8: since 2.3.0; version 9: since 2.4.0; "
        "versions 10-11: since"
    )
    assert lines[6].split() == ["topic_id", "uuid", "..........++++", "2.8.0", "a", "topicId,", "ignorable"]
    assert lines[7].split()[:4] == ["name", "string", "++++++++++????", "2.2.0"]


def test_show_layout_and_field(told: Told) -> None:
    _, out, _ = told("show", "MetadataRequest", "13", "--text")
    assert "MetadataRequest (Version: 13) => [topics]? allow_auto_topic_creation" in out
    _, out, _ = told("show", "MetadataRequest", "--field", "topics.name", "--text")
    assert out.splitlines()[1:] == [
        "  versions 0-8    STRING, since Kafka 2.2.0 or before",
        "  version 9       COMPACT_STRING, since Kafka 2.4.0",
        "  versions 10-13  COMPACT_NULLABLE_STRING, may be null, since Kafka 2.8.0",
    ]
    status, _, err = told("show", "MetadataRequest", "--field", "topic.name")
    assert (status, err.splitlines()[0]) == (
        2,
        "kafka-messages: MetadataRequest has no field 'topic.name'; did you mean topics.name?",
    )


def test_show_says_since_when(told: Told) -> None:
    _, out, _ = told("show", "ApiVersionsResponse", "--field", "zk_migration_ready", "--json")
    (row,) = rows(out)
    assert (row["since"], row["until"]) == ("3.4.0", None)
    assert row["releases"] == [
        {"first": 3, "last": 3, "since": "3.4.0", "until": None, "not_in": [], "is_older": False},
        {"first": 4, "last": 4, "since": "3.9.0", "until": None, "not_in": [], "is_older": False},
        {"first": 5, "last": 5, "since": "4.4.0", "until": None, "not_in": [], "is_older": False},
    ]
    _, out, _ = told("show", "ListOffsetsRequest", "--field", "max_num_offsets", "--text", "--width", "120")
    assert out.splitlines()[1:] == ["  version 0       INT32, since Kafka 2.2.0 or before, until 4.0.0"]
    _, out, _ = told("show", "FetchRequest", "18", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 18, since Kafka 4.1.0"
    _, out, _ = told("show", "FetchRequest", "18", "--json")
    assert {row["version_since"] for row in rows(out)} == {"4.1.0"}
    _, out, _ = told("show", "InitProducerIdRequest", "6", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 6"  # unstable, not released
    _, out, _ = told("show", "JoinGroupRequest", "1", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 1, since Kafka 2.2.0 or before, not in 4.0.0"


def test_show_says_what_is_older_than_its_definition(told: Told) -> None:
    _, out, _ = told("show", "AbortedTxn", "--text", "--width", "120")
    assert out.splitlines()[1] == "  Kafka: version 0: since before 4.4.0, which defines it first"
    assert out.splitlines()[3].split() == ["producer_id", "int64", "+", "<4.4.0", "a", "producerId"]
    _, out, _ = told("show", "OffsetCommitValue", "--field", "metadata", "--text", "--width", "120")
    assert out.splitlines()[1:] == [
        "  versions 0-3    STRING, since before Kafka 2.8.0, which defines it first",
        "  version 4       COMPACT_STRING, since Kafka 3.4.1",
    ]
    _, out, _ = told("show", "RequestHeader", "--field", "client_id", "--json")
    (row,) = rows(out)
    assert [(each["first"], each["since"], each["is_older"]) for each in row["releases"]] == [
        (1, "2.4.0", True),
        (2, "2.4.0", False),
    ]


def test_diff_versions(told: Told) -> None:
    status, out, _ = told("diff", "MetadataRequest", "9", "12", "--json")
    assert status == 1
    added = {"message": "MetadataRequest", "path": "topics.topic_id", "left": None, "right": "UUID"}
    assert added in rows(out)
    assert told("diff", "MetadataRequest", "12", "13") == (0, "MetadataRequest v12 and v13: no differences\n", "")
    assert told("diff", "MetadataRequest", "12", "13", "--json") == (0, "", "")


@pytest.mark.parametrize("word", ["Metadata", "3"])
def test_diff_versions_of_an_api(word: str, told: Told) -> None:
    shown = "MetadataRequest v12 and v13: no differences\nMetadataResponse v12 and v13\nerror_code\n  + INT16\n"
    assert told("diff", word, "12", "13") == (1, shown, "")


def test_diff_messages(told: Told) -> None:
    other = ApiVersionsRequest(client_software_name="jaxa", client_software_version="4.4.0").write(3)
    status, out, _ = told("diff", "ApiVersionsRequest", "3", BODY.hex(), other.hex(), "--json")
    assert (status, rows(out)) == (
        1,
        [
            {
                "message": "ApiVersionsRequest",
                "path": "client_software_name",
                "left": '"java"',
                "right": '"jaxa"',
            }
        ],
    )
    assert told("diff", "ApiVersionsRequest", "3", BODY.hex(), BODY.hex()) == (0, "no differences\n", "")
    padded = b"\x85\0" + BODY[1:]
    status, out, _ = told("diff", "ApiVersionsRequest", "3", BODY.hex(), padded.hex(), "--json")
    same = f"{len(padded)} bytes, which say the same otherwise"
    differing = {"message": "ApiVersionsRequest", "path": "", "left": f"{len(BODY)} bytes", "right": same}
    assert (status, rows(out)) == (1, [differing])
    status, _, err = told("diff", "ApiVersionsRequest", "3", BODY.hex(), "0505")
    assert (status, "kafka-messages: 0505: ApiVersionsRequest v3: client_software_name: " in err) == (1, True)


def test_guess(told: Told) -> None:
    _, out, _ = told("guess", FRAME.hex(), "--json")
    best = rows(out)[0]
    assert (best["message"], best["versions"], best["before"]) == ("ApiVersionsRequest", "3", "a length and a header")
    body = MetadataRequest.read(bytes.fromhex("02" + "00" * 16 + "076f726465727300010000"), 12).write(12)
    _, out, _ = told("guess", body.hex(), "--json")
    found = rows(out)
    assert len(found) <= 5
    assert ("MetadataRequest", "11-13") in [(row["message"], row["versions"]) for row in found]
    assert all("reads and writes the same bytes" in row["reasons"] for row in found)


def test_log(told: Told) -> None:
    _, out, _ = told("log", str(COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log"), "--json")
    found = rows(out)
    assert {row["type"] for row in found if "type" in row} >= {"GroupMetadata", "OffsetCommit"}
    assert found[2]["key"] == {"group": "billing", "topic": "orders", "partition": 0}
    _, out, _ = told("log", str(COMMITTED / "logs" / "payments-0" / "00000000000000000000.log"), "--json")
    assert [row.get("control", row.get("value")) for row in rows(out)[:3]] == ["committed 0", "committed 0", "COMMIT"]


def test_log_snapshot(told: Told) -> None:
    name = "00000000000000000038-0000000001.checkpoint"
    status, out, _ = told("log", str(COMMITTED / "logs" / "__cluster_metadata-0" / name), "--json")
    found = rows(out)
    assert status == 0
    assert [found[0].get("control"), found[-1].get("control")] == ["SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"]
    assert "TopicRecord" in {row.get("type") for row in found}


def test_damaged_log(told: Told, tmp_path: Path) -> None:
    whole = (COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log").read_bytes()
    file = tmp_path / "cut.log"
    file.write_bytes(whole[:-5])
    status, out, err = told("log", str(file), "--topic", "__consumer_offsets", "--json")
    assert status == 1
    assert rows(out)
    assert "a batch that is not all there" in err


def test_errors_apis_and_tags(told: Told) -> None:
    assert rows(told("errors", "35", "--json")[1]) == [
        {
            "code": 35,
            "name": "UNSUPPORTED_VERSION",
            "retriable": False,
            "about": ErrorCode(35).description,
            "since": "2.2.0",
            "former_names": [],
        }
    ]
    assert told("errors", "6", "--text", "--width", "120")[1].splitlines()[1] == (
        "6     NOT_LEADER_OR_FOLLOWER  2.2.0  retriable, was NOT_LEADER_FOR_PARTITION until 2.6.0"
    )
    assert rows(told("errors", "not-coordinator", "--json")[1])[0]["code"] == 16
    found = rows(told("apis", "18", "--json")[1])
    assert [(row["api"], row["response_headers"]) for row in found] == [
        ("ApiVersions", [{"from_version": 0, "header_version": 0}])
    ]
    assert {
        "message": "FetchRequest",
        "path": "cluster_id",
        "tag": 0,
        "type": "string",
        "versions": f"12-{FETCH.highest}",
    } in rows(told("tags", "fetchrequest", "--json")[1])


def test_list(told: Told) -> None:
    found = rows(told("list", "--json")[1])
    assert sorted(row["message"] for row in found) == message_names()
    header = [{"from_version": 0, "header_version": 1}, {"from_version": 9, "header_version": 2}]
    assert [row for row in found if row["message"] == "MetadataRequest"] == [
        {
            "message": "MetadataRequest",
            "kind": "request",
            "key": 3,
            "lowest_version": 0,
            "highest_version": 13,
            "flexible_from": 9,
            "headers": header,
        }
    ]
    assert told("list", "nothing-like-it")[0] == 2
