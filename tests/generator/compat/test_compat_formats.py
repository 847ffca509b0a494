"""Output formats of the command ``compat``: JSON, GitHub, GitLab and SARIF."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from jsonschema import Draft7Validator
from sarif_pydantic import Sarif

from tests.support.compat_command import RELEASED, printed, run
from tests.support.pages import ROOT


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


def test_advice_exits_with_0_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flexible = RELEASED.replace('"flexibleVersions": "none"', '"flexibleVersions": "0+"')
    more = '{ "name": "More", "type": "int32", "versions": "0+", "taggedVersions": "0+", "tag": 0 }'
    tagged = f'"versions": "0+" }},\n    {more}'
    for name, text in (("old", flexible), ("new", flexible.replace('"versions": "0+" }', tagged))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "OrderRecord.json").write_text(text)
    outputs = {}
    for each in ("text", "json", "github", "sarif"):
        words = ("--old", str(tmp_path / "old"), "--new", str(tmp_path / "new"), "--level", "advice", "--format", each)
        assert run(*words) == 0
        outputs[each] = capsys.readouterr().out
    assert "TAGGED_FIELD_ADDED: the tagged field More (tag 0) was added\n" in outputs["text"]
    assert outputs["text"].endswith("  findings: 1 advice; counting at level advice: 0\n")
    assert [each["counts"] for each in json.loads(outputs["json"])["findings"]] == [False]
    assert outputs["github"].startswith("::notice file=")
    assert [each["level"] for each in json.loads(outputs["sarif"])["runs"][0]["results"]] == ["note"]


ODD = "100% <a&b> ü\x07\udcff"
"""Folder name with characters that URIs encode, and invalid UTF-8."""


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


@pytest.mark.parametrize("name", ["text", "json", "github", "gitlab", "sarif"])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_unencodable_and_control_characters_are_escaped_in_text_output(
    encoding: str, name: str, special_folders: tuple[str, str]
) -> None:
    out = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(out, encoding=encoding)) as stdout:
        assert run("--old", special_folders[0], "--new", special_folders[1], "--format", name) == 1
    stdout.flush()
    shown = out.getvalue().decode(encoding)
    assert "OrderRecord" in shown
    if name == "text":
        folder = ODD.replace("\x07", r"\x07").encode(encoding, "backslashreplace").decode(encoding)
        assert f"/{folder}/OrderRecord.json:8: $.fields[0]: OrderRecord 0 Id: RELEASED_LAYOUT_CHANGED" in shown
