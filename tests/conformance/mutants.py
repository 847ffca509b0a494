"""Testees with one bug each: ``plain`` with a rule replaced. ``python -m tests.conformance.mutants NAME``."""

from __future__ import annotations

import sys
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cramjam
from kafka_messages.schema import UNSIGNED_VARINT, VARINT, ArrayOf, SchemaError, Struct, TagSection, sections
from kafka_messages.schema.schema import NullableStruct
from kafka_messages.schema.struct import is_default
from kafka_messages.schema.types import Boolean, Float64, Text, VarInt

from .plain import Batches, Messages, Part, check, serve

_MEMORY = 1 << 28
_UNKNOWN_SIZE = 1 << 31  # larger than any data


@dataclass(frozen=True)
class Mutant:
    """A bug, and the cases that find it."""

    apply: Callable[[], None]
    ids: tuple[str, ...]
    """Ids or patterns of the cases that fail; generated ones are among them only if the bug was reported."""
    report: str
    """Report of an implementation with this bug, or empty."""


MUTANTS: dict[str, Mutant] = {}


def fails(*ids: str, report: str = "") -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function that applies a bug."""

    def register(apply: Callable[[], None]) -> Callable[[], None]:
        MUTANTS[apply.__name__.replace("_", "-")] = Mutant(apply, ids, report)
        return apply

    return register


def replace(owner: Any, name: str, function: Any) -> None:
    assert hasattr(owner, name)
    setattr(owner, name, function)


def wrap(owner: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Pass the first value that a reader returns through ``change``."""
    read = getattr(owner, name)

    def changed(*arguments: Any) -> Any:
        value, *rest = read(*arguments)
        return change(value), *rest

    replace(owner, name, changed)


def reserve(count: int) -> int:
    """Return ``count`` if there is memory for so many bytes. Raises MemoryError."""
    if count > _MEMORY:
        raise MemoryError(f"{count} bytes")
    return count


# Record batches


@fails("RECORDS.wrong-checksum", "RECORDS.legacy-wrong-checksum")
def checksums_are_not_verified() -> None:
    replace(Batches, "verify", lambda self, actual, stored: None)


@fails("RECORDS.legacy-wrong-checksum")
def checksums_of_formats_0_and_1_are_not_verified() -> None:
    replace(Batches, "verify_message", lambda self, data, crc: None)


@fails("RECORDS.count-above-the-records", "RECORDS.huge-count", "RECORDS.compressed-empty")
def records_end_with_the_bytes() -> None:
    def records(self: Batches, data: bytes, count: int) -> list[Part]:
        found: list[Part] = []
        at = 0
        check(count >= 0, "negative count")
        while at < len(data) and len(found) < count:
            record, at = self.record(data, at)
            found.append(record)
        self.end(data, at)
        return found

    replace(Batches, "records", records)


@fails("RECORDS.huge-count", report="kafka-protocol-rs/kafka-protocol-rs#156")
def memory_for_the_number_of_records() -> None:
    records = Batches.records
    replace(Batches, "records", lambda self, data, count: records(self, data, reserve(count)))


@fails("RECORDS.count-below-the-records", "RECORDS.compressed-trailing-record")
def bytes_after_the_last_record_are_ignored() -> None:
    replace(Batches, "end", lambda self, data, at: None)


@fails("RECORDS.negative-count")
def a_negative_count_is_none() -> None:
    records = Batches.records
    replace(Batches, "records", lambda self, data, count: records(self, data, count) if count > 0 else [])


@fails("RECORDS.record-longer-than-its-content")
def bytes_after_the_headers_are_skipped() -> None:
    replace(Batches, "record_end", lambda self, at, used, size: at + size)


@fails("RECORDS.record-shorter-than-its-content")
def a_record_may_take_more_than_its_length() -> None:
    replace(Batches, "record_bytes", lambda self, data, at, size: data[at:])
    replace(Batches, "record_end", lambda self, at, used, size: at + used)


@fails("RECORDS.huge-header-count", report="SaaSy-Solutions/mockforge#752")
def memory_for_the_number_of_headers() -> None:
    count_of = Batches.header_count
    replace(Batches, "header_count", lambda self, count: count_of(self, reserve(count)))


@fails("RECORDS.negative-header-count")
def a_negative_number_of_headers_is_none() -> None:
    replace(Batches, "header_count", lambda self, count: None)


@fails("RECORDS.null-header-key")
def a_null_header_key_is_empty() -> None:
    replace(Batches, "header_key", lambda self, key: key or b"")


