"""Rows of columns as Python's objects, texts that are no UTF-8 among them."""

from __future__ import annotations

import pyarrow as pa

from ._sound import BYTES_OF_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_python(array: pa.Array) -> list[Any]:
    """The values of an array, structs as dicts. In texts a byte that is no UTF-8 is a surrogate (PEP 383)."""
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        values = _escaped(array)
    return values


def _escaped(array: pa.Array) -> list[Any]:
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _escaped(array.storage)
    if kind in BYTES_OF_TEXT:
        texts = array.view(BYTES_OF_TEXT[kind]).to_pylist()
        return [None if text is None else text.decode("utf-8", "surrogateescape") for text in texts]
    if isinstance(array, pa.DictionaryArray):
        values = as_python(array.dictionary)
        return [None if place is None else values[place] for place in array.indices.to_pylist()]
    if pa.types.is_run_end_encoded(kind):
        return [as_python(run)[0] for run in _runs(array)]
    if pa.types.is_struct(kind):
        columns = [as_python(array.field(index)) for index in range(kind.num_fields)]
        names = [field.name for field in kind]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]
    return [None if element.values is None else as_python(element.values) for element in array]


def _runs(array: pa.RunEndEncodedArray) -> list[pa.Array]:
    """For each row an array of its value alone."""
    ends = array.run_ends.to_pylist()
    values, place, found = array.values, array.find_physical_offset(), []
    for row in range(array.offset, array.offset + len(array)):
        while ends[place] <= row:
            place += 1
        found.append(values.slice(place, 1))
    return found
