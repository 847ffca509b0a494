"""Bridge to the native column builder, which exchanges arrays through Arrow's C data interface."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import pyarrow as pa

from .._base.message import Message
from .._core.native import native_columns, warn_refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Maximum number of cached column types per plan.
MOST_TYPES = 64


class _DecodePlan:
    def __init__(self, extension: Any, text: str, has_unknown: bool) -> None:
        self.extension = extension
        self.plan = extension.plan(text, has_unknown)
        self._types: dict[tuple[str | None, str | None], pa.DataType] = {}

    def decoded(
        self, array: pa.Array, version: Any, flags: int, trailing_column: str | None, corrupt_column: str | None
    ) -> pa.StructArray | int | None:
        data = array.buffers()[2]
        size = 0 if data is None else data.size
        found = self.extension.decode(
            self.plan, *array.__arrow_c_array__(), version, flags, trailing_column, corrupt_column, size
        )
        if not isinstance(found, tuple):
            return found
        names = trailing_column, corrupt_column
        kind = self._types.get(names)
        if kind is not None:  # building the type from the schema takes longer than decoding a few rows
            return pa.Array._import_from_c(self.extension.address(found[1]), kind)
        columns = pa.Array._import_from_c_capsule(*found)
        if len(self._types) < MOST_TYPES:
            self._types[names] = columns.type
        return columns

    def encoded(self, array: pa.Array, version: int, prefix: bool) -> pa.Array | int | None:
        capsules, buffers = array.__arrow_c_array__(), array.buffers()
        found = self.extension.encode(self.plan, *capsules, version, prefix, buffers)
        return pa.Array._import_from_c_capsule(*found) if isinstance(found, tuple) else found


# Plans by message, without and with a column of unknown tagged fields; None if the native code rejects the plan.
_plans: WeakKeyDictionary[type[Message], dict[bool, _DecodePlan | None]] = WeakKeyDictionary()


def decoded(
    array: pa.Array,
    message: type[Message],
    version: int | pa.Array | None,
    unknown_tagged_fields: bool,
    flags: int,
    trailing_column: str | None,
    corrupt_column: str | None,
) -> pa.StructArray | int | None:
    """Return the columns, or the index of the first invalid row, or None if the native code cannot decode them."""
    extension = native_columns()
    if extension is None or (plan := _plan(extension, message, unknown_tagged_fields)) is None:
        return None
    versions = version.__arrow_c_array__() if isinstance(version, pa.Array) else version
    return plan.decoded(array, versions, flags, trailing_column, corrupt_column)


def encoded(array: pa.Array, message: type[Message], version: int, prefix: bool) -> pa.Array | int | None:
    """Return the encoded messages, or the index of the first invalid row, or None if the native code cannot encode."""
    extension = native_columns()
    if extension is None or (plan := _plan(extension, message, False)) is None:
        return None
    return plan.encoded(array, version, prefix)


def _plan(extension: Any, message: type[Message], has_unknown: bool) -> _DecodePlan | None:
    plans = _plans.get(message)
    if plans is None:
        plans = _plans[message] = {}
    if has_unknown not in plans:
        try:
            plans[has_unknown] = _DecodePlan(extension, message._plan, has_unknown)
        except AttributeError:  # the class has no plan
            plans[has_unknown] = None
        except ValueError as error:
            plans[has_unknown] = None
            warn_refused(message, error.with_traceback(None), stacklevel=5)
    return plans[has_unknown]
