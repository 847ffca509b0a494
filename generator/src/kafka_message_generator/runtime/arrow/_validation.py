"""Bounds checks of Arrow arrays, because pyarrow and numpy follow invalid offsets out of the buffers."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Text types and the binary types of the same layout.
BYTES_OF_TEXT = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}
_BYTES = {*BYTES_OF_TEXT.values()}


_LISTS = {
    pa.types.is_list: pa.list_,
    pa.types.is_large_list: pa.large_list,
    pa.types.is_list_view: pa.list_view,
    pa.types.is_large_list_view: pa.large_list_view,
}


def check_buffers(array: pa.Array) -> None:
    """Raise TypeError for missing or short buffers; takes constant time."""
    try:
        array.validate()
    except pa.ArrowException as error:
        raise unsound("", error) from None


def check_places(array: pa.Array, path: str) -> None:
    """Raise TypeError for invalid offsets, views or indices at ``path``. Call ``check_buffers`` first."""
    kind = array.type
    if len(array) == 0:
        return
    if pa.types.is_struct(kind):
        for index, field in enumerate(kind):
            check_places(array.field(index), f"{path}.{field.name}" if path else field.name)
    elif isinstance(array, pa.DictionaryArray):
        _check_indices(array, path)
        check_places(array.dictionary, path)
    elif pa.types.is_run_end_encoded(kind):
        check_all(_without_values(array, path), path)
        check_places(array.values, path)
    elif pa.types.is_union(kind):
        check_all(array, path)
    elif kind in BYTES_OF_TEXT or kind in _BYTES:
        check_all(array.view(BYTES_OF_TEXT.get(kind, kind)), path)
    elif isinstance(array, pa.FixedSizeListArray):
        check_places(array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size), f"{path}[]")
    elif isinstance(array, pa.ListArray | pa.LargeListArray):  # a map array is a list array
        check_all(
            _without_elements(array, pa.list_ if isinstance(array, pa.ListArray) else pa.large_list, 2, path), path
        )
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        check_places(array.values.slice(first, last - first), f"{path}[]")
    elif isinstance(array, pa.ListViewArray | pa.LargeListViewArray):
        is_small = isinstance(array, pa.ListViewArray)
        check_all(_without_elements(array, pa.list_view if is_small else pa.large_list_view, 3, path), path)
        check_places(array.values, f"{path}[]")


def private(array: pa.Array) -> pa.Array:
    """Return an array whose offsets no other thread can change after a check. Raises TypeError for invalid buffers."""
    try:
        if isinstance(array, pa.BinaryArray | pa.LargeBinaryArray):
            array = _private_rows(array) if len(array) else array
        else:
            array = array.copy_to(pa.default_cpu_memory_manager())
    except pa.ArrowException as error:
        raise unsound("", error) from None
    check_buffers(array)
    return array


def _private_rows(array: pa.BinaryArray | pa.LargeBinaryArray) -> pa.Array:
    valid, offsets, data = array.buffers()
    width, start = 8 if isinstance(array, pa.LargeBinaryArray) else 4, array.offset % 8
    first, count = array.offset - start, start + len(array)
    if valid is not None:
        valid = pa.py_buffer(valid.slice(first // 8, (count + 7) // 8).to_pybytes())
    offsets = pa.py_buffer(offsets.slice(first * width, (count + 1) * width).to_pybytes())
    return pa.Array.from_buffers(array.type, len(array), [valid, offsets, data], -1, start)


def in_one(array: pa.ChunkedArray, path: str) -> pa.Array:
    """Return the chunks as one array, copied if several chunks have rows. Raises TypeError."""
    try:
        chunks = [stored(chunk) for chunk in array.chunks]
        for chunk in chunks:
            check_buffers(chunk)
        chunks = [chunk for chunk in chunks if len(chunk)] or chunks[:1]
        chunks = [private(chunk) for chunk in chunks] if len(chunks) > 1 else chunks
        for chunk in chunks:
            check_places(chunk, path)
        if len(chunks) < 2:
            return chunks[0] if chunks else pa.nulls(0, storage_of(array.type))
        return pa.concat_arrays([_with_offsets(chunk) for chunk in chunks])
    except pa.ArrowException as error:
        raise TypeError(f"cannot combine chunks of {array.type}: {error}") from None


def _with_offsets(array: pa.Array) -> pa.Array:
    # Arrow allows empty arrays without offsets, but pyarrow reads them when it concatenates.
    kind, children = array.type, _children(array)
    if not children and not pa.types.is_struct(kind):
        return array if len(array) else pa.nulls(0, kind)
    complete = [_with_offsets(child) for child in children]
    if len(array) and all(new is old for new, old in zip(complete, children, strict=True)):
        return array
    if pa.types.is_struct(kind):
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(complete, fields=list(kind), mask=mask)
    if isinstance(array, pa.DictionaryArray):
        return pa.DictionaryArray.from_arrays(array.indices, complete[0], ordered=kind.ordered)
    own, offset = array.buffers()[: _buffer_count(kind)], array.offset
    if len(array) == 0:
        own, offset = [None, *(pa.py_buffer(bytes(8)) for _ in own[1:])], 0
    elif pa.types.is_union(kind) and kind.mode == "sparse":  # its children share its offset
        own, offset = [None, pa.py_buffer(array.type_codes.to_numpy().tobytes())], 0
    return pa.Array.from_buffers(kind, len(array), own, -1 if own[0] else 0, offset, complete)


def _buffer_count(kind: pa.DataType) -> int:
    if pa.types.is_union(kind):
        return 3 if kind.mode == "dense" else 2
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return 3
    return 1 if pa.types.is_fixed_size_list(kind) or pa.types.is_run_end_encoded(kind) else 2


def _children(array: pa.Array) -> list[pa.Array]:
    # Children of structs and sparse unions share their parent's offset.
    kind = array.type
    if pa.types.is_struct(kind) or pa.types.is_union(kind):
        return [array.field(index) for index in range(kind.num_fields)]
    if isinstance(array, pa.DictionaryArray):
        return [array.dictionary]
    if isinstance(array, pa.RunEndEncodedArray):
        return [array.run_ends, array.values]
    if isinstance(array, pa.FixedSizeListArray) or any(is_list(kind) for is_list in (*_LISTS, pa.types.is_map)):
        return [array.values]
    return []


def stored(array: pa.Array) -> pa.Array:
    """Return the array with its extension types replaced by their storage types."""
    kind = storage_of(array.type)
    if kind == array.type:
        return array
    return pa.Array._import_from_c_capsule(kind.__arrow_c_schema__(), array.__arrow_c_array__()[1])


def storage_of(kind: Any) -> Any:
    if isinstance(kind, pa.BaseExtensionType):
        return storage_of(kind.storage_type)
    if isinstance(kind, pa.DictionaryType):
        return pa.dictionary(kind.index_type, storage_of(kind.value_type), kind.ordered)
    if pa.types.is_run_end_encoded(kind):
        return pa.run_end_encoded(kind.run_end_type, storage_of(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(storage_of(field.type)) for field in kind])
    if pa.types.is_map(kind):
        fields = (field.with_type(storage_of(field.type)) for field in (kind.key_field, kind.item_field))
        return pa.map_(*fields, kind.keys_sorted)
    for is_list, made in _LISTS.items():
        if is_list(kind):
            return made(kind.value_field.with_type(storage_of(kind.value_type)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(storage_of(kind.value_type)), kind.list_size)
    return kind


def unsound(path: str, reason: object) -> TypeError:
    return TypeError(f"{path}: invalid Arrow array: {reason}" if path else f"invalid Arrow array: {reason}")


def check_all(array: pa.Array, path: str) -> None:
    try:
        array.validate(full=True)
    except pa.ArrowException as error:
        raise unsound(path, error) from None


def _check_indices(array: pa.DictionaryArray, path: str) -> None:
    found = pc.min_max(array.indices)
    lowest, highest, count = found["min"].as_py(), found["max"].as_py(), len(array.dictionary)
    if lowest is not None and not 0 <= lowest <= highest < count:
        wrong = lowest if lowest < 0 else highest
        raise unsound(path, f"index {wrong} is out of range for a dictionary of {count} values")


def _without_elements(array: pa.Array, kind: Callable[..., Any], buffers: int, path: str) -> pa.Array:
    # Replace the elements by nulls, as they are checked separately.
    elements, own = pa.nulls(len(array.values)), array.buffers()[:buffers]
    try:
        return pa.Array.from_buffers(kind(pa.null()), len(array), own, -1, array.offset, [elements])
    except pa.ArrowException as error:
        raise unsound(path, error) from None


def _without_values(array: pa.RunEndEncodedArray, path: str) -> pa.Array:
    kind = pa.run_end_encoded(array.type.run_end_type, pa.null())
    children = [array.run_ends, pa.nulls(len(array.values))]
    try:
        return pa.Array.from_buffers(kind, len(array), [None], 0, array.offset, children)
    except pa.ArrowException as error:
        raise unsound(path, error) from None
