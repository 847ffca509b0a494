"""Fields of a message across its versions."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from kafka_messages.schema import FieldDescriptor, MessageDescriptor

    from ..package import Package


class LayoutRow(NamedTuple):
    path: str
    descriptor: FieldDescriptor
    # Wire type by version.
    types: dict[int, str]
    message: MessageDescriptor
    # Entity types, such as `topicName`.
    entities: tuple[str, ...]

    @property
    def type(self) -> str:
        return f"[]{self.descriptor.type}" if self.descriptor.is_array else self.descriptor.type

    @property
    def default(self) -> str:
        default = self.descriptor.raw_default
        return (
            ""
            if default is ...
            else "null" if default is None else str(default).lower() if default in (True, False) else str(default)
        )

    def mark(self, version: int) -> str:
        """Return ``.`` if absent in a version, ``+`` present, ``?`` nullable, ``t`` tagged, ``T`` tagged and nullable."""
        if version not in self.types:
            return "."
        is_tagged = version in self.descriptor.tagged or self.descriptor.optional
        return ("tT" if is_tagged else "+?")[version in self.descriptor.nullable]

    def runs(self) -> list[tuple[int, int, str]]:
        """Return first version, last version and wire type of each range of versions with the same wire type."""
        found: list[tuple[int, int, str]] = []
        for version, kind in self.types.items():
            if found and found[-1][2] == kind and found[-1][1] == version - 1:
                found[-1] = (found[-1][0], version, kind)
            else:
                found.append((version, version, kind))
        return found


def rows_of(package: Package, name: str) -> list[LayoutRow]:
    """Return all fields of a message; nested fields follow the field that contains them."""
    schema, message = package.module("schema"), package.message(name)
    descriptor = schema.descriptor_of(message)
    entities = schema.entity_types(message)
    wires = {version: dict(_wire(package, each, "")) for version, each in schema.schemas_of(message).items()}
    return list(_rows(descriptor, descriptor.name, "", wires, entities))


def _rows(
    descriptor: MessageDescriptor,
    struct: str,
    above: str,
    wires: dict[int, dict[str, str]],
    entities: dict[tuple[str, str], tuple[str, ...]],
) -> Iterator[LayoutRow]:
    for field in descriptor.fields if struct == descriptor.name else descriptor.structs[struct]:
        path = f"{above}.{field.name}" if above else field.name
        types = {version: wire[path] for version, wire in wires.items() if path in wire}
        yield LayoutRow(path, field, types, descriptor, entities.get((struct, field.name), ()))
        if field.is_struct:
            yield from _rows(descriptor, field.type, path, wires, entities)


def _wire(package: Package, kind: Any, path: str) -> Iterator[tuple[str, str]]:
    schema, type_name = package.module("schema"), package.module("schema.spans").type_name
    while isinstance(kind, schema.ArrayOf):
        kind = kind.element
    if isinstance(kind, schema.NullableStruct):
        kind = kind.schema
    if not isinstance(kind, schema.Schema):
        return
    sections = (section.fields.values() for section in (kind.optional, kind.tags) if section is not None)
    for field in (*kind.fields, *(each for section in sections for each in section)):
        inner = f"{path}.{field.name}" if path else field.name
        yield inner, type_name(field.type)
        yield from _wire(package, field.type, inner)
