"""``kips.json``: errors with locations, and KIPs by message and version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_message_generator import definitions
from kafka_message_generator.spec.source import SpecError
from tests.support.building import write_specs
from tests.support.specs import field, message

ASK = message(field("Count", "int8"), name="Ask", type="data", validVersions="0-5", flexibleVersions="none")


def one(**entry: object) -> str:
    return json.dumps([{"message": "Ask", "versions": "4", "kip": 98} | entry])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "1: $: expected an array of entries, found object"),
        ('[{"versions": "1", "kip": 1}]', "1: $[0]: an entry has no message; add it"),
        ('[{"message": "Ask", "kip": 1}]', "1: $[0]: an entry has no versions; add it"),
        (one(kip=0), "1: $[0]: kip: expected the number of a KIP, such as 848"),
        (one(why=""), "1: $[0].why: unknown property 'why' of an entry; expected one of kip, message, versions"),
        (one(message="Tell"), "1: $[0].message: unknown message 'Tell'; correct or remove it"),
        (one(versions="5+"), "1: $[0].message: Ask has versions 0-5, not 5+; correct or remove the entry"),
    ],
)
def test_broken_entry_is_an_error(text: str, says: str, tmp_path: Path) -> None:
    specs = write_specs(tmp_path, ASK)
    (specs / "kips.json").write_text(text)
    with pytest.raises(SpecError) as caught:
        definitions.load(specs)
    assert str(caught.value) == f"{(specs / 'kips.json').as_posix()}:{says}"


def test_versions_have_their_kips_in_ascending_order(tmp_path: Path) -> None:
    specs = write_specs(tmp_path, ASK)
    entries = [("2-3", 848), ("3", 98), ("5", 1)]
    (specs / "kips.json").write_text(
        json.dumps([{"message": "Ask", "versions": versions, "kip": kip} for versions, kip in entries])
    )
    assert definitions.load(specs).kips == {"Ask": {2: (848,), 3: (98, 848), 5: (1,)}}
