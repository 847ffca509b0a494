"""Small testee of the codec mode, whose rules are methods of their own. ``mutants`` replaces one of them.

Only ``rewrite``. Messages and headers are read with the schemas of ``kafka_messages``, record batches with ``Batches``.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple
from zlib import crc32
from zlib import error as ZlibError

import cramjam
import kafka_messages
from kafka_messages.errors import KafkaMessageError
from kafka_messages.protocol import api
from kafka_messages.schema import VARINT, VARLONG, Schema
from kafka_records import RecordError
from kafka_records.compression import codecs
from kafka_records.crc import checksum

_HEADER, _BEGIN, _SUMMED = Struct(">qiibIhiqqqhii"), Struct(">qiibI"), Struct(">hiqqqhii")
_ENTRY, _INT32 = Struct(">qiI"), Struct(">i")
_MAGIC_AT, _OVERHEAD, _SUMMED_AT = 16, 12, 21
_SMALLEST = 14  # value of the length field
_KEY_AT = {0: 18, 1: 26}
_SNAPPY = b"\x82SNAPPY\x00"
_MOST = 1 << 27  # bytes of a batch


class Refused(Exception):
    """Bytes that break a rule."""


def check(is_right: bool, problem: str) -> None:
    if not is_right:
        raise Refused(problem)


class Part(NamedTuple):
    """A record of format 2, as stored."""

    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[bytes, bytes | None]]


class Batches:
    """Reads and writes record batches. Raises Refused."""

    def rewritten(self, data: bytes) -> bytes:
        return b"".join(map(self.batch, self.split(data)))

    def split(self, data: bytes) -> Iterator[bytes]:
        """Yield the batches, without an incomplete last one."""
        at = 0
        while at + _MAGIC_AT < len(data):
            length = self.length(data, at)
            self.format(data[at + _MAGIC_AT])
            end = at + _OVERHEAD + length
            if end > len(data):
                return
            yield data[at:end]
            at = end

    def format(self, magic: int) -> None:
        check(magic <= 2, "unknown format")

    def length(self, data: bytes, at: int) -> int:
        length: int = _INT32.unpack_from(data, at + 8)[0]
        check(length >= _SMALLEST, "the length is too small")
        return length

    def batch(self, data: bytes) -> bytes:
        return self.message(data, nested=False) if data[_MAGIC_AT] < 2 else self.modern(data)

    def modern(self, data: bytes) -> bytes:
        """Rewrite a batch of format 2."""
        offset, _, epoch, magic, crc, attributes, *others, count = _HEADER.unpack_from(data)
        self.verify(checksum()(data[_SUMMED_AT:]), crc)
        codec, body = self.codec(attributes), data[_HEADER.size :]
        is_compressed = codec and count
        if is_compressed:
            body = self.decompressed(codec, body, magic)
        body = b"".join(map(self.written, self.records(body, count)))
        if is_compressed:
            body = codecs().compress(codec, body, magic)
        summed = _SUMMED.pack(attributes, *others, count) + body
        length = len(summed) + _SUMMED_AT - _OVERHEAD
        return _BEGIN.pack(offset, length, epoch, magic, checksum()(summed)) + summed

    def verify(self, actual: int, stored: int) -> None:
        check(actual == stored, "wrong checksum")

    def codec(self, attributes: int) -> int:
        check(attributes & 7 <= 4, "unknown compression")
        return attributes & 7

    def decompressed(self, codec: int, data: bytes, magic: int) -> bytes:
        if codec == 1:
            return self.gunzipped(data)
        return self.unsnapped(data) if codec == 2 else bytes(codecs().decompress(codec, memoryview(data), _MOST, magic))

    def gunzipped(self, data: bytes) -> bytes:
        return gzip.decompress(data)

    def unsnapped(self, data: bytes) -> bytes:
        if not self.is_framed(data):
            return bytes(cramjam.snappy.decompress_raw(data))
        parts, at = [], 16
        while at < len(data):
            (size,) = _INT32.unpack_from(data, at)
            parts.append(bytes(cramjam.snappy.decompress_raw(data[at + 4 : at + 4 + size])))
            at += 4 + size
        return b"".join(parts)

    def is_framed(self, data: bytes) -> bool:
        return data.startswith(_SNAPPY)

    def records(self, data: bytes, count: int) -> list[Part]:
        check(count >= 0, "negative count")
        found, at = [], 0
        for _ in range(count):
            record, at = self.record(data, at)
            found.append(record)
        self.end(data, at)
        return found

    def end(self, data: bytes, at: int) -> None:
        check(at == len(data), "bytes after the last record")

    def record(self, data: bytes, at: int) -> tuple[Part, int]:
        size, at = VARINT.read(data, at)
        content = self.record_bytes(data, at, size)
        delta, pos = self.timestamp_delta(content, 1)
        offset, pos = VARINT.read(content, pos)
        key, pos = self.key_or_value(content, pos)
        value, pos = self.key_or_value(content, pos)
        headers, pos = self.headers(content, pos)
        return Part(delta, offset, key, value, headers), self.record_end(at, pos, size)

    def record_bytes(self, data: bytes, at: int, size: int) -> bytes:
        check(0 <= size <= len(data) - at, "the record is incomplete")
        return data[at : at + size]

    def timestamp_delta(self, data: bytes, pos: int) -> tuple[int, int]:
        return VARLONG.read(data, pos)

    def record_end(self, at: int, used: int, size: int) -> int:
        """Return the end of the record at ``at``, whose fields take ``used`` of its ``size`` bytes."""
        check(used == size, "the length of the record is not that of its fields")
        return at + size

    def key_or_value(self, data: bytes, pos: int) -> tuple[bytes | None, int]:
        return self.nullable(data, pos)

    def nullable(self, data: bytes, pos: int) -> tuple[bytes | None, int]:
        size, pos = VARINT.read(data, pos)
        return self.content(data, pos, size)

    def content(self, data: bytes, pos: int, size: int) -> tuple[bytes | None, int]:
        check(size <= len(data) - pos, "the content is incomplete")
        return (None, pos) if size < 0 else (data[pos : pos + size], pos + size)

    def headers(self, data: bytes, pos: int) -> tuple[list[tuple[bytes, bytes | None]], int]:
        count, pos = VARINT.read(data, pos)
        self.header_count(count)
        headers = []
        for _ in range(count):
            key, pos = self.nullable(data, pos)
            value, pos = self.nullable(data, pos)
            headers.append((self.header_key(key), value))
        return headers, pos

    def header_count(self, count: int) -> None:
        check(count >= 0, "negative number of headers")

    def header_key(self, key: bytes | None) -> bytes:
        if key is None:
            raise Refused("null header key")
        return key

    def written(self, record: Part) -> bytes:
        out = bytearray(1)
        VARLONG.write(out, record.timestamp_delta)
        VARINT.write(out, record.offset_delta)
        out += self.sized(record.key) + self.sized(record.value)
        VARINT.write(out, len(record.headers))
        for key, value in record.headers:
            out += self.sized(key) + self.sized(value)
        return self.sized(bytes(out))

    def sized(self, content: bytes | None) -> bytes:
        out = bytearray()
        VARINT.write(out, -1 if content is None else len(content))
        return bytes(out) + (content or b"")

    def message(self, data: bytes, nested: bool) -> bytes:
        """Rewrite a message of format 0 or 1."""
        offset, _, crc = _ENTRY.unpack_from(data)
        self.verify_message(data, crc)
        magic, codec = data[_MAGIC_AT], self.codec(data[_MAGIC_AT + 1])
        key, pos = self.field(data, _KEY_AT[magic])
        value, pos = self.field(data, pos)
        check(pos == len(data), "bytes after the value")
        if codec:
            check(self.may_be_compressed(nested), "a compressed message in a compressed message")
            value = self.wrapped(codec, value, magic)
        summed = data[_MAGIC_AT : _KEY_AT[magic]] + self.sized_field(key) + self.sized_field(value)
        return _ENTRY.pack(offset, len(summed) + 4, crc32(summed)) + summed

    def verify_message(self, data: bytes, crc: int) -> None:
        self.verify(crc32(data[_MAGIC_AT:]), crc)

    def may_be_compressed(self, nested: bool) -> bool:
        return not nested

    def field(self, data: bytes, pos: int) -> tuple[bytes | None, int]:
        (size,) = _INT32.unpack_from(data, pos)
        return self.content(data, pos + 4, size)

    def sized_field(self, content: bytes | None) -> bytes:
        return _INT32.pack(-1 if content is None else len(content)) + (content or b"")

    def wrapped(self, codec: int, value: bytes | None, magic: int) -> bytes | None:
        if value is None:
            return self.without_value()
        inner = self.messages(self.decompressed(codec, value, magic), magic)
        return codecs().compress(codec, b"".join(inner), magic)

    def without_value(self) -> bytes | None:
        raise Refused("a compressed message without a value")

    def messages(self, data: bytes, magic: int) -> list[bytes]:
        found = list(self.split(data))
        check(sum(map(len, found)) == len(data), "an inner message is incomplete")
        check(all(each[_MAGIC_AT] == magic for each in found), "an inner message has another format")
        self.message_count(len(found))
        return [self.message(each, nested=True) for each in found]

    def message_count(self, count: int) -> None:
        check(count > 0, "no inner messages")


class Messages:
    """Reads and writes messages and whole frames. Raises Refused and SchemaError."""

    def rewritten(self, kind: str, name: str, version: int, data: bytes) -> bytes:
        cls = getattr(kafka_messages, name)
        body: Schema = cls.schemas()[version]
        if kind == "message":
            return self.structs([body], data)
        (size,) = _INT32.unpack_from(data)
        again = self.structs([self.header(kind, cls, version), body], self.payload(data[4:], size))
        return _INT32.pack(len(again)) + again

    def payload(self, data: bytes, size: int) -> bytes:
        check(size == len(data), "the frame is incomplete")
        return data

    def header(self, kind: str, cls: Any, version: int) -> Schema:
        if kind == "request":
            return kafka_messages.RequestHeader.schemas()[api(cls).request_header_version(version)]
        return kafka_messages.ResponseHeader.schemas()[self.response_header(cls, version)]

    def response_header(self, cls: Any, version: int) -> int:
        return api(cls).response_header_version(version)

    def structs(self, schemas: list[Schema], data: bytes) -> bytes:
        at, out = 0, bytearray()
        for schema in schemas:
            struct, at = schema.read(data, at)
            schema.write(out, struct)
        check(at == len(data), "bytes after the message")
        return bytes(out)


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    if request["op"] == "describe":
        return {"name": " ".join(["plain", *sys.argv[1:]]), "operations": ["rewrite"]}
    data, kind = bytes.fromhex(request["data"]), request["kind"]
    try:
        if kind == "records":
            return {"data": Batches().rewritten(data).hex()}
        return {"data": Messages().rewritten(kind, request["name"], request["version"], data).hex()}
    except (Refused, KafkaMessageError, RecordError, StructError, ZlibError, ValueError, OSError, EOFError) as error:
        return {"refused": str(error)}
    except MemoryError as error:  # only in mutants
        return {"crashed": str(error)}


def serve() -> None:
    """Answer the lines of stdin."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **answer(request)}), flush=True)


if __name__ == "__main__":
    serve()
