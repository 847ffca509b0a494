"""Unusual compressed data with the verdicts of Kafka's classes, stored in ``tests/records/data/compression.jsonl``.

Run ``python -m tests.support.payloads JARS`` to write the file again; see ``README.md`` beside it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kafka_records import Record, write_batch
from kafka_records.crc import checksum
from kafka_records.format import HEADER

RECORDS_TESTS = Path(__file__).parents[1] / "records"
FILE = RECORDS_TESTS / "data" / "compression.jsonl"
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
CUT_SET = "gzip: set that ends within a message"
"""Payload of formats 0 and 1 whose last message Kafka drops silently; here it is corrupt."""
XERIAL = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
SKIPPABLE = struct.pack("<II", 0x184D2A50, 5) + b"hello"
RECORDS = [Record(key=b"k%d" % i, value=b"value %d, " % i * 4, timestamp=1_700_000_000_000 + i) for i in range(2)]
LARGE = [Record(key=b"k%d" % i, value=bytes([i]) * 30_000, timestamp=1_700_000_000_000) for i in range(4)]


class Payload(NamedTuple):
    name: str
    codec: int
    data: bytes
    magic: int = 2
    rows: int = len(RECORDS)

    def batch(self) -> bytes:
        """Return a batch of ``rows`` records with the compressed records ``data``."""
        if self.magic < 2:
            return message(self)
        head = bytearray(write_batch((RECORDS + LARGE)[: self.rows])[:HEADER])
        head[21:23] = struct.pack(">h", self.codec)
        head[8:12] = struct.pack(">i", HEADER - 12 + len(self.data))
        head[17:21] = struct.pack(">I", checksum()(bytes(head[21:]) + self.data))
        return bytes(head) + self.data


def message(payload: Payload) -> bytes:
    """Return a compressed message of format 0 or 1 (KIP-32)."""
    time = struct.pack(">q", 1_700_000_000_000) if payload.magic else b""
    sizes = struct.pack(">ii", -1, len(payload.data))
    body = struct.pack(">bb", payload.magic, payload.codec) + time + sizes + payload.data
    return struct.pack(">qiI", payload.rows - 1, len(body) + 4, zlib.crc32(body)) + body


def plain(magic: int, records: Sequence[Record]) -> bytes:
    return write_batch(records, magic=magic)[HEADER if magic == 2 else 0 :]


def verdict(records: Iterable[Record]) -> str:
    """Return the digest of the records, as ``Judge.java``."""
    digest = hashlib.sha256()
    for record in records:
        key, value = ("null" if data is None else data.hex() for data in (record.key, record.value))
        digest.update(f"{record.offset} {record.timestamp} {key} {value}\n".encode())
    return digest.hexdigest()[:16]


# ---- payloads


def every_gzip(body: bytes) -> Iterator[tuple[str, bytes]]:
    half = len(body) // 2
    good, two = gzip.compress(body, mtime=0), [gzip.compress(part, mtime=0) for part in (body[:half], body[half:])]
    empty = gzip.compress(b"", mtime=0)
    yield "plain", good
    yield "stored", gzip.compress(body, 0, mtime=0)
    yield "two members", b"".join(two)
    yield "empty members", empty + two[0] + empty + two[1] + empty
    yield "second member without its last byte", b"".join(two)[:-1]
    for rest in (1, 8, 17, 18, 19, 26, 27, 40):
        yield f"{rest} zeros behind", good + bytes(rest)
        yield f"{rest} bytes of a member behind", good + gzip.compress(bytes(range(99)), mtime=0)[:rest]
    yield "garbage behind", good + b"garbage!"
    yield "garbage behind two members", b"".join(two) + b"garbage!" * 9
    yield "member behind all records", good + good
    for name, place in (("checksum", -8), ("size", -4)):
        wrong = bytearray(good)
        wrong[place] ^= 1
        yield f"wrong {name}", bytes(wrong)
        yield f"wrong {name} of the first member", bytes(wrong) + two[1]
    for cut in (1, 4, 8, 9, len(good) - 5):
        yield f"without the last {cut} bytes", good[:-cut]
    yield "zlib", zlib.compress(body)
    yield "deflate", zlib.compress(body)[2:-4]
    yield "nothing", b""
    for flags in (1, 2, 4, 8, 16, 31, 32, 64, 128):
        more = (b"\3\0abc" if flags & 4 else b"") + (b"name\0" if flags & 8 else b"") + (b"\0" if flags & 16 else b"")
        head = good[:3] + bytes([flags]) + good[4:10] + more
        sum_of = struct.pack("<H", zlib.crc32(head) & 0xFFFF) if flags & 2 else b""
        yield f"header flags {flags}", head + sum_of + good[10:]
        if flags & 2:
            yield f"header flags {flags}, wrong checksum", head + b"\1\2" + good[10:]
            yield f"header flags {flags} of a second member", two[0] + head + b"\1\2" + good[10:]
    yield "extra field longer than the data", good[:3] + b"\4" + good[4:10] + b"\xff\xff" + good[10:]
    yield "name without an end", good[:3] + b"\x08" + good[4:10] + b"n" * 2000
    yield "method 7", good[:2] + b"\7" + good[3:]
    yield "unused header fields", good[:4] + b"\1\2\3\4\xff\xff" + good[10:]


def every_snappy(body: bytes, raw: Any) -> Iterator[tuple[str, bytes]]:
    def block(data: bytes) -> bytes:
        packed = bytes(raw(data))
        return struct.pack(">i", len(packed)) + packed

    one, empty = block(body), block(b"")
    two = [block(body[: len(body) // 2]), block(body[len(body) // 2 :])]
    yield "raw", one[4:]
    yield "raw, bytes behind", one[4:] + b"\0"
    yield "xerial", XERIAL + one
    yield "two blocks", XERIAL + b"".join(two)
    yield "empty blocks", XERIAL + empty + two[0] + empty + two[1] + empty
    yield "block of no bytes", XERIAL + bytes(4) + one
    yield "two streams", XERIAL + two[0] + XERIAL + two[1]
    for numbers in ((0, 0), (-1, -1), (2, 1), (7, 7), (1 << 24, 1 << 24)):
        head = XERIAL[:8] + struct.pack(">ii", *numbers)
        yield f"version {numbers}", head + one
        yield f"version {numbers} of a second stream", XERIAL + two[0] + head + two[1]
    for rest in (1, 3, 4, 5, 8):
        yield f"{rest} zeros behind", XERIAL + one + bytes(rest)
        yield f"{rest} bytes behind", XERIAL + one + b"garbage!"[:rest]
    for rest in (3, 4, 8, 15, 16, 19, 20):
        yield f"{rest} bytes of a stream behind", XERIAL + one + (XERIAL + bytes(4))[:rest]
    yield "block cut", XERIAL + one[:-1]
    yield "second block cut", XERIAL + b"".join(two)[:-1]
    yield "negative block size", XERIAL + one + b"\xff\xff\xff\xff"
    yield "another magic in the middle", XERIAL + two[0] + XERIAL[:7] + b"X" + XERIAL[8:] + two[1]
    yield "another magic behind", XERIAL + one + XERIAL[:4] + b"x" * 12
    yield "another magic", XERIAL[:7] + b"X" + XERIAL[8:] + one
    yield "header only", XERIAL
    yield "magic only", XERIAL[:8]
    yield "nothing", b""
    yield "wrong length", XERIAL + one[:4] + bytes([one[4] ^ 1]) + one[5:]


def lz4_frame(
    blocks: Iterable[bytes],
    flags: int = 0x60,
    sizes: int = 0x40,
    *,
    head: bytes = b"",
    old: bool = False,
    end: bytes = bytes(4),
) -> bytes:
    """Return a frame; ``blocks`` begin with their sizes, ``head`` is what follows the flags, ``old`` is KAFKA-3160."""
    from kafka_records.compression import plain_xxh32 as xxh32

    start = b"\x04\x22\x4d\x18" + bytes([flags, sizes]) + head
    found = b"".join(each + (struct.pack("<I", xxh32(each[4:])) if flags & 16 else b"") for each in blocks)
    return start + bytes([xxh32(start if old else start[4:]) >> 8 & 255]) + found + end


def every_lz4(body: bytes, raw: Any) -> Iterator[tuple[str, bytes]]:
    def block(data: bytes) -> bytes:
        packed = bytes(raw(data))
        return struct.pack("<I", len(packed)) + packed

    def stored(data: bytes) -> bytes:
        return struct.pack("<I", len(data) | 1 << 31) + data

    half = len(body) // 2
    one, two = [block(body)], [block(body[:half]), stored(body[half:])]
    size = struct.pack("<Q", len(body))
    good = lz4_frame(one)
    yield "one block", good
    yield "stored and compressed block", lz4_frame(two)
    for sizes in (0x30, 0x50, 0x70, 0x80, 0xC0, 0x41, 0x48):
        yield f"block size {sizes:#04x}", lz4_frame(one, sizes=sizes)
    for bit in range(8):
        head = (size if (0x60 ^ 1 << bit) & 8 else b"") + (b"\0\0\0\7" if bit == 0 else b"")
        yield f"flag {bit}", lz4_frame(one, 0x60 ^ 1 << bit, head=head)
    yield "content size", lz4_frame(one, 0x68, head=size)
    yield "wrong content size", lz4_frame(one, 0x68, head=bytes(8))
    for flags in (0x60, 0x64, 0x70, 0x74, 0x7C):
        head = size if flags & 8 else b""
        frame = lz4_frame(two, flags, head=head, end=bytes(8 if flags & 4 else 4))
        yield f"flags {flags:#04x}, content checksum 0", frame
        for cut in (1, 4, 5, 8, 9):
            yield f"flags {flags:#04x} without the last {cut} bytes", frame[:-cut]
        wrong = bytearray(frame)
        wrong[6 + len(head)] ^= 1
        yield f"flags {flags:#04x}, wrong header checksum", bytes(wrong)
    first = lz4_frame(two, 0x70)
    for place, name in ((7 + len(two[0]), "first"), (-5, "last")):
        wrong = bytearray(first)
        wrong[place] ^= 1
        yield f"wrong checksum of the {name} block", bytes(wrong)
    yield "old header checksum", lz4_frame(one, old=True)
    yield "old header checksum, content size", lz4_frame(one, 0x68, head=size, old=True)
    yield "two frames", lz4_frame(two[:1]) + lz4_frame(two[1:])
    yield "frame behind all records", good + good
    yield "empty frame first", lz4_frame([]) + good
    yield "garbage behind", good + b"garbage!"
    yield "zero behind", good + b"\0"
    yield "skippable frame first", SKIPPABLE + good
    yield "skippable frame behind", good + SKIPPABLE
    yield "legacy frame", b"\x02\x21\x4c\x18" + one[0]
    yield "linked blocks", lz4_frame(one, 0x40)
    yield "stored block of no bytes as end mark", lz4_frame(one, end=b"\0\0\0\x80")
    yield "stored block of no bytes first", lz4_frame([stored(b""), *one])
    yield "empty block behind, no end mark", lz4_frame([*one, block(b"")], end=b"")
    yield "empty block first", lz4_frame([block(b""), *one])
    yield "empty block, then a wrong block", lz4_frame([*one, block(b""), stored(b"x")], end=b"")
    yield "block of too many bytes", lz4_frame([block(bytes(1 << 17)), *one])
    yield "stored block of too many bytes", lz4_frame([stored(bytes(1 << 16) + b"x"), *one])[:90]
    yield "wrong size of a block", lz4_frame([struct.pack("<I", len(one[0])) + one[0][4:]])
    yield "wrong bytes in a block", lz4_frame([one[0][:-8] + b"\xff" * 8])
    for length in (len(body), len(body) + 1, 60_000):
        sized = struct.pack("<I", length) + one[0][4:]
        yield f"size {length} in front of a block", lz4_frame([struct.pack("<I", len(sized)) + sized])
    yield "match behind the start", lz4_frame([struct.pack("<I", 9) + b"\x10a\xff\xff\x50abcd", *one])
    for cut in (1, 5, 7):
        yield f"first {cut} bytes", good[:cut]
    yield "nothing", b""


def every_zstd(body: bytes, zstandard: Any) -> Iterator[tuple[str, bytes]]:
    def sized(data: bytes, **options: Any) -> bytes:
        return bytes(zstandard.ZstdCompressor(**options).compress(data))

    def streamed(data: bytes, window: int = 19, **options: Any) -> bytes:
        found = zstandard.ZstdCompressionParameters(window_log=window, **options)
        stream = zstandard.ZstdCompressor(compression_params=found).compressobj()
        return bytes(
            stream.compress(data[:50])
            + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
            + stream.compress(data[50:])
            + stream.flush()
        )

    half = len(body) // 2
    good, two = sized(body), sized(body[:half]) + streamed(body[half:])
    summed = sized(body, write_checksum=True)
    yield "size in the header", good
    yield "two blocks, no size", streamed(body)
    yield "two frames", two
    yield "empty frames", sized(b"") + two + streamed(b"")
    yield "checksum", summed
    yield "wrong checksum", summed[:-1] + bytes([summed[-1] ^ 1])
    yield "wrong size in the header", good[:5] + bytes([good[5] ^ 1]) + good[6:]
    yield "skippable frame first", SKIPPABLE + good
    yield "skippable frame behind", good + SKIPPABLE
    for cut in (1, 3, 4, 5, 8):
        yield f"without the last {cut} bytes", good[:-cut]
        yield f"checksum without the last {cut} bytes", summed[:-cut]
        yield f"two frames without the last {cut} bytes", two[:-cut]
        yield f"two frames and a checksum without the last {cut} bytes", sized(b"") + summed[:-cut]
        yield f"skippable frame behind without the last {cut} bytes", (good + SKIPPABLE)[:-cut]
    for rest in (1, 2, 3, 4, 5, 9):
        yield f"{rest} bytes behind", good + b"garbage!!"[:rest]
        yield f"{rest} zeros behind", good + bytes(rest)
        yield f"{rest} bytes of a frame behind", good + streamed(b"text")[:rest]
    for window in (10, 27, 28, 30):
        yield f"window of {window} bits", streamed(body, window)
    yield "frame behind all records", good + good
    yield "dictionary 7", good[:4] + bytes([good[4] | 1]) + b"\7" + good[5:]
    yield "reserved bit", good[:4] + bytes([good[4] | 8]) + good[5:]
    yield "unused bit", good[:4] + bytes([good[4] | 16]) + good[5:]
    yield "reserved block type", good[:4] + b"\x20\x05\7\0\0"
    yield "run", b"\x28\xb5\x2f\xfd\x20\x05\x2b\0\0a"
    yield "nothing", b""


def every() -> Iterator[Payload]:
    """Yield all payloads with a name; needs cramjam and zstandard."""
    import cramjam
    import zstandard

    raw = cramjam.snappy.compress_raw

    def lz4(data: bytes) -> Any:
        return cramjam.lz4.compress_block(data, store_size=False)

    for magic in (2, 1, 0):
        body = plain(magic, RECORDS)
        yield from (Payload(*one, magic) for one in named("gzip", GZIP, every_gzip(body)))
        yield from (Payload(*one, magic) for one in named("snappy", SNAPPY, every_snappy(body, raw)))
        yield from (Payload(*one, magic) for one in named("lz4", LZ4, every_lz4(body, lz4)))
        yield from (Payload(*one, magic) for one in named("zstd", ZSTD, every_zstd(body, zstandard)) if magic == 2)
        if magic < 2:
            yield Payload(CUT_SET, GZIP, gzip.compress(body[:-5], mtime=0), magic)
            yield Payload("zstd: before format 2", ZSTD, zstandard.ZstdCompressor().compress(body), magic)
    records = RECORDS + LARGE
    body = plain(2, records)
    parts = [bytes(lz4(body[k : k + 65536])) for k in (0, 65536)]
    blocks = [struct.pack("<I", len(part)) + part for part in parts]
    yield Payload("lz4: two blocks of 64 KiB", LZ4, lz4_frame(blocks), 2, len(records))
    yield Payload("lz4: two linked blocks of 64 KiB", LZ4, lz4_frame(blocks, 0x40), 2, len(records))
    yield Payload("lz4: two blocks of 64 KiB with checksums", LZ4, lz4_frame(blocks, 0x70), 2, len(records))
    whole = bytes(lz4(body))
    block = struct.pack("<I", len(whole)) + whole
    yield Payload("lz4: 120 KiB in a block of 256 KiB", LZ4, lz4_frame([block], sizes=0x50), 2, len(records))
    yield Payload("lz4: 120 KiB in a block of 64 KiB", LZ4, lz4_frame([block]), 2, len(records))
    record = b"\x26\x00\xf0\x01\x00\x01\x18some letters\x00"  # from byte 2 on, it is a block itself
    whole = bytes([0xF0, len(record) - 15]) + record
    frame = lz4_frame([struct.pack("<I", len(whole)) + whole], sizes=0x70)
    yield Payload("lz4: block that could start with its size", LZ4, frame, 2, 1)


def named(codec: str, number: int, pairs: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, int, bytes]]:
    return ((f"{codec}: {name}", number, data) for name, data in pairs)


def changed(payload: Payload, others: Sequence[Payload], rnd: random.Random) -> Payload:
    """Return a payload with random changes."""
    data = bytearray(payload.data)
    for _ in range(rnd.choice((1, 1, 1, 2, 3))):
        place = rnd.choice((rnd.randrange(len(data) + 1), rnd.randrange(16), len(data) - rnd.randrange(16)))
        place = min(max(place, 0), len(data))
        match rnd.randrange(7):
            case 0:
                data[place : place + 1] = bytes([rnd.randrange(256)])
            case 1 if place < len(data):
                data[place] ^= 1 << rnd.randrange(8)
            case 2:
                del data[place:]
            case 3:
                data[place:place] = rnd.randbytes(rnd.randrange(1, 9))
            case 4:
                del data[place : place + rnd.randrange(1, 9)]
            case 5:
                data += rnd.choice(others).data[: rnd.choice((1, 3, 4, 7, 16, 30, 1000))]
            case 6:
                data += bytes(rnd.randrange(1, 30))
    return payload._replace(name=f"changed: {payload.name}", data=bytes(data))


def random_payloads(count: int, seed: int) -> list[Payload]:
    kinds: dict[tuple[int, int], list[Payload]] = {}
    for payload in every():
        if len(payload.data) < 3000:
            kinds.setdefault((payload.codec, payload.magic), []).append(payload)
    rnd = random.Random(seed)
    groups = rnd.choices([*kinds.values()], [3 if magic == 2 else 1 for _, magic in kinds], k=count)
    return [changed(rnd.choice(group), group, rnd) for group in groups]


def kept() -> list[Payload]:
    """Return the payloads in the file: all of format 2, every eighth of formats 0 and 1, and random ones."""
    old = {"lz4: old header checksum", "lz4: old header checksum, content size", "zstd: before format 2", CUT_SET}
    some = [each for number, each in enumerate(every()) if each.magic == 2 or number % 8 == 0 or each.name in old]
    return [*some, *random_payloads(60, 47)]


# ---- verdicts


def judged(payloads: Sequence[Payload], jars: Path) -> list[str]:
    """Return the verdicts of Kafka's classes."""
    with tempfile.TemporaryDirectory() as folder:
        source = RECORDS_TESTS / "java" / "Judge.java"
        subprocess.run(["javac", "-encoding", "UTF-8", "-cp", f"{jars}/*", "-d", folder, source], check=True)
        lines = "".join(base64.b64encode(payload.batch()).decode() + "\n" for payload in payloads)
        command = ["java", "-cp", f"{folder}{os.pathsep}{jars}/*", "Judge"]
        done = subprocess.run(
            command, input=lines, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
        )
    verdicts = [line.partition(" ")[0] for line in done.stdout.splitlines()]
    assert len(verdicts) == len(payloads)
    return verdicts


def stored() -> list[tuple[Payload, str]]:
    """Return the payloads of the file and the verdict of Kafka's classes on each: a digest, or "refused"."""
    rows = [json.loads(line) for line in FILE.read_text().splitlines()]
    return [(Payload(name, codec, base64.b64decode(data), *rest), kafka) for kafka, name, codec, data, *rest in rows]


def main(jars: str) -> None:
    payloads = kept()
    with FILE.open("w") as file:
        for payload, found in zip(payloads, judged(payloads, Path(jars)), strict=True):
            row = [
                base64.b64encode(field).decode() if isinstance(field, bytes) else field for field in (found, *payload)
            ]
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
