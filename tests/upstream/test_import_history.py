"""Import of the definitions of releases from their jars into a history."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from kafka_message_generator.compat import store
from kafka_protocol_upstream.kafka import fixups
from kafka_protocol_upstream.kafka import history as importer

DEFINITION = """// A comment, as Kafka's files have.
{ "apiKey": 1, "type": "request", "name": "PayRequest", "validVersions": "0-1",
  "about": "Their words, which stay with them.",
  "fields": [ { "name": "Sum", "type": "int32", "versions": "0+", "about": "More words." } ] }
"""
CANONICAL = """{
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


def jar(folder: Path, name: str, **files: str) -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(f"common/message/{file}.json", text)
    return path


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    one = jar(tmp_path, "kafka-clients-3.0.0.jar", PayRequest=DEFINITION)
    two = jar(
        tmp_path,
        "kafka-clients-3.1.0.jar",
        PayRequest=DEFINITION.replace("0-1", "0-2"),
        Other=DEFINITION.replace("Pay", "Get"),
    )
    root = tmp_path / "history"
    importer.import_history({"3.1.0": [two], "3.0.0": [one]}, root)
    return root


def test_comments_and_descriptions_are_not_imported(copied: Path) -> None:
    assert (copied / "definitions" / "PayRequest" / "3.0.0.json").read_text() == CANONICAL
    history = store.read(copied)
    assert {name: found.since for name, found in history.definitions("3.1.0").items()} == {
        "GetRequest": "3.1.0",
        "PayRequest": "3.1.0",
    }
    assert list(history.definitions("3.0.0")) == ["PayRequest"]


def test_repeated_import_changes_nothing(copied: Path, tmp_path: Path) -> None:
    jars = {"3.0.0": [tmp_path / "kafka-clients-3.0.0.jar"], "3.1.0": [tmp_path / "kafka-clients-3.1.0.jar"]}
    assert importer.import_history(jars, copied) == []


def test_different_definitions_of_one_message_raise_history_error(tmp_path: Path) -> None:
    one = jar(tmp_path, "kafka-clients-3.0.0.jar", PayRequest=DEFINITION)
    two = jar(tmp_path, "kafka-raft-3.0.0.jar", PayRequest=DEFINITION.replace("int32", "int64"))
    with pytest.raises(store.HistoryError) as error:
        importer.import_history({"3.0.0": [one, two]}, tmp_path / "history")
    assert str(error.value) == f"{two}: the definition of PayRequest differs from the one in kafka-clients"


def test_invalid_definition_raises_history_error(tmp_path: Path) -> None:
    path = jar(tmp_path, "kafka-clients-3.0.0.jar", PayRequest=DEFINITION + "]")
    with pytest.raises(store.HistoryError) as error:
        importer.import_history({"3.0.0": [path]}, tmp_path / "history")
    assert str(error.value) == (
        "kafka-clients-3.0.0.jar!common/message/PayRequest.json:5: $: ']' follows the end of the definition; "
        "a file must contain one JSON object"
    )


def test_fixup_is_reported_and_its_text_must_occur_once(tmp_path: Path) -> None:
    fixup = fixups.FIXUPS[0]
    broken = (
        '{ "name": "DescribeProducersRequest", "type": "request", "validVersions": "0",\n  "fields": [\n    ]}\n  ]\n}'
    )
    reported: list[str] = []
    file = fixup.file.removesuffix(".json")
    for text in (broken, broken.replace("  ]\n", " ]\n")):
        path = jar(tmp_path, "kafka-clients-2.8.0.jar", **{file: text})
        if text is broken:
            importer.import_history({"2.8.0": [path]}, tmp_path / "history", reported.append)
            assert reported == [f"kafka-clients-2.8.0.jar!common/message/{fixup.file}: fixed: {fixup.why}"]
        else:
            with pytest.raises(store.HistoryError) as error:
                importer.import_history({"2.8.0": [path]}, tmp_path / "other")
            place = f"kafka-clients-2.8.0.jar!common/message/{fixup.file}"
            what = f"{fixup.file} of 2.8.0: expected one text {fixup.text!r} to fix, found 0"
            assert str(error.value) == f"{place}: {what}"