@fails("RECORDS.key-length-beyond-the-record")
def fields_end_with_the_record() -> None:
    headers = Batches.headers

    def nullable(self: Batches, data: bytes, pos: int) -> tuple[bytes | None, int]:
        if pos == len(data):
            return None, pos
        size, pos = VARINT.read(data, pos)
        return (None, pos) if size < 0 else (data[pos : pos + size], min(pos + size, len(data)))

    replace(Batches, "nullable", nullable)
    replace(Batches, "headers", lambda self, data, pos: headers(self, data, pos) if pos < len(data) else ([], pos))


@fails("RECORDS.unknown-bits-of-a-record")
def records_have_no_attributes() -> None:
    read = Batches.record

    def record(self: Batches, data: bytes, at: int) -> tuple[Part, int]:
        _, start = VARINT.read(data, at)
        check(data[start : start + 1] in (b"", b"\0"), "a record with attributes")
        return read(self, data, at)

    replace(Batches, "record", record)


@fails("RECORDS.unknown-compression")
def unknown_compression_is_none() -> None:
    replace(Batches, "codec", lambda self, attributes: attributes & 7 if attributes & 7 <= 4 else 0)


@fails("RECORDS.unknown-format")
def later_formats_are_read_as_format_2() -> None:
    replace(Batches, "format", lambda self, magic: None)


@fails("RECORDS.length-below-the-minimum")
def a_small_batch_is_incomplete() -> None:
    length_of = Batches.length

    def length(self: Batches, data: bytes, at: int) -> int:
        return length_of(self, data, at) if data[at + 11] > 13 or any(data[at + 8 : at + 11]) else _UNKNOWN_SIZE

    replace(Batches, "length", length)


@fails("RECORDS.negative-length")
def a_negative_length_ends_the_batches() -> None:
    length_of = Batches.length
    replace(
        Batches, "length", lambda self, data, at: _UNKNOWN_SIZE if data[at + 8] > 127 else length_of(self, data, at)
    )


@fails("RECORDS.snappy-without-frames", report="kafka-protocol-rs/kafka-protocol-rs#149")
def the_header_of_snappy_is_always_skipped() -> None:
    unsnapped = Batches.unsnapped

    def skipped(self: Batches, data: bytes) -> bytes:
        is_short = len(data) < 16 or self.is_framed(data)
        return unsnapped(self, data) if is_short else bytes(cramjam.snappy.decompress_raw(data[16:]))

    replace(Batches, "unsnapped", skipped)


@fails("RECORDS.snappy-with-another-version", report="dpkp/kafka-python#2414")
def the_versions_of_snappy_are_compared() -> None:
    header = b"\x82SNAPPY\x00\0\0\0\x01\0\0\0\x01"
    replace(Batches, "is_framed", lambda self, data: data.startswith(header))


@fails("RECORDS.gzip-in-two-members")
def gzip_ends_with_its_first_member() -> None:
    replace(Batches, "gunzipped", lambda self, data: zlib.decompressobj(31).decompress(data))


@fails("RECORDS.compressed-empty")
def no_bytes_are_no_records() -> None:
    records = Batches.records
    replace(Batches, "records", lambda self, data, count: records(self, data, count) if data else [])


@fails("RECORDS.legacy-compressed-without-messages")
def a_compressed_message_may_be_empty() -> None:
    replace(Batches, "message_count", lambda self, count: None)


@fails("RECORDS.legacy-compressed-null")
def a_compressed_message_may_be_a_tombstone() -> None:
    replace(Batches, "without_value", lambda self: None)


@fails("RECORDS.legacy-nested-compression")
def messages_are_decompressed_again_and_again() -> None:
    replace(Batches, "may_be_compressed", lambda self, nested: True)


@fails("RECORDS.batch-2-*-nulls", "RECORDS.batch-2-none-delete-horizon", report="platformatic/kafka#217")
def null_is_empty_in_records() -> None:
    wrap(Batches, "key_or_value", lambda content: content or b"")


@fails(
    *(f"RECORDS.batch-2-none-{each}" for each in ("timestamp-deltas", "largest-timestamp", "timestamp-overflow")),
    report="kafka-protocol-rs/kafka-protocol-rs#158",
)
def timestamps_have_32_bits() -> None:
    replace(Batches, "timestamp_delta", lambda self, data, pos: VARINT.read(data, pos))


# Varints and lengths


def _shortest(kind: VarInt, value: int) -> int:
    out = bytearray()
    kind.write(out, value)
    return len(out)


@fails("RECORDS.padded-varints", "VARINT.padded-*")
def padded_varints_are_refused() -> None:
    read = VarInt.read

    def refused(self: VarInt, data: bytes, pos: int) -> tuple[int, int]:
        value, end = read(self, data, pos)
        if end - pos > _shortest(self, value):
            raise SchemaError("a padded varint")
        return value, end

    replace(VarInt, "read", refused)


