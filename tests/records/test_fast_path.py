"""The fast path for small uncompressed batches returns the records and errors of the regular path."""

from __future__ import annotations

import pytest
from kafka_records import BatchDecodeError, MissingCodecError, Record, encode, read_batches, records, write_batch

HEADERS = (("trace", b"x"), ("", None))
FIRST = write_batch([Record(7, 1_700_000_000_000, b"k", None, HEADERS), Record(9, 1_699_999_999_999)])
DATA = FIRST + write_batch([Record(11, -1, None, b"v" * 70)])


def outcome(data: bytes, verify: bool, most: int, by_batches: bool) -> tuple[object, ...]:
    """Return records or error, and the reader's position; ``by_batches`` reads without the fast path."""
    reader = read_batches(data, verify=verify, max_batch_bytes=most)
    found: list[Record] = []
    try:
        if by_batches:
            for batch in reader:
                found += [] if batch.is_control else batch.records()
        else:
            found += reader.records()
    except MissingCodecError as error:
        return type(error), str(error), reader.position
    except BatchDecodeError as error:
        return type(error), str(error), error.path, error.offset, reader.position
    return found, reader.position, reader.incomplete


@pytest.mark.parametrize("verify", [True, False])
def test_fast_path_equals_regular_path_for_every_damaged_byte(verify: bool) -> None:
    seen = set()
    for place in range(len(FIRST)):
        for value in {0, 1, 2, 8, 32, 127, 128, 255, DATA[place] ^ 1, DATA[place] ^ 128}:
            data = DATA[:place] + bytes([value]) + DATA[place + 1 :]
            short = outcome(data, verify, 1 << 20, by_batches=False)
            assert short == outcome(data, verify, 1 << 20, by_batches=True)
            seen.add(short[0] if isinstance(short[0], type) else None)
    assert len(seen) > 1


def test_fast_path_equals_regular_path_for_every_truncation_and_limit() -> None:
    for size in range(len(DATA) + 1):
        short = outcome(DATA[:size], True, 1 << 20, by_batches=False)
        assert short == outcome(DATA[:size], True, 1 << 20, by_batches=True)
    for most in (60, 61, len(FIRST) - 1, len(FIRST), len(FIRST) + 1, 4095, 4096):
        assert outcome(DATA, True, most, by_batches=False) == outcome(DATA, True, most, by_batches=True)


@pytest.mark.parametrize("size", range(4080 - 61, 4100 - 61))
def test_fast_path_equals_regular_path_around_its_size_limit(size: int) -> None:
    data = write_batch([Record(timestamp=1, value=bytes(size))])
    for most in (len(data) - 1, len(data), 1 << 20):
        assert outcome(data, True, most, by_batches=False) == outcome(data, True, most, by_batches=True)


def test_header_key_cache_is_bounded() -> None:
    wanted = [Record(number, 1, headers=((f"{number}" * (1 + number % 50), None),)) for number in range(3000)]
    assert list(read_batches(write_batch(wanted)).records()) == wanted
    assert 0 < len(records._NAMES) <= 1024
    assert 0 < len(encode._KEYS) <= 1024
    assert max(map(len, records._NAMES)) < 64
    assert max(map(len, encode._KEYS)) < 64
