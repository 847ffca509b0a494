"""Conversion of Arrow rows of any type to Python objects."""

from __future__ import annotations

from bisect import bisect_right

import pyarrow as pa

from ..schema.descriptors import FieldDescriptor, MessageDescriptor
from ._shape import UNKNOWN, UNKNOWN_TYPE
from ._validation import BYTES_OF_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def as_python(array: pa.Array, descriptor: MessageDescriptor, fields: tuple[FieldDescriptor, ...]) -> list[Any]:
    """Return structs as dicts; invalid UTF-8 becomes surrogates (PEP 383)."""
    return _each(array, lambda structs: _dicts(structs, descriptor, fields))


def _dicts(array: pa.StructArray, descriptor: MessageDescriptor, fields: tuple[FieldDescriptor, ...]) -> list[Any]:
    if pa.types.is_null(array.type):
        return [None] * len(array)
    names = [field.name for field in array.type]
    columns = {
        field.name: _values(array.field(names.index(field.name)), descriptor, field)
        for field in fields
        if field.name in names
    }
    if UNKNOWN in names:
        columns[UNKNOWN] = array.field(names.index(UNKNOWN)).cast(UNKNOWN_TYPE).to_pylist()
    return [
        {name: column[place] for name, column in columns.items()} if valid else None
        for place, valid in enumerate(array.is_valid().to_pylist())
    ]


def _values(array: pa.Array, descriptor: MessageDescriptor, field: FieldDescriptor) -> list[Any]:
    if field.is_array:
        return _each(array, lambda lists: _lists(lists, descriptor, field))
    return _elements(array, descriptor, field)


def _lists(array: pa.Array, descriptor: MessageDescriptor, field: FieldDescriptor) -> list[Any]:
    if pa.types.is_null(array.type):
        return [None] * len(array)
    return [None if each.values is None else _elements(each.values, descriptor, field) for each in array]


def _elements(array: pa.Array, descriptor: MessageDescriptor, field: FieldDescriptor) -> list[Any]:
    if field.is_struct:
        return as_python(array, descriptor, descriptor.structs[field.type])
    return _each(array, _scalars)


def _scalars(array: pa.Array) -> list[Any]:
    if array.type not in BYTES_OF_TEXT:
        values: list[Any] = array.to_pylist()
        return values
    texts = array.view(BYTES_OF_TEXT[array.type]).to_pylist()
    return [None if text is None else text.decode("utf-8", "surrogateescape") for text in texts]


def _each(array: pa.Array, values_of: Callable[[Any], list[Any]]) -> list[Any]:
    if isinstance(array, pa.DictionaryArray):
        values = _each(array.dictionary, values_of)
        return [None if place is None else values[place] for place in array.indices.to_pylist()]
    if isinstance(array, pa.RunEndEncodedArray):
        values = _each(array.values, values_of)
        return [values[place] for place in runs_of(array)]
    return values_of(array)


def runs_of(array: pa.RunEndEncodedArray) -> list[int]:
    ends = array.run_ends.to_pylist()
    return [bisect_right(ends, place) for place in range(array.offset, array.offset + len(array))]
