"""Witnesses: encoded messages that prove two definitions of a version incompatible.

The writer's definition encodes the message; the reader's rejects it, misreads it, or writes it as other bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from kafka_message_generator.compat.annotated import AnnotatedRow, rows_of
from kafka_message_generator.compat.samples import samples
from kafka_message_generator.compat.values import first_difference
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.runtime.schema import Schema, SchemaError
from kafka_message_generator.runtime.schema.build import build
from kafka_message_generator.runtime.schema.descriptors import parse_descriptor

FAILS, READS_DIFFERENTLY, REWRITES_DIFFERENTLY = "fails", "reads differently", "rewrites differently"


@dataclass(frozen=True)
class Witness:
    """An encoded message, and what the reader's definition makes of it."""

    data: bytes
    outcome: str
    detail: str
    written: tuple[AnnotatedRow, ...] = ()
    """Explanation of the bytes by the writer's definition; may be empty."""
    read: tuple[AnnotatedRow, ...] = ()
    """Explanation by the reader's definition, of the bytes or of the reader's own encoding if only that differs."""


@cache
def schemas_of_plan(descriptor: str) -> dict[int, Schema]:
    return build(parse_descriptor(descriptor))


def witness(writer: MessagePlan, reader: MessagePlan, version: int, read_as: int | None = None) -> Witness | None:
    """Return the shortest encoded sample that the reader rejects, misreads or writes as other bytes, or None.

    ``read_as`` is the reader's version, if it differs from the version of the bytes.
    """
    write = schemas_of_plan(writer.descriptor)[version]
    read = schemas_of_plan(reader.descriptor)[version if read_as is None else read_as]
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
    """Return a witness for these bytes, or None if the reader agrees with the writer."""
    meant, _ = writer.read(data)
    try:
        got, end = reader.read(data)
        if end != len(data):
            left = "1 byte" if len(data) == end + 1 else f"{len(data) - end} bytes"
            return Witness(data, FAILS, f"{left} left after the message, at offset {end}")
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
