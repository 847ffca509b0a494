"""Finds where values end without reading them: for many lanes at once, or in a plain loop when few are left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from ..schema import NullableStruct, Schema, TaggedStruct, types
from ..schema.encodings import TwosComplement
from ..schema.sections import InterleavedTagSection, OptionalFieldBuffer, Section
from ..schema.types import ArrayOf, Blob, Text, Type, VarInt
from ._lanes import FEW, Bools, Ints, Lanes, Source

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


def length_code(kind: ArrayOf | Text | Blob) -> str | None:
    """The numpy type of a length, None for a compact one."""
    fixed = kind.length.fixed
    return None if fixed is None else {2: ">i2", 4: ">i4"}[fixed.width]


def skip(source: Source, kind: Type, lanes: Lanes) -> None:
    """Move every lane behind a value of a type."""
    width = WIDTHS.get(id(kind))
    if width is not None:
        _forward(source, lanes, np.full(len(lanes), width))
    elif isinstance(kind, Schema):
        _skip_struct(source, kind, lanes)
    elif isinstance(kind, (Text, Blob)):
        length = source.length(lanes, length_code(kind))
        _forward(source, lanes, np.maximum(length, 0))
    elif isinstance(kind, ArrayOf):
        count = source.length(lanes, length_code(kind))
        element_starts(source, kind.element, lanes, count)
    elif isinstance(kind, NullableStruct):
        inside = np.flatnonzero(presence(source, kind, lanes))
        part = lanes.where(inside)
        skip(source, kind.schema, part)
        lanes.pos[inside] = part.pos
    elif isinstance(kind, (VarInt, TwosComplement)):
        source.uvarint(lanes, kind.bits)
    else:
        raise NotImplementedError(f"no columns for {kind}")


def presence(source: Source, kind: NullableStruct, lanes: Lanes) -> Bools:
    """Whether each lane has a struct rather than null."""
    if isinstance(kind, TaggedStruct):
        return np.asarray(source.uvarint(lanes) > 0)
    return np.asarray(source.fixed(lanes, ">i1", 1) >= 0)


def element_starts(source: Source, element: Type, lanes: Lanes, count: Ints) -> tuple[Ints, Ints]:
    """Where each element of each lane's array starts, all of a lane together, and how many it has.

    The lanes end up behind their elements. A count that cannot be true is zero in the result, its row bad; so is that of
    every lane of a row that turns out bad here, however many elements it claims.
    """
    width = WIDTHS.get(id(element))
    if types.smallest(element) == 0:
        over = count > types.MAX_EMPTY_ELEMENTS
        source.fail(lanes, over)
        count = np.where(over, 0, np.maximum(count, 0))
    else:
        count = source.bounded(lanes, count, width or 1)
    base = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    total = int(base[-1])
    if width is not None:
        within = np.arange(total) - np.repeat(base[:-1], count)
        starts = np.repeat(lanes.pos, count) + within * width
        lanes.pos = lanes.pos + count * width
        return starts, count
    starts = np.empty(total, np.int64)
    live, done = np.flatnonzero(count > 0), 0
    while len(live) >= FEW or (len(live) and count[live].max() - done < 2):
        part = lanes.where(live)
        starts[base[live] + done] = part.pos
        skip(source, element, part)
        lanes.pos[live] = part.pos
        done += 1
        live = live[(count[live] > done) & ~source.bad[part.row]]
    if len(live):
        _plain(source, element, lanes, live, base + done, base[1:], starts)
    lost = source.bad[lanes.row]
    if lost.any():
        starts = starts[np.repeat(~lost, count)]
        count = np.where(lost, 0, count)
    return starts, count


def _plain(source: Source, element: Type, lanes: Lanes, live: Ints, first: Ints, last: Ints, starts: Ints) -> None:
    """The rest of ``element_starts`` for a few lanes, element by element."""
    step = _stepper(element)
    for lane in live.tolist():
        pos, end = int(lanes.pos[lane]), int(lanes.end[lane])
        data = source.bytes.data[:end]
        try:
            for index in range(int(first[lane]), int(last[lane])):
                starts[index] = pos
                pos = step(data, pos)
                if pos > end:
                    raise IndexError
        except IndexError:
            source.bad[lanes.row[lane]] = True
            pos = end
        lanes.pos[lane] = pos


def _forward(source: Source, lanes: Lanes, length: Ints) -> None:
    pos = lanes.pos + length
    over = pos > lanes.end
    if over.any():
        source.fail(lanes, over)
        pos = np.where(over, lanes.end, pos)
    lanes.pos = pos


def _skip_struct(source: Source, schema: Schema, lanes: Lanes) -> None:
    if schema.optional is not None:
        _skip_section(source, schema.optional, lanes)
    run = 0
    for field in schema.fields:
        width = WIDTHS.get(id(field.type))
        if width is not None:
            run += width
            continue
        if run:
            _forward(source, lanes, np.full(len(lanes), run))
            run = 0
        skip(source, field.type, lanes)
    if run:
        _forward(source, lanes, np.full(len(lanes), run))
    if schema.tags is not None:
        _skip_section(source, schema.tags, lanes)


def _skip_section(source: Source, section: Section, lanes: Lanes) -> None:
    for live, _, start, size in entries(source, section, lanes):
        lanes.pos[live] = start + size


def entries(source: Source, section: Section, lanes: Lanes) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Each field of a section for all lanes that have one more: lanes, tags, where the values start, their sizes."""
    if isinstance(section, OptionalFieldBuffer):
        yield from _optional_entries(source, lanes)
        return
    count = source.uvarint(lanes).astype(np.int64)
    live, done = np.flatnonzero(count > 0), 0
    while len(live):
        part = lanes.where(live)
        if isinstance(section, InterleavedTagSection):
            bits = source.uvarint(part, 64)
            tag, size = _gather(bits >> np.uint64(1)), _gather(bits)
        else:
            tag, size = source.uvarint(part).astype(np.int64), source.uvarint(part).astype(np.int64)
        # A lane that is already bad would otherwise go on for as many rounds as its bytes claim.
        fits = (part.pos + size <= part.end) & ~source.bad[part.row]
        source.fail(part, ~fits)
        lanes.pos[live] = part.end
        live, part, tag, size = live[fits], part.where(fits), tag[fits], size[fits]
        yield live, tag, part.pos, size
        done += 1
        live = live[count[live] > done]


