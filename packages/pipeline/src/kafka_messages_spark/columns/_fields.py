"""Selection of struct fields by the option ``fields``, and casts to the types of a message's fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa
from kafka_messages.errors import did_you_mean

from .._core.errors import invalid_argument

# Selected fields, each with a tree of its selected subfields; an empty tree selects all fields.
Tree = Mapping[str, "Tree"]

# Name of the field with unknown tagged fields; every selection keeps this field.
UNKNOWN = "_unknown_tagged_fields"


def tree_of(names: Iterable[str]) -> Tree:
    tree: dict[str, dict[str, object]] = {}
    whole: set[str] = set()
    for name in names:
        at: dict[str, dict[str, object]] = tree
        parts = name.split(".")
        for depth in range(len(parts)):
            if ".".join(parts[:depth]) in whole:
                break
            at = at.setdefault(parts[depth], {})  # type: ignore[assignment]  # recursive type
        else:
            at.clear()
            whole.add(name)
    return tree  # type: ignore[return-value]  # recursive type


def pruned_type(owner: str, kind: pa.DataType, tree: Tree, path: str = "") -> pa.DataType:
    if not tree:
        return kind
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", pruned_type(owner, kind.value_type, tree, path)))
    if not pa.types.is_struct(kind):
        raise invalid_argument(
            f"{owner}: the option 'fields' contains {path}.{next(iter(tree))}, but {path} has no fields"
        )
    names = [field.name for field in kind]
    for name in tree:
        if name not in names:
            full = f"{path}.{name}" if path else name
            hint = did_you_mean(name, names) or f". Known are {', '.join(names)}."
            raise invalid_argument(f"{owner}: unknown field {full} in the option 'fields'{hint}")
    return pa.struct(
        [
            pa.field(field.name, pruned_type(owner, field.type, tree.get(field.name, {}), _under(path, field.name)))
            for field in kind
            if field.name in tree or field.name == UNKNOWN
        ]
    )


def pruned(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    if pa.types.is_list(kind):
        values = pruned(array.values, kind.value_type)
        buffers = array.buffers()[:2]
        return pa.Array.from_buffers(kind, len(array), buffers, array.null_count, array.offset, [values])
    children = [pruned(array.field(array.type.get_field_index(field.name)), field.type) for field in kind]
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)


def _under(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def conformed(array: pa.Array, kind: pa.DataType, path: str = "") -> pa.Array:
    """Cast the fields of an array to the types of the same-named fields of ``kind``, without loss.

    Fields that the array lacks stay missing. Raises ValueError for an unknown field or a value that cannot be converted.
    """
    if array.type == kind:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), kind)
    if pa.types.is_struct(kind) and pa.types.is_struct(array.type):
        known = {field.name: field.type for field in kind}
        fields, children = [], []
        for index, field in enumerate(array.type):
            if field.name not in known:
                raise ValueError(f"unknown field {_under(path, field.name)}{did_you_mean(field.name, known) or '.'}")
            children.append(conformed(array.field(index), known[field.name], _under(path, field.name)))
            fields.append(pa.field(field.name, children[-1].type))
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null() if array.null_count else None)
    if pa.types.is_list(kind) and pa.types.is_list(array.type):
        values = conformed(array.values, kind.value_type, path)
        made = pa.list_(pa.field("element", values.type))
        return pa.Array.from_buffers(made, len(array), array.buffers()[:2], array.null_count, array.offset, [values])
    try:
        return array.cast(kind)
    except pa.ArrowException as error:
        raise ValueError(f"{path or 'the message'} cannot be converted from {array.type} to {kind}: {error}") from None
