"""Checksums, compression, search for batches, topics in paths, and errors of ``write_batches``."""

from __future__ import annotations

import gzip
import random
import struct
import zlib
from contextlib import suppress
from datetime import datetime
from typing import Any
from unittest import mock

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
np = pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

from kafka_records import BatchEncodeError, CompressionError, compression, read_headers
from kafka_records.crc import checksum, plain_crc32c
from kafka_records.format import CODECS
from kafka_records.segments.batch_writer import write_batches, write_control_batch
from kafka_records.segments.compression import DecompressedData, compress, decompress
from kafka_records.segments.frames import PADDING, find_batch
from kafka_records.segments.names import ending_of, topic_of

from tests.support.segments import some_rows

PACKED = range(1, len(CODECS))


def slow_crc32c(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0x82F63B78 * (value & 1)
    return value ^ 0xFFFFFFFF


def test_crc32c_matches_published_examples() -> None:
    """Sources: check value of the CRC catalog, examples in RFC 3720."""
    for data, expected in (
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"", 0),
    ):
        assert checksum()(data) == plain_crc32c(data) == expected


def test_plain_python_crc32c_equals_the_checksum_of_written_batches() -> None:
    data = memoryview(write_batches(some_rows(50, 1), compression="lz4", max_records=7))
    headers = list(read_headers(data))
    assert len(headers) > 7
    position = 0
    for header in headers:
        assert plain_crc32c(data[position + 21 : position + header.size]) == header.crc
        position += header.size


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("size", [0, 1, 31, 32768, 200_001])
def test_compression_round_trips(codec: int, size: int) -> None:
    plain = (b"what repeats can be packed, %d " % size * (size // 20 + 1))[:size]
    for magic in (0, 1, 2):
        packed = memoryview(compress(codec, plain, magic))
        assert bytes(decompress(codec, packed, size, magic)) == plain
        if size:
            with pytest.raises(CompressionError, match=f"decompresses to more than {size - 1} bytes"):
                decompress(codec, packed, size - 1, magic)


@pytest.mark.parametrize("codec", PACKED)
def test_damaged_compressed_data_raises_only_compression_error(codec: int) -> None:
    plain = random.Random(codec).randbytes(300) + bytes(300)
    packed = compress(codec, plain)
    for cut in range(len(packed)):
        with suppress(CompressionError):
            assert len(decompress(codec, memoryview(packed[:cut]), 1000)) < len(plain)
    for place in range(len(packed)):
        changed = bytearray(packed)
        changed[place] ^= 0x55
        with suppress(CompressionError):
            decompress(codec, memoryview(changed), 1000)


def test_gzip_with_many_members_is_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [b"", b"x", bytes(3000), b""] * 200
    data = b"".join(gzip.compress(text) for text in texts)
    given = []

    def member(bits: int) -> Any:
        inner = zlib.decompressobj(bits)

        def decompress_part(some: bytes, most: int) -> bytes:
            given.append(len(some))
            return inner.decompress(some, most)

        spy = mock.Mock(wraps=inner)
        spy.decompress.side_effect = decompress_part
        type(spy).eof = property(lambda _: inner.eof)
        type(spy).unused_data = property(lambda _: inner.unused_data)
        return spy

    monkeypatch.setattr(compression, "zlib", mock.Mock(decompressobj=member, error=zlib.error, crc32=zlib.crc32))
    assert decompress(1, memoryview(data), 1 << 20) == b"".join(texts)
    assert sum(given) < 30 * len(data)
    with pytest.raises(CompressionError, match=r"^the gzip data is truncated$"):
        decompress(1, memoryview(data[:-1]), 1 << 20)


def test_unframed_and_concatenated_snappy_is_decompressed() -> None:
    """Java clients write snappy as framed streams, which may be concatenated; other clients write raw blocks."""
    import pyarrow as pa

    raw = pa.Codec("snappy").compress(b"plain" * 100, asbytes=True)
    assert bytes(decompress(2, memoryview(raw), 1000)) == b"plain" * 100
    framed = compress(2, b"one, ") + compress(2, b"two")
    assert bytes(decompress(2, memoryview(framed), 1000)) == b"one, two"
    with pytest.raises(CompressionError, match="104 bytes of snappy data cannot decompress to 1000000 bytes"):
        decompress(2, memoryview(b"\xc0\x84\x3d" + bytes(101)), 1 << 30)


def test_lz4_header_checksum_of_format_0_is_accepted() -> None:
    """KAFKA-3160: in format 0 the header checksum includes the lz4 magic number. Later formats refuse it, as in Kafka."""
    packed = compress(3, b"text", 0)
    assert packed[:6] == b"\x04\x22\x4d\x18\x60\x40"
    assert (packed[6], compress(3, b"text", 1)[6]) == (0x1A, 0x82)
    assert bytes(decompress(3, memoryview(packed), 100, 0)) == b"text"
    for magic in (1, 2):
        with pytest.raises(CompressionError, match=r"^lz4 header checksum mismatch$"):
            decompress(3, memoryview(packed), 100, magic)


def test_find_batch_returns_every_batch_and_nothing_else() -> None:
    parts = [
        bytes(100),
        write_batches(some_rows(3, 1)),
        b"no batch \x02\x01\x00" * 9,
        write_batches(some_rows(1, 2, headers=False), magic=1),
        write_batches(some_rows(1, 3, headers=False), magic=0),
        write_control_batch("COMMIT"),
        b"\x02" * 70,
    ]
    data = b"".join(parts)
    begins = [sum(map(len, parts[:number])) for number in (1, 3, 4, 5)]
    for start in range(len(data) + 2):
        assert find_batch(data, start) == next((begin for begin in begins if begin >= start), None)
        assert find_batch(memoryview(data)[start:]) == next((b - start for b in begins if b >= start), None)
    assert find_batch(data, max_batch_bytes=30) is None
    assert find_batch(b"") is None


def test_find_batch_gives_up_on_misleading_bytes() -> None:
    header = struct.pack(">qiibIhiqqqhii", 1, (1 << 20) - 12, 0, 2, 0, 1, 0, 0, 0, -1, -1, -1, 1)
    assert find_batch(header * (4 << 14)) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/kafka/orders-0/00000000000000000000.log", ("orders", 0)),
        ("my-topic-12/00000000000000000000.log", ("my-topic", 12)),
        ("a.b_c-7.0123456789abcdef0123456789abcdef-delete/0.log", ("a.b_c", 7)),
        ("t-1.0123456789abcdef0123456789abcdef-future/0.log", ("t", 1)),
        ("C:\\kafka\\orders-3\\0.log", ("orders", 3)),
        ("__cluster_metadata-0/00000000000000000042-0000000003.checkpoint", ("__cluster_metadata", 0)),
        (
            "tier/btopic-5-LWgrMmVrT0a__7a4SasuPA/00000000000000000011-bCqX9U--S-6U8XUM9II25Q.log",
            ("btopic", 5),
        ),
        ("bucket/up-LWgrMmVrT0a__7a4SasuPA/7/00000000000000000011-bCqX9U--S-6U8XUM9II25Q.log", ("up", 7)),
        ("x-1-abcdefghijklmnopqrst-7/00000000000000000000.log", ("x-1-abcdefghijklmnopqrst", 7)),
        ("orders-99999999999/0.log", (None, None)),
        ("orders-\u0663/0.log", (None, None)),
        ("segment.log", (None, None)),
        ("", (None, None)),
    ],
)
def test_topic_and_partition_are_parsed_from_the_path(path: str, expected: tuple[str | None, int | None]) -> None:
    assert topic_of(path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("logs/orders-0.0123456789abcdef0123456789abcdef-delete/0.log", "delete"),
        ("orders-0.0123456789abcdef0123456789abcdef-future/0.log", "future"),
        ("C:\\logs\\orders-0.0123456789abcdef0123456789abcdef-stray\\0.log", "stray"),
        ("logs/orders-0/0.log", None),
        ("logs/orders-delete-0/0.log", None),
        ("logs/orders-0.0123456789abcdef-delete/0.log", None),
        ("orders-0.0123456789abcdef0123456789abcdef-delete", None),
        ("0.log", None),
    ],
)
def test_directory_suffix_is_parsed_from_the_path(path: str, expected: str | None) -> None:
    assert ending_of(path) == expected


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"compression": "brotli"}, "compression: expected 'none', 'gzip', 'snappy', 'lz4' or 'zstd', got 'brotli'"),
        ({"compression": "zstd", "magic": 1}, "compression: zstd is not supported by format 1 (KIP-110)"),
        ({"magic": 3}, "magic: unknown format 3"),
        (
            {"magic": 1, "producer_id": 5},
            "magic: producers, transactions, leader epochs and delete horizons require format 2",
        ),
        ({"magic": 1}, "headers: not supported by format 1"),
        ({"timestamp_type": 1, "magic": 0}, "timestamp_type: expected 0 or 1 (in format 0 only 0), got 1"),
        ({"log_append_time": 5}, "log_append_time: requires timestamp_type=1"),
        ({"max_records": 0}, "max_records: must be at least 1, not 0"),
        ({"producer_id": 1 << 63}, f"producer_id: expected int64, got {1 << 63}"),
    ],
)
def test_invalid_writer_arguments_raise(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(BatchEncodeError) as caught:
        write_batches([{"key": b"k", "headers": [("h", b"")]}], **arguments)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"key": "text"}, "records[1].key: expected bytes or None, got str"),
        ({"value": 5}, "records[1].value: expected bytes or None, got int"),
        ({"offset": 0}, "records[1].offset: expected int64 of at least 1, got 0"),
        ({"offset": 1 << 63}, f"records[1].offset: expected int64 of at least 1, got {1 << 63}"),
        ({"timestamp": -1 << 70}, f"records[1].timestamp: expected int64, got {-1 << 70}"),
        ({"timestamp": "now"}, "records[1].timestamp: expected int or datetime, got str"),
        ({"timestamp": datetime(2026, 1, 1)}, "records[1].timestamp: the datetime has no time zone"),
        ({"headers": 5}, "records[1].headers: 'int' object is not iterable"),
        ({"headers": [("a", b""), (None, b"")]}, "records[1].headers[1]: expected a str or bytes key, got NoneType"),
        ({"headers": [("k", "v")]}, "records[1].headers[0]: expected bytes or None, got str"),
        ({"headers": [{"key": "k"}]}, "records[1].headers[0]: expected a pair of key and value, got {'key': 'k'}"),
        (7, "records[1]: expected a mapping, got int"),
    ],
)
@pytest.mark.parametrize("max_records", [1, 2])
def test_invalid_rows_raise(row: object, text: str, max_records: int) -> None:
    with pytest.raises(BatchEncodeError) as caught:
        write_batches([{"key": b"fine"}, row], max_records=max_records)
    assert str(caught.value) == text


