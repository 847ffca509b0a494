"""Indexes, producer snapshots and checkpoint files beside segments."""

from __future__ import annotations

import re
from io import BytesIO
from struct import pack

import pytest
from kafka_messages import ProducerSnapshot
from kafka_records.crc import checksum
from kafka_records.index_files import INDEXES, PRODUCER, read_checkpoint, read_index, read_snapshot

TIMES = b"".join(pack(">qi", 1000 * at, at) for at in range(1, 10_001))


def test_entries_of_indexes_are_read_without_the_zeros_of_the_active_segment() -> None:
    for fill in (0, 1, 5000):
        data = pack(">iiii", 4, 70, 9, 140) + bytes(8 * fill)
        assert list(read_index(BytesIO(data), ".index")) == [(4, 70), (9, 140)]
    assert list(read_index(BytesIO(TIMES), ".timeindex"))[-1] == (10_000_000, 10_000)
    assert list(read_index(BytesIO(pack(">hqqqq", 0, 7, 2, 5, 6)), ".txnindex")) == [(0, 7, 2, 5, 6)]
    assert list(read_index(BytesIO(bytes(12) + pack(">qi", 9, 1)), ".timeindex")) == [(0, 0), (9, 1)]
    for suffix in INDEXES:
        assert list(read_index(BytesIO(b""), suffix)) == list(read_index(BytesIO(bytes(34 * 12 * 8)), suffix)) == []


@pytest.mark.parametrize(
    ("data", "suffix", "entries", "message"),
    [
        (TIMES[:-1], ".timeindex", 9999, "119999 bytes are not a multiple of 12"),
        (
            TIMES[:24] + TIMES[:12],
            ".timeindex",
            2,
            "entry 2 at byte 24 is not in order: timestamp 1000, at least 2000 expected",
        ),
        (
            pack(">iiii", 4, 70, 9, 60),
            ".index",
            1,
            "entry 1 at byte 8 is not in order: position 60, at least 70 expected",
        ),
        (pack(">ii", -4, 70), ".index", 0, "entry 0 at byte 0 is not in order: offset -4, at least 0 expected"),
        (
            pack(">ii", 4, 70) + bytes(16) + pack(">ii", 9, 80),
            ".index",
            1,
            "entry 3 at byte 24 follows 2 entries of zeros",
        ),
        (bytes(24) + pack(">qi", 9, 1), ".timeindex", 0, "entry 2 at byte 24 follows 2 entries of zeros"),
        (
            pack(">hqqqq", 0, 1, 2, 9, 9) + pack(">hqqqq", 0, 1, 2, 8, 9),
            ".txnindex",
            1,
            "entry 1 at byte 34 is not in order: last_offset 8, at least 9 expected",
        ),
    ],
)
def test_damaged_index_yields_the_entries_before_the_damage(
    data: bytes, suffix: str, entries: int, message: str
) -> None:
    found = read_index(BytesIO(data), suffix)
    assert len([next(found) for _ in range(entries)]) == entries
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        next(found)


def snapshot(entries: list[ProducerSnapshot.ProducerEntry], version: int = 1) -> bytes:
    body = ProducerSnapshot(producer_entries=entries).write(1)[4:]
    return pack(">hI", version, checksum()(body)) + body


def test_snapshot_is_read_as_the_message() -> None:
    entry = ProducerSnapshot.ProducerEntry(
        producer_id=7,
        epoch=1,
        last_sequence=2,
        last_offset=3,
        offset_delta=4,
        timestamp=5,
        coordinator_epoch=6,
        current_txn_first_offset=-1,
    )
    assert read_snapshot(snapshot([])) == []
    assert len(PRODUCER) == 8
    assert read_snapshot(snapshot([entry, entry])) == [(7, 1, 2, 3, 4, 5, 6, -1)] * 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are too few for a snapshot"),
        (snapshot([])[:-1], "9 bytes are too few for a snapshot"),
        (snapshot([], 2), "unknown snapshot version 2; expected 1"),
        (snapshot([]) + b"x", "checksum mismatch: stored 0x48674bc7, computed 0xbe337af7"),
        (pack(">hIi", 1, checksum()(pack(">i", 1)), 1), "0 bytes are not 1 entries of 46 bytes"),
    ],
)
def test_damaged_snapshot_raises_value_error(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read_snapshot(data)


def test_checkpoint_entries_are_parsed() -> None:
    assert read_checkpoint("0\n2\norders 1 30\n__consumer_offsets 0 9223372036854775807\n") == [
        ("orders", 1, 30),
        ("__consumer_offsets", 0, (1 << 63) - 1),
    ]
    assert read_checkpoint("0\r\n1\r\norders 1 30\r\n") == [("orders", 1, 30)]
    assert read_checkpoint("0\n0\n") == read_checkpoint("") == []
    assert read_checkpoint("0\n2\n0 0\n7 43913\n", epochs=True) == [("", 0, 0), ("", 7, 43_913)]
    with pytest.raises(ValueError, match=r"^line 3 is 'orders 1 30'; expected leader epoch and offset$"):
        read_checkpoint("0\n1\norders 1 30\n", epochs=True)
    with pytest.raises(ValueError, match=r"^line 4: epoch 7 is listed twice$"):
        read_checkpoint("0\n2\n7 1\n7 2\n", epochs=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n0\n", "line 1 is '1'; expected the format version 0"),
        ("0\n", "line 2 is missing; expected the number of entries"),
        ("0\n-1\n", "line 2 is '-1'; expected the number of entries"),
        ("0\n2\norders 0 1\n", "line 2 declares 2 entries, but there are 1"),
        ("0\n1\norders 0 12", "line 3, 'orders 0 12', does not end with a newline"),
        ("0\n1\norders 0\n", "line 3 is 'orders 0'; expected topic, partition and offset"),
        ("0\n1\norders 0 -1\n", "line 3 is 'orders 0 -1'; expected topic, partition and offset"),
        ("0\n1\norders 2147483648 1\n", "line 3 is 'orders 2147483648 1'; expected topic, partition and offset"),
        (
            "0\n1\no 0 9223372036854775808\n",
            "line 3 is 'o 0 9223372036854775808'; expected topic, partition and offset",
        ),
        ("0\n2\no 0 1\no 0 2\n", "line 4: o-0 is listed twice"),
        ("0\n\u0661\no 0 1\n", "line 2 is '\u0661'; expected the number of entries"),
        ("0\n1\no 0 \u0661\n", "line 3 is 'o 0 \u0661'; expected topic, partition and offset"),
        ("\0" * 50, f"line 1, {chr(92).join([chr(39)] + ['x00'] * 39)}…', does not end with a newline"),
    ],
)
def test_damaged_checkpoint_text_raises_value_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read_checkpoint(text)
