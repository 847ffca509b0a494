"""Arrow arrays of constants and timestamps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from .frames import Ints

TIMESTAMP = pa.timestamp("us", tz="UTC")
HEADER_TYPE = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
HEADERS_TYPE: Any = pa.list_(pa.field("element", HEADER_TYPE))

# Largest absolute number of milliseconds that fits int64 microseconds.
MOST_MILLISECONDS = (1 << 63) // 1000 - 1

# Maximum size of a string column, whose offsets are int32.
MOST_BYTES = (1 << 31) - 1


class RepeatedArrays:
    def __init__(self) -> None:
        self._last: dict[str, tuple[object, pa.Array]] = {}

    def of(self, column: str, value: Any, kind: Any, count: int) -> pa.Array:
        last, array = self._last.get(column, (None, None))
        if array is None or last != value or len(array) < count:
            array = repeated(value, kind, count)
            self._last[column] = value, array
        return array[:count]


def repeated(value: Any, kind: Any, count: int) -> pa.Array:
    """Return a constant array. Avoids ``pa.scalar``, which imports pandas (0.25 s). Raises OverflowError."""
    if value is None:
        return pa.nulls(count, kind)
    if pa.types.is_boolean(kind):
        data: Any = (b"\xff" if value else b"\0") * ((count + 7) // 8)
    elif not pa.types.is_string(kind):
        data = np.full(count, value, kind.to_pandas_dtype())
        data.flags.writeable = False
    else:
        text = value.encode()
        if len(text) * count > MOST_BYTES:
            raise OverflowError(f"{count:,} rows of a string of {len(text):,} bytes are too many for one string column")
        offsets = np.arange(count + 1, dtype=np.int32) * np.int32(len(text))
        offsets.flags.writeable = False
        return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(offsets), pa.py_buffer(text * count)], 0)
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(data)], 0)


def timestamps(milliseconds: Ints) -> pa.Array:
    """Return an array of microsecond timestamps; values that overflow int64 are null."""
    lost = (milliseconds > MOST_MILLISECONDS) | (milliseconds < -MOST_MILLISECONDS)
    return pa.array(milliseconds * 1000, mask=lost if lost.any() else None).view(TIMESTAMP)
