"""Finds where values end without reading them: for many lanes at once, or in a plain loop when few are left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..schema import NullableStruct, Schema, TaggedStruct, types
from ..schema.encodings import TwosComplement
from ..schema.sections import InterleavedTagSection, OptionalFieldBuffer, Section
from ..schema.types import ArrayOf, Blob, Text, Type, VarInt
from ._lanes import FEW, Bools, Ints, Lanes, Source
from ._walk import WIDTHS, gather, walker


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
    walk = walker(element)
    for lane in live.tolist():
        pos, end, begin, stop = int(lanes.pos[lane]), int(lanes.end[lane]), int(first[lane]), int(last[lane])
        try:
            pos, starts[begin:stop] = walk(source.bytes.data[:end], pos, end, stop - begin)
        except IndexError:  # what would be its starts is not looked at
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
            tag, size = gather(bits >> np.uint64(1)), gather(bits)
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
