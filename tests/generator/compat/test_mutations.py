"""Verdicts on random edits of random definitions, against exchanged messages."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_message_generator.compat.annotated import parting
from kafka_message_generator.compat.compare import difference
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.compat.witness import (
    REWRITES_DIFFERENTLY,
    Witness,
    exchanged,
    schemas_of_plan,
    witness,
)
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.runtime.schema import Schema, SchemaError
from tests.support.building import build_message
from tests.support.edits import Json, definition_of, edited, plan_of, value_of
from tests.support.pages import ROOT

EDITS = 500
MESSAGES = 12
"""Messages per version and direction."""
PACKAGES = 20
"""Number of edits for which both packages are generated."""


@dataclass(frozen=True)
class DefinitionSet:
    definition: Json
    plan: MessagePlan


def pairs(seed: int) -> Iterator[tuple[DefinitionSet, DefinitionSet]]:
    """Yield definitions and edited copies that the generator accepts."""
    rng = random.Random(seed)
    folders = (
        ROOT / "specs" / "kafka" / "clients",
        ROOT / "specs" / "kafka" / "metadata",
        ROOT / "specs" / "proposals",
    )
    paths = [path for folder in folders for path in sorted(folder.glob("*.json"))]
    while True:
        definition = definition_of(rng.choice(paths))
        changed = edited(definition, rng)
        before, after = plan_of(definition), plan_of(changed)
        if before is not None and after is not None:
            yield DefinitionSet(definition, before), DefinitionSet(changed, after)


def exchanges(one: DefinitionSet, other: DefinitionSet) -> Iterator[tuple[int, DefinitionSet, DefinitionSet]]:
    """Yield version, writer and reader, in both directions, for the newest common versions."""
    for version in sorted(set(one.plan.valid) & set(other.plan.valid))[-3:]:
        yield version, one, other
        yield version, other, one


def written(schema: Schema, rng: random.Random) -> bytes | None:
    out = bytearray()
    try:
        schema.write(out, value_of(schema, rng))
    except SchemaError:
        return None
    return bytes(out)


def is_annotated(found: Witness) -> bool:
    """Return whether the rows of both sides cover their bytes and differ in one place."""
    again = b"".join(row.data for row in found.read)
    tiled = b"".join(row.data for row in found.written) == found.data
    tiled = tiled and (again == found.data) == (found.outcome != REWRITES_DIFFERENTLY)
    return tiled and parting(found.written, found.read) < max(len(found.written), len(found.read))


@pytest.mark.nightly
def test_verdicts_on_random_edits_agree_with_the_schema_codec() -> None:
    rng, counts = random.Random(7), Counter[str]()
    wrong: list[tuple[int, str, int, str, object]] = []
    for number, pair in zip(range(EDITS), pairs(11), strict=False):
        for version, writer, reader in exchanges(*pair):
            found = difference(signature_of(writer.plan, version), signature_of(reader.plan, version))
            write, read = (schemas_of_plan(side.plan.descriptor)[version] for side in (writer, reader))
            data = [each for _ in range(MESSAGES) if (each := written(write, rng)) is not None]
            shown = [seen for one in data if (seen := exchanged(one, write, read)) is not None]
            case = (number, writer.plan.name, version)
            if found is None and shown:
                wrong.append((*case, "proved, but", shown[0]))
            elif found is not None:
                bytes_for_it = witness(writer.plan, reader.plan, version)
                if bytes_for_it is None:
                    wrong.append((*case, "no witness", found))
                elif not is_annotated(bytes_for_it):
                    wrong.append((*case, "not annotated", bytes_for_it))
            counts["breaks" if found else "proved"] += 1
    assert wrong == []
    assert min(counts["breaks"], counts["proved"]) > EDITS / 4, counts


def alone(definition: Json) -> Json:
    """Return the definition as type ``data``, which needs no partner."""
    of_apis = ("apiKey", "listeners", "latestVersionUnstable", "headerVersions")
    return {key: value for key, value in definition.items() if key not in of_apis} | {"type": "data"}


def values(message: object) -> object:
    names = getattr(message, "_names", None)
    if names is not None:
        return [(name, values(getattr(message, name))) for name in names]
    return [values(each) for each in message] if isinstance(message, list) else message


def broken(data: bytes, version: int, writer: Any, reader: Any) -> bool:
    """Return whether the reader's class fails on the writer's bytes or decodes another value."""
    meant = writer.read(data, version)
    assert meant.write(version) == data
    try:
        got = reader.read(data, version)
        return bool(got.write(version) != data or values(got) != values(meant))
    except ValueError:  # base class of the errors of every package
        return True


@pytest.mark.nightly
def test_verdicts_on_random_edits_agree_with_generated_packages(tmp_path: Path) -> None:
    rng, counts = random.Random(5), Counter[str]()
    for number, pair in zip(range(PACKAGES), pairs(3), strict=False):
        classes = {id(side): build_message(tmp_path, alone(side.definition)) for side in pair}
        for version, writer, reader in exchanges(*pair):
            found = difference(signature_of(writer.plan, version), signature_of(reader.plan, version))
            classes_of_pair = classes[id(writer)], classes[id(reader)]
            case = (number, writer.plan.name, version, found)
            if found is None:
                schema = schemas_of_plan(writer.plan.descriptor)[version]
                data = [each for _ in range(MESSAGES) if (each := written(schema, rng)) is not None]
                assert all(classes_of_pair[1].read(each, version).write(version) == each for each in data), case
            else:
                shown = witness(writer.plan, reader.plan, version)
                assert shown is not None
                assert broken(shown.data, version, *classes_of_pair), case
            counts["breaks" if found else "proved"] += 1
    assert min(counts["breaks"], counts["proved"]) > PACKAGES / 4, counts
