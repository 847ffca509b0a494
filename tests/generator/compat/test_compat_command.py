"""The command ``compat``: its inputs, findings and exit codes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafka_message_generator.cli import main
from kafka_message_generator.compat.findings import RULES
from tests.support.compat_command import RELEASED, run
from tests.support.pages import ROOT

TEXT = """{new}/OrderRecord.json:8: $.fields[0]: OrderRecord 0 Id: RELEASED_LAYOUT_CHANGED (WIDTH): was Id: int32; \
is Id: int64
    new code, old bytes: fails: id: INT64: 8 bytes needed at offset 0, 4 left
        00 00 00 00
        written by old code:
          0000  00 00 00 00  id  0  INT32
          0004  end
        read by new code:
          0000  00 00 00 00  id  INT64: 8 bytes needed at offset 0, 4 left
          0004  end
    old code, new bytes: fails: 4 bytes left after the message, at offset 4
        00 00 00 00 00 00 00 00
        written by new code:
          0000  00 00 00 00 00 00 00 00  id  0  INT64
          0008  end
        read by old code:
          0000  00 00 00 00  id  0  INT32
          0004  00 00 00 00      4 byte(s) left after the message, at offset 4
          0008  end
    keep the released versions unchanged; make the change in a new version (released in {old})
{new} against {old}:
  0 released message versions proved equal
  1 changed
  findings: 1 wire; counting at level api: 1
"""


def test_changed_layout_is_printed_as_text(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = folders
    assert run("--old", old, "--new", new) == 1
    assert capsys.readouterr().out == TEXT.format(old=old, new=new)


def test_equal_folders_are_compatible(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, _ = folders
    assert run("--old", old, "--new", old) == 0
    assert "  1 released message versions proved equal\n" in capsys.readouterr().out


NOT_COMPARED = {
    "no folder": (
        ["--old", "nowhere"],
        "nowhere: folder not found; give a folder, git:REF, git:REF:FOLDER, release:VERSION or history",
    ),
    "no reference": (["--old", "git:"], "git:: expected a revision; write for example git:main"),
    "an option": (["--old", "git:--help"], "git:--help: expected a revision; write for example git:main"),
    "no name of a release": (
        ["--old", "release:"],
        "release:: no release given; write for example release:4.3.0\nnothing was compared\n",
    ),
    "no release": (["--old", "release:0.1"], "specs/history: unknown release 0.1; expected one of 2.2.0, "),
    "many as new": (["--new", "history"], "history contains several releases; name one, for example release:4.3.0"),
    "no history": (
        ["--history", "nowhere"],
        "history: no history of Kafka's releases in nowhere; run this in a clone of the generator, or name the "
        "folder with --history\n",
    ),
    "no history for a release": (
        ["--old", "release:4.3.0", "--history", "nowhere"],
        "release:4.3.0: no history of Kafka's releases in nowhere; run this in a clone of the generator, or name "
        "the folder with --history\n",
    ),
    "no waivers": (["--waivers", "nowhere.toml"], "nowhere.toml: No such file or directory"),
}


@pytest.mark.parametrize("case", NOT_COMPARED)
def test_invalid_input_exits_with_3(
    case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    words, text = NOT_COMPARED[case]
    assert run(*words) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(text)
    assert shown.err.endswith("nothing was compared\n")


def test_no_common_version_exits_with_3_if_no_finding_counts(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = folders
    other = RELEASED.replace("OrderRecord", "PurchaseRecord").replace('"apiKey": 3', '"apiKey": 4')
    Path(new, "OrderRecord.json").unlink()
    Path(new, "PurchaseRecord.json").write_text(other)
    assert run("--old", old, "--new", new, "--level", "wire") == 3
    assert capsys.readouterr() == (
        "",
        f"{new} and {old} have no released message version in common\nnothing was compared\n",
    )
    assert run("--old", old, "--new", new, "--level", "policy") == 1
    assert "MESSAGE_REMOVED" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--level", "bytes"], ["--format", "xml"], ["--older", "x"]])
def test_invalid_arguments_exit_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(*words)
    assert end.value.code == 2
    assert capsys.readouterr().out == ""


def test_invalid_definitions_exit_with_3(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = folders
    Path(new, "OrderRecord.json").write_text(RELEASED.replace("int32", "int33"))
    assert run("--old", old, "--new", new) == 3
    assert f"{new}/OrderRecord.json:8: $.fields[0].type: unknown type 'int33'" in capsys.readouterr().err


def test_renamed_message_is_compared_under_its_new_name(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = folders
    Path(new, "OrderRecord.json").unlink()
    Path(new, "SaleRecord.json").write_text(RELEASED.replace("OrderRecord", "SaleRecord"))
    assert [run("--old", old, "--new", new, "--level", level) for level in ("wire", "api")] == [0, 1]
    shown = capsys.readouterr()
    assert "MESSAGE_RENAMED" in shown.out
    assert shown.err == ""


def test_list_rules_prints_level_reason_and_origin_of_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list-rules") == 0
    shown = capsys.readouterr().out
    assert shown.count("\n  source: ") == len(RULES)
    assert shown.startswith("RELEASED_LAYOUT_CHANGED  [wire]\n")


def test_kafka_definitions_are_compatible_with_the_history(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert run() == 0
    assert "753 released message versions proved equal" in capsys.readouterr().out


def test_changed_kafka_definition_is_reported_with_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    specs = tmp_path / "kafka"
    shutil.copytree(ROOT / "specs" / "kafka", specs)
    path = specs / "clients" / "HeartbeatRequest.json"
    text = path.read_text()
    assert text.count('"name": "GenerationId", "type": "int32"') == 1
    path.write_text(text.replace('"name": "GenerationId", "type": "int32"', '"name": "GenerationId", "type": "int64"'))
    assert run("--new", str(specs)) == 1
    shown = capsys.readouterr().out
    assert "HeartbeatRequest 0-4 GenerationId: RELEASED_LAYOUT_CHANGED (WIDTH): was GenerationId: int32" in shown
    assert "    new code, old bytes: fails: generation_id: INT64: 8 bytes needed at offset 2, 6 left\n" in shown
    assert "          0002  00 00 00 00  generation_id  0  INT32\n" in shown


def test_example_in_docs_matches_the_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "compat.md").read_text()
    command, shown = page.split("```sh\n")[1].split("```\n")[0], page.split("```\n")[2].split("```")[0]
    words = command.removesuffix(" || true\n").split()
    assert main(words[1:]) == 1
    assert capsys.readouterr().out == shown
