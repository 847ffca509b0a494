"""Redaction of secrets in columns."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from .._base.message import Message
from ..secrets import REDACTED, Secrets, is_secret_setting, secrets_of
from ._shape import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..secrets._rule import Mark

# Resource types by path, per element of the current array.
Kinds = Mapping[str, pa.Array]


def redacted(array: pa.StructArray, message: type[Message], mark: Mark = REDACTED) -> pa.StructArray:
    """Replace the secrets in a struct column from ``decode``. A function as ``mark`` is called once per distinct value.

    Child columns may be missing; without config names, all config values are secret. See ``secrets.redacted``.
    """
    found = secrets_of(message)
    return _Hiding(found, mark).column(array, "", {}) if found else array


class _Hiding:
    def __init__(self, secrets: Secrets, mark: Mark) -> None:
        self._fields = set(secrets.fields)
        self._values = {setting.value: setting for setting in secrets.settings}
        self._kinds = {setting.resource_type for setting in secrets.settings}
        self._mark = mark

    def column(self, array: pa.Array, path: str, kinds: Kinds) -> pa.Array:
        # ``path`` consists of the names of the enclosing fields and of this one.
        if pa.types.is_struct(array.type):
            return self._struct(array, path, kinds)
        if pa.types.is_nested(array.type) and not pa.types.is_list(array.type):
            raise TypeError(
                f"{path}: {array.type} is not a type that decode returns; cast it to a list before redaction"
            )
        if pa.types.is_list(array.type):
            inner = {name: _spread(kind, array) for name, kind in kinds.items()}
            values = self.column(array.values, path, inner)
            kind = pa.list_(array.type.value_field.with_type(values.type))
            return pa.Array.from_buffers(
                kind, len(array), array.buffers()[:2], array.null_count, array.offset, [values]
            )
        return self._marked(array, _has_bytes(array)) if path in self._fields else array

    def _struct(self, array: pa.StructArray, path: str, kinds: Kinds) -> pa.StructArray:
        names = [field.name for field in array.type]
        paths = [f"{path}.{name}" if path else name for name in names]
        children = {at: array.field(number) for number, at in enumerate(paths)}
        kinds = {**kinds, **{at: child for at, child in children.items() if at in self._kinds}}
        made = [
            self._unknown(child) if name == UNKNOWN else self._child(at, children, kinds)
            for name, (at, child) in zip(names, children.items(), strict=True)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(made, fields=list(array.type), mask=mask)

    def _child(self, path: str, children: Mapping[str, pa.Array], kinds: Kinds) -> pa.Array:
        child, setting = children[path], self._values.get(path)
        if setting is None:
            return self.column(child, path, kinds)
        name = children.get(setting.name)
        secret = pa.repeat(pa.scalar(True), len(child)) if name is None else _secret(name)
        if (kind := kinds.get(setting.resource_type or "")) is not None:
            secret = pc.and_(secret, _may_be_secret(kind))
        return self._marked(child, pc.and_(secret, _has_bytes(child)))

    def _unknown(self, array: pa.MapArray) -> pa.MapArray:
        items = self._marked(array.items, array.items.is_valid())
        entries = pa.StructArray.from_arrays([array.keys, items], fields=[array.type.key_field, array.type.item_field])
        buffers = array.buffers()[:2]
        return pa.Array.from_buffers(array.type, len(array), buffers, array.null_count, array.offset, [entries])

    def _marked(self, array: pa.Array, secret: pa.BooleanArray) -> pa.Array:
        if pa.types.is_null(array.type):
            return array
        if isinstance(self._mark, str):
            return pc.if_else(secret, pa.scalar(self._mark.encode(), pa.binary()).cast(array.type), array)
        found = pc.if_else(secret, array, pa.scalar(None, array.type)).cast(pa.binary()).dictionary_encode()
        marks = [self._mark(value) for value in found.dictionary.to_pylist()]
        return pc.if_else(secret, pa.array(marks, pa.string()).take(found.indices).cast(array.type), array)


def _has_bytes(array: pa.Array) -> pa.BooleanArray:
    if pa.types.is_null(array.type):
        return array.is_valid()
    return pc.fill_null(pc.greater(pc.binary_length(array), 0), False)


def _secret(names: pa.Array) -> pa.BooleanArray:
    found = names.cast(pa.binary()).dictionary_encode()
    known = [name.decode(errors="replace") for name in found.dictionary.to_pylist()]
    flags = pa.array([is_secret_setting(name) for name in known], pa.bool_())
    return flags.take(found.indices).fill_null(True)


def _may_be_secret(kinds: pa.Array) -> pa.BooleanArray:
    found = kinds.dictionary_encode()
    flags = pa.array([is_secret_setting("", kind) for kind in found.dictionary.to_pylist()], pa.bool_())
    return flags.take(found.indices).fill_null(True)


def _spread(array: pa.Array, lists: pa.ListArray) -> pa.Array:
    # Repeat the value of each list for each of its elements; null for elements outside all lists.
    count = len(lists.values)
    if not len(lists):
        return pa.nulls(count, array.type)
    first, parents = lists.offsets[0].as_py(), pc.list_parent_indices(lists).cast(pa.int64())
    before, after = (pa.nulls(number, pa.int64()) for number in (first, count - first - len(parents)))
    return array.take(pa.concat_arrays([before, parents, after]))
