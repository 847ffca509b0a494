"""Import of a release that is not out: a proposal's definitions become a report and a package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_message_generator import cli as generator
from kafka_message_generator.compat import store
from kafka_protocol_upstream.cli import main
from tests.support.next_release import small_release, write_overlay

CODE = """
from next_messages import DescribeClusterRequest, HeartbeatRequest, ListQuotasRequest, ListQuotasResponse, OffsetCommitValue
from next_messages.connection import entities
from next_messages.history import field_since, since, until
from next_messages.protocol import decode_request, encode_request

request = ListQuotasRequest(quota_name="daily")
assert ListQuotasRequest.read(request.write(0), 0) == request
assert decode_request(encode_request(request, 0, 1, framed=False)).message == request
heartbeat = HeartbeatRequest(group_id="g", assignment_epoch=5)
assert HeartbeatRequest.read(heartbeat.write(4), 4) == heartbeat
assert OffsetCommitValue.read(OffsetCommitValue(assignment_epoch=6).write(4), 4).assignment_epoch == 6
decoded = decode_request(encode_request(DescribeClusterRequest(), 3, 7, client_id="me", framed=False))
(entity,) = entities(request)
assert (entity.type, entity.value) == ("quotaName", "daily")
assert (since("ListQuotasRequest", 0), until("HeartbeatRequest", 0)) == ("4.5.0", "4.5.0")
assert field_since("HeartbeatRequest", "assignment_epoch") == "4.5.0"
assert (decoded.header.client_id, decoded.header.client_instance_id.int, decoded.version) == ("me", 0, 3)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    specs, _ = small_release(tmp_path)
    write_overlay(tmp_path / "overlay", specs)
    return tmp_path


def imported(root: Path, *words: str) -> int:
    folders = ("--specs", str(root / "specs" / "kafka"), "--history", str(root / "specs" / "history"))
    return main(["import-release", *words, *folders])


