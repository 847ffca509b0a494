"""Expected output of the column codec, made from decoded objects."""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

from kafka_messages import OffsetCommitValue
from kafka_messages.schema.descriptors import FieldDescriptor, MessageDescriptor

UNKNOWN = "_unknown_tagged_fields"
COMMITS: list[dict[str, Any]] = [
    {"offset": at, "leader_epoch": -1, "metadata": f"host-{at}", "commit_timestamp": 5} for at in range(4)
]
COMMITTED = [OffsetCommitValue(**row).write(3) for row in COMMITS]


def expected(
    descriptor: MessageDescriptor,
    fields: tuple[FieldDescriptor, ...],
    obj: object,
    version: int,
    *,
    unknown: bool = False,
) -> dict[str, object]:
    """Return an object as columns have it: null for fields of other versions; ``unknown`` adds the map of unknown tags."""
    row = {
        f.name: _value(descriptor, f, getattr(obj, f.name), version, unknown) if version in f.versions else None
        for f in fields
    }
    if unknown:
        row[UNKNOWN] = [(each.tag, each.data) for each in getattr(obj, "unknown_tagged_fields", ())]
    return row


def with_maps(row: object) -> object:
    """Return a row in which structs without unknown tagged fields have an empty map instead of null."""
    if isinstance(row, dict):
        return {name: (each or []) if name == UNKNOWN else with_maps(each) for name, each in row.items()}
    return [with_maps(each) for each in row] if isinstance(row, list) else row


def _value(descriptor: MessageDescriptor, field: FieldDescriptor, found: object, version: int, unknown: bool) -> object:
    if found is None:
        return None
    if field.is_array:
        return [_element(descriptor, field, each, version, unknown) for each in found]  # type: ignore[attr-defined]
    return _element(descriptor, field, found, version, unknown)


def _element(
    descriptor: MessageDescriptor, field: FieldDescriptor, found: object, version: int, unknown: bool
) -> object:
    if field.is_struct:
        return expected(descriptor, descriptor.structs[field.type], found, version, unknown=unknown)
    return base64.urlsafe_b64encode(found.bytes).decode()[:22] if isinstance(found, UUID) else found
