"""Examples in the texts of the proposed encodings, byte for byte, with corrections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from kafka_messages_proposals import (
    AllEncodings,
    AllTypesRequest,
    FooResponse,
    IntegerEncodings,
    InterleavedTags,
    MetadataFixed,
    MetadataPacked,
    MetadataUpacked,
    NullableAssignment,
    RawTaggedField,
)
from kafka_messages_proposals._core import encodings as fast
from kafka_messages_proposals._core import wire
from kafka_messages_proposals.messages.foo_response import Foo
from kafka_messages_proposals.messages.metadata_fixed import FixedPartition, FixedTopic
from kafka_messages_proposals.messages.metadata_packed import PackedPartition, PackedTopic
from kafka_messages_proposals.messages.metadata_upacked import UpackedPartition, UpackedTopic
from kafka_messages_proposals.messages.nullable_assignment import Assignment, Previous, TopicPartitions
from kafka_messages_proposals.schema import (
    PACKED16,
    PACKED32,
    PACKED64,
    UNSIGNED_VARINT,
    UPACKED16,
    UPACKED32,
    UPACKED64,
    Type,
)

from tests.support.building import check


def assert_encodes_to(message: Any, version: int, data: str) -> None:
    """Assert the exact bytes of a message in both codecs, and that they decode to it; ``data`` is hexadecimal."""
    expected = bytes.fromhex(data)
    assert message.write(version).hex(" ") == expected.hex(" ")
    assert message.size(version) == len(expected)
    assert type(message).read(expected, version) == message
    schema = type(message).schemas()[version]
    struct, end = schema.read(expected)
    assert end == len(expected)
    for value in (message, struct):
        out = bytearray()
        schema.write(out, value)
        assert out.hex(" ") == expected.hex(" ")


# --- 000: interleaved tag headers, unsigned varints -------------------------------------------------------------------


def test_interleaved_header_of_tag_5_and_length_4_is_32() -> None:
    """Length 0b100 in the even bits and tag 0b101 in the odd bits: 110010, one byte, 0x32."""
    assert fast.interleave(5, 4) == 0b110010 == 0x32
    # An int32 with tag 5 has length 4:
    #   id           pieces (none)  one tagged field  T2 L2 T1 L1 T0 L0 = 1 1 0 0 1 0   tag5 = 7
    #   00000000     01            01                32                               00000007
    assert_encodes_to(InterleavedTags(tag5=7), 0, "00000000 01 01 32 00000007")


@pytest.mark.parametrize(
    ("tag", "length", "header"),
    [
        (0, 0, "00"),
        (0, 1, "01"),
        (1, 0, "02"),
        (1, 1, "03"),
        (7, 15, "7f"),  # 1 0 1 0 1 0 | 1: length 0b1111, tag 0b0111, the most that one byte holds
        (8, 0, "8001"),
        (0, 16, "8002"),
        ((1 << 32) - 1, 0, "aa d5 aa d5 aa d5 aa d5 aa 01"),  # all odd bits of 64, in groups of seven
    ],
)
def test_interleaved_headers_round_trip(tag: int, length: int, header: str) -> None:
    expected = bytes.fromhex(header)
    assert wire.VARINTS[fast.interleave(tag, length)] == expected
    data = expected + bytes(length)
    assert fast.interleaved_header(data, 0, set()) == (tag, len(expected), len(data))


def test_unknown_interleaved_fields_are_sorted_by_tag() -> None:
    unknown = (RawTaggedField(6, b""), RawTaggedField(8, b"\x01"))
    # tag 2 is tag2 = [1] of five bytes (02 00000001): length 0b101, tag 0b010: 01 10 01 = 0x19
    # tag 6 without bytes: 0b101000 = 0x28; tag 8 of one byte: 0b10000001 = 81 01
    message = InterleavedTags(id=1, tag2=[1], unknown_tagged_fields=unknown)
    assert_encodes_to(message, 0, "00000001 01 03 19 02 00000001 28 8101 01")


def test_unsigned_varint_of_300_is_ac_02() -> None:
    """300 is 0b100101100, so the bytes are 10101100 and 00000010."""
    assert bytes([0b10101100, 0b00000010]).hex(" ") == "ac 02"
    out = bytearray()
    UNSIGNED_VARINT.write(out, 300)
    assert out.hex(" ") == wire.VARINTS[300].hex(" ") == "ac 02"
    assert UNSIGNED_VARINT.read(bytes(out), 0) == wire.read_uvarint(bytes(out), 0) == (300, 2)


# --- 002: integer encodings -------------------------------------------------------------------------------------------


def test_widened_field_takes_8_bytes_at_version_2() -> None:
    body = IntegerEncodings(too_small=-2).write(0)
    assert body[:4].hex() == "fffffffe"
    assert IntegerEncodings.read(body, 0).too_small == -2
    body = IntegerEncodings(too_small=1 << 40).write(2)
    assert body[:8].hex() == "0000010000000000"
    assert IntegerEncodings.read(body, 2).too_small == 1 << 40


@pytest.mark.parametrize(("kind", "size"), [(UPACKED16, 3), (UPACKED32, 5), (UPACKED64, 10)], ids=str)
def test_minus_one_takes_the_maximum_size_in_upacked(kind: Type, size: int) -> None:
    """The proposal's limit of 9 bytes is wrong: 64 bits in groups of seven take ten."""
    out = bytearray()
    kind.write(out, -1)
    bits = {3: 16, 5: 32, 10: 64}[size]
    assert len(out) == size
    assert int.from_bytes(out, "little") == sum(
        (0xFF if group < size - 1 else (1 << bits - 7 * group) - 1) << 8 * group for group in range(size)
    )
    assert kind.read(bytes(out), 0) == (-1, size)


