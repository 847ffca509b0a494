"""Batches as Python objects: round trips, damage, invalid arguments, and comparison with ``segments``."""

from __future__ import annotations

import gzip
import io
import random
import re
import sys
import zlib
from array import array
from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast

import pytest
from kafka_records import (
    BatchDecodeError,
    BatchEncodeError,
    ChecksumError,
    ControlRecord,
    MissingCodecError,
    Record,
    crc,
    encode,
    engines,
    read_batches,
    read_headers,
    with_base_offset,
    write_batch,
    write_control_batch,
)

RECORDS = [
    Record(timestamp=1_700_000_000_000, key=b"one", value=b"1" * 100, headers=(("trace", b"\0\1"), ("none", None))),
    Record(timestamp=1_699_999_999_000, key=b"gone", value=None),
    Record(timestamp=1_700_000_000_007, value=b""),
]
PLAIN = [record._replace(headers=()) for record in RECORDS]
HUGE = 10**5000
"""An integer with more digits than Python converts to a string."""
PACKED = [("gzip", None), ("snappy", "cramjam"), ("lz4", "cramjam"), ("zstd", "zstandard")]
FORMATS = [
    (magic, *codec) for magic in (2, 1, 0) for codec in [("none", None), *PACKED] if magic == 2 or codec[0] != "zstd"
]


PLACED = re.compile(r"RecordBatch( v[012])?: batches\[0\](\.records\[\d+\])?: batch at byte 0: .+")
"""Pattern of error messages: format and record if known, batch, position, reason."""


def sample_batch(magic: int, compression: str, package: str | None) -> bytes:
    """Return a batch; skip the test if ``package``, which the compression needs, is not installed."""
    if package:
        pytest.importorskip(package, reason="the extra `compression` is not installed")
    return write_batch(RECORDS if magic == 2 else PLAIN, base_offset=7, compression=compression, magic=magic)


def all_records(data: bytes, **arguments: Any) -> list[Record]:
    return [record for batch in read_batches(data, **arguments) for record in batch.records()]


@pytest.mark.parametrize(("magic", "compression", "package"), FORMATS)
def test_written_batches_are_read_back(magic: int, compression: str, package: str | None) -> None:
    found = all_records(sample_batch(magic, compression, package))
    some = RECORDS if magic == 2 else PLAIN
    times = [record.timestamp if magic else -1 for record in some]
    numbered = enumerate(zip(some, times, strict=True), 7)
    assert found == [record._replace(offset=offset, timestamp=time) for offset, (record, time) in numbered]


@pytest.mark.parametrize(("magic", "compression", "package"), FORMATS)
def test_damaged_bytes_raise_only_batch_decode_error(magic: int, compression: str, package: str | None) -> None:
    data = sample_batch(magic, compression, package)
    size = next(read_headers(data)).size
    for cut in range(size):
        reader = read_batches(data[:cut])
        assert (list(reader), reader.incomplete) == ([], cut)
    outside_checksum = {*range(12), *(range(12, 16) if magic == 2 else ())}
    for place in range(size):
        for bit in range(8):
            changed = bytearray(data[:size])
            changed[place] ^= 1 << bit
            for verify in (True, False):
                refused: BatchDecodeError | None = None
                try:
                    found = all_records(bytes(changed), verify=verify)
                except MissingCodecError:
                    continue  # the changed codec is not installed
                except BatchDecodeError as error:
                    refused = error
                else:
                    assert not verify or place in outside_checksum or found == []
                assert refused is None or (refused.offset == 0 and PLACED.match(str(refused)))


