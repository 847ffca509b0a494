"""Finds where the records of batches begin, by following their lengths.

Each length has to be read before the next, so this is done for many places at a time: record k of every batch, or, in
batches of many records, the next record from each of several places where one seems to begin. Whether one does is proved
afterwards: all records together must lead from the beginning of the batch to its end.

Nothing else is checked here: where a length is wrong, the last record does not end where its batch does, or a record is
smaller than any can be.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from .frames import PADDING, Ints
from .varints import VarintError, Varints, varint

FEW = 64
"""With fewer batches than this at a time, a plain loop is faster than numpy calls."""
MANY = 2000
"""Records from which on it pays to look for places within a batch."""
PIECE = 128
"""Records between such places."""
_LENGTHS = np.array([1, 2, 3])
_FLUSH = 65536


def find_places(varints: Varints, pos: Ints, end: Ints, count: Ints, body: Ints, stop: Ints) -> None:
    """Fill in for all records, batch after batch, where the fields begin (behind the length) and where they end.

    The records of a batch, ``count`` of them, are at ``pos`` to ``end``.
    """
    order = np.argsort(-count, kind="stable")
    left = count[order].tolist()
    pos, end, out = pos[order], end[order], (np.cumsum(count) - count)[order]
    alive, number = _side_by_side(varints, pos, end, out, left, body, stop)
    rest = [slice(int(first) + number, int(first) + most) for first, most in zip(out[:alive], left, strict=False)]
    many = [lane for lane in range(alive) if left[lane] - number >= MANY]
    done = _in_pieces(varints, pos[many], end[many], [rest[lane] for lane in many], body, stop)
    for lane in sorted({*range(alive)} - {many[place] for place in done}):
        _one_by_one(varints, int(pos[lane]), int(end[lane]), body[rest[lane]], stop[rest[lane]])


def _side_by_side(
    varints: Varints, pos: Ints, end: Ints, out: Ints, left: list[int], body: Ints, stop: Ints
) -> tuple[int, int]:
    """Record k of every batch at a time. The batches with most records, which come first, may not be finished then:
    returns how many these are, and how many records of each are done; ``pos`` is where they go on.
    """
    wrong = np.zeros(len(left), np.bool_)
    alive, number = len(left), 0
    while True:
        while alive and left[alive - 1] <= number:
            alive -= 1
        if alive < FEW:
            return alive, number
        size, here = varints.at(pos[:alive], wrong[:alive])
        there = here + size
        at = out[:alive] + number
        body[at] = here
        stop[at] = there
        np.maximum(here, there, out=here)
        np.minimum(here, end[:alive], out=pos[:alive])
        number += 1


def _in_pieces(varints: Varints, pos: Ints, end: Ints, rest: list[slice], body: Ints, stop: Ints) -> list[int]:
    """The records of some batches, ``rest`` of all, from several places in each at a time. Returns those it worked for."""
    if not rest:
        return []
    parts = [
        _pieces(varints, begin, behind, some.stop - some.start)
        for begin, behind, some in zip(pos.tolist(), end.tolist(), rest, strict=True)
    ]
    at, border = (np.concatenate(side) for side in zip(*parts, strict=True))
    found = []
    for _ in range(4 * PIECE):
        if len(at) == 0:
            break
        found.append(at)
        size, here = varints.at(at, np.zeros(len(at), np.bool_))
        at = here + np.maximum(size, 0)
        on = at < border
        at, border = at[on], border[on]
    every = np.sort(np.concatenate(found))
    done = []
    for number, some in enumerate(rest):
        start = every[np.searchsorted(every, pos[number]) : np.searchsorted(every, end[number])]
        if len(start) != some.stop - some.start:
            continue
        size, here = varints.at(start, np.zeros(len(start), np.bool_))
        there = here + size
        if there[-1] == end[number] and (there[:-1] == start[1:]).all():
            body[some], stop[some] = here, there
            done.append(number)
    return done


def _pieces(varints: Varints, begin: int, end: int, count: int) -> tuple[Ints, Ints]:
    """Where the pieces of a batch begin and end."""
    start = np.concatenate((np.array([begin]), _likely(varints, begin, end, count)))
    return start, np.append(start[1:], end)


def _likely(varints: Varints, begin: int, end: int, count: int) -> Ints:
    """Places all over a batch where a record seems to begin and another one behind it."""
    pieces = count // PIECE
    width = 2 * (end - begin) // count + 32
    near = begin + (end - begin) * np.arange(1, pieces) // pieces
    window = np.minimum(near[:, None] + np.arange(width), end - 1)
    place, column = np.nonzero(varints.data[window] == 0)  # attributes are 0, and behind a length of 1 to 3 bytes
    tried = (window[place, column][:, None] - _LENGTHS).reshape(-1)
    place = np.repeat(place, len(_LENGTHS))
    number = np.arange(len(tried))
    at, last = tried, np.full(len(tried), -1)
    for _ in range(3):
        size, here = varints.at(at, np.zeros(len(at), np.bool_))
        fine = (varints.data[here] == 0) & (size > 0) & (here + size < end)
        here, number, last, behind = here[fine], number[fine], last[fine], (here + size)[fine]
        _, here = varints.at(here + 1, np.zeros(len(here), np.bool_), 10)
        delta, _ = varints.at(here, np.zeros(len(here), np.bool_))
        later = delta > last
        at, number, last = behind[later], number[later], delta[later]
    _, first = np.unique(place[number], return_index=True)
    return np.unique(tried[number[first]])


def _one_by_one(varints: Varints, begin: int, end: int, body: Ints, stop: Ints) -> None:
    """The records of one batch in a plain loop, as far as they lead on within it."""
    raw = varints.data[begin:end].tobytes()
    pos = done = 0
    body[:] = stop[:] = end
    while done < len(body):
        starts: list[int] = []
        append = starts.append
        with suppress(IndexError, VarintError):
            for _ in range(min(_FLUSH, len(body) - done)):
                append(pos)
                byte = raw[pos]
                if byte < 128:
                    pos += 1 + (byte >> 1)
                elif raw[pos + 1] < 128:
                    pos += 2 + (raw[pos + 1] << 6) + (byte - 128 >> 1)
                else:
                    length, pos = varint(raw, pos)
                    pos += abs(length)
        # Odd numbers, which are negative lengths, lead on too: in the loop it only matters that it ends.
        start = np.array(starts, np.int64)
        start = start[start < len(raw)]
        if len(start) == 0:
            return
        size, here = Varints(np.frombuffer(raw + bytes(PADDING), np.uint8)).at(start, np.zeros(len(start), np.bool_))
        some = slice(done, done + len(start))
        body[some] = here + begin
        stop[some] = here + size + begin
        done += len(start)
