"""Input and output streams of the command: closed streams, broken pipes, invalid or too large JSON."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import PassInput, RunCommand
from tests.support.pages import ROOT

TRAFFIC = "examples/cluster/traffic/36338.request.bin"
LOG = "examples/cluster/logs/__consumer_offsets-1/00000000000000000000.log"


def shell(line: str) -> tuple[int, str, str]:
    """Run a line of bash in which KM is the command; return exit status, output and errors."""
    script = f'set -o pipefail; KM() {{ {sys.executable} -m kafka_messages_tools "$@"; }}; {line}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False, text=True, timeout=60, cwd=ROOT)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        f"explain --frame {TRAFFIC}",
        f"decode --frame {TRAFFIC}",
        f"log {LOG}",
        "capture examples/captures/java.pcapng.gz",
        "wireshark",
        "completion bash",
    ],
)
def test_broken_pipe_prints_no_error(words: str) -> None:
    assert shell(f"KM {words} | head -c 20 > /dev/null") == (0, "", "")


def test_closed_standard_streams_are_handled() -> None:
    assert shell("KM list >&-") == (0, "", "")
    assert shell("KM explain cafecafe 2>&- >/dev/null") == (0, "", "")
    for words, says in (
        ("explain ApiVersionsRequest 3", "no input: give a file name or hex, or pipe the bytes in"),
        ("encode ApiVersionsRequest 3 -", "no input: give JSON or a file name, or pipe JSON in"),
        ("capture -", "standard input is closed; give a file name"),
        ("log -", "standard input is closed; give a file name"),
    ):
        status, out, err = shell(f"KM {words} <&-")
        assert (status, out, err.splitlines()[0]) == (2, "", f"python -m kafka_messages_tools: {says}")


@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        (b'{"a": "\xff"}', 1, "{file} is not JSON: byte 7 is invalid UTF-8"),
        (b"[" * 99_999, 1, "{file} is not JSON of a message: it is nested too deeply"),
        (b"{}" + b"[" * 100_000, 2, "{file} has more than 100000 bytes; extract the relevant part"),
        (b"{\n", 1, "{file} is not JSON: Expecting property name enclosed in double quotes: line 2 column 1 (char 2)"),
    ],
)
def test_invalid_json_is_reported(
    data: bytes,
    status: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_command: RunCommand,
    pass_input: PassInput,
) -> None:
    monkeypatch.setattr("kafka_messages_tools.command._input.MOST", 100_000)
    file = tmp_path / "some.json"
    file.write_bytes(data)
    pass_input(data)
    for word, name in ((str(file), str(file)), ("-", "standard input")):
        found, _, errors = run_command("encode", "ApiVersionsRequest", "3", word)
        assert found == status
        assert errors.splitlines()[0] == f"kafka-messages: {says.format(file=name)}"
