"""The command: what each subcommand prints, its exit statuses, and what it says of bad usage and bad bytes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, OffsetCommitValue
from kafka_messages.command import main
from kafka_messages.protocol import encode_request, encode_response
from kafka_messages.records import write_versioned

from tests.support.cluster import COMMITTED

REQUEST = ApiVersionsRequest(client_software_name="java", client_software_version="4.4.0")
BODY = REQUEST.write(3)
FRAME = encode_request(REQUEST, 3, 7, "me")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line: exit status, output, errors."""
    monkeypatch.setattr(sys, "argv", ["kafka-messages"])

    def runs(*words: str) -> tuple[int, str, str]:
        status = main(words)
        return status, *capsys.readouterr()

    return runs


def rows(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


# --- explain ----------------------------------------------------------------------------------------------------------

EXPLAINED = """\
ApiVersionsRequest v3
0000  00 00 00 19        ....    frame_length              25
                                   as many bytes follow  INT32
                                 RequestHeader v2
0004  00 12              ..       request_api_key          18  ApiVersions
                                    INT16
0006  00 03              ..       request_api_version      3  INT16
0008  00 00 00 07        ....     correlation_id           7  INT32
000c  00 02 6d 65        ..me     client_id                "me"  length 2
                                    NULLABLE_STRING
0010  00                 .        _tagged_fields           none  TAG_SECTION
                                 ApiVersionsRequest v3
0011  05 6a 61 76 61     .java    client_software_name     "java"  length+1 = 5
                                    COMPACT_STRING
0016  06 34 2e 34 2e 30  .4.4.0   client_software_version  "4.4.0"  length+1 = 6
                                    COMPACT_STRING
001c  00                 .        _tagged_fields           none  TAG_SECTION
001d  end, 29 bytes
"""


def test_explain_request(run: Run) -> None:
    """The flagship, as it stands in a terminal of 80 columns."""
    status, out, err = run("explain", "--frame", FRAME.hex(), "--text", "--width", "80")
    assert (status, out, err) == (0, EXPLAINED, "")
    assert max(map(len, out.splitlines())) <= 80


def test_explain_as_json_lines(run: Run) -> None:
    """A program finds the same: a line for each leaf, which together are all bytes."""
    status, out, _ = run("explain", "ApiVersionsRequest", "3", BODY.hex())
    found = rows(out)
    assert status == 0
    assert "".join(row["hex"] for row in found) == BODY.hex()
    assert found[0] == {
        "start": 0,
        "end": 5,
        "path": "client_software_name",
        "type": "COMPACT_STRING",
        "role": "value",
        "value": "java",
        "note": "length+1 = 5",
        "hex": "056a617661",
    }


def test_explain_damaged(run: Run) -> None:
    """What could be read is shown, the fault with what it needed, and the exit status is 1."""
    status, out, _ = run("explain", "ApiVersionsRequest", "3", BODY[:8].hex(), "--text")
    assert status == 1
    reason = "COMPACT_STRING: 5 bytes needed at offset 6, 2 left"
    assert out.splitlines()[-1] == f"0008  ApiVersionsRequest v3: client_software_version: {reason}"
    assert '"java"' in out


def test_explain_frames(run: Run) -> None:
    """A captured connection has many requests; addresses go on through all of them."""
    path = COMMITTED / "traffic" / "36338.request.bin"
    status, out, _ = run("explain", "--frame", str(path))
    found = rows(out)
    assert status == 0
    assert [row["start"] for row in found] == [0, *(row["end"] for row in found[:-1])]
    assert found[-1]["end"] == path.stat().st_size
    assert sum(row["path"] == "frame_length" for row in found) > 1


def test_explain_response_by_its_request(run: Run) -> None:
    """A response does not say what it is; its request does."""
    response = encode_response(ApiVersionsResponse(error_code=35), 3, 7)
    status, out, _ = run("explain", "--request", FRAME.hex(), "--frame", response.hex())
    assert (status, rows(out)[2]["note"]) == (0, "UNSUPPORTED_VERSION")
    assert run("explain", "ApiVersionsResponse", "3", "--frame", response.hex())[1] == out


def test_explain_records(run: Run) -> None:
    """What stands before values of coordinators says their version."""
    data = write_versioned(OffsetCommitValue(offset=5, commit_timestamp=1_700_000_000_000), 3)
    status, out, _ = run("explain", "OffsetCommitValue", "--header", data.hex())
    found = rows(out)
    assert status == 0
    assert (found[0]["path"], found[0]["value"]) == ("version", 3)
    assert [row["note"] for row in found if row["path"] == "commit_timestamp"] == ["2023-11-14T22:13:20.000Z"]


# --- decode and encode ------------------------------------------------------------------------------------------------


def test_decode_and_encode(run: Run) -> None:
    """One's output is the other's input."""
    status, text, _ = run("decode", "ApiVersionsRequest", "3", BODY.hex())
    assert status == 0
    assert json.loads(text) == {"clientSoftwareName": "java", "clientSoftwareVersion": "4.4.0"}
    assert run("encode", "ApiVersionsRequest", "3", text) == (0, f"{BODY.hex()}\n", "")
    framed = ("--frame", "--correlation-id", "7", "--client-id", "me")
    assert run("encode", "ApiVersionsRequest", "3", text, *framed) == (0, f"{FRAME.hex()}\n", "")


@pytest.mark.parametrize("form", ["hex", "base64", "c", "python"])
def test_every_form_is_read_again(form: str, run: Run) -> None:
    """What one subcommand prints the others take, without being told the form."""
    value = '{"clientSoftwareName": "java", "clientSoftwareVersion": "4.4.0"}'
    _, text, _ = run("encode", "ApiVersionsRequest", "3", value, "--out", form)
    told = ("--in", form) if form == "base64" else ()  # which could be the name of a file
    assert json.loads(run("decode", "ApiVersionsRequest", "3", text, *told)[1]) == json.loads(value)


def test_decode_lines(run: Run, tmp_path: Path) -> None:
    """A file of many messages, one a line."""
    file = tmp_path / "messages.txt"
    file.write_text(f"{BODY.hex()}\n\n{BODY.hex(' ')}\n")
    status, out, _ = run("decode", "ApiVersionsRequest", "3", str(file), "--lines", "--in", "raw")
    assert status == 2  # raw has no lines
    status, out, _ = run("decode", "ApiVersionsRequest", "3", str(file), "--lines")
    assert (status, len(rows(out))) == (0, 2)


def test_decode_damaged(run: Run) -> None:
    """The words are those of the package's own error."""
    status, out, err = run("decode", "ApiVersionsRequest", "3", BODY[:8].hex())
    reason = "COMPACT_STRING: 5 bytes needed at offset 6, 2 left"
    assert (status, out) == (1, "")
    assert err == f"kafka-messages: ApiVersionsRequest v3: client_software_version: {reason}\n"


def test_the_place_among_many(run: Run, tmp_path: Path) -> None:
    """Of many messages that which is damaged is named, by its number and its place in the input."""
    status, out, err = run("decode", "--frame", (FRAME * 2 + FRAME[:9]).hex())
    reason = "the data ends at offset 9, inside the frame at offset 0"
    assert (status, len(rows(out)), err) == (1, 2, f"kafka-messages: message 3, at byte {2 * len(FRAME)}: {reason}\n")
    file = tmp_path / "messages.txt"
    file.write_text(f"{BODY.hex()}\n{BODY[:8].hex()}\n")
    _, _, err = run("decode", "ApiVersionsRequest", "3", str(file), "--lines")
    reason = "client_software_version: COMPACT_STRING: 5 bytes needed at offset 6, 2 left"
    assert err == f"kafka-messages: line 2: ApiVersionsRequest v3: {reason}\n"


# --- show, diff, guess, log, lists ------------------------------------------------------------------------------------


def test_show_matrix(run: Run) -> None:
    """Where is a field, where may it be null, from which version on?"""
    _, out, _ = run("show", "MetadataRequest", "--text", "--width", "120")
    lines = out.splitlines()
    assert lines[0].startswith(
        "MetadataRequest  request, key 3, versions 0-13, flexible 9+, header version 1, from 9 on 2"
    )
    assert lines[1] == (
        "  Kafka: versions 0-7: since 2.2.0 or before; version 8: since 2.3.0; version 9: since 2.4.0; "
        "versions 10-11: since"
    )
    assert lines[5].split() == ["topic_id", "uuid", *"..........++++", "2.8.0", "ignorable"]
    assert lines[6].split()[:17] == ["name", "string", *"++++++++++????", "2.2.0"]


def test_show_layout_and_field(run: Run) -> None:
    """One version with its BNF; one field with its life."""
    _, out, _ = run("show", "MetadataRequest", "13", "--text")
    assert "MetadataRequest (Version: 13) => [topics]? allow_auto_topic_creation" in out
    _, out, _ = run("show", "MetadataRequest", "--field", "topics.name", "--text")
    assert out.splitlines()[1:] == [
        "  versions 0-8    STRING, since Kafka 2.2.0 or before",
        "  version 9       COMPACT_STRING, since Kafka 2.4.0",
        "  versions 10-13  COMPACT_NULLABLE_STRING, may be null, since Kafka 2.8.0",
    ]
    status, _, err = run("show", "MetadataRequest", "--field", "topic.name")
    assert (status, err.splitlines()[0]) == (
        2,
        "kafka-messages: MetadataRequest has no field 'topic.name'; did you mean topics.name?",
    )


def test_show_says_since_when(run: Run) -> None:
    """A field may be younger than its version, and gone with the last one that had it; programs ask both by JSON."""
    _, out, _ = run("show", "ApiVersionsResponse", "--field", "zk_migration_ready", "--json")
    (row,) = rows(out)
    assert (row["since"], row["until"]) == ("3.4.0", None)
    assert row["releases"] == [
        {"first": 3, "last": 3, "since": "3.4.0", "until": None, "not_in": []},
        {"first": 4, "last": 4, "since": "3.9.0", "until": None, "not_in": []},
        {"first": 5, "last": 5, "since": "4.4.0", "until": None, "not_in": []},
    ]
    _, out, _ = run("show", "ListOffsetsRequest", "--field", "max_num_offsets", "--text", "--width", "120")
    assert out.splitlines()[1:] == ["  version 0       INT32, since Kafka 2.2.0 or before, until 4.0.0"]
    _, out, _ = run("show", "FetchRequest", "18", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 18, since Kafka 4.1.0"
    _, out, _ = run("show", "FetchRequest", "18", "--json")
    assert {row["version_since"] for row in rows(out)} == {"4.1.0"}
    _, out, _ = run("show", "InitProducerIdRequest", "6", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 6"  # unstable: in no release yet
    _, out, _ = run("show", "JoinGroupRequest", "1", "--text", "--width", "120")
    assert out.splitlines()[1] == "version 1, since Kafka 2.2.0 or before, not in 4.0.0"


def test_diff_versions(run: Run) -> None:
    """What changed between two versions; nothing between equal ones."""
    status, out, _ = run("diff", "MetadataRequest", "9", "12")
    assert status == 1
    assert {"path": "topics.topic_id", "left": None, "right": "UUID"} in rows(out)
    assert run("diff", "MetadataRequest", "12", "13") == (0, "", "")


def test_diff_messages(run: Run) -> None:
    """Fields that differ, also if only one side has them; and bytes that say the same in another way."""
    other = ApiVersionsRequest(client_software_name="jaxa", client_software_version="4.4.0").write(3)
    status, out, _ = run("diff", "ApiVersionsRequest", "3", BODY.hex(), other.hex())
    assert (status, rows(out)) == (1, [{"path": "client_software_name", "left": '"java"', "right": '"jaxa"'}])
    assert run("diff", "ApiVersionsRequest", "3", BODY.hex(), BODY.hex()) == (0, "", "")
    padded = b"\x85\0" + BODY[1:]
    status, out, _ = run("diff", "ApiVersionsRequest", "3", BODY.hex(), padded.hex())
    same = f"{len(padded)} bytes, which say the same otherwise"
    assert (status, rows(out)) == (1, [{"path": "", "left": f"{len(BODY)} bytes", "right": same}])
    status, _, err = run("diff", "ApiVersionsRequest", "3", BODY.hex(), "0505")
    assert (status, "kafka-messages: 0505: ApiVersionsRequest v3: client_software_name: " in err) == (1, True)


def test_guess(run: Run) -> None:
    """A frame says what it is; a body is found among the messages of its shape."""
    _, out, _ = run("guess", FRAME.hex())
    best = rows(out)[0]
    assert (best["message"], best["versions"], best["before"]) == ("ApiVersionsRequest", "3", "a length and a header")
    body = MetadataRequest.read(bytes.fromhex("02" + "00" * 16 + "076f726465727300010000"), 12).write(12)
    _, out, _ = run("guess", body.hex())
    found = rows(out)
    assert len(found) <= 5
    assert ("MetadataRequest", "11-13") in [(row["message"], row["versions"]) for row in found]
    assert all("reads and writes the same bytes" in row["reasons"] for row in found)


def test_log(run: Run) -> None:
    """Records of internal topics are decoded; those of others are texts or base64."""
    _, out, _ = run("log", str(COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log"))
    found = rows(out)
    assert {row["type"] for row in found if "type" in row} >= {"GroupMetadata", "OffsetCommit"}
    assert found[2]["key"] == {"group": "billing", "topic": "orders", "partition": 0}
    _, out, _ = run("log", str(COMMITTED / "logs" / "payments-0" / "00000000000000000000.log"))
    assert [row.get("control", row.get("value")) for row in rows(out)[:3]] == ["committed 0", "committed 0", "COMMIT"]


def test_log_snapshot(run: Run) -> None:
    """A snapshot of the metadata is a file of the same format."""
    name = "00000000000000000038-0000000001.checkpoint"
    status, out, _ = run("log", str(COMMITTED / "logs" / "__cluster_metadata-0" / name))
    found = rows(out)
    assert status == 0
    assert [found[0].get("control"), found[-1].get("control")] == ["SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"]
    assert "TopicRecord" in {row.get("type") for row in found}


def test_damaged_log(run: Run, tmp_path: Path) -> None:
    """What stands before the damage is printed, and then where it is."""
    whole = (COMMITTED / "logs" / "__consumer_offsets-1" / "00000000000000000000.log").read_bytes()
    file = tmp_path / "cut.log"
    file.write_bytes(whole[:-5])
    status, out, err = run("log", str(file), "--topic", "__consumer_offsets")
    assert status == 1
    assert rows(out)
    assert "a batch that is not all there" in err


def test_errors_apis_and_tags(run: Run) -> None:
    """The small tables."""
    assert rows(run("errors", "35")[1]) == [
        {"code": 35, "name": "UNSUPPORTED_VERSION", "retriable": False, "since": "2.2.0", "former_names": []}
    ]
    assert run("errors", "6", "--text", "--width", "120")[1].splitlines()[1] == (
        "6     NOT_LEADER_OR_FOLLOWER  2.2.0  retriable, was NOT_LEADER_FOR_PARTITION until 2.6.0"
    )
    assert rows(run("errors", "not-coordinator")[1])[0]["code"] == 16
    found = rows(run("apis", "18")[1])
    assert [(row["api"], row["response_headers"]) for row in found] == [
        ("ApiVersions", [{"from_version": 0, "header_version": 0}])
    ]
    assert {"message": "FetchRequest", "path": "cluster_id", "tag": 0, "type": "string", "versions": "12-18"} in rows(
        run("tags", "fetchrequest")[1]
    )


def test_list(run: Run) -> None:
    """All messages with their versions, none of which is imported for that."""
    found = rows(run("list")[1])
    assert len(found) == 291
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
    assert run("list", "nothing-like-it") == (1, "", "")


# --- usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lst"], "unknown subcommand 'lst'; did you mean list?"),
        (["--verson"], "unknown option '--verson'"),
        (["list", "--kid", "x"], "unknown option --kid; did you mean --kind?"),
        (["list", "--kind", "x"], "--kind is one of request, response, header, metadata, coordinator-key, "),
        (["list", "--kind"], "--kind needs a value: --kind KIND"),
        (["list", "-k"], "unknown option -k; options begin with two dashes"),
        (["list", "a", "b"], "one argument too many: 'b'"),
        (["list", "--json=1"], "--json takes no value"),
        (["list", "--json", "--text"], "--json and --text exclude each other"),
        (["list", "--width", "x"], "--width needs a number, not 'x'"),
        (["show"], "MESSAGE is missing: name of a message"),
        (["explain"], "MESSAGE is missing; with --frame or --header a request says what it is"),
        (
            ["explain", "Metadata", "1", "00"],
            "no message is called 'Metadata'; there are MetadataRequest and MetadataRe",
        ),
        (["explain", "MetadataReqest", "1"], "no message is called 'MetadataReqest'; did you mean MetadataRequest?"),
        (["explain", "MetadataRequest"], "VERSION is missing: MetadataRequest has 0-13"),
        (["explain", "MetadataRequest", "14", "00"], "MetadataRequest has no version 14, only 0-13"),
        (["explain", "MetadataRequest", "x", "00"], "'x' is no version; MetadataRequest has 0-13"),
        (
            ["explain", "MetadataRequest", "1", "no/such"],
            "there is no file 'no/such'; if that is base64, --in base64 says so",
        ),
        (["errors", "NOT_COORDINATR"], "no error has the code or name 'NOT_COORDINATR'; did you mean NOT_COORDINATOR?"),
        (["encode", "MetadataRequest", "1", "nothing"], "there is no file 'nothing'"),
        (["log", "nothing.log"], "nothing.log: No such file or directory"),
        (["completion", "tcsh"], "SHELL is one of bash, zsh, fish, not 'tcsh'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage(words: list[str], says: str, run: Run) -> None:
    """The exit status is 2, and the first line says what is wrong and what was meant."""
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert err.startswith(f"kafka-messages: {says}"), err


def test_bad_json(run: Run) -> None:
    """JSON that is none, and JSON that is not the message."""
    status, _, err = run("encode", "ApiVersionsRequest", "3", "{x}")
    assert (status, err.startswith("kafka-messages: the argument is not JSON: ")) == (1, True)
    status, _, err = run("encode", "ApiVersionsRequest", "3", '{"clientSoftwareName": 1}')
    assert (status, err) == (
        1,
        "kafka-messages: ApiVersionsRequest v3: clientSoftwareName: expected a text, not 1\n",
    )


def test_help(run: Run) -> None:
    """Each subcommand says what it is for, what it takes, and how it is used."""
    _, out, _ = run("--help")
    names = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert {"explain", "decode", "encode", "guess", "diff", "log", "show", "list", "apis", "errors", "tags"} <= set(
        names
    )
    for name in names:
        status, out, _ = run(name, "--help")
        assert (status, out.splitlines()[0].startswith(f"usage: kafka-messages {name} ")) == (0, True)
        assert "examples:" in out


# --- the terminal and the pipe ----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    main(words)
    return stream.getvalue()


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text with colours there; none with NO_COLOR (https://no-color.org) or --color never, JSON lines in a pipe."""
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    line = ("explain", "ApiVersionsRequest", "3", BODY.hex())
    coloured = on_terminal(monkeypatch, *line)
    assert "\x1b[36m" in coloured
    assert "\x1b" not in on_terminal(monkeypatch, *line, "--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in on_terminal(monkeypatch, *line)
    assert "\x1b[36m" in on_terminal(monkeypatch, *line, "--color", "always")


def test_texts_cannot_change_the_terminal(run: Run) -> None:
    """A client id may hold escape sequences; printed as they are, they would rename the window, or worse."""
    data = encode_request(REQUEST, 3, 7, "\x1b]0;owned\x07\u202e")
    for words in (("explain", "--frame", data.hex(), "--text"), ("explain", "--frame", data.hex())):
        _, out, _ = run(*words)
        assert "\x1b" not in out
        assert "\x07" not in out
    assert r"\x1b]0;owned\x07\u202e" in run("explain", "--frame", data.hex(), "--text", "--width", "120")[1]


def process(*words: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own, in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "kafka_messages", *words], capture_output=True, check=False, timeout=60, **more
    )


def test_as_a_module() -> None:
    """``python -m kafka_messages``, with bytes from standard input in every form."""
    done = process("--version")
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, b"kafka_messages", b"")
    for given in (BODY, BODY.hex().encode(), BODY.hex(":").encode()):
        done = process("decode", "ApiVersionsRequest", "3", "-", input=given)
        assert (done.returncode, json.loads(done.stdout)["clientSoftwareName"]) == (0, "java")


def test_raw_bytes_to_a_pipe() -> None:
    """Nothing is added to them."""
    value = b'{"clientSoftwareName": "java", "clientSoftwareVersion": "4.4.0"}'
    assert process("encode", "ApiVersionsRequest", "3", "--out", "raw", input=value).stdout == BODY


def test_a_broken_pipe_is_silent() -> None:
    """Who has seen enough closes the pipe; nobody wants to read a traceback then."""
    line = f"{sys.executable} -m kafka_messages list"
    command = f"set -o pipefail; {line} | head -1"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert (done.returncode, done.stdout.count(b"\n"), done.stderr) == (0, 1, b"")


def test_completion_in_bash(tmp_path: Path) -> None:
    """The script knows subcommands, options, choices and messages."""
    script = tmp_path / "completion"
    script.write_bytes(process("completion", "bash").stdout)
    ask = '. "$0"; COMP_WORDS=("${@}"); COMP_CWORD=$(($# - 1)); _kafka_messages; echo "${COMPREPLY[@]}"'

    def completed(*words: str) -> str:
        line = ["bash", "-c", ask, str(script), "kafka-messages", *words]
        run = subprocess.run(line, capture_output=True, check=True, text=True, timeout=60, cwd=tmp_path)
        return run.stdout.strip()

    assert completed("gu") == "guess"
    assert completed("explain", "MetadataRe") == "MetadataRequest MetadataResponse"
    assert completed("explain", "--fr") == "--frame"
    assert completed("list", "--kind", "he") == "header"
    assert completed("errors", "16", "1", "2", "NOT_COORD") == "NOT_COORDINATOR"
    assert completed("capture", "--error", "NOT_COORD") == "NOT_COORDINATOR"
    assert completed("explain", "--in", "hex", "--width", "80", "MetadataRe") == "MetadataRequest MetadataResponse"
    assert completed("explain", "--width", "") == ""
    (tmp_path / "Metadata.bin").touch()
    assert (
        completed("explain", "--frame", "Metadata.b") == completed("explain", "x", "9", "Metadata.b") == "Metadata.bin"
    )
    assert completed("explain", "--request", "Metadata.b") == "Metadata.bin"
    assert completed("explain", "Metadata.b") == ""
    for shell in ("zsh", "fish"):
        assert b"kafka-messages" in process("completion", shell).stdout
