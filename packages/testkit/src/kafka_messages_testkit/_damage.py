"""Damage to responses: frame length, record batches, and their checksums."""

from __future__ import annotations

from typing import Any

from kafka_messages import Response
from kafka_messages.schema import descriptor_of

from ._actions import Corrupt
from ._partial import NO_ELEMENT, Element, IsSelected, element_of

_CHECKSUM = slice(17, 21)  # of a batch of format 2 (KIP-98)
_HEADER = 61


def damaged_length(frame: bytes, offset: int | None) -> bytes:
    """Return the frame with a changed byte of its length, by default the third, which adds or removes 256 bytes."""
    at = 2 if offset is None else offset
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]


def damage_records(response: Response, action: Corrupt, is_selected: IsSelected) -> bool:
    """Change a byte of the first batch of each selected partition; return whether there was one."""
    return _damage(response, descriptor_of(type(response)).fields, action, is_selected, NO_ELEMENT)


def _damage(struct: Any, fields: Any, action: Corrupt, is_selected: IsSelected, around: Element) -> bool:
    here, is_damaged = element_of(struct, fields, around), False
    for field in fields:
        value = getattr(struct, field.name)
        if field.is_struct and value is not None:
            for each in value if field.is_array else (value,):
                is_damaged |= _damage(each, field.fields, action, is_selected, here)
        elif field.type == "records" and value and is_selected(*here):
            setattr(struct, field.name, _damaged(bytes(value), action))
            is_damaged = True
    return is_damaged


def _damaged(records: bytes, action: Corrupt) -> bytes:
    size = min(12 + int.from_bytes(records[8:12], "big"), len(records))
    places = range(size)[_CHECKSUM] if action.part == "checksum" else range(min(_HEADER, size - 1), size)
    offset = len(places) // 2 if action.offset is None else action.offset
    if offset >= len(places):
        raise ValueError(f"the records of the batch have {len(places)} bytes; there is no byte {offset} to corrupt")
    at = places[offset]
    return records[:at] + bytes([records[at] ^ 1]) + records[at + 1 :]