def overlay(root: Path, *words: str) -> int:
    return imported(root, "--overlay", str(root / "overlay"), "--release", "4.5.0", *words)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_overlay_becomes_a_package_whose_messages_round_trip(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert overlay(root, "--write") == 0
    assert capsys.readouterr().out.endswith(
        "next:\n"
        "  nox -s regenerate                    updates the package if the definitions changed\n"
        "  nox -s tests\n"
    )
    specs = root / "specs" / "kafka"
    assert json.loads((specs / "SOURCE").read_text()) == {"release": "4.5.0", "artifacts": {}}
    assert store.read(root / "specs" / "history").names == ("4.4.0", "4.5.0")
    assert 'version = "4.5.0.1"' in (specs / "package.toml").read_text()
    assert generator.main(["generate", "--specs", str(specs), "--output", str(root / "package")]) == 0
    environment = {**os.environ, "PYTHONPATH": str(root / "package" / "src")}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


REPORT = {
    "Clients": [
        "HeartbeatRequest 0: removed: clients need one of 1-4",
        "HeartbeatResponse 0: removed: clients need one of 1-4",
    ],
    "Proxies": [
        "DescribeClusterRequest 3: unknown version; its header has version 3, which Kafka 4.4.0 lacks; a decoder of version "
        "2 reads its bytes",
        "DescribeClusterResponse 3: unknown version; a decoder of version 2 reads its bytes",
        "RequestHeader 3: unknown version",
        "new messages: unknown: ListQuotasRequest 0, ListQuotasResponse 0",
        "HeartbeatRequest 4: new tagged fields AssignmentEpoch (tag 0): skipped as unknown; lost when the message is "
        "written again without its unknown tags",
    ],
    "Log readers": [
        "OffsetCommitValue 4: new tagged fields assignmentEpoch (tag 1): skipped as unknown",
    ],
}


def test_dry_run_reports_the_impact_and_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, page = files(root / "specs"), root / "report.html"
    assert overlay(root, "--html", str(page)) == 0
    printed = capsys.readouterr().out
    assert files(root / "specs") == before
    sections = {text.partition(" (")[0]: text.splitlines()[2:] for text in printed.split("\n\n")[1:]}
    for title, expected in REPORT.items():
        assert [line.strip() for line in sections[title] if line[:6] != " " * 6] == expected
    specs = (root / "specs" / "kafka").as_posix()
    entity = (
        f"  {specs}/entity-types.json: quotaName: a new entity type: add it to TYPES in the generator's rules/entities.py, "
        "describe it in indexes.py of packages/pages, and list fields without the annotation in entities.json; covered by "
        "tests/generated/connection/test_entities.py"
    )
    assert entity in sections["Left for a person"]
    text = page.read_text(encoding="utf-8")
    assert "<h1>Impact of Kafka 4.5.0 on programs for Kafka 4.4.0</h1>" in text
    assert "Left for a person" in text


def test_release_can_be_imported_again_without_changes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert overlay(root, "--write") == 0
    before = files(root / "specs")
    source = root / "specs" / "kafka"
    capsys.readouterr()
    assert imported(root, str(source), "--release", "4.5.0", "--write") == 0
    assert files(root / "specs") == before
    assert f"{source.as_posix()} is already Kafka 4.5.0\n" in capsys.readouterr().out


def test_module_without_definitions_in_the_source_is_kept_and_named(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = root / "checkout" / "clients" / "src" / "main" / "resources" / "common" / "message"
    shutil.copytree(root / "specs" / "kafka" / "clients", checkout)
    tests = root / "checkout" / "clients" / "src" / "test" / "resources" / "common" / "message"
    tests.mkdir(parents=True)
    (tests / "SimpleExampleMessage.json").write_text('{ "name": "Simple", "type": "data", "validVersions": "0" }')
    for folder in (root / "checkout", checkout):
        assert imported(root, str(folder), "--overlay", str(root / "overlay"), "--release", "4.5.0") == 0
        printed = capsys.readouterr().out
        assert printed.startswith(
            f"{(root / 'specs' / 'kafka').as_posix()}/group-coordinator: kept: {folder} has no definitions of this module\n"
        )
        assert "Simple" not in printed


def test_every_module_of_a_checkout_is_read(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for module, folder in (("clients", "common/message"), ("group-coordinator", "message")):
        target = root / "kafka" / module / "src" / "main" / "resources" / folder
        shutil.copytree(root / "specs" / "kafka" / module, target)
    (root / "kafka/group-coordinator/src/main/resources/message/OffsetCommitKey.json").unlink()
    assert imported(root, str(root / "kafka"), "--release", "4.5.0") == 0
    printed = capsys.readouterr().out
    assert "kept" not in printed
    assert "  OffsetCommitKey: removed with all its versions (0)\n" in printed


def test_overlay_on_jars_keeps_the_modules_without_jars(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jars, clients = root / "jars", root / "specs" / "kafka" / "clients"
    jars.mkdir()
    with zipfile.ZipFile(jars / "kafka-clients-4.4.0.jar", "w") as archive:
        for path in clients.iterdir():
            archive.write(path, f"common/message/{path.name}")
    assert imported(root, str(jars), "--overlay", str(root / "overlay"), "--release", "4.5.0") == 0
    printed = capsys.readouterr().out
    assert f"/group-coordinator: kept: {jars} has no definitions of this module\n" in printed
    assert "\n  OffsetCommitValue 4: new tagged fields assignmentEpoch (tag 1)\n" in printed
    assert "OffsetCommitKey" not in printed


def test_git_revision_is_imported_from_another_folder(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    proposal = root / "kafka" / "clients" / "src" / "main" / "resources" / "common" / "message"
    shutil.copytree(root / "specs" / "kafka" / "clients", proposal)
    for name in ("HeartbeatRequest.json", "HeartbeatResponse.json"):
        shutil.copyfile(root / "overlay" / name, proposal / name)
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "One"]):
        subprocess.run([git, *words], check=True, cwd=root / "kafka")
    where = ("--repository", str(root / "kafka"), "--release", "4.5.0")
    monkeypatch.chdir(root)
    for source in ("git:HEAD:clients/src/main/resources/common/message", "git:HEAD:clients"):
        assert imported(root, source, *where) == 0
        assert "  HeartbeatRequest 0: removed\n" in capsys.readouterr().out
    assert imported(root, "git:HEAD:nowhere", *where) == 1
    assert capsys.readouterr().err.endswith("\nnothing was written\n")


def edited(root: Path, name: str, old: str, new: str) -> None:
    path = root / "overlay" / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def unchanged(root: Path) -> None:
    shutil.rmtree(root / "overlay")
    shutil.copytree(root / "specs" / "kafka" / "clients", root / "overlay")


def twice(root: Path) -> None:
    (root / "overlay" / "again").mkdir()
    shutil.copyfile(root / "overlay" / "RequestHeader.json", root / "overlay" / "again" / "RequestHeader.json")


Edit = Callable[[Path], object]
REFUSED: dict[str, tuple[Edit, str]] = {
    "unknown property": (
        lambda root: edited(root, "ListQuotasRequest.json", '"entityType"', '"shape": 1, "entityType"'),
        "{overlay}/ListQuotasRequest.json:16: $.fields[0].shape: unknown property 'shape' of field QuotaName; "
        "expected one of ",
    ),
    "unknown type": (
        lambda root: edited(root, "ListQuotasRequest.json", '"string"', '"int128"'),
        "{overlay}/ListQuotasRequest.json:14: $.fields[0].type: unknown type 'int128'",
    ),
    "unknown message type": (
        lambda root: edited(root, "ListQuotasRequest.json", '"request"', '"event"'),
        "{overlay}/ListQuotasRequest.json:4: $.type: ",
    ),
    "unknown header version": (
        lambda root: edited(root, "DescribeClusterRequest.json", '"3+": 3', '"3+": 4'),
        "{overlay}/DescribeClusterRequest.json:34: $.headerVersions: RequestHeader has no version 4, which "
        "DescribeClusterRequest names for 3+; change it, or add the version to RequestHeader\n",
    ),
    "invalid JSON": (
        lambda root: edited(root, "ListQuotasRequest.json", '"fields": [', '"fields": {'),
        "{overlay}/ListQuotasRequest.json:1",
    ),
    "incomplete JSON": (
        lambda root: (root / "overlay" / "Incomplete.json").write_text('{ "apiKey": 96,\n'),
        "{overlay}/Incomplete.json:",
    ),
    "definition without versions": (
        lambda root: edited(root, "ListQuotasRequest.json", '"validVersions"', '"validversions"'),
        "{overlay}/ListQuotasRequest.json:",
    ),
    "no change": (
        unchanged,
        "{overlay}: the overlay changes nothing but descriptions; name the folder with changed definitions\n",
    ),
    "two places": (
        twice,
        "{overlay}/again/RequestHeader.json: RequestHeader is also defined in {overlay}/RequestHeader.json; remove one\n",
    ),
    "another file name": (
        lambda root: shutil.move(root / "overlay" / "HeartbeatRequest.json", root / "overlay" / "Heartbeat.json"),
        "{overlay}/Heartbeat.json: HeartbeatRequest conflicts with HeartbeatRequest in "
        "{specs}/clients/HeartbeatRequest.json: they share the file name, name or apiKey; give "
        "the file and the message the names that it replaces\n",
    ),
    "apiKey of another message": (
        lambda root: edited(root, "ListQuotasRequest.json", '"apiKey": 95', '"apiKey": 12'),
        "{overlay}/ListQuotasRequest.json: ListQuotasRequest conflicts with HeartbeatRequest in "
        "{specs}/clients/HeartbeatRequest.json: they share the file name, name or apiKey; give ",
    ),
    "unknown module": (
        lambda root: (root / "overlay" / "QuotaRecord.json").write_text(
            '{ "apiKey": 1, "type": "metadata", "name": "QuotaRecord", "validVersions": "0", "flexibleVersions": "0+", '
            '"fields": [] }'
        ),
        "{overlay}/QuotaRecord.json: the module of the new message QuotaRecord is unknown; put the file into a folder with "
        "the module's name: clients, group-coordinator, metadata, ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_overlay_leaves_every_file_unchanged(case: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit, expected = REFUSED[case]
    edit(root)
    before = files(root / "specs")
    assert overlay(root, "--write") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    places = {"overlay": (root / "overlay").as_posix(), "specs": (root / "specs" / "kafka").as_posix()}
    assert printed.err.startswith(expected.format(**places)), printed.err
    assert printed.err.endswith("\nnothing was written\n")
    assert files(root / "specs") == before


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "no definitions given; name a SOURCE, or changed definitions with --overlay"),
        (
            ("--overlay", "{overlay}"),
            "--release: expected the release of these definitions, such as 4.5.0; it is missing",
        ),
        (
            ("{specs}", "--release", "next"),
            "--release: expected the release of these definitions, such as 4.5.0; got next",
        ),
        (
            ("{specs}", "--release", "4.5"),
            "--release: expected the release of these definitions, such as 4.5.0; got 4.5",
        ),
        (("--overlay", "nosuch"), "--overlay: nosuch is not a folder; name the folder of the changed definitions"),
        (("--html", "nosuch/report.html"), "--html: the folder of nosuch/report.html does not exist"),
        (
            ("{specs}", "--release", "4.3.0"),
            "--release: 4.3.0 is older than 4.4.0; import an older release from its jars",
        ),
    ],
)
def test_missing_or_invalid_release_is_an_error(
    words: tuple[str, ...], text: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"overlay": str(root / "overlay"), "specs": str(root / "specs" / "kafka")}
    assert imported(root, *(word.format(**places) for word in words)) == 1
    assert capsys.readouterr().err == f"{text}\nnothing was written\n"


def test_overlay_does_not_replace_a_release_imported_from_jars(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = root / "specs" / "history"
    releases = store.releases_of(history)
    jars = {"kafka-clients-4.4.0.jar": "0" * 64}
    store.write(history, {"4.4.0": (jars, releases["4.4.0"][1])}, store.codes_of(history, releases))
    before = files(root / "specs")
    assert imported(root, "--overlay", str(root / "overlay"), "--release", "4.4.0", "--write") == 1
    assert capsys.readouterr().err == (
        "--release: 4.4.0 is already imported from its jars; name the next release\nnothing was written\n"
    )
    assert files(root / "specs") == before