@fails("RECORDS.padded-varints", "VARINT.padded-*", report="aklivity/zilla#1594")
def varints_have_their_shortest_form() -> None:
    read = VarInt.read

    def shortest(self: VarInt, data: bytes, pos: int) -> tuple[int, int]:
        value, _ = read(self, data, pos)
        return value, pos + _shortest(self, value)

    replace(VarInt, "read", shortest)


# Values


@fails("METADATA.any-nonzero-byte-is-true")
def only_1_is_true() -> None:
    read = Boolean.read

    def strict(self: Boolean, data: bytes, pos: int) -> tuple[object, int]:
        _, end = read(self, data, pos)
        return data[pos] == 1, end

    replace(Boolean, "read", strict)


def _null_is_minus_1(owner: type[ArrayOf] | type[Text]) -> None:
    read = owner.read_length

    def read_length(self: Any, data: bytes, pos: int) -> tuple[int, int]:
        length, end = read(self, data, pos)
        check(length >= -1, "a negative length")
        return length, end

    replace(owner, "read_length", read_length)


@fails("FIND-COORDINATOR.any-negative-length-is-null")
def only_minus_1_is_a_null_text() -> None:
    _null_is_minus_1(Text)


@fails("METADATA.any-negative-count-is-null")
def only_minus_1_is_a_null_array() -> None:
    _null_is_minus_1(ArrayOf)


@fails("DESCRIBE-TOPIC-PARTITIONS.any-nonnegative-byte-is-a-cursor")
def byte_0_is_a_null_struct() -> None:
    read = NullableStruct.read
    replace(
        NullableStruct,
        "read",
        lambda self, data, pos: read(self, data, pos) if data[pos] else (None, pos + 1),
    )


@fails("TEXT.nul-and-byte-order-mark")
def a_byte_order_mark_is_removed() -> None:
    wrap(Text, "read", lambda text: text and text.removeprefix("\ufeff"))


@fails("TEXT.nul-and-byte-order-mark")
def a_text_ends_with_nul() -> None:
    wrap(Text, "read", lambda text: text and text.partition("\0")[0])


@fails("TEXT.not-normalized")
def texts_are_normalized() -> None:
    wrap(Text, "read", lambda text: text and unicodedata.normalize("NFC", text))


@fails("DESCRIBE-CLIENT-QUOTAS.negative-zero-and-nan")
def nan_is_zero() -> None:
    wrap(Float64, "read", lambda value: value if value == value else 0.0)


@fails(
    *("METADATA.request-[1-9]-nulls", "METADATA.request-1?-nulls", "METADATA.request-5-random1"),
    *("METADATA.request-[78]-random3", "METADATA.request-1[12]-random1", "METADATA.any-n*"),
    *("METADATA.request-4-random3", "METADATA.request-8-random2", "METADATA.request-10-random3"),
    report="dpkp/kafka-python#3148",
)
def null_topics_are_written_as_empty() -> None:
    rewritten, write = Messages.rewritten, ArrayOf.write

    def empty(self: ArrayOf, out: bytearray, value: object) -> None:
        write(self, out, [] if value is None else value)

    def chosen(self: Messages, kind: str, name: str, version: int, data: bytes) -> bytes:
        replace(ArrayOf, "write", empty if name == "MetadataRequest" else write)
        return rewritten(self, kind, name, version, data)

    replace(Messages, "rewritten", chosen)


# Tagged fields


@fails("TAGS.huge-tag-count")
def memory_for_the_number_of_tags() -> None:
    places = TagSection.places

    def reserved(self: TagSection, data: bytes, pos: int) -> Iterator[Any]:
        reserve(UNSIGNED_VARINT.read(data, pos)[0])
        return places(self, data, pos)

    replace(TagSection, "places", reserved)


def _header(change: Callable[[TagSection, int, int, int], tuple[int, int, int]]) -> None:
    """Change what is read of the header of a tagged field: tag, size and end."""
    read = TagSection.read_header
    replace(TagSection, "read_header", lambda self, data, at: change(self, *read(self, data, at)))


@fails("*-damaged-tag-beyond-the-end", report="redpanda-data/redpanda#30160")
def memory_for_the_size_of_a_tag() -> None:
    _header(lambda section, tag, size, end: (tag, reserve(size), end))


@fails("TAGS.largest-unknown-tag")
def tags_have_28_bits() -> None:
    _header(lambda section, tag, size, end: (tag & (1 << 28) - 1, size, end))


@fails("TAGS.size-of-two-bytes", "VARINT.padded-tag-and-size", report="dpkp/kafka-python#2725")
def sizes_of_unknown_fields_take_one_byte() -> None:
    read = TagSection.read_header

    def one_byte(self: TagSection, data: bytes, at: int) -> tuple[int, int, int]:
        tag, after = UNSIGNED_VARINT.read(data, at)
        return read(self, data, at) if tag in self.fields else (tag, data[after], after + 1)

    replace(TagSection, "read_header", one_byte)


