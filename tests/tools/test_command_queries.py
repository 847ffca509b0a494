"""The subcommands show, diff, log, errors, apis, tags and list."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from kafka_messages import ApiVersionsRequest, MetadataRequest
from kafka_messages.protocol import ErrorCode

from tests.support.cluster import COMMITTED
from tests.support.command import BODY, FRAME, RunCommand, rows
from tests.support.kafka_protocol import FETCH
from tests.support.vectors import message_names


def test_show_prints_a_matrix_of_fields_and_versions(run_command: RunCommand) -> None:
    _, out, _ = run_command("show", "MetadataRequest", "--text", "--width", "120")
    lines = out.splitlines()
    assert lines[0].startswith(
        "MetadataRequest  request, key 3, versions 0-13, flexible 9+, header version 1, 2 from version 9"
    )
    assert lines[1] == (
        "  Kafka: versions 0-7: since 2.2.0 or before; version 8: since 2.3.0; version 9: since 2.4.0; "
        "versions 10-11: since"
    )
    assert lines[6].split() == ["topic_id", "uuid", "..........++++", "2.8.0", "a", "topicId,", "ignorable"]
    assert lines[7].split()[:4] == ["name", "string", "++++++++++????", "2.2.0"]


def test_show_prints_layout_of_a_version_and_a_field(run_command: RunCommand) -> None:
    _, out, _ = run_command("show", "MetadataRequest", "13", "--text")
    assert "MetadataRequest (Version: 13) => [topics]? allow_auto_topic_creation" in out
    _, out, _ = run_command("show", "MetadataRequest", "--field", "topics.name", "--text")
    assert out.splitlines()[1:] == [
        "  versions 0-8    STRING, since Kafka 2.2.0 or before",
        "  version 9       COMPACT_STRING, since Kafka 2.4.0",
        "  versions 10-13  COMPACT_NULLABLE_STRING, may be null, since Kafka 2.8.0",
    ]
    status, _, err = run_command("show", "MetadataRequest", "--field", "topic.name")
    assert (status, err.splitlines()[0]) == (
        2,
        "kafka-messages: MetadataRequest has no field 'topic.name'; did you mean topics.name?",
    )


def test_show_prints_the_first_release(run_command: RunCommand) -> None:
    _, out, _ = run_command("show", "ApiVersionsResponse", "--field", "zk_migration_ready", "--json")
    (row,) = rows(out)
    assert (row["since"], row["until"]) == ("3.4.0", None)
    assert row["releases"] == [
        {
            "first": 3,
            "last": 3,
            "since": "3.4.0",
            "until": None,
            "not_in": [],
            "is_older": False,
            "unstable_since": None,
        },
        {
            "first": 4,
            "last": 4,
            "since": "3.9.0",
            "until": None,
            "not_in": [],
            "is_older": False,
            "unstable_since": None,
        },
        {
            "first": 5,
            "last": 5,
            "since": "4.4.0",
            "until": None,
            "not_in": [],
            "is_older": False,
            "unstable_since": None,
        },
    ]
    _, out, _ = run_command("show", "ListOffsetsRequest", "--field", "max_num_offsets", "--text", "--width", "120")
    assert out.splitlines()[1:] == ["  version 0       INT32, since Kafka 2.2.0 or before, until 4.0.0"]
    _, out, _ = run_command("show", "FetchRequest", "18", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 18, since Kafka 4.1.0"
    _, out, _ = run_command("show", "FetchRequest", "18", "--json")
    assert {row["version_since"] for row in rows(out)} == {"4.1.0"}
    _, out, _ = run_command("show", "InitProducerIdRequest", "6", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 6, unstable since Kafka 4.1.0"
    _, out, _ = run_command("show", "ShareGroupDescribeRequest", "1", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 1, stable since Kafka 4.1.0, unstable since 3.9.0"
    _, out, _ = run_command("show", "ReadShareGroupStateRequest", "0", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 0, stable since Kafka 4.1.0, unstable since 3.9.0"
    _, out, _ = run_command("show", "JoinGroupRequest", "1", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 1, since Kafka 2.2.0 or before, not in 4.0.0"


def test_show_labels_messages_that_existed_before_their_definition(run_command: RunCommand) -> None:
    _, out, _ = run_command("show", "AbortedTxn", "--text", "--width", "120")
    assert out.splitlines()[1] == "  Kafka: version 0: since before 4.4.0, which defines it first"
    assert out.splitlines()[3].split() == ["producer_id", "int64", "+", "<4.4.0", "a", "producerId"]
    _, out, _ = run_command("show", "OffsetCommitValue", "--field", "metadata", "--text", "--width", "120")
    assert out.splitlines()[1:] == [
        "  versions 0-3    STRING, since before Kafka 2.8.0, which defines it first",
        "  version 4       COMPACT_STRING, since Kafka 3.4.1",
    ]
    _, out, _ = run_command("show", "RequestHeader", "--field", "client_id", "--json")
    (row,) = rows(out)
    assert [(each["first"], each["since"], each["is_older"]) for each in row["releases"]] == [
        (1, "2.4.0", True),
        (2, "2.4.0", False),
    ]


def test_diff_compares_two_versions(run_command: RunCommand) -> None:
    status, out, _ = run_command("diff", "MetadataRequest", "9", "12", "--json")
    assert status == 1
    added = {"message": "MetadataRequest", "path": "topics.topic_id", "left": None, "right": "UUID"}
    assert added in rows(out)
    assert run_command("diff", "MetadataRequest", "12", "13") == (
        0,
        "MetadataRequest v12 and v13: no differences\n",
        "",
    )
    assert run_command("diff", "MetadataRequest", "12", "13", "--json") == (0, "", "")


@pytest.mark.parametrize("word", ["NOT_LEADER_FOR_PARTITION", "not-leader-for-partition"])
def test_errors_are_found_by_their_former_names(word: str, run_command: RunCommand) -> None:
    assert run_command("errors", word) == run_command("errors", "6")


def test_gzip_file_that_is_no_capture_is_refused(run_command: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "notes.gz").write_bytes(gzip.compress(b"no capture"))
    for options in ((), ("--clients",), ("--html", str(tmp_path / "page.html"))):
        problem = "not a pcap or pcapng file: it begins with 6e 6f 20 63"
        assert run_command("capture", str(tmp_path / "notes.gz"), *options) == (1, "", f"kafka-messages: {problem}\n")


@pytest.mark.parametrize(
    ("message", "left", "right"),
    [("ListGroupsRequest", "2", "3"), ("RequestHeader", "1", "2"), ("ResponseHeader", "0", "1")],
)
def test_diff_says_that_an_encoding_differs(message: str, left: str, right: str, run_command: RunCommand) -> None:
    flexible = "flexible: compact lengths, tagged fields"
    assert run_command("diff", message, left, right) == (
        1,
        f"{message} v{left} and v{right}\nencoding\n  - not flexible\n  + {flexible}\n",
        "",
    )


@pytest.mark.parametrize("word", ["Metadata", "3"])
def test_diff_of_an_api_compares_request_and_response(word: str, run_command: RunCommand) -> None:
    shown = "MetadataRequest v12 and v13: no differences\nMetadataResponse v12 and v13\nerror_code\n  + INT16\n"
    assert run_command("diff", word, "12", "13") == (1, shown, "")


def test_diff_compares_two_encoded_messages(run_command: RunCommand) -> None:
    other = ApiVersionsRequest(client_software_name="jaxa", client_software_version="4.4.0").write(3)
    status, out, _ = run_command("diff", "ApiVersionsRequest", "3", BODY.hex(), other.hex(), "--json")
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
    assert run_command("diff", "ApiVersionsRequest", "3", BODY.hex(), BODY.hex()) == (0, "no differences\n", "")
    padded = b"\x85\0" + BODY[1:]
    status, out, _ = run_command("diff", "ApiVersionsRequest", "3", BODY.hex(), padded.hex(), "--json")
    same = f"{len(padded)} bytes, otherwise equal"
    differing = {"message": "ApiVersionsRequest", "path": "", "left": f"{len(BODY)} bytes", "right": same}
    assert (status, rows(out)) == (1, [differing])
    status, _, err = run_command("diff", "ApiVersionsRequest", "3", BODY.hex(), "0505")
    assert (status, "kafka-messages: 0505: ApiVersionsRequest v3: client_software_name: " in err) == (1, True)


def test_explain_ranks_the_best_candidate_first(run_command: RunCommand) -> None:
    _, out, _ = run_command("explain", FRAME.hex(), "--json")
    best = rows(out)[0]
    assert (best["message"], best["versions"], best["before"]) == ("ApiVersionsRequest", "3", "a length and a header")
    body = MetadataRequest.read(bytes.fromhex("02" + "00" * 16 + "076f726465727300010000"), 12).write(12)
    _, out, _ = run_command("explain", body.hex(), "--json")
    found = [row for row in rows(out) if "message" in row]
    assert len(found) <= 5
    assert ("MetadataRequest", "11-13") in [(row["message"], row["versions"]) for row in found]
    assert all("reads and writes the same bytes" in row["reasons"] for row in found)


def test_log_prints_records_and_control_records(run_command: RunCommand) -> None:
    _, out, _ = run_command(
        "log", str(COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log"), "--json"
    )
    found = rows(out)
    assert {row["type"] for row in found if "type" in row} >= {"GroupMetadata", "OffsetCommit"}
    assert found[2]["key"] == {"group": "billing", "topic": "orders", "partition": 0}
    _, out, _ = run_command("log", str(COMMITTED / "logs" / "payments-0" / "00000000000000000000.log"), "--json")
    assert [row.get("control", row.get("value")) for row in rows(out)[:3]] == ["committed 0", "committed 0", "COMMIT"]


def test_log_prints_metadata_snapshot(run_command: RunCommand) -> None:
    name = "00000000000000000038-0000000001.checkpoint"
    status, out, _ = run_command("log", str(COMMITTED / "logs" / "__cluster_metadata-0" / name), "--json")
    found = rows(out)
    assert status == 0
    assert [found[0].get("control"), found[-1].get("control")] == ["SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"]
    assert "TopicRecord" in {row.get("type") for row in found}


def test_log_with_truncated_batch_exits_with_1(run_command: RunCommand, tmp_path: Path) -> None:
    whole = (COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log").read_bytes()
    file = tmp_path / "cut.log"
    file.write_bytes(whole[:-5])
    status, out, err = run_command("log", str(file), "--topic", "__consumer_offsets", "--json")
    assert status == 1
    assert rows(out)
    assert "at byte 11879: incomplete batch: 110 of 115 bytes" in err


def test_log_of_a_file_that_is_no_segment_exits_with_1(run_command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("# Kafka messages\n\nText instead of record batches.\n")
    says = "kafka-messages: this is a text file, not a log segment\n"
    for words in (("log", str(file)), ("log", "--batches", str(file))):
        assert run_command(*words) == (1, "", says)


def test_subcommands_errors_apis_and_tags_print_rows(run_command: RunCommand) -> None:
    assert rows(run_command("errors", "35", "--json")[1]) == [
        {
            "code": 35,
            "name": "UNSUPPORTED_VERSION",
            "retriable": False,
            "about": ErrorCode(35).description,
            "since": "2.2.0",
            "former_names": [],
        }
    ]
    assert run_command("errors", "6", "--text", "--width", "120")[1].splitlines()[1] == (
        "6     NOT_LEADER_OR_FOLLOWER  2.2.0  retriable, was NOT_LEADER_FOR_PARTITION until 2.6.0"
    )
    assert rows(run_command("errors", "not-coordinator", "--json")[1])[0]["code"] == 16
    found = rows(run_command("apis", "18", "--json")[1])
    assert [(row["api"], row["response_headers"]) for row in found] == [
        ("ApiVersions", [{"from_version": 0, "header_version": 0}])
    ]
    assert {
        "message": "FetchRequest",
        "path": "cluster_id",
        "tag": 0,
        "type": "string",
        "versions": f"12-{FETCH.highest}",
    } in rows(run_command("tags", "fetchrequest", "--json")[1])


def test_list_prints_every_message(run_command: RunCommand) -> None:
    found = rows(run_command("list", "--json")[1])
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
    assert run_command("list", "nothing-like-it")[0] == 2
