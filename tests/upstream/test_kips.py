"""KIPs of message versions, from the comments of definitions."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from kafka_message_generator.spec.source import SpecError
from kafka_protocol_upstream.kafka import kips
from kafka_protocol_upstream.kafka.definitions import definitions_of
from kafka_protocol_upstream.kafka.history import import_history


def commented(*lines: str, versions: str = "0-9", name: str = "AskRequest") -> str:
    comments = "".join(f"  //{line and ' '}{line}\n" for line in lines)
    fields = '{ "name": "Count", "type": "int32", "versions": "0+", "about": "Version 8 (KIP-1)." }'
    head = f'"apiKey": 3, "type": "request", "name": "{name}",'
    return f'// Version 2.0, as KIP-2 says.\n{{ {head}\n{comments}  "validVersions": "{versions}",\n  "fields": [{fields}] }}'


CASES: dict[str, tuple[list[str], dict[int, set[int]]]] = {
    "one version": (["Version 4 adds Level (KIP-98)."], {4: {98}}),
    "several KIPs": (["Version 4 adds A (KIP-98), and needs a member id (KIP-1082)"], {4: {98, 1082}}),
    "other spellings": (["Version 1: adds A(KIP_890 part 2)", "Version 2 adds B from KIP 12"], {1: {890}, 2: {12}}),
    "list": (["Versions 0, 1, 2, and 5 are the same (KIP-1)."], {version: {1} for version in (0, 1, 2, 5)}),
    "pair": (["Versions 3 and 4 are the same (KIP-1)."], {3: {1}, 4: {1}}),
    "range": (
        ["Version 3-5 are KIP-7.", "Versions 6 through 8 are KIP-8."],
        {3: {7}, 4: {7}, 5: {7}, 6: {8}, 7: {8}, 8: {8}},
    ),
    "starting in": (["Starting in version 5, A (KIP-1).", "Starting from Version 6, B (KIP-2)."], {5: {1}, 6: {2}}),
    "continuation line": (["Version 7 adds a field that", "is described by KIP-320."], {7: {320}}),
    "line without a full stop": (["Version 1 adds A (KIP-853)", "Version 2 adds B"], {1: {853}}),
    "sentences in one line": (["Version 1 adds A. Version 2 adds B (KIP-1)."], {2: {1}}),
    "two versions in one sentence": (["Version 1 adds A, and version 2 adds B (KIP-1)."], {2: {1}}),
    "version compared with another": (["Version 5 is the same as version 4 (KIP-890)."], {5: {890}}),
    "see": (["Version 7 adds A. See KIP-110."], {7: {110}}),
    "bracket after the sentence": (["Version 5 adds A.", "Also, B is -1. (KIP-903)"], {5: {903}}),
    "version within the subject": (["The AskRequest version 4 API is part of KIP-890."], {4: {890}}),
    "sentence about the message": (["Version 4 is flexible.", "KIP-915: bumping breaks readers."], {}),
    "this": (["Version 1 drops A. This is now in the API B (KIP-700)."], {1: {700}}),
    "the request": (["Version 1 adds A to the response. The request is unchanged (KIP-836)."], {1: {836}}),
    "sentence about something else": (["Version 1 drops A. Brokers ignore B (KIP-1)."], {}),
    "other paragraph": (["Version 1 adds A.", "", "(KIP-1)"], {}),
    "list of errors": (["Version 1 adds A.", "- NOT_FOUND (KIP-1)"], {}),
    "open range": (["Versions 13 and below are for clients (KIP-1).", "Version 2+ is new (KIP-1)."], {}),
    "release of Kafka": (["Starting from Apache Kafka 2.4 (KIP-511), A is filled."], {}),
    "no KIP": (["Version 1 adds A (KAFKA-17011)."], {}),
}


@pytest.mark.parametrize("name", CASES)
def test_kip_belongs_to_the_versions_whose_sentence_names_it(name: str) -> None:
    lines, wanted = CASES[name]
    assert kips.kips_of(commented(*lines)) == wanted


def jar(folder: Path, release: str, *definitions: str) -> Path:
    path = folder / f"kafka-clients-{release}.jar"
    with zipfile.ZipFile(path, "w") as archive:
        for number, text in enumerate(definitions):
            archive.writestr(f"common/message/{number}.json", text)
    return path


def test_newest_release_that_names_kips_wins(tmp_path: Path) -> None:
    old = commented("Version 1 adds A (KIP-599).", "Version 2 adds B (KIP-2).", "Version 3 adds C (KIP-3).")
    gone = commented("Version 0 is new (KIP-4).", name="OldRequest", versions="0")
    new = commented("Version 0 had KIP-1.", "Version 1 adds A (KIP-559).", "Version 2 adds B.", versions="1-9")
    jars = {"3.0.0": [jar(tmp_path, "3.0.0", old, gone)], "3.1.0": [jar(tmp_path, "3.1.0", new)]}
    (tmp_path / "specs").mkdir()
    assert import_history(jars, tmp_path / "history", specs=tmp_path / "specs")[-1] == "write kips.json"
    assert (tmp_path / "specs" / "kips.json").read_text() == (
        "[\n"
        '  {"message": "AskRequest", "versions": "1", "kip": 559},\n'
        '  {"message": "AskRequest", "versions": "2", "kip": 2},\n'
        '  {"message": "AskRequest", "versions": "3", "kip": 3},\n'
        '  {"message": "OldRequest", "versions": "0", "kip": 4}\n'
        "]\n"
    )
    assert import_history(jars, tmp_path / "history", specs=tmp_path / "specs") == []


def test_import_keeps_the_kips_of_older_releases(tmp_path: Path) -> None:
    specs, known = tmp_path / "specs", [{"message": "AskRequest", "versions": "1-2", "kip": 5}]
    specs.mkdir()
    (specs / "kips.json").write_text(json.dumps(known))
    found = definitions_of("3.1.0", [jar(tmp_path, "3.1.0", commented("Versions 2-3 are KIP-1 and KIP-2."))])
    assert kips.write(specs, kips.merged(kips.read(specs), found)) == ["write kips.json"]
    assert kips.write(specs, kips.merged(kips.read(specs), found)) == []
    assert [tuple(entry.values()) for entry in json.loads((specs / "kips.json").read_text())] == [
        ("AskRequest", "1", 5),
        ("AskRequest", "2", 1),
        ("AskRequest", "2", 2),
        ("AskRequest", "3", 1),
        ("AskRequest", "3", 2),
    ]


def test_release_without_kips_writes_no_file(tmp_path: Path) -> None:
    found = definitions_of("3.1.0", [jar(tmp_path, "3.1.0", commented("Version 1 adds A."))])
    assert kips.write(tmp_path, kips.merged({}, found)) == []
    assert not (tmp_path / "kips.json").exists()


def test_invalid_file_raises_spec_error(tmp_path: Path) -> None:
    (tmp_path / "kips.json").write_text('[{"message": "AskRequest", "versions": "1"}]')
    with pytest.raises(SpecError) as caught:
        kips.read(tmp_path)
    place = (tmp_path / "kips.json").as_posix()
    assert str(caught.value) == f"{place}:1: $[0]: kip: expected the number of a KIP, such as 848"
