"""The history: contents of each release, and detection of manual edits."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_message_generator.compat import store
from kafka_message_generator.compat.availability import availability
from kafka_message_generator.compat.changes import Changes, changes
from kafka_message_generator.compat.definition_sets import release_sets, set_of_release
from kafka_message_generator.compat.history_page import page
from tests.support.pages import ROOT

SPECS = ROOT / "specs" / "kafka"
HISTORY = ROOT / "specs" / "history"
DEFINITION = """{
  "apiKey": 1,
  "type": "request",
  "name": "PayRequest",
  "validVersions": "0-1",
  "flexibleVersions": "none",
  "fields": [
    { "name": "Sum", "type": "int32", "versions": "0+" }
  ]
}
"""


def test_newest_release_has_the_number_and_messages_of_the_specs_folder() -> None:
    newest = store.read(HISTORY).names[-1]
    assert newest == json.loads((SPECS / "SOURCE").read_text())["release"]
    names = {path.stem for path in SPECS.rglob("*.json") if path.parent != SPECS}
    assert set(set_of_release(HISTORY, newest).messages) == names


def test_definitions_of_old_releases_are_loaded() -> None:
    history = store.read(HISTORY)
    assert history.names[0] == "2.2.0"
    assert len(history.names) >= 60
    for release in ("2.2.0", "2.8.2", "3.9.2", "4.0.0"):
        assert set_of_release(HISTORY, release).plans["MetadataRequest"].name == "MetadataRequest"


def test_definitions_have_no_duplicate_texts() -> None:
    texts = [(path.parent.name, path.read_text()) for path in sorted((HISTORY / "definitions").rglob("*.json"))]
    assert len(set(texts)) == len(texts)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    root = tmp_path / "history"
    one = {"PayRequest": ("clients", DEFINITION)}
    two = {
        "PayRequest": ("clients", DEFINITION.replace("0-1", "0-2")),
        "GetRequest": ("clients", DEFINITION.replace("Pay", "Get")),
    }
    store.write(root, {"3.1.0": ({}, two), "3.0.0": ({}, one)}, {"3.0.0": {}, "3.1.0": {}})
    return root


def edit(path: Path) -> None:
    path.write_text(path.read_text().replace("int32", "int64"))


def test_edited_definition_raises_history_error(copied: Path) -> None:
    path = copied / "definitions" / "PayRequest" / "3.0.0.json"
    edit(path)
    with pytest.raises(store.HistoryError) as error:
        store.read(copied)
    table = json.loads((copied / "releases.json").read_text())
    wanted = table["releases"]["3.0.0"]["brought"]["PayRequest"].split()[1]
    found = store.digest_of(path.read_text())
    assert str(error.value) == (
        f"{path}: differs from the import (digest {found}, expected {wanted}); run nox -s upstream -- import-history"
    )


def test_edited_error_code_raises_history_error(copied: Path) -> None:
    path = copied / "error-codes.json"
    wanted = store.digest_of(path.read_text())
    path.write_text('{"NONE": ["2.2.0",null]}\n')
    with pytest.raises(store.HistoryError) as error:
        store.read(copied)
    assert str(error.value) == (
        f"{path}: differs from the import (digest {store.digest_of(path.read_text())}, expected {wanted}); "
        "run nox -s upstream -- import-history"
    )


def edited_table(table: dict[str, Any], what: str) -> None:
    """Edit the table of releases without a change of the other files."""
    releases = table["releases"]
    if what == "a removed message":
        releases["3.1.0"]["gone"] = ["PayRequest"]
        del releases["3.1.0"]["brought"]["PayRequest"]
    elif what == "a removed release":
        table["releases"] = {name: entry for name, entry in releases.items() if name != "3.1.0"}
    elif what == "the folder of a definition":
        releases["3.0.0"]["brought"]["PayRequest"] = releases["3.0.0"]["brought"]["PayRequest"].replace(
            "clients", "raft"
        )
    elif what == "the digest of a jar":
        releases["3.0.0"]["jars"]["kafka-clients-3.0.0.jar"] = "0" * 64


@pytest.mark.parametrize(
    "what", ["a removed message", "a removed release", "the folder of a definition", "the digest of a jar"]
)
def test_edited_release_table_raises_history_error(what: str, copied: Path) -> None:
    path = copied / "releases.json"
    table = json.loads(path.read_text())
    edited_table(table, what)
    path.write_text(json.dumps(table, indent=1) + "\n")
    wanted = table.pop("digest")
    found = store.digest_of(json.dumps(table, indent=1) + "\n")
    with pytest.raises(store.HistoryError) as error:
        store.read(copied)
    assert str(error.value) == (
        f"{path}: differs from the import (digest {found}, expected {wanted}); run nox -s upstream -- import-history"
    )


@pytest.mark.parametrize("name", ["x", "3", "3.1.0-rc1", "\u0663.1.0"])
def test_invalid_release_name_raises_history_error(name: str, copied: Path) -> None:
    path = copied / "releases.json"
    path.write_text(path.read_text().replace('"3.1.0": {', f'"{name}": {{'))
    with pytest.raises(store.HistoryError) as error:
        store.read(copied)
    assert str(error.value) == f"{path}: {name!r} is not a Kafka release; write it like 4.4.0"


def test_missing_and_unlisted_definitions_are_reported(copied: Path) -> None:
    lost, foreign = (copied / "definitions" / "PayRequest" / f"{name}.json" for name in ("3.0.0", "3.0.1"))
    shutil.move(lost, foreign)
    with pytest.raises(store.HistoryError) as error:
        store.read(copied)
    assert str(error.value) == (
        f"{lost}: cannot be read, but is listed in releases.json; run nox -s upstream -- import-history\n"
        f"{foreign}: is not in releases.json; run nox -s upstream -- import-history"
    )


@pytest.mark.parametrize("text", ["", "[]", '{"releases": {"3.0.0": {}}}', '{"releases": []}', '{"releases": {}}'])
def test_malformed_release_table_raises_history_error(text: str, copied: Path) -> None:
    (copied / "releases.json").write_text(text)
    with pytest.raises(store.HistoryError, match=r"releases\.json: invalid table of releases: "):
        store.read(copied)


def test_history_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "history.md").read_text() == page(HISTORY)


def test_error_codes_record_their_first_release_and_the_release_that_removed_them(tmp_path: Path) -> None:
    codes = {
        "2.2.0": {"NONE": 0, "OLD": 6, "BACK": 7},
        "2.10.0": {"NONE": 0},
        "2.11.0": {"NONE": 0, "NEW": 6, "BACK": 7},
    }
    assert store.write(tmp_path, {}, codes) == ["write error-codes.json", "write releases.json"]
    assert store.write(tmp_path, {}, codes) == []
    assert store.read_error_codes(tmp_path) == {
        "BACK": store.CodeLifetime("2.2.0", None, 7),
        "NEW": store.CodeLifetime("2.11.0", None, 6),
        "NONE": store.CodeLifetime("2.2.0", None, 0),
        "OLD": store.CodeLifetime("2.2.0", "2.10.0", 6),
    }
    with pytest.raises(store.HistoryError, match=r"^error code BACK is 8 in 3\.0\.0, and was 7 before$"):
        store.write(tmp_path, {}, codes | {"3.0.0": {"BACK": 8}})


@pytest.mark.parametrize(
    ("read", "name", "what"),
    [
        (store.read_error_codes, store.ERROR_CODES, "invalid table of error codes"),
        (store.read_older, store.OLDER, "invalid table of versions and sources"),
    ],
)
def test_malformed_tables_raise_history_error(
    read: Callable[[Path], object], name: str, what: str, tmp_path: Path
) -> None:
    assert read(tmp_path) == {}
    (tmp_path / name).write_text("[]")
    with pytest.raises(store.HistoryError) as caught:
        read(tmp_path)
    reason = """AttributeError("'list' object has no attribute 'items'")"""
    assert str(caught.value) == f"{tmp_path / name}: {what}: {reason}"


@pytest.fixture(scope="module")
def of_releases() -> dict[str, Changes]:
    """Return the changes of each release by name."""
    sets = list(release_sets(HISTORY))
    newest = sets[-1]
    today = {name: (newest.messages[name], plan) for name, plan in newest.plans.items()}
    found = changes(availability(sets, today), sets, today, store.read_error_codes(HISTORY))
    return {each.release: each for each in found}


def test_changes_list_added_and_removed_versions(of_releases: Mapping[str, Changes]) -> None:
    found = of_releases["4.0.0"]
    assert (found.before, found.dropped["FetchRequest"]) == ("3.9.2", (0, 1, 2, 3))
    assert found.brought["MetadataRequest"] == (13,)
    assert "MetadataRequest" not in found.new
    assert "ShareSnapshotValue" in found.new
    assert "PreviousProducerId" in found.late["TransactionLogValue"]
    assert of_releases["2.8.1"].is_empty
    assert not found.is_empty


def test_changes_list_added_and_renamed_error_codes(of_releases: Mapping[str, Changes]) -> None:
    found = of_releases["2.6.0"]
    assert found.codes_renamed == {"NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER"}
    assert (found.codes, found.codes_gone) == ((), ())
    assert of_releases["4.4.0"].codes[0] == "CONTROLLER_ID_NOT_REGISTERED"


def test_changes_list_released_versions_with_new_layout(of_releases: Mapping[str, Changes]) -> None:
    found = {each.message: each for each in of_releases["2.8.0"].differing}
    assert set(found) == {"EndQuorumEpochRequest", "LeaderChangeMessage"}
    assert (found["LeaderChangeMessage"].versions, found["LeaderChangeMessage"].difference.reason) == (
        (0,),
        "FIELD_ADDED",
    )
    in_docs = (ROOT / "docs" / "history.md").read_text()
    today = set(set_of_release(HISTORY, "4.4.0").messages)
    for release, each in of_releases.items():
        section = in_docs.partition(f"\n### {release}\n")[2].partition("\n### ")[0]
        listed = set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) & today
        # Another record had its type in 2.8; its own versions did not change.
        assert {one.message for one in each.differing} == listed - {"ClientQuotaRecord"}, release


def test_first_release_lists_every_message_as_new(of_releases: Mapping[str, Changes]) -> None:
    found = of_releases["2.2.0"]
    assert found.before is None
    assert found.new == set(found.brought)
    assert [found.dropped, found.late, found.differing] == [{}, {}, ()]
