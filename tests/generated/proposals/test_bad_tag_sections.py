"""Invalid bytes and values of interleaved tag headers and of tagged fields."""

# ruff: noqa: E501 -- each expected text is whole, as a user reads it

from __future__ import annotations

import pytest
from kafka_messages_proposals import (
    EncodeError,
    InterleavedTags,
    Message,
    NullableAssignment,
    RawTaggedField,
    TaggedTypes,
)
from kafka_messages_proposals.messages.interleaved_tags import Part, TaggedPart

from tests.support.proposal_errors import RAW, decode_error

INTERLEAVED = [
    ("00000000 01 01 32 000007", "_tagged_fields: field with tag 5: 4 bytes needed at offset 7, 3 left"),
    # Tag 7 of no bytes, 0b101010, is a field like any other; two bytes follow the message.
    ("00000000 01 01 2a 0000", "2 byte(s) left after the message, at offset 7"),
    # Length 5 (tag 5): 1 1 0 0 1 1, 0x33, for an int32.
    ("00000000 01 01 33 0000000700", "tag5: tagged field 5 has size 5 at offset 7, but its value takes 4"),
    # Length 1 (tag 5): 1 0 0 0 1 1, 0x23.
    ("00000000 01 01 23 07", "tag5: INT32: 4 bytes needed at offset 7, 1 left"),
    ("00000000 01 01 23 07 000000", "tag5: tagged field 5 has size 1 at offset 7, but its value takes 4"),
    ("00000000 01 02 32 00000001 32 00000002", "_tagged_fields: duplicate tag 5 at offset 11"),
    # Tag 9, 0b1001, of one byte, twice: 1 0 0 0 0 0 1 1, 83 01.
    ("00000000 01 02 8301 07 8301 07", "_tagged_fields: duplicate tag 9 at offset 9"),
    # Tag 4, 0b100, of one byte: 1 0 0 0 0 1, 0x21; version 0 does not have it.
    ("00000000 01 01 21 01", "_tagged_fields: tag 4 at offset 6 is not valid in this version"),
    ("00000000 01 01 ffffffffffffffffffff 01", "_tagged_fields: UNSIGNED_VARLONG at offset 6 has more than 10 bytes"),
    ("00000000 01 01 ffffffffffffffffff02", "_tagged_fields: UNSIGNED_VARLONG at offset 6 has more than 64 bits"),
    # All 64 bits: tag and length 4294967295.
    (
        "00000000 01 01 ffffffffffffffffff01",
        "_tagged_fields: field with tag 4294967295: 4294967295 bytes needed at offset 16, 0 left",
    ),
    ("00000000 01 01 ff", "_tagged_fields: UNSIGNED_VARLONG: 1 byte needed at offset 7, 0 left"),
    ("00000000 01 7f", "_tagged_fields: UNSIGNED_VARLONG: 1 byte needed at offset 6, 0 left"),
    ("00000000 01 8080808080", "_tagged_fields: UNSIGNED_VARINT at offset 5 has more than 5 bytes"),
    # pieces[0] = 0001 and one unknown field, tag 1 of length 2 (0b0110), of which one byte is left.
    ("00000000 02 0001 01 06 00", "pieces[0]._tagged_fields: field with tag 1: 2 bytes needed at offset 9, 1 left"),
    # tag3 (0b011) of 4 bytes, 0b100: 0 1 1 0 1 0 -> 0x1a; its name is empty, its own tag 0 has length 1 for an int64.
    ("00000000 01 01 1a 01 01 01 00", "tag3.weight: INT64: 8 bytes needed at offset 10, 1 left"),
]


@pytest.mark.parametrize(("data", "text"), INTERLEAVED)
def test_invalid_interleaved_sections_raise_decode_error(data: str, text: str) -> None:
    error = decode_error(InterleavedTags, 0, bytes.fromhex(data))
    assert str(error) == f"InterleavedTags v0: {text}"


INTERLEAVED_VALUES: list[tuple[Message, int, str]] = [
    (InterleavedTags(unknown_tagged_fields=(RawTaggedField(5, b""),)), 0, f"{RAW}[0]: tag 5 is a field of the definition"),
    (InterleavedTags(unknown_tagged_fields=(RawTaggedField(4, b""),)), 0, f"{RAW}[0]: tag 4 is a field of the definition"),
    (
        InterleavedTags(unknown_tagged_fields=(RawTaggedField(9, b""), RawTaggedField(9, b"x"))),
        1,
        f"{RAW}[1]: duplicate tag 9",
    ),
    (
        InterleavedTags(unknown_tagged_fields=(RawTaggedField(1 << 32, b""),)),
        1,
        f"{RAW}[0]: 4294967296 is out of range for UNSIGNED_VARINT, 0 to 4294967295",
    ),
    (
        InterleavedTags(pieces=[Part(), Part(unknown_tagged_fields=(RawTaggedField(-1, b""),))]),
        1,
        f"pieces[1].{RAW}[0]: -1 is out of range for UNSIGNED_VARINT, 0 to 4294967295",
    ),
    (InterleavedTags(tag3=TaggedPart(weight=1 << 63)), 1, f"tag3.weight: {1 << 63} is out of range for INT64, {-(1 << 63)} to {(1 << 63) - 1}"),
    (InterleavedTags(tag4=b"x"), 0, "tag4: is set, but is not supported by version 0"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "version", "text"), INTERLEAVED_VALUES, ids=lambda value: str(value)[:40])
def test_invalid_interleaved_fields_raise_encode_error(message: Message, version: int, text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        message.write(version)
    assert str(caught.value) == f"{message.NAME} v{version}: {text}"


def test_duplicate_sequential_tags_raise_decode_error() -> None:
    # NullableAssignment v1: null, two fields: tag 0, null (00), twice.
    data = bytes.fromhex("ff 02 00 01 00 00 01 00")
    text = "NullableAssignment v1: _tagged_fields: duplicate tag 0 at offset 5"
    assert str(decode_error(NullableAssignment, 1, data)) == text
    data = bytes.fromhex("ff 02 09 00 09 00")
    assert (
        str(decode_error(NullableAssignment, 1, data))
        == "NullableAssignment v1: _tagged_fields: duplicate tag 9 at offset 4"
    )


def test_errors_in_tagged_fields_contain_the_path_of_the_field() -> None:
    data = TaggedTypes(words="abc").write(1)
    at = data.index(b"abc")
    error = decode_error(TaggedTypes, 1, data[: at - 1] + b"\x09" + data[at:])
    assert str(error) == "TaggedTypes v1: words: COMPACT_STRING: 8 bytes needed at offset 4, 3 left"
    assert (error.path, error.offset) == ("words", 4)
