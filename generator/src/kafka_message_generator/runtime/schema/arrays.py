"""Arrays: elements of one type after a count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .types import _CLASSIC32, _COMPACT, MAX_EMPTY_ELEMENTS, SchemaError, Type, _Sized, wrong
from .walk import Walk


class ArrayOf(_Sized):
    """Elements of one type after an int32 count."""

    _prefix, _count = "ARRAY", _CLASSIC32

    def __init__(self, element: Type, nullable: bool = False) -> None:
        kind = f"{'NULLABLE_' if nullable else ''}{self._prefix}({element})"
        super().__init__(kind, self._count, nullable)
        self.element = element
        self.unit = element.width
        self.most = 1 << 32 if element.least else MAX_EMPTY_ELEMENTS
        self.walk = element.walk or Walk([("", element)])

    def read_count(self, data: bytes, pos: int) -> tuple[int, int]:
        count, at = self.read_length(data, pos)
        size = self.element.least
        bound = max(len(data) - at, 0) if size else self.most
        if count > bound:
            left = f"only {len(data) - at} bytes left" if size else f"the bound is {bound}"
            raise SchemaError(f"array of {count} elements at offset {pos}, but {left}", pos)
        return max(count, -1), at

    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        count, at = self.read_count(data, pos)
        if count < 0:
            return None, at
        values: list[object] = []
        read, append = self.element.read, values.append
        try:
            for _ in range(count):
                value, at = read(data, at)
                append(value)
        except SchemaError as error:
            raise error.inside(f"[{len(values)}]") from None
        return values, at

    def skip(self, data: bytes, pos: int) -> int:
        count, at = self.read_count(data, pos)
        whole = min(max(count, 0), (len(data) - at) // self.unit) if self.unit else 0
        at += whole * self.unit
        return at if whole == count else self.walk.skip(data, at, range(whole, count))

    def write(self, out: bytearray, value: object) -> None:
        if value is None:
            self.write_null(out)
            return
        values = elements(value)
        self.length.write(out, len(values))
        for index, element in enumerate(values):
            try:
                self.element.write(out, element)
            except SchemaError as error:
                raise error.inside(f"[{index}]") from None


class CompactArrayOf(ArrayOf):
    """Elements of one type after a compact count."""

    _prefix, _count = "COMPACT_ARRAY", _COMPACT


def elements(value: object) -> list[object]:
    """Return the elements of an array. Raises SchemaError for strings, bytes, dicts, iterators and non-iterables."""
    if isinstance(value, (str, bytes, bytearray, memoryview, dict, Iterator)) or not isinstance(value, Iterable):
        raise wrong(value, "list")
    return list(value)
