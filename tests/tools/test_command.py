"""The command: output of each subcommand, exit status, and errors for invalid arguments and invalid bytes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import ApiVersionsResponse, OffsetCommitValue
from kafka_messages.internal_topics import write_versioned
from kafka_messages.protocol import encode_request, encode_response

from kafka_messages_tools.command import main
from tests.support.cluster import COMMITTED
from tests.support.command import BODY, FRAME, REQUEST, RunCommand, rows

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


def test_explain_frame_prints_a_line_per_field(run_command: RunCommand) -> None:
    status, out, err = run_command("explain", "--frame", FRAME.hex(), "--text", "--width", "80")
    assert (status, out, err) == (0, EXPLAINED, "")
    assert max(map(len, out.splitlines())) <= 80


def test_explain_prints_json_lines(run_command: RunCommand) -> None:
    status, out, _ = run_command("explain", "ApiVersionsRequest", "3", BODY.hex(), "--json")
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


def test_explain_truncated_bytes_prints_the_error(run_command: RunCommand) -> None:
    status, out, _ = run_command("explain", "ApiVersionsRequest", "3", BODY[:8].hex(), "--text")
    assert status == 1
    reason = "COMPACT_STRING: 5 bytes needed at offset 6, 2 left"
    assert out.splitlines()[-1] == f"0008  ApiVersionsRequest v3: client_software_version: {reason}"
    assert '"java"' in out


def test_explain_reads_consecutive_frames(run_command: RunCommand) -> None:
    path = COMMITTED / "traffic" / "36338.request.bin"
    status, out, _ = run_command("explain", "--frame", str(path), "--json")
    found = rows(out)
    assert status == 0
    assert [row["start"] for row in found] == [0, *(row["end"] for row in found[:-1])]
    assert found[-1]["end"] == path.stat().st_size
    assert sum(row["path"] == "frame_length" for row in found) > 1


def test_explain_finds_the_response_type_by_its_request(run_command: RunCommand) -> None:
    response = encode_response(ApiVersionsResponse(error_code=35), 3, 7)
    status, out, _ = run_command("explain", "--request", FRAME.hex(), "--frame", response.hex(), "--json")
    assert (status, rows(out)[2]["note"]) == (0, "UNSUPPORTED_VERSION")
    assert run_command("explain", "ApiVersionsResponse", "3", "--frame", response.hex(), "--json")[1] == out


def test_explain_record_with_version_prefix(run_command: RunCommand) -> None:
    data = write_versioned(OffsetCommitValue(offset=5, commit_timestamp=1_700_000_000_000), 3)
    status, out, _ = run_command("explain", "OffsetCommitValue", "--header", data.hex(), "--json")
    found = rows(out)
    assert status == 0
    assert (found[0]["path"], found[0]["value"]) == ("version", 3)
    assert [row["note"] for row in found if row["path"] == "commit_timestamp"] == ["2023-11-14T22:13:20.000Z"]


# --- decode and encode ------------------------------------------------------------------------------------------------


def test_decode_and_encode_round_trip(run_command: RunCommand) -> None:
    status, text, _ = run_command("decode", "ApiVersionsRequest", "3", BODY.hex())
    assert status == 0
    assert json.loads(text) == {"clientSoftwareName": "java", "clientSoftwareVersion": "4.4.0"}
    assert run_command("encode", "ApiVersionsRequest", "3", text) == (0, f"{BODY.hex()}\n", "")
    framed = ("--frame", "--correlation-id", "7", "--client-id", "me")
    assert run_command("encode", "ApiVersionsRequest", "3", text, *framed) == (0, f"{FRAME.hex()}\n", "")


@pytest.mark.parametrize("form", ["hex", "base64", "raw", "c", "python"])
def test_every_output_format_is_decoded(form: str, run_command: RunCommand, tmp_path: Path) -> None:
    value = '{"clientSoftwareName": "java", "clientSoftwareVersion": "4.4.0"}'
    _, text, _ = run_command("encode", "ApiVersionsRequest", "3", value, "--out", form)
    if form == "raw":
        (tmp_path / "message").write_text(text)
        text = str(tmp_path / "message")
    form_of = ("--in", form) if form == "base64" else ()  # base64 could also be a file name
    assert json.loads(run_command("decode", "ApiVersionsRequest", "3", text, *form_of)[1]) == json.loads(value)


def test_decode_lines_reads_a_message_per_line(run_command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "messages.txt"
    file.write_text(f"{BODY.hex()}\n\n{BODY.hex(' ')}\n")
    status, out, _ = run_command("decode", "ApiVersionsRequest", "3", str(file), "--lines", "--in", "raw")
    assert status == 2  # raw has no lines
    status, out, _ = run_command("decode", "ApiVersionsRequest", "3", str(file), "--lines")
    assert (status, len(rows(out))) == (0, 2)


def test_decode_truncated_bytes_exits_with_1(run_command: RunCommand) -> None:
    status, out, err = run_command("decode", "ApiVersionsRequest", "3", BODY[:8].hex())
    reason = "COMPACT_STRING: 5 bytes needed at offset 6, 2 left"
    assert (status, out) == (1, "")
    assert err == f"kafka-messages: ApiVersionsRequest v3: client_software_version: {reason}\n"


def test_decode_error_contains_message_number_or_line_number(run_command: RunCommand, tmp_path: Path) -> None:
    status, out, err = run_command("decode", "--frame", (FRAME * 2 + FRAME[:9]).hex())
    reason = "the frame has 25 bytes, but 5 follow"
    assert (status, len(rows(out)), err) == (1, 2, f"kafka-messages: message 3, at byte {2 * len(FRAME)}: {reason}\n")
    file = tmp_path / "messages.txt"
    file.write_text(f"{BODY.hex()}\n{BODY[:8].hex()}\n")
    _, _, err = run_command("decode", "ApiVersionsRequest", "3", str(file), "--lines")
    reason = "client_software_version: COMPACT_STRING: 5 bytes needed at offset 6, 2 left"
    assert err == f"kafka-messages: line 2: ApiVersionsRequest v3: {reason}\n"


# --- usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lst"], "unknown subcommand 'lst'; did you mean list?"),
        (["--verson"], "unknown option --verson; did you mean --version?"),
        (["list", "--kid", "x"], "unknown option --kid; did you mean --kind?"),
        (
            ["list", "--kind", "x"],
            "argument --kind: expected one of request, response, header, metadata, coordinator-key, ",
        ),
        (["list", "--kind"], "argument --kind: expected one argument"),
        (["list", "-k"], "unknown option -k; options begin with two dashes"),
        (["list", "a", "b"], "unexpected argument: 'b'"),
        (["list", "--json=1"], "argument --json: ignored explicit argument '1'"),
        (["list", "--json", "--text"], "--json and --text exclude each other"),
        (["list", "--width", "x"], "argument --width: expected an integer of at least 0, got 'x'"),
        (["diff"], "the following arguments are required: message, version, other"),
        (["diff", "MetadataRequest", "1", "0000"], "expected another version, or two messages as files or hex"),
        (["show"], "MESSAGE is missing; without it use --field or --entity"),
        (["decode"], "MESSAGE is missing; omit it only with --request, or for requests with --frame or --header"),
        (
            ["encode", "Metadata", "1", "{}", "--defaults"],
            "the input fits several messages; specify MetadataRequest or MetadataResponse",
        ),
        (["decode", "Metadata", "1", "x", "--lines"], "--lines requires a message: MetadataRequest or MetadataRes"),
        (["explain", "MetadataReqest", "1"], "unknown message 'MetadataReqest'; did you mean MetadataRequest?"),
        (["explain", "MetadataRequest"], "VERSION is missing: MetadataRequest has versions 0 to 13"),
        (["explain", "MetadataRequest", "14", "00"], "MetadataRequest has no version 14, only versions 0 to 13"),
        (["explain", "MetadataRequest", "x", "00"], "'x' is not a version; MetadataRequest has versions 0 to 13"),
        (
            ["explain", "MetadataRequest", "1", "no/such"],
            "file not found: 'no/such'; for base64 use --in base64",
        ),
        (["errors", "NOT_COORDINATR"], "unknown error 'NOT_COORDINATR'; did you mean NOT_COORDINATOR?"),
        (["encode", "MetadataRequest", "1", "nothing"], "file not found: 'nothing'"),
        (["log", "nothing.log"], "nothing.log: No such file or directory"),
        (["completion", "tcsh"], "argument shell: expected one of bash, zsh, fish, got 'tcsh'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_invalid_arguments_exit_with_2(words: list[str], says: str, run_command: RunCommand) -> None:
    status, out, err = run_command(*words)
    assert (status, out) == (2, "")
    assert err.startswith(f"kafka-messages: {says}"), err


def test_encode_of_invalid_json_exits_with_1(run_command: RunCommand) -> None:
    status, _, err = run_command("encode", "ApiVersionsRequest", "3", "{x}")
    assert (status, err.startswith("kafka-messages: the argument is not JSON: ")) == (1, True)
    status, _, err = run_command("encode", "ApiVersionsRequest", "3", '{"clientSoftwareName": 1}')
    assert (status, err) == (
        1,
        "kafka-messages: ApiVersionsRequest v3: clientSoftwareName: expected a string, got 1\n",
    )


def test_help_of_every_subcommand_has_examples(run_command: RunCommand) -> None:
    _, out, _ = run_command("--help")
    names = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert {"explain", "decode", "encode", "diff", "log", "show", "list", "apis", "errors", "tags"} <= set(names)
    for name in names:
        status, out, _ = run_command(name, "--help")
        assert (status, out.splitlines()[0].startswith(f"usage: kafka-messages {name} ")) == (0, True)
        assert "examples:" in out


# --- the terminal and the pipe ----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(*words: str) -> str:
    with redirect_stdout(Terminal()) as stream:
        main(words)
    return stream.getvalue()


def test_output_on_a_terminal_is_colored_unless_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    line = ("explain", "ApiVersionsRequest", "3", BODY.hex())
    colored = on_terminal(*line)
    assert "\x1b[36m" in colored
    assert "\x1b" not in on_terminal(*line, "--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in on_terminal(*line)
    assert "\x1b[36m" in on_terminal(*line, "--color", "always")


def test_control_characters_are_escaped(run_command: RunCommand) -> None:
    data = encode_request(REQUEST, 3, 7, "\x1b]0;owned\x07\u202e")
    for words in (("explain", "--frame", data.hex(), "--text"), ("explain", "--frame", data.hex())):
        _, out, _ = run_command(*words)
        assert "\x1b" not in out
        assert "\x07" not in out
    assert r"\x1b]0;owned\x07\u202e" in run_command("explain", "--frame", data.hex(), "--text", "--width", "120")[1]


def process(*words: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "kafka_messages_tools", *words], capture_output=True, check=False, timeout=60, **more
    )


def test_module_runs_as_a_command() -> None:
    done = process("--version")
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, b"kafka_messages", b"")
    for given in (BODY, BODY.hex().encode(), BODY.hex(":").encode()):
        done = process("decode", "ApiVersionsRequest", "3", "-", input=given)
        assert (done.returncode, json.loads(done.stdout)["clientSoftwareName"]) == (0, "java")


def test_encode_writes_raw_bytes_to_a_pipe() -> None:
    value = b'{"clientSoftwareName": "java", "clientSoftwareVersion": "4.4.0"}'
    assert process("encode", "ApiVersionsRequest", "3", "--out", "raw", input=value).stdout == BODY


def test_broken_pipe_prints_no_error() -> None:
    line = f"{sys.executable} -m kafka_messages_tools list"
    command = f"set -o pipefail; {line} | head -1"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert (done.returncode, done.stdout.count(b"\n"), done.stderr) == (0, 1, b"")


def test_bash_completes_names_and_options(tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_bytes(process("completion", "bash").stdout)
    ask = '. "$0"; COMP_WORDS=("${@}"); COMP_CWORD=$(($# - 1)); _shtab_kafka_messages; echo "${COMPREPLY[@]}"'

    def completed(*words: str) -> str:
        line = ["bash", "-c", ask, str(script), "kafka-messages", *words]
        run = subprocess.run(line, capture_output=True, check=True, text=True, timeout=60, cwd=tmp_path)
        return run.stdout.strip()

    assert completed("exp") == "explain"
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
    assert completed("explain", "Metadata.b") == "Metadata.bin"
    assert completed("list", "MetadataRe") == "MetadataRequest MetadataResponse"
    for shell in ("zsh", "fish"):
        assert b"kafka-messages" in process("completion", shell).stdout