def with_number(name: str, number: int) -> AllEncodings:
    message = AllEncodings()
    setattr(message, name, number)
    return message


def test_minus_one_is_longer_only_in_upacked_fields() -> None:
    sizes = {
        name: with_number(name, -1).size(0) - with_number(name, 1).size(0)
        for name in (f"int64_{form}{bits}" for form in ("fixed", "packed", "upacked") for bits in (16, 32, 64))
    }
    more = {"int64_upacked16": 2, "int64_upacked32": 4, "int64_upacked64": 9}
    assert sizes == {name: more.get(name, 0) for name in sizes}


SIGNED = [(6, 1), (13, 2), (20, 3), (27, 4), (31, 5)]
"""Maximum bits of a magnitude, without its sign, and bytes of the encoding."""


@pytest.mark.parametrize(("bits", "size"), SIGNED)
def test_packed32_sizes_equal_the_proposal(bits: int, size: int) -> None:
    highest, lowest = (1 << bits) - 1, -(1 << bits)
    assert size_of("packed32", highest) == size
    assert size_of("packed32", lowest) == size
    if bits < 31:
        assert size_of("packed32", highest + 1) == size + 1
        assert size_of("packed32", lowest - 1) == size + 1


@pytest.mark.parametrize(
    ("bound", "claimed", "true"),
    [(-134217727, 5, 4), (-1048575, 4, 3), (-8191, 3, 2), (-63, 2, 1)],
)
def test_packed32_sizes_at_the_corrected_bounds_are_right(bound: int, claimed: int, true: int) -> None:
    """Errors in the proposal: [-8192, -65] takes 2 bytes, not [-8192, -63]; the largest int32 takes 5 bytes, too."""
    assert size_of("packed32", bound) == true == claimed - 1
    assert size_of("packed32", bound - 1) == true  # in both ranges of the text
    assert size_of("packed32", bound - 2) == claimed
    assert size_of("packed32", 2147483647) == 5


UNSIGNED = [(0, 1), (127, 1), (128, 2), (16383, 2), (16384, 3), (2097151, 3), (2097152, 4), (268435455, 4)]
UNSIGNED += [(268435456, 5), (2147483647, 5), (-2147483648, 5), (-1, 5)]


@pytest.mark.parametrize(("number", "size"), UNSIGNED)
def test_upacked32_sizes_equal_the_proposal(number: int, size: int) -> None:
    assert size_of("upacked32", number) == size


