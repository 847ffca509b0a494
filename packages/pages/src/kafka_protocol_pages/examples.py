"""Example bytes of primitive types and of record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from uuid import UUID

from kafka_protocol_pages.fields import fixed_word
from kafka_protocol_pages.inspector import DumpRow, Line, dump, lines, quoted, uuid_text
from kafka_protocol_pages.package import Explanation, Package, Span

_UUID = UUID("67c8b9a0-1f2d-4e5f-8a9b-0c1d2e3f4a5b")
_FIXED: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("bool", "One byte: 0 is false; readers accept any other value as true.", (False, True)),
    ("int8", "Two's complement, one byte.", (1, -1)),
    ("int16", "Two's complement, two bytes.", (3, -1)),
    ("uint16", "Unsigned, two bytes.", (9092, 65535)),
    ("int32", "Two's complement, four bytes.", (300, -1)),
    ("uint32", "Unsigned, four bytes.", (300, 4294967295)),
    ("int64", "Two's complement, eight bytes.", (1700000000000, -1)),
    ("float64", "IEEE 754, eight bytes.", (0.5, -1.0)),
    (
        "uuid",
        "Sixteen bytes. Kafka prints a UUID as 22 characters of URL-safe base64; all zeros mean none.",
        (_UUID,),
    ),
)
_SIZED: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("STRING", "int16 length in bytes, then UTF-8: at most 32767 bytes.", ("kafka", "", "é")),
    ("NULLABLE_STRING", "As above; length -1 is null.", ("kafka", None)),
    ("COMPACT_STRING", "Length+1 as UNSIGNED_VARINT, then UTF-8: at most 32767 bytes.", ("kafka", "")),
    ("COMPACT_NULLABLE_STRING", "As above; 0 is null.", ("kafka", None)),
    ("BYTES", "int32 length, then the bytes.", (b"\x01\x02",)),
    ("NULLABLE_BYTES", "As above; length -1 is null.", (b"\x01\x02", None)),
    ("COMPACT_BYTES", "Length+1 as UNSIGNED_VARINT, then the bytes.", (b"\x01\x02",)),
    ("COMPACT_NULLABLE_BYTES", "As above; 0 is null.", (b"\x01\x02", None)),
    (
        "RECORDS",
        "Record batches, encoded like BYTES, with the same compact and nullable forms.",
        (b"\x01",),
    ),
)
_VARINTS: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    (
        "UNSIGNED_VARINT",
        "Seven bits per byte, low bits first; the highest bit is set if more bytes follow. At most five bytes.",
        (0, 1, 127, 128, 300),
    ),
    (
        "VARINT",
        "UNSIGNED_VARINT of the zigzag encoding: 0, -1, 1, -2 become 0, 1, 2, 3. Only in record batches.",
        (0, -1, 1, 300),
    ),
    ("VARLONG", "Like VARINT, for 64 bits: at most ten bytes.", (-1, 1700000000000)),
)


@dataclass(frozen=True)
class Example:
    value: str
    hex: str


@dataclass(frozen=True)
class TypeRow:
    name: str
    about: str
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class Bits:
    bits: str
    about: str


@dataclass(frozen=True)
class Format:
    magic: int
    about: str
    smallest: int
    rows: tuple[DumpRow, ...]
    lines: tuple[Line, ...]


def types(package: Package) -> dict[str, list[TypeRow]]:
    """Return the primitive types and arrays with example bytes, by heading."""
    schema = package.module("schema")
    fixed = [(fixed_word(name), about, values) for name, about, values in _FIXED]
    rows = {
        group: [_row(getattr(schema, name), name, about, values) for name, about, values in table]
        for group, table in (
            ("Fixed width", fixed),
            ("Variable-length numbers", _VARINTS),
            ("Strings and bytes", _SIZED),
        )
    }
    rows["Arrays"] = [
        _row(schema.ArrayOf(schema.INT32), "ARRAY(INT32)", "int32 count, then the elements; -1 is null.", ([1, 2],)),
        _row(
            schema.CompactArrayOf(schema.INT32),
            "COMPACT_ARRAY(INT32)",
            "Count+1 as UNSIGNED_VARINT, then the elements; 0 is null.",
            ([1, 2], []),
        ),
    ]
    return rows


def _row(kind: Any, name: str, about: str, values: tuple[object, ...]) -> TypeRow:
    examples = []
    for value in values:
        out = bytearray()
        kind.write(out, value)
        examples.append(Example(_text(value), out.hex(" ")))
    return TypeRow(name, about, tuple(examples))


def _text(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, UUID):
        return uuid_text(value)
    if isinstance(value, bytes):
        return f"{len(value)} byte{'s' if len(value) > 1 else ''}"
    return "null" if value is None else str(value).lower()


_ABOUTS = {
    2: "A batch header, then records with varint lengths and record headers (KIP-98, KIP-82).",
    1: "One message per record, with a timestamp (KIP-32).",
    0: "One message per record, without a timestamp.",
}


def batches(package: Package) -> dict[str, object]:
    """Return the data of the page about record batches; empty without ``kafka_records`` or ProduceRequest."""
    if find_spec("kafka_records") is None or not package.has("messages.produce_request"):
        return {}
    from kafka_records import format as table

    codecs = ", ".join(f"{number} {name}" for number, name in enumerate(table.CODECS))
    first, second = table.TIMESTAMP_TYPES
    bits = (
        Bits("0-2", f"Compression: {codecs}."),
        Bits(_bit(table.LOG_APPEND_TIME), f"Timestamp type: 0 {first}, 1 {second}."),
        Bits(_bit(table.TRANSACTIONAL), "Set if the batch is transactional."),
        Bits(_bit(table.CONTROL), "Set for a control batch, which consumers skip."),
        Bits(_bit(table.DELETE_HORIZON), "Set if the base timestamp is the delete horizon of tombstones (KIP-534)."),
    )
    formats = [_format(package, magic, table.SMALLEST[magic]) for magic in (2, 1, 0)]
    control = list(enumerate(table.CONTROL_TYPES[:-1]))
    return {"formats": formats, "bits": bits, "control": control}


def _bit(mask: int) -> str:
    return str(mask.bit_length() - 1)


def _format(package: Package, magic: int, smallest: int) -> Format:
    from kafka_records import Record, write_batch

    record = Record(timestamp=1700000000000 if magic else -1, key=b"order-7", value=b"paid")
    if magic == 2:
        record = record._replace(headers=(("trace", b"\x2a"),))
    found = _explained(package, write_batch([record], magic=magic))
    span = next(_batches(found.root))
    return Format(magic, _ABOUTS[magic], smallest, dump(found, span.start, span.end), tuple(lines(found, span)))


def _explained(package: Package, batch: bytes) -> Explanation:
    request = package.message("ProduceRequest")
    partition = request.PartitionProduceData(index=0, records=batch)
    topic = request.TopicProduceData(name="orders", partition_data=[partition])
    version = 9
    return package.explain(request(topic_data=[topic]).write(version), "ProduceRequest", version, records=True)


def _batches(span: Span) -> Iterator[Span]:
    for each in span.children:
        if each.type.startswith("RECORD_BATCH"):
            yield each
        yield from _batches(each)
