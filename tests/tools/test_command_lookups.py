"""Lookups by API, key, field or entity type, and unknown names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from kafka_messages import MetadataRequest, MetadataResponse, all_messages
from kafka_messages.protocol import encode_request

from tests.support.cluster import COMMITTED
from tests.support.command import BODY, FRAME, RunCommand, rows
from tests.support.kafka_protocol import FETCH
from tests.support.pages import ROOT, text

NEAR = "unknown message 'Metdata'; did you mean MetadataRequest?"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "Metdata"), NEAR),
        (("explain", "Metdata", "3", "00"), NEAR),
        (("decode", "Metdata", "3", "00"), NEAR),
        (("diff", "Metdata", "3", "4"), NEAR),
        (("encode", "Metdata", "3", "{}"), NEAR),
        (("show", "MetadataRequest", "99"), "MetadataRequest has no version 99, only versions 0 to 13"),
        (
            ("show", "MetadataRequest", "--field", "topic.name"),
            "MetadataRequest has no field 'topic.name'; did you mean topics.name?",
        ),
        (
            ("show", "3", "--field", "nope"),
            "MetadataRequest and MetadataResponse have no field 'nope'",
        ),
        (("show", "--field", "nope"), "no message has a field named 'nope'"),
        (
            ("show", "--entity", "topicNam"),
            "no message has a field of entity type 'topicNam'; did you mean topicName?",
        ),
        (("show", "3", "--entity", "x"), "MetadataRequest and MetadataResponse have no field of entity type 'x'"),
        (("list", "MetadataRequst"), "no message contains 'MetadataRequst' in its name; did you mean MetadataRequest?"),
        (("list", "Fetch", "--kind", "header"), "no message of the kind header contains 'Fetch' in its name"),
        (("tags", "Nope"), "no message contains 'Nope' in its name"),
        (("tags", "SaslHandshake"), "no message that contains 'SaslHandshake' in its name has tagged fields"),
        (("apis", "Metdata"), "unknown API 'Metdata'; did you mean Metadata?"),
        (("apis", "999"), "unknown API '999'"),
        (("errors", "9999"), "unknown error '9999'"),
    ],
)
def test_unknown_name_exits_with_2(words: Sequence[str], says: str, run_command: RunCommand) -> None:
    assert run_command(*words) == (2, "", f"kafka-messages: {says}\n")


@pytest.mark.parametrize("word", ["Metadata", "metadata", "3"])
def test_api_name_or_key_selects_both_messages(word: str, run_command: RunCommand) -> None:
    _, out, _ = run_command("show", word, "--text", "--width", "120")
    assert [line.partition(" ")[0] for line in out.splitlines() if "key 3" in line] == [
        "MetadataRequest",
        "MetadataResponse",
    ]
    _, out, _ = run_command("show", word, "13", "--json")
    assert {row["message"] for row in rows(out)} == {"MetadataRequest", "MetadataResponse"}


@pytest.mark.parametrize("word", ["topics.topic_id", "topicId", "TOPICID", "Topics[].TopicId"])
def test_field_is_found_in_any_naming_style(word: str, run_command: RunCommand) -> None:
    _, out, _ = run_command("show", "MetadataRequest", "--field", word, "--json")
    assert [row["path"] for row in rows(out)] == ["topics.topic_id"]


def test_exact_path_is_preferred_to_field_name(run_command: RunCommand) -> None:
    _, out, _ = run_command("show", "FetchResponse", "--field", "errorCode", "--json")
    assert [row["path"] for row in rows(out)] == ["error_code"]
    _, out, _ = run_command("show", "Metadata", "--field", "cluster_id", "--text")
    assert out.splitlines()[0] == "MetadataResponse"


def test_field_and_entity_are_searched_in_all_messages(run_command: RunCommand) -> None:
    found = rows(run_command("show", "--field", "topic_id", "--json")[1])
    assert {row["message"] for row in found} >= {"FetchRequest", "FetchResponse", "MetadataRequest", "TopicRecord"}
    fetch = [row for row in found if row["message"] == "FetchRequest"]
    assert [(row["path"], row["versions"][0], row["nullable_versions"]) for row in fetch] == [
        ("topics.topic_id", 13, []),
        ("forgotten_topics_data.topic_id", 13, []),
    ]
    named = {row["message"] for row in rows(run_command("show", "--entity", "transactionalid", "--json")[1])}
    assert {"InitProducerIdRequest", "ProduceRequest"} <= named
    assert named == {
        row["message"]
        for message in all_messages()
        for row in rows(run_command("show", message.name, "--json")[1])
        if "transactionalId" in row["entity_types"]
    }
    _, out, _ = run_command("show", "--field", "name", "--entity", "topicName")
    assert ["MetadataRequest", "topics.name", "string", "0-13", "10-13"] in [line.split() for line in out.splitlines()]


def test_subcommand_errors_lists_fields_with_error_codes(run_command: RunCommand) -> None:
    found = rows(run_command("errors", "16", "--fields", "--json")[1])
    assert found[0]["name"] == "NOT_COORDINATOR"
    paths = {(row["message"], row["path"]) for row in found[1:]}
    assert ("OffsetCommitResponse", "topics.partitions.error_code") in paths
    assert ("FetchResponse", "error_code") in paths
    assert all("error" in path for _, path in paths)


def test_tagged_fields_are_printed_with_version_ranges(run_command: RunCommand) -> None:
    found = rows(run_command("tags", "FetchRequest", "--json")[1])
    assert {(row["path"], row["versions"]) for row in found} >= {
        ("cluster_id", f"12-{FETCH.highest}"),
        ("replica_state", f"15-{FETCH.highest}"),
    }


RESPONSE = MetadataResponse(cluster_id="c", controller_id=1).write(12)


@pytest.mark.parametrize("word", ["Metadata", "3"])
def test_bytes_select_the_message_of_an_api(word: str, run_command: RunCommand) -> None:
    other = MetadataResponse(cluster_id="d", controller_id=1).write(12).hex()
    decoded = run_command("decode", "MetadataResponse", "12", RESPONSE.hex())
    assert run_command("decode", word, "12", RESPONSE.hex()) == decoded
    explained = run_command("explain", "MetadataResponse", "12", RESPONSE.hex())
    assert run_command("explain", word, "12", RESPONSE.hex()) == explained
    differing = run_command("diff", "MetadataResponse", "12", RESPONSE.hex(), other)
    assert run_command("diff", word, "12", RESPONSE.hex(), other) == differing
    assert run_command("encode", word, "12", decoded[1]) == (0, f"{RESPONSE.hex()}\n", "")
    request = encode_request(MetadataRequest(), 12, 7, "me")
    framed = run_command("decode", "--frame", request.hex())
    assert run_command("decode", word, "12", "--frame", request.hex()) == framed


def test_bytes_of_no_message_of_an_api_are_rejected(run_command: RunCommand) -> None:
    problems = (
        "MetadataRequest v13: allow_auto_topic_creation: BOOLEAN: 1 byte needed at offset 1, 0 left; "
        "MetadataResponse v13: throttle_time_ms: INT32: 4 bytes needed at offset 0, 1 left"
    )
    says = f"kafka-messages: the input is neither MetadataRequest nor MetadataResponse: {problems}\n"
    assert run_command("explain", "Metadata", "13", "00") == (1, "", says)


@pytest.mark.parametrize("word", ["payments-0", "__consumer_offsets-1"])
def test_log_is_read_from_standard_input(word: str) -> None:
    file = COMMITTED / "logs" / word / "00000000000000000000.log"
    topic = word.rpartition("-")[0]
    words = [sys.executable, "-m", "kafka_messages_tools", "log", "-", "--topic", topic]
    piped = subprocess.run(words, input=file.read_bytes() + bytes(100), capture_output=True, check=False)
    named = subprocess.run([*words[:4], str(file)], capture_output=True, check=False)
    assert piped.stderr == b""
    unmarked = named.stdout.replace(b', "aborted": true', b"")  # a pipe cannot be searched for markers first
    assert (piped.returncode, piped.stdout) == (named.returncode, unmarked)  # 1 if a codec is not installed
    assert piped.stdout != b""


def test_data_after_zero_padding_in_a_pipe_is_reported() -> None:
    data = (COMMITTED / "logs" / "payments-0" / "00000000000000000000.log").read_bytes()
    words = [sys.executable, "-m", "kafka_messages_tools", "log", "-"]
    found = subprocess.run(words, input=data + bytes(40) + data, capture_output=True, check=False)
    at = len(data) + 40 + next(number for number, byte in enumerate(data) if byte)
    assert found.returncode == 1
    assert f"zeros from byte {len(data)} on are followed by other bytes at {at}" in found.stderr.decode()


def test_exit_status_distinguishes_data_and_usage_errors(run_command: RunCommand) -> None:
    assert run_command("explain", "ApiVersionsRequest", "3", BODY[:3].hex())[0] == 1
    assert run_command("diff", "MetadataRequest", "9", "12")[0] == 1
    assert run_command("explain", "ff" * 31)[0] == 1
    assert run_command("log", "nowhere.log")[0] == 2


# --- nearly correct calls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[FRAME.hex()], ["00 12 00 03"], ["examples/cluster/traffic/36338.request.bin"]])
def test_missing_message_name_is_reported(
    words: list[str], run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    says = (
        "kafka-messages: MESSAGE and VERSION are missing before the bytes; use --frame or --header for requests, "
        "or the subcommand explain for unknown bytes"
    )
    status, out, err = run_command("decode", *words)
    assert (status, out, err.splitlines()[0]) == (2, "", says)


def test_json_instead_of_bytes_is_reported(run_command: RunCommand, tmp_path: Path) -> None:
    says = "is JSON, not bytes; use the subcommand encode"
    for word in ('{"a": 1}', '{ "clientSoftwareName": "java" }'):
        status, _, err = run_command("decode", "ApiVersionsRequest", "3", word)
        assert (status, err.splitlines()[0]) == (2, f"kafka-messages: the argument {says}")
    file = tmp_path / "message.json"
    file.write_text('{"a": 1}')
    status, _, err = run_command("decode", "ApiVersionsRequest", "3", str(file))
    assert (status, err.splitlines()[0]) == (2, f"kafka-messages: {file} {says}")


def test_invalid_json_exits_with_1(run_command: RunCommand) -> None:
    status, _, err = run_command("encode", "ApiVersionsRequest", "3", "{broken")
    says = "the argument is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    assert (status, err) == (1, f"kafka-messages: {says}\n")
    page = " ".join(text("docs/command.md").split())
    assert "| 1 | bytes or JSON cannot be decoded completely, `diff` finds a difference, " in page


def test_explain_detects_header_with_unknown_version(run_command: RunCommand) -> None:
    header = "0003 0063 00000001 0002 6d65 00"
    for before, data, also in (
        ("a header", header, []),
        ("a length and a header", f"0000000d {header}", ["the length matches the bytes"]),
    ):
        status, out, _ = run_command("explain", data, "--json")
        best = rows(out)[0]
        assert (status, best["message"], best["versions"], best["before"]) == (1, "MetadataRequest", "99", before)
        assert best["reasons"] == [
            *also,
            "API Metadata and version 99 in the header",
            "but MetadataRequest has no version 99, only versions 0 to 13",
            "printable strings: 1",
        ]


def test_subcommand_errors_prints_the_description(run_command: RunCommand) -> None:
    meaning = "The broker does not have the topic or partition, or the caller is not allowed to describe it."
    assert run_command("errors", "3")[1].splitlines()[-1] == f"UNKNOWN_TOPIC_OR_PARTITION: {meaning}"
    assert rows(run_command("errors", "3", "--json")[1])[0]["about"] == meaning


def test_several_logs_are_printed_with_their_file_names(run_command: RunCommand, tmp_path: Path) -> None:
    file = str(COMMITTED / "logs" / "payments-0" / "00000000000000000000.log")
    damaged = tmp_path / "damaged.log"
    damaged.write_bytes(Path(file).read_bytes()[:-1])
    once = rows(run_command("log", file, "--json")[1])
    assert rows(run_command("log", file, file, "--json")[1]) == [{"file": file, **row} for row in once + once]
    status, out, err = run_command("log", str(damaged), file)
    assert (status, [line for line in out.splitlines() if line.endswith(".log")]) == (1, [str(damaged), file])
    assert err.startswith(f"note: {damaged}: RecordBatch: ")
    assert out.endswith(run_command("log", file)[1])
    status, out, err = run_command("log", str(tmp_path / "gone.log"), file, "--json")
    assert (status, rows(out)) == (2, [{"file": file, **row} for row in once])
    assert err == f"note: {tmp_path / 'gone.log'}: No such file or directory\n"