def test_partial_batch_at_the_end_is_reported_as_incomplete() -> None:
    one = write_batch(RECORDS)
    reader = read_batches(one + one[:70])
    assert len(list(reader.records())) == 3
    assert (reader.position, reader.incomplete) == (len(one), 70)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_memoryviews_of_multibyte_items_are_written_as_bytes(magic: int) -> None:
    wide = array("i", [1, 2])
    view: Any = memoryview(wide)
    headers = (("h", view),) if magic == 2 else ()
    (batch,) = read_batches(write_batch([Record(key=view, value=view, headers=headers)], magic=magic))
    (record,) = batch.records()
    data = wide.tobytes()
    assert (record.key, record.value, record.headers) == (data, data, (("h", data),) if headers else ())
    with pytest.raises(BatchEncodeError) as caught:
        write_batch([Record(value=wide)], magic=magic)  # type: ignore[arg-type]  # rejected
    assert str(caught.value) == "records[0].value: expected bytes or None, got array"


@pytest.mark.parametrize(("data", "kind"), [("x", "str"), (5, "int"), (None, "NoneType"), ([1], "list")])
def test_non_bytes_are_rejected(data: Any, kind: str) -> None:
    for read in (read_batches, read_headers):
        with pytest.raises(TypeError) as caught:
            read(data)
        assert str(caught.value) == f"data must be bytes-like, not {kind}"


def test_batch_header_fields_are_read() -> None:
    data = write_batch(
        RECORDS,
        base_offset=40,
        producer_id=9,
        producer_epoch=2,
        base_sequence=5,
        is_transactional=True,
        leader_epoch=3,
        log_append_time=1_700_000_000_500,
    )
    (batch,) = read_headers(memoryview(data[:61] + bytes(len(data) - 61)))
    assert (batch.base_offset, batch.last_offset, batch.count, batch.magic, batch.size) == (40, 42, 3, 2, len(data))
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.leader_epoch) == (9, 2, 5, 3)
    assert (batch.is_transactional, batch.is_control, batch.delete_horizon) == (True, False, None)
    assert (batch.compression, batch.timestamp_type, batch.max_timestamp) == (
        "none",
        "LogAppendTime",
        1_700_000_000_500,
    )
    assert {record.timestamp for record in all_records(data)} == {1_700_000_000_500}
    assert repr(batch) == f"<Batch 0 at byte 0: format 2, {len(data)} bytes, offsets 40 to 42, none>"


@pytest.mark.parametrize(("magic", "horizon"), [(2, 1_700_000_000_000), (2, None), (1, None), (0, None)])
def test_only_batches_with_the_flag_have_a_delete_horizon(magic: int, horizon: int | None) -> None:
    (batch,) = read_batches(write_batch(PLAIN[:1], magic=magic, delete_horizon=horizon))
    assert batch.delete_horizon == horizon


def test_tuple_is_no_record() -> None:
    fields: Any = (-1, -1, None, None, ())
    with pytest.raises(BatchEncodeError) as caught:
        write_batch([fields])
    assert str(caught.value) == "records[0]: expected a Record, got tuple"


def test_reader_has_no_incomplete_batch_before_the_end() -> None:
    reader = read_batches(write_batch(PLAIN)[:-1])
    assert reader.incomplete == 0
    assert list(reader) == []
    assert reader.incomplete == len(write_batch(PLAIN)) - 1


def test_base_offset_is_changed_without_a_new_checksum() -> None:
    data = write_batch(RECORDS)
    moved = with_base_offset(data, 1000, leader_epoch=4)
    assert moved == write_batch(RECORDS, base_offset=1000, leader_epoch=4)
    assert with_base_offset(moved, 0) == write_batch(RECORDS, leader_epoch=4)
    with pytest.raises(
        BatchDecodeError, match=f"^RecordBatch v2: expected one batch of {len(data)} bytes, got 99 bytes$"
    ):
        with_base_offset(data[:99], 0)
    with pytest.raises(BatchDecodeError, match=r"^RecordBatch: not a batch of format 2 \(60 bytes\)$"):
        with_base_offset(data[:60], 0)
    with pytest.raises(BatchEncodeError, match=r"^leader_epoch: expected int32 of at least -1, got -2$"):
        with_base_offset(data, 0, leader_epoch=-2)
    with pytest.raises(BatchEncodeError, match=r"^offset: expected int64 of at least 0, got -1$"):
        with_base_offset(data, -1)


