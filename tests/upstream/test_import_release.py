"""Import of a Kafka release from a folder of jars: the files written and the decisions reported."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pytest

from kafka_message_generator import definitions
from kafka_message_generator.compat import store
from kafka_protocol_upstream.cli import main
from kafka_protocol_upstream.kafka.decisions import could_be_secret, decisions
from kafka_protocol_upstream.tasks.import_release import NEXT
from tests.support.pages import ROOT

SPECS, HISTORY = ROOT / "specs" / "kafka", ROOT / "specs" / "history"
PAY = """{ "apiKey": 1, "type": "request", "name": "PayRequest", "validVersions": "0", "flexibleVersions": "none",
  "listeners": ["broker"], "fields": [
    { "name": "Sum", "type": "int32", "versions": "0+" },
    { "name": "GroupId", "type": "string", "versions": "0+", "entityType": "groupId" } ] }
"""
PAID = """{ "apiKey": 1, "type": "response", "name": "PayResponse", "validVersions": "0", "flexibleVersions": "none",
  "fields": [ { "name": "ErrorCode", "type": "int16", "versions": "0+" } ] }
"""
NEW_PAY = PAY.replace('"validVersions": "0"', '"validVersions": "0-1"').replace(
    '"fields": [',
    """"fields": [
    // Version 1 adds the payers (KIP-7).
    { "name": "Kind", "type": "int8", "versions": "1+" },
    { "name": "Payers", "type": "[]Payer", "versions": "1+", "fields": [
      { "name": "GroupId", "type": "string", "versions": "1+" },
      { "name": "Secret", "type": "bytes", "versions": "1+" } ] },""",
)
OWNED = """{ "type": "data", "name": "OwnedData", "validVersions": "0", "flexibleVersions": "none",
  "fields": [ { "name": "Owner", "type": "int32", "versions": "0+" } ] }
"""
NEW_PAID = PAID.replace('"validVersions": "0"', '"validVersions": "0-1"')


def jar(folder: Path, release: str, **files: str) -> Path:
    folder.mkdir()
    with zipfile.ZipFile(folder / f"kafka-clients-{release}.jar", "w") as archive:
        for file, text in files.items():
            archive.writestr(f"common/message/{file}.json", text)
    return folder


def run(what: Path | str, root: Path, *options: str) -> int:
    folders = ("--specs", str(root / "kafka"), "--history", str(root / "history"), "--work", str(root / "work"))
    return main(["import-release", str(what), *folders, *(options or ("--write",))])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store.write(tmp_path / "history", {}, {})
    assert run(jar(tmp_path / "one", "3.0.0", PayRequest=PAY, PayResponse=PAID), tmp_path) == 0
    return tmp_path


EXPECTED = """\
/history: write definitions/PayRequest/3.1.0.json
/history: write definitions/PayResponse/3.1.0.json
/history: write releases.json
/kafka: write SOURCE
/kafka: write clients/PayRequest.json
/kafka: write clients/PayResponse.json
/kafka: write kips.json
/kafka: write package.toml
Impact of Kafka 3.1.0 on programs for Kafka 3.0.0

New and changed (2)
  New versions with their difference from the version before, then other changes.
  PayRequest 1: adds Kind (int8), Payers ([]Payer)
  PayResponse 1: layout of version 0

No change on the wire (0)

Clients (0)

Proxies (2)
  Proxies with the old definitions cannot decode these messages: remove the versions from ApiVersionsResponse, or pass \
the bytes undecoded. The bytes are message bodies, which a decoder misreads if it ignores the version.
  PayRequest 1: unknown version
      00 00 00 00 00 00 00 00 00 00 00
      a decoder of version 0 fails: 5 bytes left after the message, at offset 6
  PayResponse 1: unknown version; a decoder of version 0 reads its bytes

Log readers (0)

Left for a person (6)
  Decisions that no definition contains, with the test that covers each.
  /kafka/clients/PayRequest.json PayRequest Kind: a field without a description (about); covered by \
tests/generated/test_downgrade.py
  /kafka/clients/PayRequest.json PayRequest Payers: a field without a description (about); covered by \
tests/generated/test_downgrade.py
  /kafka/clients/PayRequest.json PayRequest Payers.GroupId: a field without a description (about); covered by \
tests/generated/test_downgrade.py
  /kafka/clients/PayRequest.json PayRequest Payers.Secret: a field without a description (about); covered by \
tests/generated/test_downgrade.py
  /kafka/enumerations.json PayRequest Kind: an int8 field: add it to an enumeration, or to \
PLAIN in tests/generated/test_enums.py; covered by tests/generated/test_enums.py
  /kafka/entities.json PayRequest Payers.GroupId: other fields with this name have an entity type: add one \
if this field identifies an entity; covered by tests/generated/connection/test_entities.py
next:
"""


def describe(folder: Path) -> None:
    for path in folder.rglob("*.json"):
        text = re.sub(
            r'("versions": "[0-9+-]+"(?:, "entityType": "groupId")?) }', r'\1, "about": "Ours." }', path.read_text()
        )
        path.write_text(text.replace('  "fields": [', '  "about": "Ours.",\n  "fields": [', 1))


def test_new_release_is_imported_with_its_open_decisions(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "kafka" / "package.toml").write_text('[package]\nversion = "3.0.0.1"\n')
    secrets = {"secrets": [{"message": "PayRequest", "fields": ["Payers.Secret"]}]}
    (root / "kafka" / "secrets.json").write_text(json.dumps(secrets))
    describe(root / "kafka" / "clients")
    capsys.readouterr()
    assert run(jar(root / "two", "3.1.0", PayRequest=NEW_PAY, PayResponse=NEW_PAID), root) == 0
    printed = capsys.readouterr().out.replace(str(root), "")
    assert printed.startswith(EXPECTED)
    assert store.read(root / "history").names == ("3.0.0", "3.1.0")
    assert json.loads((root / "kafka" / "SOURCE").read_text())["release"] == "3.1.0"
    assert (root / "kafka" / "package.toml").read_text() == '[package]\nversion = "3.1.0.1"\n'
    assert (
        '"Sum", "type": "int32", "versions": "0+", "about": "Ours." }'
        in (root / "kafka" / "clients" / "PayRequest.json").read_text()
    )


def test_dry_run_prints_the_same_report_and_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = jar(root / "two", "3.1.0", PayRequest=NEW_PAY, PayResponse=NEW_PAID)
    before = files(root)
    capsys.readouterr()
    assert run(two, root, "--history", str(root / "history")) == 0
    trial = capsys.readouterr()
    assert files(root) == before
    assert run(two, root) == 0
    written = capsys.readouterr()
    last = "nothing was written: this was a dry run; use --write to write the changes\n"
    assert trial == (written.out.removesuffix(NEXT) + last, "")
    assert files(root) != before


NEW_TYPE = PAY.replace('"groupId"', '"tenantId"')


def test_new_entity_type_is_listed_as_a_decision(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = jar(root / "two", "3.1.0", PayRequest=NEW_TYPE, PayResponse=PAID)
    capsys.readouterr()
    assert run(two, root) == 0
    printed = capsys.readouterr().out.replace(str(root), "")
    assert "/kafka: write entity-types.json\n" in printed
    assert (
        "  /kafka/entity-types.json: tenantId: a new entity type: add it to TYPES in the generator's "
        "rules/entities.py, describe it in indexes.py of packages/pages, and list fields without the annotation in "
        "entities.json; covered by tests/generated/connection/test_entities.py\n"
    ) in printed
    assert "refuses" not in printed
    assert json.loads((root / "kafka" / "entity-types.json").read_text()) == {"tenantId": "string"}
    requests = [each for each in definitions.load(root / "kafka").messages if each.name == "PayRequest"]
    assert [member.entity_type for each in requests for member in each.fields] == ["unknown", "tenantId"]
    before = files(root)
    assert run(two, root) == 0
    assert files(root) == before


BROKEN = {
    "syntax": (NEW_PAID.replace("[", ""), "kafka-clients-3.1.0.jar!common/message/PayResponse.json:2: "),
    "type": (
        NEW_PAID.replace("int16", "int128"),
        "kafka-clients-3.1.0.jar!common/message/PayResponse.json:2: $.fields[0].type: unknown type 'int128'",
    ),
    "property": (
        NEW_PAID.replace('"int16",', '"int16", "shape": "round",'),
        "kafka-clients-3.1.0.jar!common/message/PayResponse.json:2: $.fields[0].shape: unknown property 'shape' of field "
        "ErrorCode; expected one of ",
    ),
    "header version": (
        NEW_PAID.replace('"fields"', '"headerVersions": { "0": 0, "2+": 1 }, "fields"'),
        "kafka-clients-3.1.0.jar!common/message/PayResponse.json:2: $.headerVersions: headerVersions has no range for 1; "
        "add it, because every version needs one",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_invalid_definition_leaves_every_file_unchanged(
    case: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, place = BROKEN[case]
    two = jar(root / "two", "3.1.0", PayRequest=NEW_PAY, PayResponse=text)
    before = files(root)
    capsys.readouterr()
    assert run(two, root) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.replace(str(root), "").startswith(place)
    assert printed.err.endswith("\nnothing was written\n")
    assert files(root) == before


def files(root: Path) -> dict[Path, bytes]:
    return {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_repeated_import_changes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(root)
    capsys.readouterr()
    assert run(root / "one", root) == 0
    assert files(root) == before
    printed = capsys.readouterr().out.replace(str(root), "")
    assert printed.startswith("/history already has Kafka 3.0.0\n/kafka is already Kafka 3.0.0\n")


def test_patch_of_an_older_release_changes_only_the_history(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(jar(root / "two", "3.1.0", PayRequest=NEW_PAY, PayResponse=NEW_PAID), root) == 0
    specs = files(root / "kafka")
    capsys.readouterr()
    assert run(jar(root / "patch", "3.0.1", PayRequest=PAY, PayResponse=PAID), root) == 0
    assert store.read(root / "history").names == ("3.0.0", "3.0.1", "3.1.0")
    assert files(root / "kafka") == specs
    assert capsys.readouterr().out.replace(str(root), "") == (
        "/history: write releases.json\n"
        "Kafka 3.0.1 is not the newest release: /kafka is unchanged\n"
        "Impact of Kafka 3.0.1 on programs for Kafka 3.0.0\n\n"
        "New and changed (0)\n\nNo change on the wire (0)\n\nClients (0)\n\nProxies (0)\n\nLog readers (0)\n" + NEXT
    )


REFUSED = {
    "no jars": ((), "{folder}: neither jars of Kafka nor definitions (*.json) in this folder"),
    "no jar of the clients": (("kafka-raft-3.1.0.jar",), "{folder}: expected one kafka-clients-RELEASE.jar, found 0"),
    "two releases": (
        ("kafka-clients-3.1.0.jar", "kafka-clients-3.2.0.jar"),
        "{folder}: expected one kafka-clients-RELEASE.jar, found 2",
    ),
    "no definitions": (("kafka-clients-3.1.0.jar",), "Kafka 3.1.0: its jars have no definitions"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_folder_of_jars_is_rejected(case: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names, text = REFUSED[case]
    folder = root / "jars"
    folder.mkdir()
    for name in names:
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("no.json", "{}")
    before = files(root)
    capsys.readouterr()
    assert run(folder, root) == 1
    assert capsys.readouterr().err == text.format(folder=folder) + "\nnothing was written\n"
    assert files(root) == before


@pytest.mark.parametrize("release", ["3.1.0", "3.0.0"])
def test_missing_jar_of_a_module_is_an_error(release: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store.write(tmp_path / "history", {}, {})
    whole = jar(tmp_path / "one", "3.0.0", PayRequest=PAY, PayResponse=PAID)
    with zipfile.ZipFile(whole / "kafka-raft-3.0.0.jar", "w") as archive:
        archive.writestr("common/message/OwnedData.json", OWNED)
    assert run(whole, tmp_path) == 0
    before = files(tmp_path)
    capsys.readouterr()
    with tempfile.TemporaryDirectory() as beside:
        less = jar(Path(beside, "less"), release, PayRequest=PAY, PayResponse=PAID)
        assert run(less, tmp_path) == 1
    assert capsys.readouterr().err == (
        f"Kafka {release}: no jar of kafka-raft, but Kafka 3.0.0 has one; add a jar of every module of the release\n"
        "nothing was written\n"
    )
    assert files(tmp_path) == before


def test_maven_timeout_is_an_error(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    def waiting(command: list[str], **rest: object) -> None:
        raise subprocess.TimeoutExpired(command, 900)

    (root / "mvn").touch(0o755)
    monkeypatch.setenv("PATH", str(root))
    monkeypatch.setattr(subprocess, "run", waiting)
    before = files(root / "history")
    capsys.readouterr()
    assert run("3.1.0", root) == 1
    assert (
        capsys.readouterr().err
        == f"Maven did not resolve the artifacts in {root.as_posix()}/work/ranges.xml within 900 seconds; try again\n"
        "nothing was written\n"
    )
    assert files(root / "history") == before


def test_newest_release_can_be_removed_from_the_history_and_restored(tmp_path: Path) -> None:
    root = tmp_path / "history"
    shutil.copytree(HISTORY, root)
    releases, codes = store.releases_of(root), store.codes_of(root, store.read(root).names)
    newest = list(releases)[-1]
    fewer = {name: kept for name, kept in releases.items() if name != newest}
    assert store.write(root, fewer, {name: codes[name] for name in fewer}) != []
    assert files(root) != files(HISTORY)
    store.write(root, store.releases_of(root) | {newest: releases[newest]}, codes)
    assert files(root) == files(HISTORY)


def test_definitions_of_this_project_have_open_decisions_in_two_files_only() -> None:
    found = decisions(SPECS, HISTORY, store.read(HISTORY).names[-1])
    assert {each.file for each in found} <= {"entities.json", "error_responses.json"}, list(map(str, found))


@pytest.mark.parametrize(
    ("name", "kind", "beside", "could"),
    [
        ("Password", "string", (), True),
        ("auth_bytes", "string", (), True),
        ("Password", "int8", (), False),
        ("Value", "string", ("name",), True),
        ("Value", "string", ("count",), False),
        ("Anything", "bytes", (), True),
        ("Host", "string", (), False),
    ],
)
def test_fields_that_may_be_secret_are_detected(name: str, kind: str, beside: tuple[str, ...], could: bool) -> None:
    assert could_be_secret(name, kind, frozenset(beside)) == could
