"""Varints of records (KIP-98): zig-zag, seven bits a byte, least significant first; many of them at a time.

The numpy functions read at any positions, far enough from the end of the buffer. They do not stop at what is wrong, but
mark it in ``wrong`` and go on with something harmless.
"""

from __future__ import annotations

import numpy as np

from .batches import Bools, Bytes, Ints


class VarintError(Exception):
    """A varint that is too long; the text says so."""


def varints(data: Bytes, pos: Ints, wrong: Bools, size: int = 5) -> tuple[Ints, Ints]:
    """The values at positions, and where they end. ``size``: the bytes one may have, 5 (int32) or 10 (int64)."""
    first = data[pos]
    value = first.astype(np.int64)
    pos = pos + 1
    more = np.flatnonzero(first > 127)
    if len(more):
        value[more] &= 127
        shift = 7
        while len(more):
            at = pos[more]
            byte = data[at].astype(np.int64)
            pos[more] = at + 1
            value[more] |= (byte & 127) << shift
            shift += 7
            more = more[byte > 127]
            if shift == 7 * size:
                wrong[more] = True
                break
        if size == 5 and shift == 35:
            wrong |= value > 0xFFFFFFFF
    half = (value.view(np.uint64) >> np.uint64(1)).view(np.int64)
    return half ^ -(value & 1), pos


def varint(data: bytes, pos: int) -> tuple[int, int]:
    """The int32 at ``pos``, and where it ends. Raises VarintError, and IndexError where the data ends within it."""
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift == 35:
            raise VarintError("a varint has more than 5 bytes")
    if value > 0xFFFFFFFF:
        raise VarintError("a varint does not fit into 32 bits")
    return (value >> 1) ^ -(value & 1), pos
