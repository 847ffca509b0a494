"""Wire layouts of a struct as JSON: the fields in wire order, for each group of versions with one layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from kafka_message_generator.plan import model

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"
Object: TypeAlias = dict[str, Json]


def layouts(struct: model.StructPlan, names: Mapping[str, str], kinds: Mapping[str, str]) -> list[Json]:
    """Return the layouts of a struct, lowest versions first.

    ``names`` maps Python names of fields to JSON keys, ``kinds`` to the types in the definition.
    """
    writer = _Writer(names, kinds)
    found: list[tuple[list[int], Object]] = []
    for layout in sorted(struct.layouts, key=lambda each: each.versions):
        fields = writer.layout(layout)
        # Merge layouts that differ in inner structs only.
        same = next((versions for versions, other in found if other == fields), None)
        if same is None:
            found.append((list(layout.versions), fields))
        else:
            same += layout.versions
    return [{"versions": sorted(versions), **fields} for versions, fields in found]


class _Writer:
    def __init__(self, names: Mapping[str, str], kinds: Mapping[str, str]) -> None:
        self.names = names
        self.kinds = kinds

    def layout(self, layout: model.Layout) -> Object:
        found: Object = {}
        fields: list[Json] = []
        for operation in layout.operations:
            if isinstance(operation, model.TaggedFields):
                found["tags"] = self.tagged(operation.fields)
                if operation.absent:
                    found["absentTags"] = list(operation.absent)
                if operation.interleaved:
                    found["tagFormat"] = "interleaved"
            elif isinstance(operation, model.OptionalBuffer):
                found["optional"] = self.tagged(operation.fields)
            else:
                fields += self.fields(operation)
        found["fields"] = fields
        return found

    def tagged(self, fields: tuple[model.Tagged, ...]) -> list[Json]:
        return [{"tag": each.tag, **field} for each in fields for field in self.fields(each.payload)]

    def fields(self, operation: model.Payload | model.Operation) -> Iterator[Object]:
        if isinstance(operation, model.FixedRun):
            for each in operation.fields:
                yield {"name": self.names[each.name], "type": each.type}
        elif isinstance(operation, model.Packed | model.String | model.Bytes | model.Array | model.Single):
            yield {"name": self.names[operation.name], **self.type_of(operation)}

    def type_of(self, operation: model.Packed | model.String | model.Bytes | model.Array | model.Single) -> Object:
        if isinstance(operation, model.Packed):
            return {"type": _varint(operation)}
        if isinstance(operation, model.Single):
            return {"type": "struct", "struct": operation.layout.struct, **_marks(nullable=operation.nullable)}
        marks = _marks(compact=operation.compact, nullable=operation.nullable)
        if isinstance(operation, model.Array):
            return {"type": "array", **marks, "element": self.element(operation)}
        return {"type": self.kinds[operation.name], **marks}

    def element(self, array: model.Array) -> Object:
        if isinstance(array.element, model.LayoutRef):
            return {"type": "struct", "struct": array.element.struct}
        if isinstance(array.element, model.PackedElement):
            return {"type": _varint(array.element)}
        is_sized = array.element in ("string", "bytes", "records")
        return {"type": array.element, **_marks(compact=is_sized and array.compact)}


def _marks(**marks: bool) -> dict[str, bool]:
    return {name: True for name, holds in marks.items() if holds}


def _varint(operation: model.Packed | model.PackedElement) -> str:
    return f"{'varint' if operation.signed else 'uvarint'}{operation.bits}"
