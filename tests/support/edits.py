"""Random edits of definitions and random values of schemas, to test verdicts on changes."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from uuid import UUID

from kafka_message_generator import rules
from kafka_message_generator.plan import builder
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.runtime.schema import Schema, Struct, types
from kafka_message_generator.runtime.schema.arrays import ArrayOf
from kafka_message_generator.runtime.schema.encodings import TwosComplement
from kafka_message_generator.runtime.schema.schema import NullableStruct
from kafka_message_generator.runtime.schema.types import Blob, Fixed, Text, Type, VarInt
from kafka_message_generator.spec import reader, source

Json = dict[str, object]
TYPES = ("bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "uuid", "string", "bytes", "records")


def plan_of(definition: Json) -> MessagePlan | None:
    """Return the plan of a definition, or None if it is invalid."""
    problems = source.Problems()
    node = source.decode("edited.json", json.dumps(definition).encode(), problems)
    message = reader.read_message(node, problems) if node is not None else None
    if message is None or message.is_removed:
        return None
    checked = rules.check_alone(message, problems)
    if problems.errors:
        return None
    return builder.build(checked, "edited.json")


def definition_of(path: Path) -> Json:
    problems = source.Problems()
    node = source.load(path, path.as_posix(), problems)
    assert node is not None
    plain = node.plain()
    assert isinstance(plain, dict)
    return plain


def edited(definition: Json, rng: random.Random) -> Json:
    """Return a copy with one random change, which is often invalid."""
    copied = copy.deepcopy(definition)
    lists = _lists(copied)
    if lists:
        rng.choice(_EDITS)(copied, rng.choice(lists), rng)
    return copied


def _lists(node: Json) -> list[list[Json]]:
    found: list[list[Json]] = []
    for key in ("fields", "commonStructs"):
        children = node.get(key)
        if isinstance(children, list) and children:
            if key == "fields":
                found.append(children)
            for child in children:
                found += _lists(child)
    return found


def _swap(_: Json, fields: list[Json], rng: random.Random) -> None:
    if len(fields) > 1:
        index = rng.randrange(len(fields) - 1)
        fields[index], fields[index + 1] = fields[index + 1], fields[index]


def _remove(_: Json, fields: list[Json], rng: random.Random) -> None:
    if len(fields) > 1:
        del fields[rng.randrange(len(fields))]


def _add(definition: Json, fields: list[Json], rng: random.Random) -> None:
    new: Json = {
        "name": "Added",
        "type": rng.choice(TYPES),
        "versions": rng.choice(("0+", "1+", str(_top(definition)))),
    }
    if rng.random() < 0.4:
        new |= {"taggedVersions": new["versions"], "tag": rng.randrange(6)}
    fields.insert(rng.randrange(len(fields) + 1), new)


def _top(definition: Json) -> int:
    return int(str(definition["validVersions"]).rpartition("-")[2])


def _type(_: Json, fields: list[Json], rng: random.Random) -> None:
    field = rng.choice(fields)
    kind = str(field["type"])
    if kind.removeprefix("[]") in TYPES:
        field["type"] = ("[]" if rng.random() < 0.15 else kind[: 2 * kind.startswith("[]")]) + rng.choice(TYPES)


def _nullable(_: Json, fields: list[Json], rng: random.Random) -> None:
    rng.choice(fields)["nullableVersions"] = rng.choice(("0+", "1+", "2+", "none"))


def _versions(_: Json, fields: list[Json], rng: random.Random) -> None:
    rng.choice(fields)["versions"] = rng.choice(("0+", "1+", "2+", "3+", "0-1", "0-2"))


def _rename(_: Json, fields: list[Json], rng: random.Random) -> None:
    rng.choice(fields)["name"] = "Renamed"


def _exchange_names(_: Json, fields: list[Json], rng: random.Random) -> None:
    one, two = rng.choice(fields), rng.choice(fields)
    one["name"], two["name"] = two["name"], one["name"]


def _shift_names(_: Json, fields: list[Json], rng: random.Random) -> None:
    first = rng.randrange(len(fields))
    names = ["Renamed", *(field["name"] for field in fields[first:])]
    for field, name in zip(fields[first:], names, strict=False):
        field["name"] = name


def _default(_: Json, fields: list[Json], rng: random.Random) -> None:
    rng.choice(fields)["default"] = rng.choice(("1", "-1", "true", "null", "x", "0"))


def _flexible(definition: Json, _: list[Json], rng: random.Random) -> None:
    definition["flexibleVersions"] = rng.choice(("none", "0+", "1+", "2+", "5+"))


def _tagged(_: Json, fields: list[Json], rng: random.Random) -> None:
    field = rng.choice(fields)
    if "tag" in field and rng.random() < 0.5:
        del field["tag"], field["taggedVersions"]
    else:
        field |= {"tag": rng.randrange(4), "taggedVersions": str(field["versions"])}


def _tagged_versions(_: Json, fields: list[Json], rng: random.Random) -> None:
    tagged = [field for field in fields if "tag" in field]
    if tagged:
        versions = rng.choice(("0+", "1+", "2+", "9+", "12+", "16+"))
        rng.choice(tagged).update(versions=versions, taggedVersions=versions)


def _box(_: Json, fields: list[Json], rng: random.Random) -> None:
    field = rng.choice(fields)
    kind = str(field["type"])
    if kind.startswith("[]") and kind[2:] in TYPES:
        inner = {"name": "Only", "type": kind[2:], "versions": str(field["versions"])}
        field |= {"type": "[]Boxed", "fields": [inner]}


def _encode(_: Json, fields: list[Json], rng: random.Random) -> None:
    field = rng.choice(fields)
    if field["type"] in ("int16", "int32", "int64"):
        field["encoding"] = rng.choice(("packed32", "upacked32", "packed64", "fixed16", "fixed32", "packed16"))


def _form(definition: Json, _: list[Json], rng: random.Random) -> None:
    definition["taggedFieldFormat"] = "interleaved"


_EDITS = (
    *(_swap, _remove, _add, _add, _type, _type, _nullable, _nullable, _versions),
    *(_rename, _exchange_names, _shift_names),
    *(_default, _flexible, _tagged, _tagged, _tagged_versions, _tagged_versions, _box, _encode, _form),
)


def value_of(kind: Type, rng: random.Random) -> object:
    """Return a random value of a schema's type."""
    if isinstance(kind, Schema):
        return _struct(kind, rng)
    if kind.nullable and rng.random() < 0.25:
        return None
    if isinstance(kind, NullableStruct):
        return _struct(kind.schema, rng)
    if isinstance(kind, ArrayOf):
        return [value_of(kind.element, rng) for _ in range(rng.choice((0, 1, 1, 2)))]
    if isinstance(kind, Fixed | VarInt | TwosComplement):
        some = [0, 1, 2, -1, 77, kind.highest, kind.lowest, rng.randint(kind.lowest, kind.highest)]
        return rng.choice([number for number in some if kind.lowest <= number <= kind.highest])
    if isinstance(kind, Text):
        return rng.choice(("", "a", "topic", "é" * 3))
    if isinstance(kind, Blob):
        return rng.randbytes(rng.randrange(4))
    if kind is types.BOOLEAN:
        return rng.random() < 0.5
    return UUID(int=rng.getrandbits(128)) if kind is types.UUID else rng.choice((0.0, 1.5, -2.0))


def _struct(schema: Schema, rng: random.Random) -> Struct:
    values = {field.name: value_of(field.type, rng) for field in schema.fields}
    for section in (schema.optional, schema.tags):
        for field in section.fields.values() if section is not None else ():
            values[field.name] = value_of(field.type, rng) if rng.random() < 0.5 else field.default
    return Struct(schema, values)
