"""Casts of Arrow columns to the encoder's types."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from ..schema.descriptors import FieldDescriptor
from ._python import runs_of
from ._shape import SCALARS, UNKNOWN, UNKNOWN_TYPE, Shape
from ._validation import BYTES_OF_TEXT, check_places, stored

Is = Callable[[pa.DataType], bool]

_TEXTS: tuple[Is, ...] = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BYTES: tuple[Is, ...] = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
_NUMBERS: tuple[Is, ...] = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_LISTS: tuple[Is, ...] = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
# Arrow types accepted for a Kafka type; all other Kafka types accept numbers.
_TAKEN: dict[str, tuple[Is, ...]] = {
    "bool": (pa.types.is_boolean,),
    "uuid": _TEXTS,
    "string": _TEXTS + _BYTES,
    "bytes": _BYTES + _TEXTS,
    "records": _BYTES + _TEXTS,
}


def conformed(array: pa.Array, shape: Shape) -> pa.StructArray:
    """Cast an array of structs to a shape. Raises TypeError, and pa.ArrowException for out-of-range values."""
    path = shape.message.NAME
    if array.type == shape.type:
        check_places(array, path)
        return array
    return _struct(_plain(stored(array), path), shape, shape.descriptor.fields, path)


def _plain(array: pa.Array, path: str) -> pa.Array:
    if isinstance(array, pa.DictionaryArray):
        check_places(array, path)
        return _without_views(_plain(array.dictionary, path)).take(array.indices)
    if isinstance(array, pa.RunEndEncodedArray):
        check_places(array, path)
        return _without_views(_plain(array.values, path)).take(pa.array(runs_of(array), pa.int64()))
    return array


def _without_views(array: pa.Array) -> pa.Array:
    # Cast view types to large types, through bytes to skip UTF-8 validation.
    if pa.types.is_string_view(array.type):
        return array.view(pa.binary_view()).cast(pa.large_binary()).view(pa.large_string())
    return array.cast(pa.large_binary()) if pa.types.is_binary_view(array.type) else array


def _struct(array: pa.Array, shape: Shape, fields: tuple[FieldDescriptor, ...], path: str) -> pa.StructArray:
    if not pa.types.is_struct(array.type):
        raise TypeError(f"{path}: expected a struct, got {array.type}")
    names = [field.name for field in array.type]
    kept, children = [], []
    for field in fields:
        if names.count(field.name) > 1:
            raise TypeError(f"{path} has {names.count(field.name)} columns named {field.name}")
        if field.name in names:
            child = _plain(array.field(names.index(field.name)), f"{path}.{field.name}")
            kept.append(field.name)
            children.append(_column(_inside(array, child), shape, field, f"{path}.{field.name}"))
    if UNKNOWN in names:
        kept.append(UNKNOWN)
        children.append(_unknown(array.field(names.index(UNKNOWN)), f"{path}.{UNKNOWN}"))
    if not children:
        valid = array.is_valid().buffers()[1] if array.null_count else None
        return pa.Array.from_buffers(pa.struct([]), len(array), [valid])
    return pa.StructArray.from_arrays(children, names=kept, mask=array.is_null() if array.null_count else None)


def _inside(array: pa.StructArray, child: pa.Array) -> pa.Array:
    # Mask values below null structs, which are undefined, so that no cast fails on them.
    if array.null_count == 0 or pa.types.is_null(child.type):
        return child
    return pc.struct_field(pa.StructArray.from_arrays([child], names=["child"], mask=array.is_null()), [0])


def _unknown(array: pa.Array, path: str) -> pa.Array:
    check_places(array, path)
    if array.type == UNKNOWN_TYPE:
        return array
    if not (pa.types.is_null(array.type) or _is_map_of_bytes(array.type)):
        raise TypeError(f"{path}: expected {UNKNOWN_TYPE}, got {array.type}")
    return array.cast(UNKNOWN_TYPE)


def _is_map_of_bytes(kind: pa.DataType) -> bool:
    if not pa.types.is_map(kind):
        return False
    return pa.types.is_integer(kind.key_type) and any(each(kind.item_type) for each in _BYTES + _TEXTS)


def _column(array: pa.Array, shape: Shape, field: FieldDescriptor, path: str) -> pa.Array:
    kind = shape.column(field)
    if pa.types.is_null(array.type):
        return array
    if not field.is_array and field.is_struct:
        return _value(array, shape, field, path)
    check_places(array, path)
    if array.type == kind:
        return array
    if not field.is_array:
        return _value(array, shape, field, path)
    if not any(each(array.type) for each in _LISTS):
        raise TypeError(f"{path}: expected a list, got {array.type}")
    null = array.is_null()
    count = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(count).cast(pa.int32())])
    values = _plain(array.flatten() if len(array) else array.values[:0], f"{path}[]")
    if not pa.types.is_null(values.type):
        values = _value(values, shape, field, f"{path}[]")
    return pa.ListArray.from_arrays(offsets, values, mask=null if array.null_count else None)


def _value(array: pa.Array, shape: Shape, field: FieldDescriptor, path: str) -> pa.Array:
    if field.is_struct:
        return _struct(array, shape, shape.descriptor.structs[field.type], path)
    wanted = SCALARS[field.type]
    if array.type == wanted:
        return array
    if not any(each(array.type) for each in _TAKEN.get(field.type, _NUMBERS)):
        raise TypeError(f"{path}: expected {wanted}, got {array.type}")
    if pa.types.is_integer(wanted):
        wanted = pa.int64()  # out-of-range values are reported with their row
    if pa.types.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    if wanted == pa.string() and array.type in BYTES_OF_TEXT:
        return array.view(BYTES_OF_TEXT[array.type]).cast(pa.binary()).view(wanted)
    return array.cast(wanted)