def size_of(encoding: str, number: int) -> int:
    """Return the size of a number, equal in the schema codec, the generated code and a message."""
    kind: Type = {"packed32": PACKED32, "upacked32": UPACKED32}[encoding]
    table = {"packed32": fast.PACKED32, "upacked32": fast.UPACKED32}[encoding]
    name = f"int32_{encoding}"
    sizes = {
        kind.size_of(number),
        len(table[number]),
        with_number(name, number).size(0) - AllEncodings().size(0) + 1,
    }
    assert len(sizes) == 1
    return sizes.pop()


@pytest.mark.parametrize(
    ("kind", "highest"), [(PACKED16, (63, 8191, 32767)), (PACKED64, tuple((1 << 7 * n - 1) - 1 for n in range(1, 10)))]
)
def test_packed16_and_packed64_sizes_grow_at_powers_of_two(kind: Type, highest: Sequence[int]) -> None:
    for size, number in enumerate(highest, 1):
        assert kind.size_of(number) == kind.size_of(-number - 1) == size
    assert PACKED64.size_of((1 << 63) - 1) == PACKED64.size_of(-(1 << 63)) == 10


def partition_size(form: str, number: int, error_code: int, replicas: int, isr: int, offline: int) -> int:
    """Return the bytes that one partition adds to a response with ``number`` in all integers but the error code."""
    partition, topic, message = {
        "fixed": (FixedPartition, FixedTopic, MetadataFixed),
        "packed": (PackedPartition, PackedTopic, MetadataPacked),
        "upacked": (UpackedPartition, UpackedTopic, MetadataUpacked),
    }[form]
    more = partition(
        error_code=error_code,
        partition_index=number,
        leader_id=number,
        leader_epoch=number,
        replica_nodes=[number] * replicas,
        isr_nodes=[number] * isr,
        offline_replicas=[number] * offline,
    )
    sizes = []
    for count in (3, 4):
        response: Any = message(topics=[topic(name="a topic", partitions=[more] * count)])
        sizes.append(response.size(0))
        assert len(response.write(0)) == sizes[-1]
    return int(sizes[1] - sizes[0])


LISTS = [(0, 0, 0), (3, 3, 0), (3, 2, 1), (126, 1, 126)]
TAG_SECTION = 1
"""Size of an empty tag section, which the text omits for flexible versions."""


@pytest.mark.parametrize(("r", "i", "o"), LISTS)
def test_best_case_size_of_a_partition_equals_the_proposal(r: int, i: int, o: int) -> None:
    """The proposal: 17 + 4(R + I + O) bytes with fixed widths, 7 + R + I + O in the best case."""
    assert partition_size("fixed", 63, 63, r, i, o) == 17 + 4 * (r + i + o) + TAG_SECTION
    for form, number in (("packed", 63), ("packed", -64), ("upacked", 127)):
        assert partition_size(form, number, number, r, i, o) == 7 + r + i + o + TAG_SECTION


@pytest.mark.parametrize(("r", "i", "o"), LISTS)
def test_worst_case_size_of_a_partition_is_five_bytes_per_id(r: int, i: int, o: int) -> None:
    """Ids above 134,217,727 take five bytes. Contrary to the proposal, packed16 takes three bytes only from 8,192."""
    for form, error_code, number in (("packed", 8192, 134217728), ("upacked", 16384, 268435456), ("upacked", -1, -1)):
        assert partition_size(form, number, error_code, r, i, o) == 3 + 3 * 5 + 3 + 5 * (r + i + o) + TAG_SECTION
    assert partition_size("packed", 0, 256, 0, 0, 0) == 2 + 3 + 3 + TAG_SECTION


# --- 003: nullable structs --------------------------------------------------------------------------------------------

TOPIC = UUID("00112233-4455-6677-8899-aabbccddeeff")
ASSIGNMENT = Assignment(
    error=5,
    assigned_topic_partitions=[TopicPartitions(topic_id=TOPIC, partitions=[1])],
    metadata_version=2,
    metadata_bytes=b"\xab",
)


def test_null_assignment_has_presence_byte_ff() -> None:
    assert_encodes_to(NullableAssignment(), 0, "ff")
    assert_encodes_to(NullableAssignment(), 1, "ff 00")


