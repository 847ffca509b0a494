"""Reference implementation of traversals, ``unsupported_fields`` and ``downgraded``.

It asks the definition at every struct and compiles nothing. Results are tuples that start with the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_messages import Message
from kafka_messages.connection._tables import ENTITIES
from kafka_messages.schema import FieldDescriptor, descriptor_of
from kafka_messages.schema.build import SchemaBuilder
from kafka_messages.schema.descriptors import address_of, class_in
from kafka_messages.schema.struct import is_default

NUMBERS = ("brokerId", "producerId")
Step = tuple[str, str, Any, tuple[FieldDescriptor, ...]]
"""Path, class name, struct and fields."""


def structs(message: Message) -> Iterator[Step]:
    """Yield the message and every struct in it, outer ones first."""
    descriptor = descriptor_of(type(message))
    yield from _structs("", descriptor.name, message, descriptor.fields)


def _structs(path: str, name: str, struct: Any, fields: tuple[FieldDescriptor, ...]) -> Iterator[Step]:
    yield path, name, struct, fields
    for field in fields:
        value = getattr(struct, field.name) if field.is_struct else None
        if value is not None:
            for index, each in enumerate(value if field.is_array else [value]):
                place = joined(path, field.name) + (f"[{index}]" if field.is_array else "")
                yield from _structs(place, field.type, each, field.fields)


def joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def errors(message: Message) -> list[tuple[str, int, str | None]]:
    """Return path, code and text of each error code but NONE."""
    return [found for found in error_codes(message) if found[1]]


def error_codes(message: Message, version: int | None = None) -> list[tuple[str, int, str | None]]:
    """Return path, code and text of each error code, optionally only of fields of a version."""
    return [
        (
            joined(path, field.name),
            getattr(struct, field.name),
            getattr(struct, field.name.removesuffix("code") + "message", None),
        )
        for path, _, struct, fields in structs(message)
        for field in fields
        if field.is_error_code and (version is None or has_place(message, path, field, version))
    ]


def has_place(message: Message, path: str, field: FieldDescriptor, version: int) -> bool:
    """Return whether a version has a field and every field on the path to it."""
    fields = descriptor_of(type(message)).fields
    for name in filter(None, path.split(".")):
        above = next(each for each in fields if each.name == name.partition("[")[0])
        if version not in above.versions:
            return False
        fields = above.fields
    return version in field.versions


def endpoints(message: Message) -> list[tuple[str, str, int]]:
    """Return path, host and port of each address."""
    found = []
    for path, _, struct, fields in structs(message):
        names = address_of(fields)
        if names is not None and getattr(struct, names[0]):
            found.append((path, getattr(struct, names[0]), getattr(struct, names[1])))
    return found


def entities(message: Message, *types: str, request: Message | None = None) -> list[tuple[str, str, str | int]]:
    """Return path, type and value of each name."""
    found: list[tuple[str, str, str | int]] = []
    rows = {each[1:3]: each for each in ENTITIES if each[0] == message.NAME}
    for path, name, struct, fields in structs(message):
        for field in fields:
            row, kind = rows.get((name, field.name)), field.entity_type
            if row is not None:
                code = getattr(request if row[4] else struct, row[5], None) if row[5] else None
                kind = row[6].get(code) if row[5] and isinstance(code, int | str) else None if row[5] else row[3]
            value = getattr(struct, field.name)
            if kind is None or (types and kind not in types) or value is None:
                continue
            nothing = ("", "" if row is None else row[7])
            for index, each in enumerate(value if field.is_array else [value]):
                place = joined(path, field.name) + (f"[{index}]" if field.is_array else "")
                if isinstance(each, str) and kind in NUMBERS:
                    if each.isascii() and each.isdigit() and len(each) <= 10:
                        found.append((place, kind, int(each)))
                elif each >= 0 if isinstance(each, int) else each not in nothing:
                    found.append((place, kind, each))
    return found


def unsupported_fields(message: Message, version: int) -> list[tuple[str, bool, str]]:
    """Return each value that a version cannot carry: path, whether ``write`` refuses it, and reason."""
    descriptor = descriptor_of(type(message))
    builder, is_extensible = (
        SchemaBuilder(descriptor),
        version in descriptor.flexible or version in descriptor.with_optional,
    )

    def inside(fields: tuple[FieldDescriptor, ...], struct: Any, place: str) -> Iterator[tuple[str, bool, str]]:
        for field in fields:
            value, path = getattr(struct, field.name), f"{place}{field.name}"
            if version not in field.versions:
                if not is_default(value, builder.default(field)):
                    one = len(field.versions) == 1
                    versions = (
                        f"version {field.versions.lowest} has" if one else f"versions {field.versions.notation} have"
                    )
                    yield path, not field.ignorable, f"only {versions} this field"
            elif value is None and version not in field.nullable:
                yield path, True, f"not nullable in version {version}"
            elif field.is_struct and value is not None:
                for index, each in enumerate(value if field.is_array else [value]):
                    yield from inside(field.fields, each, path + (f"[{index}]." if field.is_array else "."))
        if not is_extensible and struct.unknown_tagged_fields:
            yield f"{place}unknown_tagged_fields", True, f"version {version} has no tagged fields"

    return list(inside(descriptor.fields, message, ""))


def downgraded(message: Message, version: int) -> Any:
    """Return a copy with the values that a version can carry, made by the constructors."""
    descriptor = descriptor_of(type(message))
    is_extensible = version in descriptor.flexible or version in descriptor.with_optional

    def copied(cls: Any, fields: tuple[FieldDescriptor, ...], struct: Any) -> Any:
        kept: dict[str, Any] = {"unknown_tagged_fields": struct.unknown_tagged_fields} if is_extensible else {}
        for field in fields:
            value = getattr(struct, field.name)
            if version not in field.versions or (value is None and version not in field.nullable):
                continue
            if value is not None and field.is_struct:
                inner: Any = class_in(type(message), field.type)
                made = [copied(inner, field.fields, each) for each in (value if field.is_array else [value])]
                value = made if field.is_array else made[0]
            kept[field.name] = list(value) if value is not None and field.is_array else value
        return cls(**kept)

    return copied(type(message), descriptor.fields, message)
