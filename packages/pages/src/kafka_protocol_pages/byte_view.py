"""The layout of a version as nested boxes, in wire order, with sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_message_generator.plan.model import (
    Array,
    Bytes,
    FixedRun,
    LayoutRef,
    MessagePlan,
    OptionalBuffer,
    Packed,
    Payload,
    Single,
    String,
    TaggedFields,
)
from kafka_message_generator.spec.model import FIXED_WIDTHS
from kafka_protocol_pages.fields import Wires, fixed_word, word

_VARINT_BYTES = {16: 3, 32: 5, 64: 10}
"""Maximum size of a varint in bytes, by the number of bits of its value."""


@dataclass(frozen=True)
class Box:
    name: str
    type: str
    size: str
    """Description of the size, such as ``4 bytes``."""
    css: str
    """``fixed`` or ``sized`` (variable length); ``group`` for structs; ``section`` for tagged or optional fields."""
    inside: tuple[Box, ...] = ()
    tag: int | None = None
    path: str = field(default="", compare=False)


def boxes_of(plan: MessagePlan, version: int) -> tuple[Box, ...]:
    return tuple(_Boxes(plan).struct(plan.name, version, ""))


class _Boxes:
    def __init__(self, plan: MessagePlan) -> None:
        self._wires = Wires(plan)
        self._structs = {struct.name: struct for struct in plan.structs}

    def struct(self, name: str, version: int, above: str) -> Iterator[Box]:
        for operation in self._wires.layout(name, version).operations:
            if isinstance(operation, TaggedFields | OptionalBuffer):
                yield self.section(name, operation, above)
            elif isinstance(operation, FixedRun | Packed | String | Bytes | Array | Single):
                yield from self.payload(name, operation, above, is_tagged=False)

    def section(self, struct: str, section: TaggedFields | OptionalBuffer, above: str) -> Box:
        is_tagged = isinstance(section, TaggedFields)
        inside = tuple(
            Box(box.name, box.type, box.size, box.css, box.inside, tagged.tag, box.path)
            for tagged in section.fields
            for box in self.payload(struct, tagged.payload, above, is_tagged)
        )
        name, size = ("tagged fields", "count, then tag and size before each field present")
        if not is_tagged:
            name, size = ("optional fields", "length and tag before each field present; a length of 0 ends the fields")
        elif isinstance(section, TaggedFields) and section.interleaved:
            size = "count, then tag and size in one number before each field present"
        if not inside:
            size = "count, 0 if none" if is_tagged else size
        return Box(name, "", size, "section" if inside else "section none", inside)

    def payload(self, struct: str, payload: Payload, above: str, is_tagged: bool) -> Iterator[Box]:
        prefix = f"{above}." if above else ""
        if isinstance(payload, FixedRun):
            for each in payload.fields:
                size = _bytes(FIXED_WIDTHS[each.type])
                yield Box(each.name, fixed_word(each.type), size, "fixed", path=f"{prefix}{each.name}")
            return
        path = f"{prefix}{payload.name}"
        kind = word(payload, self._structs[struct].field(payload.name).type == "records")
        if isinstance(payload, Packed):
            yield Box(payload.name, kind, f"1 to {_VARINT_BYTES[payload.bits]} bytes", "sized", path=path)
        elif isinstance(payload, String | Bytes):
            size = _length(payload.compact, payload.nullable, isinstance(payload, String))
            yield Box(payload.name, kind, size, "sized", path=path)
        elif isinstance(payload, Array):
            yield self.array(payload, kind, path)
        else:
            before = ("a varint, 1 or 0 for null" if is_tagged else "1 byte, -1 for null") if payload.nullable else ""
            inside = tuple(self.struct(payload.layout.struct, payload.layout.version, path))
            yield Box(payload.name, payload.layout.struct, before, "group", inside, path=path)

    def array(self, array: Array, kind: str, path: str) -> Box:
        null = ", 0 for null" if array.compact and array.nullable else ", -1 for null" if array.nullable else ""
        count = f"count+1 as varint{null}" if array.compact else f"int32 count{null}"
        if not isinstance(array.element, LayoutRef):
            return Box(array.name, kind, count, "sized", path=path)
        inside = tuple(self.struct(array.element.struct, array.element.version, path))
        return Box(array.name, f"[] {array.element.struct}", f"{count}; each element", "group", inside, path=path)


def _length(compact: bool, nullable: bool, is_text: bool) -> str:
    if compact:
        return f"length+1 as varint{', 0 for null' if nullable else ''}"
    return f"{'int16' if is_text else 'int32'} length{', -1 for null' if nullable else ''}"


def _bytes(count: int) -> str:
    return f"{count} byte{'s' if count > 1 else ''}"