def test_present_assignment_has_presence_byte_01() -> None:
    #      1  error  one topic, its id                                     [1]                none      v2    one byte
    struct = "05 00000001 00112233445566778899aabbccddeeff 00000001 00000001 00000000 0002 00000001 ab"
    assert_encodes_to(NullableAssignment(assignment=ASSIGNMENT), 0, f"01 {struct}")
    # Counts and lengths are one more and one byte long; topic, assignment and message end with their tag sections.
    struct = "05 02 00112233445566778899aabbccddeeff 02 00000001 00 01 0002 02 ab 00"
    assert_encodes_to(NullableAssignment(assignment=ASSIGNMENT), 1, f"01 {struct} 00")


def test_present_tagged_struct_has_presence_byte_01() -> None:
    #   no assignment  one field  tag 0  six bytes  1   epoch 9   its tag section
    assert_encodes_to(NullableAssignment(previous=Previous(epoch=9)), 1, "ff 01 00 06 01 00000009 00")


def test_null_tagged_struct_has_presence_byte_00() -> None:
    before, after = AllTypesRequest().write(2), AllTypesRequest(empty_tagged_inner=None).write(2)
    assert before.endswith(bytes.fromhex("00"))
    # One tagged field with tag 11 and the byte 0.
    assert after == before[:-1] + bytes.fromhex("01 0b 01 00")
    assert AllTypesRequest.read(after, 2).empty_tagged_inner is None


# --- 004: optional fields ---------------------------------------------------------------------------------------------

TEXT = """{
  "apiKey": 9000,
  "type": "response",
  "name": "FooResponse",
  "validVersions": "0-9",
  "versionsWithOptional": "9+",
  "optionalFields": [
      { "name": "UserAgent", "type": "string", "nullable": true, "tag": "0x0001",
        "about": "The user-agent that sent this request." },
  ],
  "fields": [
    { "name": "Foos", "type": "[]Foo", "versions": "0+",
      "about": "Each foo.", "optionalFields": [
        { "name": "Bar", "type": "string", "nullable": false, "tag": "0x0001",
          "default": "hello world", "about": "The bar associated with this foo, if any." },
      ], "fields": [
        { "name": "Baz", "type": "int16", "versions": "0+",
          "about": "The baz associated with this foo." },
      ] },
  ],
}"""
"""The definition of proposal 004 with the missing brackets and commas."""


def test_corrected_definition_of_the_proposal_is_accepted() -> None:
    message = check(TEXT).message
    (user_agent,) = message.optional_fields
    (foos,) = message.fields
    (bar,) = foos.optional_fields
    assert [user_agent.tag, bar.tag] == [1, 1]
    assert str(message.with_optional) == str(bar.versions) == "9+"
    assert bar.default == "hello world"


def test_foo_response_without_optional_fields_has_the_expected_bytes() -> None:
    #                        response  two foos  foo  baz   foo  baz
    assert_encodes_to(FooResponse(foos=[Foo(baz=7), Foo(baz=8)]), 9, "00 00000002 00 0007 00 0008")
    assert_encodes_to(FooResponse(foos=[Foo(baz=7), Foo(baz=8)]), 8, "00000002 0007 0008")


def test_foo_response_with_optional_fields_has_the_expected_bytes() -> None:
    """Length (zig-zag varint), tag (int16) and value of each field, then length 0."""
    # "abc" as a classic string is 0003 616263, five bytes: length 0a. "b" is 0001 62, three bytes: length 06.
    message = FooResponse(user_agent="abc", foos=[Foo(bar="b", baz=7), Foo(baz=8)])
    assert_encodes_to(message, 9, "0a 0001 0003616263 00  00000002  06 0001 000162 00 0007  00 0008")


def test_foo_response_with_unknown_optional_fields_has_the_expected_bytes() -> None:
    unknown = (RawTaggedField(0, b"\x01"), RawTaggedField(0x7FFF, b"\x02\x03"))
    message = FooResponse(user_agent="", unknown_tagged_fields=unknown)
    assert_encodes_to(message, 9, "02 0000 01  04 0001 0000  04 7fff 0203  00  00000000")


def test_long_optional_field_has_a_two_byte_length() -> None:
    assert_encodes_to(FooResponse(user_agent="x" * 62), 9, "8001 0001 003e" + "78" * 62 + "00 00000000")