def streamed(text: bytes) -> bytes:
    """Return a zstd frame without the size of its content, as Kafka's Java clients write them."""
    sink: Any = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(text)
    return bytes(sink.getvalue())


def test_zstd_frames_with_and_without_sizes_are_decompressed() -> None:
    text = bytes(range(200))
    sized, unsized = compress(4, text, 2), streamed(text)
    assert sized[4] >> 5 == 1, "the header has no size"
    assert unsized[4] >> 5 == 0, "the header has a size"
    for frames, count in ((sized, 1), (unsized, 1), (sized + sized, 2), (sized + unsized, 2), (unsized + sized, 2)):
        assert bytes(decompress(4, memoryview(frames), 1000)) == text * count
        with pytest.raises(CompressionError, match=r"^the zstd data decompresses to more than \d+ bytes"):
            decompress(4, memoryview(frames), count * len(text) - 1)
    for size in (0, 1, 199, 201, 255):
        wrong = bytearray(sized)
        wrong[5] = size
        with pytest.raises(CompressionError, match=r"^the zstd data is damaged: "):
            decompress(4, memoryview(wrong), 1000)


def test_damaged_batch_adds_nothing_to_the_output() -> None:
    output, text = DecompressedData(), bytes(70_000)
    for codec in (1, 2, 3, 4):
        packed, before = compress(codec, text, 2), output.size
        with pytest.raises(CompressionError):
            output.decompress(codec, memoryview(packed), len(text) - 1)
        assert output.size == before
        output.decompress(codec, memoryview(packed), len(text))
        output.append(b"end")
    assert bytes(output.data[: output.size]) == (text + b"end") * 4
    assert len(output.data) >= output.size + PADDING