def test_control_records_are_read() -> None:
    data = write_control_batch("COMMIT", offset=8, timestamp=6, producer_id=1, producer_epoch=0, coordinator_epoch=5)
    (batch,) = read_batches(data)
    assert batch.is_control
    assert batch.control_records() == [ControlRecord(8, 6, "COMMIT", 1, 5, bytes((0, 0, 0, 0, 0, 5)))]
    assert list(read_batches(data).records()) == []
    assert next(read_batches(write_batch(RECORDS))).control_records() == []


def test_wrong_checksum_error_names_the_batch() -> None:
    one = write_batch([Record(value=b"x")])
    with pytest.raises(ChecksumError) as caught:
        list(read_batches(one + one[:-2] + b"y" + one[-1:]))
    assert (caught.value.path, caught.value.offset, caught.value.magic) == ("batches[1]", len(one), 2)
    stored = int.from_bytes(one[17:21], "big")
    actual = crc.plain_crc32c(one[21:-2] + b"y" + one[-1:])
    expected = f"RecordBatch v2: batches[1]: batch at byte {len(one)}: checksum mismatch: stored {stored:#010x}"
    assert str(caught.value) == f"{expected}, computed {actual:#010x} over {len(one)} bytes"


@pytest.mark.parametrize(("compression", "package"), PACKED)
@pytest.mark.parametrize("magic", [2, 1])
def test_decompression_bomb_raises(compression: str, package: str | None, magic: int) -> None:
    if package:
        pytest.importorskip(package, reason="the extra `compression` is not installed")
    if magic == 1 and compression == "zstd":
        return
    data = write_batch([Record(value=bytes(5_000_000))], compression=compression, magic=magic)
    (batch,) = read_batches(data, max_batch_bytes=1_000_000)
    with pytest.raises(BatchDecodeError) as caught:
        batch.records()
    bound = f"the {compression} data decompresses to more than 1000000 bytes (max_batch_bytes)"
    assert str(caught.value) == f"RecordBatch v{magic}: batches[0]: batch at byte 0: {bound}"


def old_message(magic: int, codec: int, offset: int, value: bytes) -> bytes:
    return encode._message(magic, codec, offset, (0, 0, None, value, ()), None)


def changed(place: int, length: int) -> bytes:
    """Return a message of format 1 with a valid checksum and another length at ``place``: 26 for the key, 30 the value."""
    message = old_message(1, 0, 0, b"v")
    message = message[:place] + length.to_bytes(4, "big") + message[place + 4 :]
    return message[:12] + zlib.crc32(message[16:]).to_bytes(4, "big") + message[16:]


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (b"", "the compressed message has no inner messages"),
        (old_message(1, 0, 0, b"v") + b"12345", "inner message 1 has only 5 bytes"),
        (old_message(1, 0, 0, b"v")[:8] + bytes(40), "inner message 0 has an invalid length of 0 bytes"),
        (old_message(0, 0, 0, bytes(9)), "inner message 0 has format 0, the outer message 1"),
        (old_message(1, 1, 0, b"v"), "inner message 0 is compressed, but only the outer message may be"),
        (old_message(1, 0, 3, b"v"), "the offset 2 of the compressed message is below the last relative offset, 3"),
        (old_message(1, 0, 0, b"v")[:-1] + b"w", "checksum mismatch of inner message 0"),
        (changed(30, 3), "the lengths of key and value do not match the message"),
        (changed(26, 7), "the lengths of key and value do not match the message"),
    ],
)
def test_invalid_inner_messages_raise(inner: bytes, text: str) -> None:
    (batch,) = read_batches(old_message(1, 1, 2, gzip.compress(inner)))
    with pytest.raises(BatchDecodeError) as caught:
        batch.records()
    assert str(caught.value) == f"RecordBatch v1: batches[0]: batch at byte 0: {text}"


