"""Kafka's files beside segments: indexes, producer snapshots, and checkpoints.

Sources: Kafka's classes OffsetIndex, TimeIndex, AbortedTxn, ProducerStateManager, CheckpointFile, OffsetCheckpointFile,
LeaderEpochCheckpointFile. Numbers in indexes and snapshots are big-endian.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct
from typing import BinaryIO

from .crc import checksum

# By suffix: names of the fields, layout, and places of two fields that never decrease. The field ``offset`` is relative
# to the base offset of the segment; ``last_offset`` is the offset of the marker.
INDEXES: dict[str, tuple[tuple[str, ...], Struct, tuple[int, int]]] = {
    ".index": (("offset", "position"), Struct(">ii"), (0, 1)),
    ".timeindex": (("timestamp", "offset"), Struct(">qi"), (0, 1)),
    ".txnindex": (
        ("version", "producer_id", "first_offset", "last_offset", "last_stable_offset"),
        Struct(">hqqqq"),
        (3, 3),
    ),
}
# Names of the fields of a producer in a snapshot; the message ProducerSnapshot describes them.
PRODUCER = (
    *("producer_id", "producer_epoch", "last_sequence", "last_offset", "offset_delta"),
    *("last_timestamp", "coordinator_epoch", "current_txn_first_offset"),
)
# File of the leader epochs of a partition and of the offset at which each begins (KIP-101).
LEADER_EPOCH = "leader-epoch-checkpoint"
_ENTRIES = 4096  # read at once
# Version of a snapshot, checksum of the bytes after it, number of entries.
_SNAPSHOT, _PRODUCER = Struct(">hIi"), Struct(">qhiqiqiq")
_SUMMED_FROM = 6
_FORMAT_VERSION = "0"
_CHECKPOINT = re.compile(r"(\S+)\s+([0-9]{1,10})\s+([0-9]{1,19})")
_EPOCH = re.compile(r"()([0-9]{1,10})\s+([0-9]{1,19})")


def read_index(file: BinaryIO, suffix: str) -> Iterator[tuple[int, ...]]:
    """Yield the fields of each entry of an index, without the zeros that fill the index of the active segment.

    ``suffix`` is a key of ``INDEXES``. Raises ValueError at the first entry that is not in order, and at the end for a
    size that is not a multiple of the size of an entry.
    """
    names, layout, (first, second) = INDEXES[suffix]
    low, low_second = 0, 0
    size, number, zeros = layout.size, 0, 0
    while piece := file.read(size * _ENTRIES):
        whole = len(piece) // size * size
        for values in layout.iter_unpack(piece[:whole]):
            one, two = values[first], values[second]
            if not (one or two or any(values)):
                zeros += 1
            elif zeros > (not (low or low_second)):
                raise ValueError(f"entry {number} at byte {number * size} follows {zeros} entries of zeros")
            elif one < low or two < low_second:
                at, least = (first, low) if one < low else (second, low_second)
                what = f"{names[at]} {values[at]}, at least {least} expected"
                raise ValueError(f"entry {number} at byte {number * size} is not in order: {what}")
            else:
                yield from [(0,) * len(values)] * zeros  # one, the first entry of a time index
                yield values
                low, low_second, zeros = one, two, 0
            number += 1
        if whole < len(piece):
            raise ValueError(f"{number * size + len(piece) - whole} bytes are not a multiple of {size}")


def read_file(file: BinaryIO, most: int = 64 << 20) -> bytes:
    """Return the bytes of a snapshot or checkpoint. Raises ValueError for more than ``most``.

    64 MiB are enough for 250,000 partitions with the longest topic names.
    """
    data = bytearray()
    while piece := file.read(1 << 20):
        data += piece
        if len(data) > most:
            raise ValueError(f"more than {most} bytes, the maximum of a snapshot or checkpoint")
    return bytes(data)


def read_snapshot(data: bytes) -> list[tuple[int, ...]]:
    """Return the fields ``PRODUCER`` of each producer. Raises ValueError for a damaged snapshot or an unknown version."""
    if len(data) < _SNAPSHOT.size:
        raise ValueError(f"{len(data)} bytes are too few for a snapshot")
    version, stored, count = _SNAPSHOT.unpack_from(data)
    if version != 1:
        raise ValueError(f"unknown snapshot version {version}; expected 1")
    if stored != (actual := checksum()(data[_SUMMED_FROM:])):
        raise ValueError(f"checksum mismatch: stored {stored:#010x}, computed {actual:#010x}")
    entries = data[_SNAPSHOT.size :]
    if len(entries) != count * _PRODUCER.size:
        raise ValueError(f"{len(entries)} bytes are not {count} entries of {_PRODUCER.size} bytes")
    return list(_PRODUCER.iter_unpack(entries))


def read_checkpoint(text: str, *, epochs: bool = False) -> list[tuple[str, int, int]]:
    """Return topic, partition and offset of each entry of a checkpoint file. Raises ValueError for a damaged one.

    Line 1 is the format version, line 2 the number of entries, each other line an entry. With ``epochs``, for the file
    ``leader-epoch-checkpoint``, an entry is an empty text, a leader epoch and its start offset.
    """
    pattern, what = (_EPOCH, "leader epoch and offset") if epochs else (_CHECKPOINT, "topic, partition and offset")
    if not text:
        return []
    *lines, rest = text.replace("\r\n", "\n").split("\n")
    if rest:
        raise ValueError(f"line {len(lines) + 1}, {_short(rest)}, does not end with a newline")
    if lines[0] != _FORMAT_VERSION:
        raise ValueError(f"line 1 is {_short(lines[0])}; expected the format version {_FORMAT_VERSION}")
    if len(lines) < 2 or not re.fullmatch(r"[0-9]{1,9}", lines[1]):
        raise ValueError(
            f"line 2 is {_short(lines[1]) if len(lines) > 1 else 'missing'}; expected the number of entries"
        )
    count, entries = int(lines[1]), lines[2:]
    if len(entries) != count:
        raise ValueError(f"line 2 declares {count} entries, but there are {len(entries)}")
    found: dict[tuple[str, int], int] = {}
    for number, line in enumerate(entries, 3):
        match = pattern.fullmatch(line)
        if match is None or int(match[2]) >= 1 << 31 or int(match[3]) >= 1 << 63:
            raise ValueError(f"line {number} is {_short(line)}; expected {what}")
        if (match[1], int(match[2])) in found:
            name = f"{match[1]}-{match[2]}" if match[1] else f"epoch {match[2]}"
            raise ValueError(f"line {number}: {name} is listed twice")
        found[match[1], int(match[2])] = int(match[3])
    return [(*key, offset) for key, offset in found.items()]


def _short(line: str) -> str:
    return repr(line if len(line) <= 40 else f"{line[:39]}…")
