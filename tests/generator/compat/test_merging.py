"""Definitions of all releases merged into one set: every version keeps its layout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kafka_message_generator import definitions, rules
from kafka_message_generator.compat.definition_sets import Baseline, baseline, release_sets
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.merging.collect import with_older
from kafka_message_generator.plan import builder
from kafka_message_generator.spec.model import COORDINATOR_KEY, Message
from kafka_message_generator.spec.source import Problems
from tests.support.pages import ROOT

SPECS = ROOT / "specs" / "kafka"


@pytest.fixture(scope="module")
def older() -> Baseline:
    return baseline("history", list(release_sets(ROOT / "specs" / "history")))


@pytest.fixture(scope="module")
def today() -> dict[str, Message]:
    return {message.name: message for message in definitions.load(SPECS, more=None).messages}


def test_merged_set_keeps_the_layout_of_every_version(older: Baseline, today: dict[str, Message]) -> None:
    problems = Problems()
    merged = {message.name: message for message in with_older(list(today.values()), older, problems)}
    assert problems.found == []
    count = 0
    for name, released in older.versions.items():
        message = merged.get(name)
        if message is None or message.kind == COORDINATOR_KEY:
            continue  # names reused by another message, and keys, now distinguished by apiKey
        checked = rules.check_alone(message, Problems())
        plan = builder.build(checked, name)
        for version, each in released.items():
            assert signature_of(plan, version) == signature_of(each.plan, version), (name, version)
            count += name not in today or version not in today[name].valid
    assert count > 110
    for name, message in today.items():
        assert merged[name].supported in (None, message.valid)


def test_conflicting_field_type_is_reported(older: Baseline, today: dict[str, Message]) -> None:
    message = today["ListOffsetsRequest"]
    kind = replace(message.fields[0].type, name="string")
    wrong = replace(message.fields[0], type=kind, entity_type="unknown")
    problems = Problems()
    with_older([replace(message, fields=(wrong, *message.fields[1:]))], older, problems)
    (problem,) = problems.errors
    assert problem.message == (
        "ListOffsetsRequest of history cannot be combined with this: "
        "ReplicaId is int32 in one release and string in the other"
    )
    assert Path(problem.location.file).name == "ListOffsetsRequest.json"
