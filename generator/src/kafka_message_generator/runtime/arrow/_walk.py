"""Plain loops over the elements of an array: printed and compiled for each type of element, as objects' readers are.

They find where each element starts, for few lanes; with many lanes numpy does it for all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from ..schema import NullableStruct, Schema, TaggedStruct, types
from ..schema.encodings import TwosComplement
from ..schema.sections import InterleavedTagSection
from ..schema.types import ArrayOf, Blob, Text, Type, VarInt
from ._lanes import Ints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WIDTHS: dict[int, int] = {
    id(types.BOOLEAN): 1,
    id(types.INT8): 1,
    id(types.INT16): 2,
    id(types.UINT16): 2,
    id(types.INT32): 4,
    id(types.UNSIGNED_INT32): 4,
    id(types.INT64): 8,
    id(types.FLOAT64): 8,
    id(types.UUID): 16,
}
"""Bytes of the fixed-width types, which exist once each."""
DEEPEST = 6
"""Loops inside loops; Python takes no more than 20, so deeper ones are functions of their own."""

Step = Callable[[memoryview, int], int]
Walk = Callable[[memoryview, int, int, int], tuple[int, list[int]]]


@cache
def walker(element: Type) -> Walk:
    """A function of data, position, end and count: where so many elements end, and where each of them starts.

    It raises IndexError past the end, and for what no element can be.
    """
    printer = _Printer()
    printer.add(0, "def function(data, pos, end, count):")
    printer.add(1, "starts = []")
    printer.add(1, "for _ in range(count):")
    printer.add(2, "starts.append(pos)")
    printer.value(element, 2)
    printer.add(2, "if pos > end: raise IndexError")
    printer.add(1, "return pos, starts")
    walk: Walk = printer.compiled()
    return walk


@cache
def _stepper(kind: Type) -> Step:
    """A function from the start of one value to its end; IndexError past the data."""
    printer = _Printer()
    printer.add(0, "def function(data, pos):")
    printer.value(kind, 1)
    printer.add(1, "return pos")
    step: Step = printer.compiled()
    return step


class _Printer:
    """The lines of a function that goes from value to value."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.namespace: dict[str, object] = {"uvarint": _uvarint, "tags_end": _tags_end}
        self.namespace |= {"interleaved_end": _interleaved_end, "optional_end": _optional_end}

    def add(self, indent: int, line: str) -> None:
        self.lines.append(" " * indent + line)

    def compiled(self) -> Any:
        exec("\n".join(self.lines), self.namespace)
        return self.namespace["function"]

    def value(self, kind: Type, indent: int) -> None:
        """Lines that move ``pos`` behind a value."""
        width = _width(kind)
        if width is not None:
            self.add(indent, f"pos += {width}")
        elif isinstance(kind, Schema):
            self.struct(kind, indent)
        elif isinstance(kind, (Text, Blob)):
            self.length(kind, indent)
            self.add(indent, "if n > 0: pos += n")
        elif isinstance(kind, ArrayOf):
            self.array(kind, indent)
        elif isinstance(kind, (VarInt, TwosComplement)):
            self.varint(indent)
        else:
            assert isinstance(kind, NullableStruct)
            self.add(indent, "n = data[pos]")
            self.add(indent, "pos += 1")
            self.add(indent, "if n > 0:" if isinstance(kind, TaggedStruct) else "if n < 128:")
            self.add(indent + 1, "pass")
            self.value(kind.schema, indent + 1)

    def varint(self, indent: int) -> None:
        """The number in ``n``; most have one byte, those of records two."""
        self.add(indent, "n = data[pos]")
        self.add(indent, "if n < 128: pos += 1")
        self.add(indent, "elif data[pos + 1] < 128:")
        self.add(indent + 1, "n += (data[pos + 1] << 7) - 128")
        self.add(indent + 1, "pos += 2")
        self.add(indent, "else: n, pos = uvarint(data, pos)")

    def length(self, kind: ArrayOf | Text | Blob, indent: int) -> None:
        """The length in ``n``, below zero for null."""
        fixed = kind.length.fixed
        if fixed is None:
            self.varint(indent)
            self.add(indent, "n -= 1")
        else:
            stop = f"pos + {fixed.width}"
            self.add(indent, f"n = int.from_bytes(data[pos : {stop}], 'big', signed=True)")
            self.add(indent, f"pos = {stop}")

    def array(self, kind: ArrayOf, indent: int) -> None:
        self.length(kind, indent)
        width = _width(kind.element)
        if width:
            self.add(indent, f"if n > 0: pos += {width} * n")
            return
        most = "len(data) - pos" if types.smallest(kind.element) else str(types.MAX_EMPTY_ELEMENTS)
        self.add(indent, f"if n > {most}: raise IndexError")
        self.add(indent, "for _ in range(n):")
        if indent < DEEPEST:
            self.value(kind.element, indent + 1)
        else:
            name = f"step_{len(self.namespace)}"
            self.namespace[name] = _stepper(kind.element)
            self.add(indent + 1, f"pos = {name}(data, pos)")

    def struct(self, schema: Schema, indent: int) -> None:
        if schema.optional is not None:
            self.add(indent, "pos = optional_end(data, pos)")
        run = 0
        for field in schema.fields:
            width = _width(field.type)
            if width is not None:
                run += width
                continue
            if run:
                self.add(indent, f"pos += {run}")
                run = 0
            self.value(field.type, indent)
        if run:
            self.add(indent, f"pos += {run}")
        if isinstance(schema.tags, InterleavedTagSection):
            self.add(indent, "pos = interleaved_end(data, pos)")
        elif schema.tags is not None:
            self.add(indent, "if data[pos] == 0: pos += 1")
            self.add(indent, "else: pos = tags_end(data, pos)")


def _width(kind: Type) -> int | None:
    """Bytes of a value that always has as many; None for others."""
    if isinstance(kind, Schema):
        if kind.optional is not None or kind.tags is not None:
            return None
        widths = [_width(field.type) for field in kind.fields]
        return None if None in widths else sum(width for width in widths if width is not None)
    return WIDTHS.get(id(kind))


def _uvarint(data: memoryview, pos: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128 and value < 1 << 64:
            return value, pos
        if byte < 128 or shift > 63:
            raise IndexError


def _tags_end(data: memoryview, pos: int) -> int:
    count, pos = _uvarint(data, pos)
    for _ in range(count):
        _, pos = _uvarint(data, pos)
        size, pos = _uvarint(data, pos)
        pos += size
    return pos


def _interleaved_end(data: memoryview, pos: int) -> int:
    count, pos = _uvarint(data, pos)
    for _ in range(count):
        bits, pos = _uvarint(data, pos)
        pos += int(gather(np.array([bits], np.uint64))[0])
    return pos


def _optional_end(data: memoryview, pos: int) -> int:
    while True:
        plain, pos = _uvarint(data, pos)
        size = plain >> 1 ^ -(plain & 1)
        if size == 0:
            return pos
        if size < 0:
            raise IndexError
        pos += 2 + size


def gather(bits: npt.NDArray[np.uint64]) -> Ints:
    """The even bits of 64-bit numbers, close together."""
    bits = bits & np.uint64(0x5555555555555555)
    for shift, mask in (
        (1, 0x3333333333333333),
        (2, 0x0F0F0F0F0F0F0F0F),
        (4, 0x00FF00FF00FF00FF),
        (8, 0x0000FFFF0000FFFF),
        (16, 0x00000000FFFFFFFF),
    ):
        bits = (bits | bits >> np.uint64(shift)) & np.uint64(mask)
    return bits.astype(np.int64)
