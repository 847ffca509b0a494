"""Native columns against columns of message objects; arrays with exactly sized buffers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import kafka_messages
import kafka_messages.arrow
import pyarrow as pa
from kafka_messages import OffsetCommitValue

from tests.support import vectors
from tests.support.implementations import pure

WRONG = (b"", b"\xff", b"\x80\x00", b"\x7f\xff", b"\xff\xff\xff\xff\x0f", b"\x7f\xff\xff\xff", b"\xc3")
"""Replacement bytes: lengths that are too large, null in non-nullable fields, incomplete characters."""

OFFSETS = list(range(100))
ROWS = [OffsetCommitValue(offset=number, metadata=f"host-{number}").write(3) for number in OFFSETS]


@dataclass(frozen=True)
class Versioned:
    """A message class with encodings, each at its version."""

    cls: Any
    rows: Sequence[tuple[int, bytes]]

    def of(self, version: int) -> list[bytes]:
        return [data for each, data in self.rows if each == version]

    @property
    def versions(self) -> list[int]:
        return sorted({version for version, _ in self.rows})


@cache
def messages() -> Mapping[str, Versioned]:
    """Return every vector of Kafka's classes by message."""
    return {
        name: Versioned(vectors.message_class(name), [(vector.version, vector.data) for vector in group])
        for name, group in vectors.committed().items()
    }


def exact(array: Any) -> Any:
    """Return the array with exactly sized buffers, so that sanitizers detect out-of-bounds reads."""
    children = (
        [exact(array.field(index)) for index in range(array.type.num_fields)] if pa.types.is_struct(array.type) else []
    )
    if pa.types.is_struct(array.type):  # field() has applied the slice to the children
        bits = pa.array(array.is_valid().to_pylist(), pa.bool_()).buffers()[1] if array.null_count else None
        return pa.Array.from_buffers(array.type, len(array), [_copied(bits)], children=children)
    if pa.types.is_list(array.type):
        buffers = [_copied(each) for each in array.buffers()[:2]]
        return pa.Array.from_buffers(
            array.type, len(array), buffers, offset=array.offset, children=[exact(array.values)]
        )
    if pa.types.is_map(array.type):
        return array
    return pa.Array.from_buffers(
        array.type, len(array), [_copied(each) for each in array.buffers()], offset=array.offset
    )


def _copied(buffer: Any) -> Any:
    return None if buffer is None else pa.py_buffer(buffer.to_pybytes())


def binary(rows: Sequence[bytes | None], *, before: int = 0) -> Any:
    """Return an exactly sized binary array; ``before``: as a slice after this number of other rows."""
    array = exact(pa.array([b"\xff\x80other"] * before + list(rows), pa.binary()))
    return array.slice(before)


def damaged(rnd: random.Random, data: bytes) -> bytes:
    """Return the data with one random replacement."""
    at = rnd.randrange(len(data) + 1)
    return data[:at] + rnd.choice((*WRONG, bytes([rnd.randrange(256)]))) + data[at + rnd.choice((0, 1, 1, 1, 2)) :]


def result(call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Return the result of a call, or type and text of its error."""
    try:
        return call(*args, **named)
    except Exception as error:  # compared with that of the other code
        return type(error), str(error)


def both(call: str, *args: Any, package: ModuleType = kafka_messages, **named: Any) -> tuple[Any, Any]:
    """Return the results of ``decode`` or ``encode`` of a package's columns, native and through objects."""
    function = getattr(package.arrow, call)
    found = result(function, *args, **named)
    with pure(package.__name__):
        return found, result(function, *args, **named)


def are_same(one: Any, other: Any) -> bool:
    """Return whether two results are equal, including column types and error texts."""
    if isinstance(one, tuple) or isinstance(other, tuple):
        return type(one) is type(other) and one == other
    return one.type == other.type and (one.equals(other) or _has_nan_and_prints_alike(one, other))


def _has_nan_and_prints_alike(one: Any, other: Any) -> bool:
    kind = _with_bytes(one.type)
    text = repr(one.cast(kind).to_pylist())
    return "nan" in text and text == repr(other.cast(kind).to_pylist())


def _with_bytes(kind: Any) -> Any:
    if pa.types.is_string(kind):
        return pa.binary()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_with_bytes(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_with_bytes(field.type)) for field in kind])
    return kind


def assert_same(call: str, *args: Any, **named: Any) -> Any:
    """Assert equal results natively and through objects; return the native one."""
    got, wanted = both(call, *args, **named)
    assert are_same(got, wanted), (args[1:], named, got, wanted)
    if isinstance(got, pa.Array) and named.get("validate_utf8", True):
        got.validate(full=True)
    return got
