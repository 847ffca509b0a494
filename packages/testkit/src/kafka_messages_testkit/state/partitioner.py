"""Partition of a record without one, as Kafka's producers choose it."""

from __future__ import annotations

from .topics import Topic

_MASK = 0xFFFFFFFF
_FACTOR = 0x5BD1E995


def choose_partition(topic: Topic, key: bytes | None) -> int:
    """Return the partition of a key (``BuiltInPartitioner.partitionForKey``); without a key the next in turn."""
    count = len(topic.partitions)
    if key is not None:
        return (murmur2(key) & 0x7FFFFFFF) % count
    topic.next_partition += 1
    return (topic.next_partition - 1) % count


def murmur2(data: bytes) -> int:
    """Return the unsigned MurmurHash2 of ``data``, as Kafka's ``Utils.murmur2``."""
    value = 0x9747B28C ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        part = int.from_bytes(data[at : at + 4], "little") * _FACTOR & _MASK
        value = (value * _FACTOR & _MASK) ^ ((part ^ part >> 24) * _FACTOR & _MASK)
    if rest := data[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * _FACTOR & _MASK
    value = (value ^ value >> 13) * _FACTOR & _MASK
    return value ^ value >> 15
