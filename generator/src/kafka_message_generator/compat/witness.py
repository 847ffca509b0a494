"""Bytes that one layout writes and another one does not understand: found by writing, reading and writing again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from kafka_message_generator.compat.annotated import Row, rows_of
from kafka_message_generator.compat.samples import samples
from kafka_message_generator.compat.values import first_difference
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.runtime.schema import Schema, SchemaError
from kafka_message_generator.runtime.schema.build import build
from kafka_message_generator.runtime.schema.facts import facts_in

FAILS, READS_DIFFERENTLY, REWRITES_DIFFERENTLY = "fails", "reads differently", "rewrites differently"


@dataclass(frozen=True)
class Witness:
    """What happens to ``data``, which one side wrote, on the other side."""

    data: bytes
    outcome: str
    """One of ``fails``, ``reads differently`` and ``rewrites differently``."""
    detail: str
    written: tuple[Row, ...] = ()
    """The bytes as the side has them that wrote them; none where nobody has asked for that."""
    read: tuple[Row, ...] = ()
    """The same bytes as the other side has them; where it writes them differently, the bytes that it writes."""


@cache
def schemas_of_plan(facts: str) -> dict[int, Schema]:
    """The schema codec of every version, from the facts of a plan."""
    return build(facts_in(facts))


def witness(writer: MessagePlan, reader: MessagePlan, version: int) -> Witness | None:
    """The shortest bytes of a version that the writer writes and the reader does not take as the same, if any are found."""
    write, read = schemas_of_plan(writer.descriptor)[version], schemas_of_plan(reader.descriptor)[version]
    found = [each for data in _written(write) if (each := exchanged(data, write, read)) is not None]
    shortest = min(found, key=lambda each: (len(each.data), each.data), default=None)
    return shortest and _annotated(shortest, write, read)


def _annotated(found: Witness, writer: Schema, reader: Schema) -> Witness:
    again = bytearray(found.data)
    if found.outcome == REWRITES_DIFFERENTLY:
        again.clear()
        reader.write(again, reader.read(found.data)[0])
    return replace(found, written=rows_of(writer, found.data), read=rows_of(reader, bytes(again)))


def exchanged(data: bytes, writer: Schema, reader: Schema) -> Witness | None:
    """What a reader makes of bytes that the writer wrote; None where it reads the same and writes them again."""
    meant, _ = writer.read(data)
    try:
        got, end = reader.read(data)
        if end != len(data):
            left = "1 byte is" if len(data) == end + 1 else f"{len(data) - end} bytes are"
            return Witness(data, FAILS, f"the message ends at offset {end}, {left} left")
        if (what := first_difference(writer, meant, reader, got)) is not None:
            return Witness(data, READS_DIFFERENTLY, what)
        again = bytearray()
        reader.write(again, got)
    except SchemaError as error:
        return Witness(data, FAILS, str(error))
    return None if again == data else Witness(data, REWRITES_DIFFERENTLY, f"it is written as {again.hex(' ')}")


def _written(schema: Schema) -> Iterator[bytes]:
    for value in samples(schema):
        out = bytearray()
        schema.write(out, value)
        yield bytes(out)
