"""Verdicts on random edits of random definitions, against what happens when messages are exchanged."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from kafka_message_generator.layouts.atoms import layout_of
from kafka_message_generator.layouts.compare import difference
from kafka_message_generator.layouts.witness import exchanged, schemas_of_plan, witness
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.runtime.schema import Schema, SchemaError
from tests.support.edits import definition_of, edited, plan_of, value_of
from tests.support.pages import ROOT

EDITS = 500
MESSAGES = 12
"""Exchanged for each version and direction."""
Pair = tuple[MessagePlan, MessagePlan]


def pairs(seed: int) -> Iterator[Pair]:
    """Definitions and edited ones, both of which the generator takes."""
    rng = random.Random(seed)
    folders = (
        ROOT / "specs" / "kafka" / "clients",
        ROOT / "specs" / "kafka" / "metadata",
        ROOT / "specs" / "proposals",
    )
    paths = [path for folder in folders for path in sorted(folder.glob("*.json"))]
    while True:
        definition = definition_of(rng.choice(paths))
        before, after = plan_of(definition), plan_of(edited(definition, rng))
        if before is not None and after is not None:
            yield before, after


def written(schema: Schema, rng: random.Random) -> bytes | None:
    out = bytearray()
    try:
        schema.write(out, value_of(schema, rng))
    except SchemaError:
        return None
    return bytes(out)


def test_verdicts_are_what_exchanging_messages_shows() -> None:
    """Proved is a strong word: nothing that was proved may differ, and nothing is said to break without bytes for it."""
    rng, counts, wrong = random.Random(7), Counter[str](), []
    for number, (before, after) in zip(range(EDITS), pairs(11), strict=False):
        for version in sorted(set(before.valid) & set(after.valid))[-3:]:
            for writer, reader in ((before, after), (after, before)):
                found = difference(layout_of(writer, version), layout_of(reader, version))
                write, read = (schemas_of_plan(plan.facts)[version] for plan in (writer, reader))
                data = [each for _ in range(MESSAGES) if (each := written(write, rng)) is not None]
                shown = [each for one in data if (each := exchanged(one, write, read)) is not None]
                if found is None and shown:
                    wrong.append((number, writer.name, version, "proved, but", shown[0]))
                elif found is not None and witness(writer, reader, version) is None:
                    wrong.append((number, writer.name, version, "no witness", found))
                counts["breaks" if found else "proved"] += 1
    assert wrong == []
    assert min(counts["breaks"], counts["proved"]) > EDITS / 4, counts
