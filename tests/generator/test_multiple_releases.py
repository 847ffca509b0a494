"""Packages with versions of several releases: equal layouts, conflicts, and versions that are not negotiated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_message_generator import cli, definitions
from kafka_message_generator.spec.source import SpecError
from tests.support.building import import_package, unique_name, write_specs
from tests.support.specs import field, message

NEW = message(
    field("Sum", versions="2+"),
    field("Note", "string", versions="3+", default=""),
    name="Pay",
    validVersions="2-3",
    flexibleVersions="none",
)
OLD = message(
    field("Sum", versions="0+"),
    field("Cents", versions="0-1", about="Beside the sum."),
    name="Pay",
    validVersions="0-2",
    flexibleVersions="none",
)
GONE = message(field("A"), name="Gone", validVersions="0-1", flexibleVersions="none")


def generated(tmp_path: Path, *folders: Path, toml: str = "") -> str:
    """Return the import name of a package generated from several folders."""
    name = unique_name()
    (folders[0] / "package.toml").write_text(toml)
    specs = [word for folder in folders for word in ("--specs", str(folder))]
    assert cli.main(["generate", *specs, "--output", str(tmp_path / name), "--package", name]) == 0
    return name


def test_package_has_the_versions_of_two_releases(tmp_path: Path) -> None:
    new, old = write_specs(tmp_path / "new", NEW), write_specs(tmp_path / "old", OLD, GONE)
    package = import_package(tmp_path / (name := generated(tmp_path, new, old)) / "src", name)
    assert [package.Pay(sum=1, cents=2).write(version).hex() for version in (0, 1)] == ["0000000100000002"] * 2
    assert package.Pay.read(bytes.fromhex("000000010000"), 3) == package.Pay(sum=1)
    found = {each.name: (list(each.valid_versions), list(each.supported_versions)) for each in package.all_messages()}
    assert found == {"Gone": ([0, 1], []), "Pay": ([0, 1, 2, 3], [2, 3])}


def test_older_folder_in_settings_is_merged(tmp_path: Path) -> None:
    new, _ = write_specs(tmp_path / "new", NEW), write_specs(tmp_path / "old", OLD)
    name = generated(tmp_path, new, toml='[definitions]\nolder = ["../old"]\n')
    assert list(import_package(tmp_path / name / "src", name).all_messages()[0].valid_versions) == [0, 1, 2, 3]


def test_check_reports_change_in_older_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new, old = write_specs(tmp_path / "new", NEW), write_specs(tmp_path / "old", OLD)
    words = ["--specs", str(new), "--specs", str(old), "--output", str(tmp_path / "out"), "--package", "paid"]
    assert [cli.main(["generate", *words]) for _ in range(2)] == [0, 0]
    assert capsys.readouterr().out.endswith(" is up to date\n")
    path = old / "Pay.json"
    path.write_text(path.read_text().replace("Cents", "Pennies"))
    assert cli.main(["check", *words]) == 1
    assert "pennies" in capsys.readouterr().out


def test_conflicting_versions_are_reported_with_bytes(tmp_path: Path) -> None:
    other = message(field("Sum", "int64", versions="0+"), name="Pay", validVersions="0-2", flexibleVersions="none")
    new, old = write_specs(tmp_path / "new", NEW), write_specs(tmp_path / "old", other)
    with pytest.raises(SpecError) as caught:
        definitions.load(new, more=[old])
    (problem,) = caught.value.problems
    assert problem.message == (
        f"Pay of {old.as_posix()} cannot be combined with this: Sum is int64 in one release and int32 in the other"
    )
    wider = message(
        field("Sum", versions="0+"),
        field("More", "int8", versions="2+"),
        name="Pay",
        validVersions="2",
        flexibleVersions="none",
    )
    old = write_specs(tmp_path / "wider", wider)
    with pytest.raises(SpecError) as caught:
        definitions.load(new, more=[old])
    assert [each.message for each in caught.value.problems] == [
        f"Pay of {old.as_posix()} cannot be combined with this: version 2 of {old.as_posix()} differs "
        "(FIELD_REMOVED): one has More: int8, the other the end"
        "\n    bytes of the older release, read by this one: fails: 1 byte left after the message, "
        "at offset 4: 00 00 00 00 00"
        "\n    bytes of this release, read by the older one: fails: more: INT8: 1 byte needed "
        "at offset 4, 0 left: 00 00 00 00"
    ]


def pay(versions: str, *fields: dict[str, object], **more: str) -> dict[str, object]:
    return message(*fields, name="Pay", **{"validVersions": versions, "flexibleVersions": "none", **more})


MERGE_ERRORS = {
    "gap of one version": (
        pay("2", field("Sum", versions="2+")),
        pay("0", field("Note", versions="0+")),
        "versions of Pay would be 0 and 2, which is not a single range",
    ),
    "gap in a field": (
        pay("2", field("Sum", versions="0+"), field("Note", versions="2+")),
        pay("0-1", field("Sum", versions="0+"), field("Note", versions="0")),
        "versions of Note would be 0 and 2+, which is not a single range",
    ),
    "another order": (
        pay("1", field("Sum", versions="0+"), field("Note", versions="0+")),
        pay("0", field("Note", versions="0+"), field("Sum", versions="0+")),
        "Sum precedes another field in one release and follows it in the other",
    ),
}


@pytest.mark.parametrize("case", MERGE_ERRORS)
def test_releases_without_a_common_definition_are_reported(tmp_path: Path, case: str) -> None:
    newer, older, text = MERGE_ERRORS[case]
    new, old = write_specs(tmp_path / "new", newer), write_specs(tmp_path / "old", older)
    with pytest.raises(SpecError) as caught:
        definitions.load(new, more=[old])
    assert [each.message for each in caught.value.problems] == [
        f"Pay of {old.as_posix()} cannot be combined with this: {text}"
    ]


def test_additional_tagged_fields_are_compatible(tmp_path: Path) -> None:
    plain = message(field("Sum"), name="Pay", validVersions="0", flexibleVersions="0+")
    tagged = message(
        field("Sum"),
        field("Note", "string", tag=0, taggedVersions="0+"),
        name="Pay",
        validVersions="0",
        flexibleVersions="0+",
    )
    new, old = write_specs(tmp_path / "new", tagged), write_specs(tmp_path / "old", plain)
    assert [plan.name for plan in definitions.load(new, more=[old]).plans] == ["Pay"]


def test_missing_older_folder_is_reported(tmp_path: Path) -> None:
    new = write_specs(tmp_path / "new", NEW)
    (new / "package.toml").write_text('[definitions]\nolder = ["../nowhere"]\n')
    with pytest.raises(SpecError) as caught:
        definitions.load(new)
    assert str(caught.value) == (
        f"{(new / 'package.toml').as_posix()}:2: $.definitions.older: "
        f"{(tmp_path / 'nowhere').as_posix()}: folder or definition not found"
    )
    with pytest.raises(SpecError) as caught:
        definitions.load(write_specs(tmp_path / "next", NEW), more=[tmp_path / "nowhere"])
    assert str(caught.value).startswith("command line:1: --specs: ")


def test_descriptions_apply_to_messages_of_older_releases(tmp_path: Path) -> None:
    new, old = write_specs(tmp_path / "new", NEW), write_specs(tmp_path / "old", GONE)
    path = new / "descriptions.json"
    path.write_text(json.dumps({"Gone": {"about": "What went.", "fields": {"A": "A number."}}}))
    found = {each.name: each for each in definitions.load(new, more=[old]).messages}["Gone"]
    assert (found.about, found.fields[0].about) == ("What went.", "A number.")
    path.write_text(json.dumps({"Gone": {"fields": {"B": "No such field."}}}))
    with pytest.raises(SpecError) as caught:
        definitions.load(new, more=[old])
    assert [each.message for each in caught.value.problems] == [
        "Gone.B does not exist, or already has a description; remove this entry"
    ]
    path.write_text(json.dumps({"Gone": {"fields": "A"}}))
    with pytest.raises(SpecError) as caught:
        definitions.load(new, more=[old])
    assert [each.message for each in caught.value.problems] == [
        "expected an object of names and strings, found string 'A'"
    ]


def test_history_component_requires_older_releases(tmp_path: Path) -> None:
    new = write_specs(tmp_path / "new", NEW)
    (new / "package.toml").write_text('[package]\ncomponents = ["history"]\n')
    with pytest.raises(SpecError) as caught:
        definitions.load(new)
    assert [each.message for each in caught.value.problems] == [
        "the component history requires older releases, and package.toml lists none; "
        "write older = [...] below [definitions], or remove it"
    ]


def request(name: str, versions: str, kind: str = "int32") -> dict[str, object]:
    return message(
        field("Sum", kind, versions="0+"), name=name, type="request", apiKey=3, validVersions=versions,
        flexibleVersions="none", listeners=["broker"],
    )  # fmt: skip


def record(kind: str, versions: str, **key: int) -> dict[str, object]:
    return message(
        field("Sum", versions="0+"), name="PayRecord", type=kind, validVersions=versions, flexibleVersions="none", **key
    )


def response(of: dict[str, object]) -> dict[str, object]:
    plain = {key: value for key, value in of.items() if key != "listeners"}
    return {**plain, "type": "response", "name": str(of["name"]).replace("Request", "Response")}


APART = {
    "a version under a former name": (
        request("PayRequest", "1"),
        request("BuyRequest", "0"),
        "BuyRequest of {old} cannot be combined with PayRequest: both have the same API key, but PayRequest has no "
        "version 0; use one name",
    ),
    "a different version under a former name": (
        request("PayRequest", "0"),
        request("BuyRequest", "0", "string"),
        "BuyRequest of {old} cannot be combined with PayRequest: version 0 of {old} differs (TYPE): one has Sum: "
        "string, the other Sum: int32\n"
        "    bytes of the older release, read by this one: fails: sum: INT32: 4 bytes needed at offset 0, 2 left: 00 00\n"
        "    bytes of this release, read by the older one: fails: 2 bytes left after the message, at offset 2: 00 00 00 00",
    ),
    "another key": (
        record("metadata", "1", apiKey=7),
        record("metadata", "0", apiKey=8),
        "PayRecord of {old} cannot be combined with this: it is metadata with apiKey 7 in one release and metadata "
        "with apiKey 8 in the other",
    ),
    "another kind": (
        record("metadata", "1", apiKey=7),
        record("data", "0"),
        "PayRecord of {old} cannot be combined with this: it is metadata with apiKey 7 in one release and data in "
        "the other",
    ),
    "another key of one version": (
        record("metadata", "0", apiKey=7),
        record("metadata", "0", apiKey=8),
        "PayRecord of {old} cannot be combined with this: it is metadata with apiKey 7 in one release and metadata "
        "with apiKey 8 in the other",
    ),
}


@pytest.mark.parametrize("case", APART)
def test_different_messages_with_the_same_identity_are_reported(case: str, tmp_path: Path) -> None:
    here, there, text = APART[case]
    pair = [here] if here["type"] != "request" else [here, response(here)]
    new, old = write_specs(tmp_path / "new", *pair), write_specs(tmp_path / "old", there)
    with pytest.raises(SpecError) as caught:
        definitions.load(new, more=[old])
    assert [each.message for each in caught.value.problems] == [text.format(old=old.as_posix())]


def test_former_name_of_a_message_is_merged(tmp_path: Path) -> None:
    here = request("PayRequest", "0-1")
    new = write_specs(tmp_path / "new", here, response(here))
    old = write_specs(tmp_path / "old", request("BuyRequest", "0"))
    names = [plan.name for plan in definitions.load(new, more=[old]).plans]
    assert names == ["PayRequest", "PayResponse"]