def test_compressed_message_with_wrong_lengths_raises() -> None:
    data = bytearray(old_message(1, 1, 0, gzip.compress(old_message(1, 0, 0, b"v"))))
    data[33] += 1  # the length of the value
    (batch,) = read_batches(bytes(data), verify=False)
    for read in (batch.records, batch.decompressed):
        with pytest.raises(BatchDecodeError) as caught:
            read()
        assert str(caught.value) == (
            "RecordBatch v1: batches[0]: batch at byte 0: "
            "the lengths of key and value do not match the compressed message"
        )


def test_outer_offset_0_leaves_absolute_inner_offsets() -> None:
    """As some releases of librdkafka sent them in format 1."""
    inner = old_message(1, 0, 41, b"a") + old_message(1, 0, 42, b"b")
    for outer, offsets in ((0, [41, 42]), (50, [49, 50])):
        data = old_message(1, 1, outer, gzip.compress(inner))
        assert [record.offset for record in all_records(data)] == offsets


@pytest.mark.parametrize("base", [1 << 61, -(1 << 61), (1 << 62) + 1])
def test_timestamps_beyond_int64_wrap_around(base: int) -> None:
    """As sums of Java's ``long``."""
    far = (1 << 63) - 1 if base > 0 else -(1 << 63)
    data = write_batch([Record(timestamp=0), Record(timestamp=far)])
    data = data[:27] + base.to_bytes(8, "big", signed=True) + data[35:]
    wrapped = base + far - (1 << 64 if base > 0 else -1 << 64)
    assert [record.timestamp for record in all_records(data, verify=False)] == [base, wrapped]
    assert [record.timestamp for record in read_batches(data, verify=False).records()] == [base, wrapped]


def test_missing_codec_raises_missing_codec_error() -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    text = r"^lz4 needs the package cramjam, which is not installed: pip install cramjam$"
    with pytest.raises(MissingCodecError, match=text):
        engines.Installed(missing).lz4_compress(b"x")


