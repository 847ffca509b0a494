"""The command, its exit status, and its report files."""

from __future__ import annotations

import json
import os
import re
import sys
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from kafka_conformance.command import main
from kafka_conformance.result import Outcome, Report, ReportError, Result, SentBytes, load
from kafka_conformance.text import save_junit, to_text

from tests.support.full_disk import fill_disk

TESTEES = Path(__file__).parent / "testees"
OURS, BROKEN = [sys.executable, str(TESTEES / "ours.py")], [sys.executable, str(TESTEES / "broken.py"), "text"]
ONLY = ["--only", "HEARTBEAT.request-0-*"]


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "HEARTBEAT.request-0-full", "HEARTBEAT.request-4-damaged-truncated"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "HEARTBEAT.request-0-full                           codec   "
        "HeartbeatRequest 0 (full) is read, and written again with the same bytes.",
        "HEARTBEAT.request-4-damaged-truncated              codec   "
        "HeartbeatRequest 4 with damage at byte 25 (_tagged_fields) is refused: truncated.",
    ]
    assert err == "2 cases\n"


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "HEARTBEAT.request-0-empty"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "HEARTBEAT.request-0-empty",
        "HeartbeatRequest 0 (empty) is read, and written again with the same bytes.",
        "",
        "mode      codec",
        "severity  error",
        "source    clients/HeartbeatRequest.json",
        "kind      message, HeartbeatRequest 0",
        "bytes     0000000000000000",
        "expected  same",
    ]


def test_show_of_an_unknown_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "HEARTBEAT.request-0-emty"]) == 2
    text = "kafka-conformance: there is no case HEARTBEAT.request-0-emty; did you mean 'HEARTBEAT.request-0-empty'?\n"
    assert capsys.readouterr().err == text


def test_a_codec_that_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["codec", *ONLY, "--", *OURS]) == 0
    assert capsys.readouterr().out == "kafka-messages: 11 passed\n"


def test_a_codec_that_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report, junit = tmp_path / "report.json", tmp_path / "junit.xml"
    assert main(["codec", *ONLY, "--json", str(report), "--junit", str(junit), "--", *BROKEN]) == 1
    lines = capsys.readouterr().out.splitlines()
    failed = [result for result in load(report).results if result.outcome == "failed"]
    assert lines[:7] == [
        f"{failed[0].id}: failed",
        f"  rule    {failed[0].rule}",
        "  source  clients/HeartbeatRequest.json",
        "  problem the answer is not JSON: 'decoding …'",
        f"  Kafka   {failed[0].kafka}",
        f"  bytes   {failed[0].exchanges[0].request}",
        "",
    ]
    assert lines[-2:] == [
        "broken: the testee does not decode or encode",
        f"broken: {len(failed)} failed, {11 - len(failed)} passed",
    ]
    root = ElementTree.parse(junit).getroot()
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("11", str(len(failed)), "0")
    assert [each.get("name") for each in root if each.find("failure") is not None] == [each.id for each in failed]


def test_warnings_and_quirks_are_no_skipped_tests_for_a_ci_server(tmp_path: Path) -> None:
    outcomes: list[Outcome] = ["failed", "warning", "quirk", "known", "not run", "passed"]
    report = Report("client", "mine", [Result(f"A.{each}", each, "a problem", rule="a rule") for each in outcomes])
    save_junit(report, tmp_path / "junit.xml")
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("6", "1", "2")
    assert {each.get("name"): [inner.tag for inner in each] for each in root} == {
        "A.failed": ["failure"],
        "A.warning": ["system-out"],
        "A.quirk": ["system-out"],
        "A.known": ["skipped"],
        "A.not run": ["skipped"],
        "A.passed": [],
    }
    assert root.findtext("./testcase[@name='A.warning']/system-out") == (
        "A.warning: warning\n  rule    a rule\n  problem a problem"
    )


def test_groups_that_did_not_run_are_one_line() -> None:
    idle = [Result(f"GROUP-{number}.a", "not run") for number in range(150)]
    passed = [Result("GROUP-7.b", "passed"), Result("OTHER.a", "passed")]
    report = Report("codec", "mine", [*idle, *passed, Result("BAD.a", "failed", "wrong"), Result("BAD.b", "not run")])
    assert to_text(report).splitlines() == [
        "BAD.a: failed",
        "  problem wrong",
        "",
        "BAD                              1 failed, 1 not run",
        "150 not run in 150 other groups",
        "mine: 1 failed, 151 not run, 2 passed",
    ]


