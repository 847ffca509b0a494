"""Control characters from messages, files and arguments never reach the terminal."""

from __future__ import annotations

import json
import re
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest
from kafka_conformance.command import main as conformance
from kafka_messages import GroupMetadataKey, GroupMetadataValue, MetadataRequest
from kafka_messages.protocol import encode_request
from kafka_records import Record, write_batch

from kafka_messages_tools.command import main
from kafka_messages_tools.text import safe
from kafka_protocol_pages.cli import main as pages
from tests.support.command import RunCommand, rows
from tests.tools.test_command import Terminal

CONTROLS = "\x1b[2J\x07\r\x7f\x9b31m\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069"
UNSAFE = frozenset(CONTROLS) - {"[", "2", "J", "3", "1", "m"}
TOPIC = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=CONTROLS)])


def write_log(folder: Path, batch: bytes, name: str = "00000000000000000000.log") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(batch)
    return str(folder / name)


def unsafe(*texts: str) -> set[str]:
    return {each for text in texts for each in UNSAFE if each in text}


def uncolored(text: str) -> str:
    """Remove the codes of the program's own styles."""
    return re.sub(r"\x1b\[(0|1|2|32|33|35|36|1;31|1;4)m", "", text)


def test_control_characters_are_escaped_as_in_json() -> None:
    text = f"a{CONTROLS}\n\tb\ud800é"
    escaped = (
        "a\\u001b[2J\\u0007\\r\\u007f\\u009b31m\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069"
        "{}b\\ud800é"
    )
    assert safe(text) == escaped.format("\\n\\t")
    assert safe(text, lines=True) == escaped.format("\n\t")
    assert json.loads(f'"{safe(text)}"') == text
    ordinary = "\N{NO-BREAK SPACE}\N{ZERO WIDTH JOINER}\N{PILE OF POO}\N{IDEOGRAPHIC SPACE}\ue000"
    assert safe(ordinary) == ordinary


@pytest.mark.parametrize("mode", [(), ("--json",), ("--color", "always")], ids=["text", "json", "color"])
def test_values_of_messages_and_records_are_escaped(run_command: RunCommand, tmp_path: Path, mode: list[str]) -> None:
    record = Record(key=CONTROLS.encode(), value=CONTROLS.encode(), headers=((CONTROLS, CONTROLS.encode()),))
    group = Record(
        key=b"\0\2" + GroupMetadataKey(group=CONTROLS).write(0),
        value=b"\0\3" + GroupMetadataValue(protocol_type=CONTROLS, leader=CONTROLS).write(3),
    )
    data, other = TOPIC.write(12).hex(), MetadataRequest().write(12).hex()
    for words in (
        ("log", write_log(tmp_path / "orders-0", write_batch([record]))),
        ("log", write_log(tmp_path / "__consumer_offsets-0", write_batch([group]))),
        ("decode", "MetadataRequest", "12", data),
        ("explain", "MetadataRequest", "12", data),
        ("explain", encode_request(TOPIC, 12, 1, CONTROLS).hex()),
        ("diff", "MetadataRequest", "12", data, other),
    ):
        _, out, err = run_command(*words, *mode)
        assert out != ""
        assert unsafe(uncolored(out) if "--color" in mode else out, err) == set(), words
    _, out, _ = run_command("log", str(tmp_path / "orders-0" / "00000000000000000000.log"), "--json")
    assert rows(out)[0]["value"] == CONTROLS


@pytest.mark.parametrize("code", ["8", "36", "1;4", "0", "38;5;9", ""])
def test_colors_in_a_checkpoint_are_escaped(run_command: RunCommand, tmp_path: Path, code: str) -> None:
    path = tmp_path / "cleaner-offset-checkpoint"
    path.write_text(f"0\n1\na\x1b[{code}mhid 1 2\n")
    line = f"topic: a\\u001b[{code}mhid partition: 1 offset: 2\n"
    assert run_command("log", "--color", "always", str(path)) == (0, line, "")


def test_arguments_and_unknown_keys_are_escaped(run_command: RunCommand) -> None:
    for words in (
        (CONTROLS,),
        ("--package", CONTROLS, "list"),
        *((name, CONTROLS) for name in ("explain", "show", "list", "apis", "errors", "tags", "releases", "capture")),
        ("decode", CONTROLS, "1", "00"),
        ("decode", "MetadataRequest", CONTROLS, "00"),
        ("diff", CONTROLS, CONTROLS, "1"),
        ("capture", "--port", CONTROLS, "x"),
        ("list", "--width", CONTROLS),
        ("list", f"--{CONTROLS}"),
        ("list", "x", CONTROLS),
        ("encode", "MetadataRequest", "12", json.dumps({CONTROLS: 1})),
    ):
        status, out, err = run_command(*words)
        assert (status > 0, out, unsafe(err)) == (True, "", set()), words
        assert "\\u001b" in err or "\\x1b" in err, words


@pytest.mark.skipif(sys.platform == "win32", reason="file names have no control characters there")
def test_file_names_are_escaped_and_never_suggested(
    run_command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write_log(tmp_path / "orders-0", write_batch([Record(value=b"v")]), f"{CONTROLS}\n.log")
    says = "this is a log segment or a record batch: use kafka-messages log FILE; --batches prints the headers"
    assert run_command("explain", name) == (1, f"{says}\n", "")
    for words in (
        ("log", name, name),
        ("log", name, f"{name}.gone"),
        ("decode", "MetadataRequest", "12", name),
        ("capture", name),
        ("capture", f"{name}.gone"),
    ):
        _, out, err = run_command(*words)
        assert unsafe(out, err) == set(), words
    with redirect_stdout(Terminal()) as screen:
        assert main(["log", name, name, "--color", "always"]) == 0
    assert f"\x1b[1;4m{safe(name)}\x1b[0m\n" in screen.getvalue()


def test_commands_of_other_distributions_escape_too(capsys: pytest.CaptureFixture[str]) -> None:
    for run, words in (
        (conformance, ["show", CONTROLS]),
        (conformance, ["list", f"--{CONTROLS}"]),
        (conformance, ["report", CONTROLS, "--html", "page.html"]),
        (pages, ["--specs", CONTROLS, "--output", "x", f"--{CONTROLS}"]),
        (pages, ["--specs", "specs/kafka", "--output", "x", "--package", CONTROLS]),
    ):
        with suppress(SystemExit):
            assert run(words) > 0
        out, err = capsys.readouterr()
        assert unsafe(out, err) == set(), words
        assert "\\u001b" in err or "\\x1b" in err, words