@fails("TAGS.several-unknown-tags")
def unknown_tags_are_sorted_as_texts() -> None:
    join = TagSection.join

    def sorted_as_texts(self: TagSection, parts: dict[int, bytes]) -> bytes:
        tags = sorted(parts, key=lambda tag: (tag not in self.fields, tag if tag in self.fields else 0, str(tag)))
        return join(self, _Unsorted((tag, parts[tag]) for tag in tags))

    replace(TagSection, "join", sorted_as_texts)


class _Tag(int):
    """A tag that stays where it is when it is sorted."""

    def __lt__(self, other: object) -> bool:
        return False


class _Unsorted(dict[int, bytes]):
    def __iter__(self) -> Iterator[int]:
        return map(_Tag, super().__iter__())


@fails("TAGS.known-tags-in-any-order", report="aio-libs/aiokafka#1139")
def tags_are_written_in_the_order_of_reading() -> None:
    join, write_from = TagSection.join, TagSection.write_from
    replace(TagSection, "join", lambda self, parts: join(self, _Unsorted(parts)))

    def ordered(self: TagSection, out: bytearray, container: Struct) -> None:
        order = list(container)
        fields = sorted(self.fields.items(), key=lambda item: (item[1].name in order and order.index(item[1].name)))
        self.fields = dict(fields)
        write_from(self, out, container)

    replace(TagSection, "write_from", ordered)


def _places(change: Callable[[TagSection, list[Any]], Iterator[Any]]) -> None:
    """Change the positions of tagged fields."""
    places = TagSection.places
    replace(TagSection, "places", lambda self, data, pos: change(self, list(places(self, data, pos))))


@fails("TAGS.known-tags-in-any-order", "TAGS.known-after-unknown-tag")
def tags_must_ascend() -> None:
    def change(section: TagSection, places: list[Any]) -> Iterator[Any]:
        tags = [tag for tag, *_ in places if tag >= 0]
        if tags != sorted(tags):
            raise SchemaError("the tags do not ascend")
        return iter(places)

    _places(change)


@fails("TAGS.known-after-unknown-tag")
def known_tags_after_an_unknown_one_are_skipped() -> None:
    def change(section: TagSection, places: list[Any]) -> Iterator[Any]:
        is_known = True
        for tag, *rest in places:
            is_known = is_known and (tag < 0 or tag in section.fields)
            yield -1 if tag in section.fields and not is_known else tag, *rest

    _places(change)


@fails("TAGS.default-value-is-not-written", "TAGS.empty-array-in-a-tagged-field", report="Aiven-Open/kio#216")
def tagged_fields_at_their_default_are_written() -> None:
    replace(sections, "is_default", lambda value, default: False)


@fails("TAGS.empty-array-in-a-tagged-field")
def empty_tagged_arrays_are_written() -> None:
    replace(sections, "is_default", lambda value, default: default != [] and is_default(value, default))


@fails(
    *("*-unknown-tags", "TAGS.*unknown*", "TAGS.size-of-two-bytes", "VARINT.padded-tag-and-size"),
    report="platformatic/kafka#313",
)
def unknown_tagged_fields_are_not_skipped() -> None:
    def change(section: TagSection, places: list[Any]) -> Iterator[Any]:
        for tag, start, at, end in places:
            is_unknown = tag >= 0 and tag not in section.fields
            yield tag, start, at, at if is_unknown else end

    _places(change)


@fails("*-damaged-tag-of-another-version", report="redpanda-data/redpanda#31663")
def tags_of_other_versions_are_read_as_nothing() -> None:
    places = TagSection.places

    def change(self: TagSection, data: bytes, pos: int) -> Iterator[Any]:
        absent, self.absent = self.absent, frozenset()
        try:
            for tag, start, at, end in list(places(self, data, pos)):
                yield (-1, start, at, at) if tag in absent else (tag, start, at, end)
        finally:
            self.absent = absent

    replace(TagSection, "places", change)


# Frames


@fails("FRAME.shorter-than-its-length")
def a_frame_ends_with_the_bytes() -> None:
    replace(Messages, "payload", lambda self, data, size: data[:size])


@fails("API-VERSIONS.response-[345]-frame-*", report="kafka-protocol-rs/kafka-protocol-rs#113")
def flexible_responses_have_header_1() -> None:
    replace(Messages, "response_header", lambda self, cls, version: int(version >= cls.LOWEST_FLEXIBLE_VERSION))


if __name__ == "__main__":
    MUTANTS[sys.argv[1]].apply()
    serve()
