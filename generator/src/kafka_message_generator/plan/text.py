"""The plan of a message as compact text, which the native core interprets.

The first line is the format number. Each struct has a line ``:Name field/kind ...`` and a line ``versions operation ...``
per layout. docs/adr/0007 specifies the grammar.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from uuid import UUID

from kafka_message_generator.plan import model
from kafka_message_generator.rules.defaults import Value
from kafka_message_generator.spec.model import INTEGERS

FORMAT = 1  # increases with incompatible changes

LETTERS = {
    **{name: each.code for name, each in INTEGERS.items()},
    "bool": "t",
    "float64": "d",
    "uuid": "u",
    "string": "s",
    "bytes": "y",
    "records": "r",
}

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def text_of(plan: model.MessagePlan) -> str:
    """Return the text of a plan; equal plans have equal texts."""
    return "\n".join([str(FORMAT), *_lines(plan)]) + "\n"


def _lines(plan: model.MessagePlan) -> Iterator[str]:
    numbers: dict[model.LayoutRef, int] = {}
    for struct in plan.structs:
        yield " ".join([f":{struct.name}", *map(_field, struct.fields)])
        for layout in struct.layouts:
            yield _Printer(struct, numbers).layout(layout)
            numbers[layout.ref] = len(numbers)


def _field(field: model.FieldPlan) -> str:
    array = ("{" if field.collection else "[") if field.is_array else ""
    element = f"@{field.type}" if field.is_struct else LETTERS[field.type]
    lazy = "~" if field.is_lazy_default else ""
    return f"{field.name}/{lazy}{array}{element}{'?' if field.nullable else ''}{_default(field.default)}"


def _default(value: Value) -> str:
    if value is None:
        return "=~"
    if isinstance(value, str):
        return f"={_escaped(value)}" if value else ""
    if isinstance(value, UUID):
        return f"={value.hex}" if value.int else ""
    if isinstance(value, float):
        return f"={value!r}" if value or math.copysign(1, value) < 0 else ""
    return f"={int(value)}" if isinstance(value, int) and value else ""


def _escaped(text: str) -> str:
    return "".join(chr(byte) if chr(byte) in _PLAIN else f"%{byte:02X}" for byte in text.encode())


class _Printer:
    def __init__(self, struct: model.StructPlan, numbers: dict[model.LayoutRef, int]) -> None:
        self.fields = {field.name: (place, field) for place, field in enumerate(struct.fields)}
        self.numbers = numbers

    def layout(self, layout: model.Layout) -> str:
        # A section ends the line, even if it begins the struct.
        operations = sorted(layout.operations, key=lambda operation: isinstance(operation, model.OptionalBuffer))
        words = (word for operation in operations for word in self.words(operation))
        return " ".join([model.ranges(layout.versions).replace(" ", ""), *words])

    def words(self, operation: model.Operation) -> Iterable[str]:
        match operation:
            case model.FixedRun(fields):
                return [self.fixed(field.name, field.type) for field in fields]
            case model.Default(name, refuse):
                return [f"-{self.fields[name][0]}{'!' if refuse else ''}"]
            case model.TaggedFields(fields, absent, interleaved):
                return [";;" if interleaved else ";", *map(self.tagged, fields), *(f"^{tag}" for tag in absent)]
            case model.OptionalBuffer(fields):
                return ["&", *map(self.tagged, fields)]
            case model.NoSection():
                return []
            case _:
                return [self.payload(operation)]

    def fixed(self, name: str, kind: str) -> str:
        place, field = self.fields[name]
        return f"{place}{'' if field.type == kind else f':{LETTERS[kind]}'}"

    def tagged(self, tagged: model.Tagged) -> str:
        (word,) = self.words(tagged.payload)
        return f"{tagged.tag}={word}"

    def payload(self, operation: model.Packed | model.String | model.Bytes | model.Array | model.Single) -> str:
        place, field = self.fields[operation.name]
        match operation:
            case model.Packed(_, bits, signed):
                return f"{place}{_packed(bits, signed)}"
            case model.String(_, compact, nullable) | model.Bytes(_, compact, nullable):
                return f"{place}{_flags(compact, nullable)}"
            case model.Single(_, layout, nullable):
                return f"{place}@{self.numbers[layout]}{_flags(False, nullable)}"
            case model.Array(_, element, compact, nullable, empty):
                return f"{place}{self.element(field, element)}{_flags(compact, nullable)}{'e' if empty else ''}"

    def element(self, field: model.FieldPlan, element: str | model.LayoutRef | model.PackedElement) -> str:
        if isinstance(element, model.LayoutRef):
            return f"@{self.numbers[element]}"
        if isinstance(element, model.PackedElement):
            return _packed(element.bits, element.signed)
        return "" if element == field.type else f":{LETTERS[element]}"


def _packed(bits: int, signed: bool) -> str:
    return f"{'z' if signed else 'v'}{bits}"


def _flags(compact: bool, nullable: bool) -> str:
    return ("c" if compact else "") + ("n" if nullable else "")