def test_plain_python_checksum_writes_equal_batches(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert crc.plain_crc32c(b"123456789") == 0xE3069283
    data = write_batch(RECORDS)
    for name in ("crc32c", "google_crc32c"):
        monkeypatch.setitem(sys.modules, name, cast(ModuleType, None))  # as if it were not installed
    request.getfixturevalue("without_core")
    assert crc.checksum() is crc.plain_crc32c
    assert write_batch(RECORDS) == data
    assert len(all_records(data)) == 3


TOO_FAR = "is too far from the first offset, 0: the difference must fit int32"


@pytest.mark.parametrize(
    ("records", "arguments", "text"),
    [
        ([], {}, "records: a batch needs at least one record"),
        (
            [Record(), Record(key="k")],  # type: ignore[arg-type]
            {},
            "records[1].key: expected bytes or None, got str",
        ),
        ([Record(key="")], {}, "records[0].key: expected bytes or None, got str"),  # type: ignore[arg-type]  # rejected
        ([Record(value=())], {}, "records[0].value: expected bytes or None, got tuple"),  # type: ignore[arg-type]  # rejected
        ([Record(value=5)], {}, "records[0].value: expected bytes or None, got int"),  # type: ignore[arg-type]  # rejected
        ([Record(timestamp=1.5)], {}, "records[0].timestamp: expected int64, got 1.5"),  # type: ignore[arg-type]  # rejected
        ([Record(), Record(timestamp=-1 << 70)], {}, f"records[1].timestamp: expected int64, got {-1 << 70}"),
        ([Record(timestamp=1 << 63)], {}, f"records[0].timestamp: expected int64, got {1 << 63}"),
        ([Record(headers=5)], {}, "records[0].headers: expected a tuple of pairs, got int"),  # type: ignore[arg-type]  # rejected
        ([Record(headers=((None, b""),))], {}, "records[0].headers[0]: expected a str or bytes key, got NoneType"),  # type: ignore[arg-type]  # rejected
        ([Record(headers=(("k", "v"),))], {}, "records[0].headers[0]: expected bytes or None, got str"),  # type: ignore[arg-type]  # rejected
        ([Record(headers=("key",))], {}, "records[0].headers[0]: expected a pair of key and value, got 'key'"),  # type: ignore[arg-type]
        ([Record(offset=1), Record(), Record(offset=2)], {}, "records[2].offset: expected int64 of at least 3, got 2"),
        ([Record()], {"base_offset": -5}, "records[0].offset: expected int64 of at least 0, got -5"),
        ([Record(offset=1 << 63)], {}, f"records[0].offset: expected int64 of at least 0, got {1 << 63}"),
        ([Record(offset=5), Record(offset=5)], {}, "records[1].offset: expected int64 of at least 6, got 5"),
        ([(0, 0, b"", b"", ())], {}, "records[0]: expected a Record, got tuple"),
        (RECORDS, {"magic": 1}, "headers: not supported by format 1"),
        (PLAIN, {"magic": 3}, "magic: unknown format 3"),
        (PLAIN, {"magic": 1, "compression": "zstd"}, "compression: zstd is not supported by format 1 (KIP-110)"),
        (
            PLAIN,
            {"compression": "brotli"},
            "compression: expected 'none', 'gzip', 'snappy', 'lz4' or 'zstd', got 'brotli'",
        ),
        (
            PLAIN,
            {"magic": 1, "producer_id": 7},
            "magic: producers, transactions, leader epochs and delete horizons require format 2",
        ),
        (PLAIN, {"magic": 0, "log_append_time": 7}, "log_append_time: not supported by format 0"),
        (PLAIN, {"producer_epoch": 1 << 15}, "producer_epoch: expected int16, got 32768"),
        (PLAIN, {"producer_id": "7"}, "producer_id: expected int64, got '7'"),
        (PLAIN, {"leader_epoch": None}, "leader_epoch: expected int32, got None"),
        (PLAIN, {"base_sequence": 1 << 40}, f"base_sequence: expected int32, got {1 << 40}"),
        (PLAIN, {"log_append_time": 1.5}, "log_append_time: expected int64, got 1.5"),
        (PLAIN, {"delete_horizon": "1"}, "delete_horizon: expected int64, got '1'"),
        (PLAIN, {"base_offset": "1"}, "base_offset: expected int64, got '1'"),
        (PLAIN, {"base_offset": None}, "base_offset: expected int64, got None"),
        (
            PLAIN,
            {"compression": ["gzip"]},
            "compression: expected 'none', 'gzip', 'snappy', 'lz4' or 'zstd', got ['gzip']",
        ),
        (PLAIN, {"compression": 1}, "compression: expected 'none', 'gzip', 'snappy', 'lz4' or 'zstd', got 1"),
        ([Record(offset="1")], {}, "records[0].offset: expected int64, got '1'"),  # type: ignore[arg-type]  # rejected
        ([Record(offset=HUGE)], {}, "records[0].offset: expected int64 of at least 0, got an unprintable int"),
        ([Record(timestamp=HUGE)], {}, "records[0].timestamp: expected int64, got an unprintable int"),
        (
            [Record(), Record(headers=(("k", b""), ("\ud800", b"")))],
            {},
            "records[1].headers[1]: the key has a surrogate outside U+DC80 to U+DCFF: '\\ud800'",
        ),
        ([Record(offset=0), Record(offset=1 << 31)], {}, f"records[1].offset: {1 << 31} {TOO_FAR}"),
    ],
)
def test_invalid_records_and_arguments_raise(records: list[Record], arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(BatchEncodeError) as caught:
        write_batch(records, **arguments)
    assert str(caught.value) == text


def test_compression_of_python_none_is_the_default() -> None:
    assert write_batch(PLAIN, compression=None) == write_batch(PLAIN)
    assert write_batch(PLAIN, compression=None, magic=1) == write_batch(PLAIN, magic=1)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"offset": "1"}, "offset: expected int64, got '1'"),
        ({"producer_id": 1 << 63}, f"producer_id: expected int64, got {1 << 63}"),
        ({"coordinator_epoch": None}, "coordinator_epoch: expected int32, got None"),
        ({"value": b""}, "value: COMMIT takes coordinator_epoch, not value"),
        ({"control_type": "LEADER_CHANGE"}, "value: LEADER_CHANGE requires bytes, got NoneType"),
        ({"control_type": "SNAPSHOT_HEADER", "value": "x"}, "value: SNAPSHOT_HEADER requires bytes, got str"),
        (
            {"control_type": "UNKNOWN"},
            "control_type: expected 'ABORT', 'COMMIT', 'LEADER_CHANGE', 'SNAPSHOT_HEADER', 'SNAPSHOT_FOOTER', "
            "'KRAFT_VERSION' or 'KRAFT_VOTERS', got 'UNKNOWN'",
        ),
    ],
)
def test_invalid_control_batches_raise(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(BatchEncodeError) as caught:
        write_control_batch(**{"control_type": "COMMIT", **arguments})
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("offset", "epoch", "text"),
    [
        ("1", None, "offset: expected int64 of at least 0, got '1'"),
        (1 << 63, None, f"offset: expected int64 of at least 0, got {1 << 63}"),
        (1, "2", "leader_epoch: expected int32 of at least -1, got '2'"),
    ],
)
def test_invalid_base_offsets_raise(offset: Any, epoch: Any, text: str) -> None:
    with pytest.raises(BatchEncodeError) as caught:
        with_base_offset(write_batch(PLAIN), offset, leader_epoch=epoch)
    assert str(caught.value) == text