def _optional_entries(source: Source, lanes: Lanes) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    live = np.arange(len(lanes))
    last = np.full(len(lanes), -1)
    while len(live):
        part = lanes.where(live)
        plain = source.uvarint(part).astype(np.int64)
        size = plain >> 1 ^ -(plain & 1)
        lanes.pos[live] = part.pos
        more = (size != 0) & ~source.bad[part.row]
        live, part, size = live[more], part.where(more), size[more]
        if not len(live):
            return
        tag = source.fixed(part, ">i2", 2).astype(np.int64)
        fits = (size > 0) & (part.pos + size <= part.end) & (tag > last[live]) & ~source.bad[part.row]
        source.fail(part, ~fits)
        live, part, tag, size = live[fits], part.where(fits), tag[fits], size[fits]
        last[live] = tag
        yield live, tag, part.pos, size


def _gather(bits: npt.NDArray[np.uint64]) -> Ints:
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


Step = Callable[[memoryview, int], int]


@cache
def _stepper(kind: Type) -> Step:
    """A function from the start of one value to its end; IndexError past the buffer."""
    width = WIDTHS.get(id(kind))
    if width is not None:
        return _forward_step(width)
    if isinstance(kind, Schema):
        return _struct_stepper(kind)
    if isinstance(kind, (Text, Blob)):
        size = kind.length.fixed
        return _compact_step if size is None else _sized_step(size.width)
    if isinstance(kind, ArrayOf):
        return _array_stepper(kind)
    if isinstance(kind, (VarInt, TwosComplement)):
        return lambda data, pos: _uvarint(data, pos)[1]
    assert isinstance(kind, NullableStruct)
    return _nullable_stepper(kind)


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


def _compact_step(data: memoryview, pos: int) -> int:
    length, pos = _uvarint(data, pos)
    return pos + max(length - 1, 0)


def _sized_step(width: int) -> Step:
    def step(data: memoryview, pos: int) -> int:
        return pos + width + max(int.from_bytes(data[pos : pos + width], "big", signed=True), 0)

    return step


def _array_stepper(kind: ArrayOf) -> Step:
    element, fixed = _stepper(kind.element), kind.length.fixed
    width = WIDTHS.get(id(kind.element))
    least = types.smallest(kind.element)

    def step(data: memoryview, pos: int) -> int:
        if fixed is None:
            count, pos = _uvarint(data, pos)
            count -= 1
        else:
            count = int.from_bytes(data[pos : pos + 4], "big", signed=True)
            pos += 4
        if width is not None:
            return pos + max(count, 0) * width
        if count > (len(data) - pos if least else types.MAX_EMPTY_ELEMENTS):
            raise IndexError
        for _ in range(count):
            pos = element(data, pos)
        return pos

    return step


def _nullable_stepper(kind: NullableStruct) -> Step:
    inner, is_tagged = _stepper(kind.schema), isinstance(kind, TaggedStruct)

    def step(data: memoryview, pos: int) -> int:
        first = data[pos]
        is_null = first == 0 if is_tagged else first > 127
        return pos + 1 if is_null else inner(data, pos + 1)

    return step


def _struct_stepper(schema: Schema) -> Step:
    steps: list[Step] = []
    if schema.optional is not None:
        steps.append(_optional_end)
    run = 0
    for field in schema.fields:
        width = WIDTHS.get(id(field.type))
        if width is not None:
            run += width
            continue
        if run:
            steps.append(_forward_step(run))
            run = 0
        steps.append(_stepper(field.type))
    if run:
        steps.append(_forward_step(run))
    if schema.tags is not None:
        steps.append(_interleaved_end if isinstance(schema.tags, InterleavedTagSection) else _tags_end)
    return steps[0] if len(steps) == 1 else _sequence(steps)


def _forward_step(width: int) -> Step:
    return lambda data, pos: pos + width


def _sequence(steps: list[Step]) -> Step:
    def step(data: memoryview, pos: int) -> int:
        for each in steps:
            pos = each(data, pos)
        return pos

    return step


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
        pos += int(_gather(np.array([bits], np.uint64))[0])
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