def test_known_failures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text("# the third answer is missing\nHEARTBEAT.request-0-*  # all\n")
    assert main(["codec", *ONLY, "--known-failures", str(known), "--", *BROKEN]) == 0
    assert capsys.readouterr().out.endswith("broken: 6 known, 5 passed\n")
    assert main(["codec", *ONLY, "--known-failures", str(known), "--", *OURS]) == 1
    assert capsys.readouterr().out.splitlines()[:3] == [
        "HEARTBEAT.request-0-*: failed",
        "  problem listed as a known failure, but passes; remove the entry",
        "",
    ]


def test_a_selection_without_cases_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["codec", "--only", "TAGS.huge-tag-cont", "--", *OURS]) == 2
    assert capsys.readouterr().err == (
        "kafka-conformance: there is no case TAGS.huge-tag-cont; did you mean 'TAGS.huge-tag-count'?\n"
    )


def test_files_are_looked_at_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, name in (("--known-failures", "none"), ("--json", "none/a.json"), ("--junit", "none/a.xml")):
        assert main(["codec", option, str(tmp_path / name), "--", "no-such-program"]) == 2
        assert f"No such file or directory: '{tmp_path / name}'" in capsys.readouterr().err


def test_looking_at_files_leaves_them_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.json").write_text("old")
    os.mkfifo(tmp_path / "pipe")
    for name in ("new.json", "old.json", "pipe"):  # nobody reads the pipe
        assert main(["codec", "--json", str(tmp_path / name), "--", "no-such-program"]) == 2
    assert capsys.readouterr().err == "kafka-conformance: cannot start no-such-program: No such file or directory\n" * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.json", "pipe"]
    assert (tmp_path / "old.json").read_text() == "old"


def test_full_disk_leaves_earlier_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = Report("codec", "mine", [Result("A.one", "passed")])
    report.save(tmp_path / "source.json")
    old = {name: tmp_path / name for name in ("report.json", "junit.xml", "page.html")}
    for path in old.values():
        path.write_text("old")
    fill_disk(monkeypatch)
    for write in (partial(report.save, old["report.json"]), partial(save_junit, report, old["junit.xml"])):
        with pytest.raises(OSError, match=re.escape(f"No space left on device: '{tmp_path}")):
            write()
    assert main(["report", str(tmp_path / "source.json"), "--html", str(old["page.html"])]) == 2
    assert f"No space left on device: '{old['page.html']}'" in capsys.readouterr().err
    assert [path.read_text() for path in old.values()] == ["old"] * 3
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e9"])
def test_times_are_bounded(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["broker", "--timeout", seconds, "localhost:9092"])
    assert f"expected seconds above 0, at most 86,400, got {seconds}" in capsys.readouterr().err


def test_text_of_a_testee_is_escaped(tmp_path: Path) -> None:
    hostile = Result("A.b", "failed", "a\x1b[31m\x00\ud800b")
    report = Report("codec", "mine\x07", [hostile])
    report.save(tmp_path / "report.json")
    save_junit(report, tmp_path / "report.xml")
    assert load(tmp_path / "report.json").results[0].problem == r"a\u001b[31m\u0000\ud800b"
    assert ElementTree.parse(tmp_path / "report.xml").getroot().get("name") == r"kafka-conformance codec mine\u0007"


def test_errors_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["codec", "--", "no-such-program"]) == 2
    assert capsys.readouterr().err == "kafka-conformance: cannot start no-such-program: No such file or directory\n"


def test_reports_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    result = Result("A.b", "failed", "wrong", "right", "rule", "source", [SentBytes("00", "01", "FetchRequest", 3)])
    report = Report("codec", "name", [result, Result("A.c", "passed")], ["a note"])
    report.save(path)
    assert load(path) == report


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[]", "pop expected at most 1 argument, got 2"),
        ("{}", "'format'"),
        (json.dumps({"format": 2, "results": []}), "unknown format"),
        ("", "Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_other_files_are_no_reports(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(content)
    with pytest.raises(ReportError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: not a report of kafka-conformance: ")