def random_records(seed: int) -> Iterator[Record]:
    """Yield records with nulls, long fields, many headers, and gaps between offsets."""
    random_ = random.Random(seed)

    def maybe(most: int) -> bytes | None:
        return None if random_.random() < 0.2 else random_.randbytes(random_.randrange(most))

    offset = random_.choice([0, 1 << 40])
    for _ in range(random_.randrange(1, 40)):
        offset += random_.choice([1, 1, 1, 70, 9000])
        headers = tuple((f"k{number}é", maybe(9)) for number in range(random_.choice([0, 0, 1, 3, 80])))
        yield Record(
            offset, random_.choice([-1, 0, 1 << 41, random_.randrange(1 << 47)]), maybe(99), maybe(300), headers
        )


@pytest.mark.parametrize("seed", range(60))
def test_segments_package_agrees_with_record_objects_on_random_batches(seed: int) -> None:
    pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    from kafka_records.segments import read_segments, write_batches

    magic, compression, package = FORMATS[seed % len(FORMATS)]
    if package:
        pytest.importorskip(package, reason="the extra `compression` is not installed")
    records = [each if magic == 2 else each._replace(headers=()) for each in random_records(seed)]
    rows = [{**record._asdict(), "headers": record.headers} for record in records]
    ours = write_batch(records, compression=compression, magic=magic)
    theirs = write_batches(rows, compression=compression, magic=magic)
    if compression in ("none", "gzip"):
        assert ours == theirs
    expected = [each if magic else each._replace(timestamp=-1) for each in records]
    assert all_records(theirs) == expected
    table = [row for batch in read_segments(io.BytesIO(ours), headers=True) for row in batch.to_pylist()]
    found = [
        (row["offset"], row["key"], row["value"], tuple((h["key"], h["value"]) for h in row["headers"] or ()))
        for row in table
    ]
    assert found == [(each.offset, each.key, each.value, each.headers) for each in expected]
