"""Invalid bytes and values in the wire formats of the proposals."""

# ruff: noqa: E501 -- each expected text is whole, as a user reads it

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages_proposals import (
    AllEncodings,
    AllTypesRequest,
    DecodeError,
    EncodeError,
    FooRequest,
    FooResponse,
    IntegerEncodings,
    InterleavedTags,
    NullableAssignment,
    OptionalTypes,
    RawTaggedField,
    TaggedTypes,
)
from kafka_messages_proposals._base.message import Message
from kafka_messages_proposals._core.display import summary
from kafka_messages_proposals.json import JsonError, from_json, to_json
from kafka_messages_proposals.messages.all_types_request import Content, Wrapper
from kafka_messages_proposals.messages.foo_request import Depth, Limits, Origin
from kafka_messages_proposals.messages.foo_response import Foo
from kafka_messages_proposals.messages.integer_encodings import Pair
from kafka_messages_proposals.messages.interleaved_tags import Part, TaggedPart
from kafka_messages_proposals.schema import schemas_of

from tests.support.random_messages import Package, messages, versions_of

PACKAGE = Package("kafka_messages_proposals")
NAMES = PACKAGE.message_names


def decode_error(cls: Any, version: int, data: bytes) -> DecodeError:
    """Return the error for invalid bytes, after checking message, version and offset."""
    with pytest.raises(DecodeError) as caught:
        cls.read(data, version)
    error = caught.value
    assert (error.message, error.version) == (cls.NAME, version)
    assert 0 <= error.offset <= len(data)
    assert "please report" not in str(error), f"the codecs disagree about {cls.NAME} v{version} {data.hex()}"
    return error


# --- integer encodings ------------------------------------------------------------------------------------------------

WIDTHS = {"fixed16": 2, "fixed32": 4, "fixed64": 8}
SCHEMA_NAMES = {"packed32": "VARINT", "packed64": "VARLONG"}
LONGEST = {16: 3, 32: 5, 64: 10}


def encoded_fields() -> Iterator[tuple[str, str, int]]:
    """Yield each varint field of AllEncodings v0: path, encoding, and offset in a default message."""
    offset = 0
    for field in PACKAGE.descriptor_of(PACKAGE.message("AllEncodings")).fields:
        if 0 not in field.versions:
            continue
        ((_, name),) = field.encodings or field.element_encodings
        if not name.startswith("fixed"):
            yield f"{field.name}[0]" if field.is_array else field.name, name, offset
        offset += 4 if field.is_array else WIDTHS.get(name, 1)


def with_varint(path: str, offset: int, varint: bytes) -> tuple[bytes, int]:
    """Return a default message with a field or its only array element replaced, and the offset of the replacement."""
    data = AllEncodings().write(0)
    if not path.endswith("[0]"):
        return data[:offset] + varint + data[offset + 1 :], offset
    assert data[offset : offset + 4] == bytes(4)
    return data[:offset] + b"\0\0\0\x01" + varint + data[offset + 4 :], offset + 4


@pytest.mark.parametrize(("path", "name", "offset"), list(encoded_fields()))
def test_varints_with_too_many_bytes_raise_decode_error(path: str, name: str, offset: int) -> None:
    longest = LONGEST[int(name[-2:])]
    for varint in (b"\x80" * longest + b"\0", b"\xff" * 40):
        data, at = with_varint(path, offset, varint)
        error = decode_error(AllEncodings, 0, data)
        what = f"{SCHEMA_NAMES.get(name, name.upper())} at offset {at} has more than {longest} bytes"
        assert str(error) == f"AllEncodings v0: {path}: {what}"
        assert (error.path, error.offset) == (path, at)


@pytest.mark.parametrize(("path", "name", "offset"), list(encoded_fields()))
def test_varints_with_too_many_bits_raise_decode_error(path: str, name: str, offset: int) -> None:
    bits = int(name[-2:])
    longest = LONGEST[bits]
    most = 1 << bits - 7 * (longest - 1)
    data, at = with_varint(path, offset, b"\xff" * (longest - 1) + bytes([most]))
    error = decode_error(AllEncodings, 0, data)
    what = f"{SCHEMA_NAMES.get(name, name.upper())} at offset {at} has more than {bits} bits"
    assert str(error) == f"AllEncodings v0: {path}: {what}"
    assert (error.path, error.offset) == (path, at)
    data, at = with_varint(path, offset, b"\xff" * (longest - 1) + bytes([most - 1]))
    largest = -1 if name.startswith("u") else -(1 << bits - 1)
    value = getattr(AllEncodings.read(data, 0), path.removesuffix("[0]"))
    assert (value[0] if path.endswith("[0]") else value) == largest


@pytest.mark.parametrize(("path", "name", "offset"), list(encoded_fields()))
def test_padded_varints_are_accepted(path: str, name: str, offset: int) -> None:
    longest = LONGEST[int(name[-2:])]
    data, _ = with_varint(path, offset, b"\x82" + b"\x80" * (longest - 2) + b"\0")
    value = getattr(AllEncodings.read(data, 0), path.removesuffix("[0]"))
    assert (value[0] if path.endswith("[0]") else value) == (2 if name.startswith("u") else 1)


def test_truncated_varint_raises_decode_error() -> None:
    data = AllEncodings().write(0)
    at = next(offset for path, _, offset in encoded_fields() if path == "int64_packed64")
    text = f"AllEncodings v0: int64_packed64: VARLONG: 1 byte needed at offset {at + 2}, 0 left"
    assert str(decode_error(AllEncodings, 0, data[:at] + b"\x80\x80")) == text


def test_array_count_beyond_the_data_raises_decode_error() -> None:
    data, at = with_varint(
        "int64s_packed64[0]", next(o for p, _, o in encoded_fields() if p == "int64s_packed64[0]"), b""
    )
    start = at - 4
    data = data[:start] + b"\x7f\xff\xff\xff" + data[at:]
    left = len(data) - at
    text = f"int64s_packed64: array of 2147483647 elements at offset {start}, but only {left} bytes left"
    assert str(decode_error(AllEncodings, 0, data)) == f"AllEncodings v0: {text}"


NARROW = "is out of range for"
INTEGERS: list[tuple[Message, int, str]] = [
    (IntegerEncodings(too_small=1 << 40), 0, "too_small: 1099511627776 is out of range for INT32, -2147483648 to 2147483647"),
    (IntegerEncodings(too_small=-(1 << 31) - 1), 1, f"too_small: -2147483649 {NARROW} INT32, -2147483648 to 2147483647"),
    (IntegerEncodings(too_small=1 << 63), 2, f"too_small: 9223372036854775808 {NARROW} INT64, {-(1 << 63)} to {(1 << 63) - 1}"),
    (IntegerEncodings(narrow=40000), 0, f"narrow: 40000 {NARROW} INT16, -32768 to 32767"),
    (IntegerEncodings(narrow=1 << 31), 1, f"narrow: 2147483648 {NARROW} VARINT, -2147483648 to 2147483647"),
    (IntegerEncodings(narrow=-(1 << 31) - 1), 2, f"narrow: -2147483649 {NARROW} UPACKED32, -2147483648 to 2147483647"),
    (IntegerEncodings(offset=32768), 3, f"offset: 32768 {NARROW} PACKED16, -32768 to 32767"),
    (IntegerEncodings(offset=1 << 63), 1, f"offset: 9223372036854775808 {NARROW} VARLONG, {-(1 << 63)} to {(1 << 63) - 1}"),
    (IntegerEncodings(leader_id=1 << 32), 3, f"leader_id: 4294967296 {NARROW} UPACKED32, -2147483648 to 2147483647"),
    (IntegerEncodings(code=-32769), 3, f"code: -32769 {NARROW} UPACKED16, -32768 to 32767"),
    (IntegerEncodings(codes=[0, 40000]), 1, f"codes[1]: 40000 {NARROW} PACKED16, -32768 to 32767"),
    (IntegerEncodings(offsets=[1 << 31]), 0, f"offsets[0]: 2147483648 {NARROW} INT32, -2147483648 to 2147483647"),
    (IntegerEncodings(offsets=[0] * 20 + [1 << 63]), 2, f"offsets[20]: 9223372036854775808 {NARROW} UPACKED64, {-(1 << 63)} to {(1 << 63) - 1}"),
    (IntegerEncodings(pairs=[Pair(), Pair(key=1 << 31)]), 0, f"pairs[1].key: 2147483648 {NARROW} VARINT, -2147483648 to 2147483647"),
    (IntegerEncodings(tagged_count=1 << 31), 2, f"tagged_count: 2147483648 {NARROW} VARINT, -2147483648 to 2147483647"),
    (IntegerEncodings(tagged_count=1), 0, "tagged_count: is set, but is not supported by version 0"),
    (AllEncodings(tagged_narrow=-32769), 1, f"tagged_narrow: -32769 {NARROW} PACKED16, -32768 to 32767"),
    (AllEncodings(tagged_narrows=[32768]), 1, f"tagged_narrows[0]: 32768 {NARROW} UPACKED16, -32768 to 32767"),
    (AllEncodings(tagged_fixed=32768), 1, f"tagged_fixed: 32768 {NARROW} INT16, -32768 to 32767"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "version", "text"), INTEGERS, ids=lambda value: str(value)[:40])
def test_numbers_out_of_encoding_range_raise_encode_error(message: Message, version: int, text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        message.write(version)
    assert str(caught.value) == f"{message.NAME} v{version}: {text}"


def test_json_numbers_out_of_encoding_range_raise() -> None:
    for version, name, key, value, kind in (
        (0, "too_small", "tooSmall", 1 << 40, "INT32"),
        (3, "offset", "offset", -32769, "PACKED16"),
        (1, "codes", "codes", [1, 40000], "PACKED16"),
    ):
        form = to_json(IntegerEncodings(), version) | {key: value}
        with pytest.raises(JsonError) as caught:
            from_json(IntegerEncodings, form, version)
        error = caught.value
        number, place = (value[1], f"{key}[1]") if isinstance(value, list) else (value, key)
        assert str(error).startswith(f"IntegerEncodings v{version}: {place}: {number} is out of range for {kind}, ")
        if version == 0:
            assert getattr(from_json(IntegerEncodings, to_json(IntegerEncodings(), 2) | {key: value}, 2), name) == value


WRONG = ["5", 5.0, None, b"\x05", [5]]


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize(
    ("name", "kind"), [("int64_packed64", "VARLONG"), ("int64_upacked16", "UPACKED16"), ("int64_fixed16", "INT16")]
)
def test_non_integers_raise_encode_error(name: str, kind: str, value: object) -> None:
    message: Any = AllEncodings()
    setattr(message, name, value)
    with pytest.raises(EncodeError) as caught:
        message.write(0)
    assert str(caught.value) == f"AllEncodings v0: {name}: expected int for {kind}, got {summary(value)}"


def test_int_subclasses_are_accepted() -> None:
    class Three(int):
        """An int subclass, as members of enumerations are."""

    for value in (True, Three(3)):
        names = [path for path, _, _ in encoded_fields() if not path.endswith("[0]")]
        message, plain = AllEncodings(), AllEncodings()
        for name in names:
            setattr(message, name, value)
            setattr(plain, name, int(value))
        assert message.write(0) == plain.write(0)
        out = bytearray()
        schemas_of(AllEncodings)[0].write(out, message)
        assert bytes(out) == plain.write(0)


# --- interleaved tag headers ------------------------------------------------------------------------------------------

INTERLEAVED = [
    ("00000000 01 01 32 000007", "field with tag 5: 4 bytes needed at offset 7, 3 left"),
    # Tag 7 of no bytes, 0b101010, is a field like any other; two bytes follow the message.
    ("00000000 01 01 2a 0000", "2 byte(s) left after the message, at offset 7"),
    # Length 5 (tag 5): 1 1 0 0 1 1, 0x33, for an int32.
    ("00000000 01 01 33 0000000700", "tag5: tagged field 5 has size 5 at offset 7, but its value takes 4"),
    # Length 1 (tag 5): 1 0 0 0 1 1, 0x23.
    ("00000000 01 01 23 07", "tag5: INT32: 4 bytes needed at offset 7, 1 left"),
    ("00000000 01 01 23 07 000000", "tag5: tagged field 5 has size 1 at offset 7, but its value takes 4"),
    ("00000000 01 02 32 00000001 32 00000002", "duplicate tag 5 at offset 11"),
    # Tag 9, 0b1001, of one byte, twice: 1 0 0 0 0 0 1 1, 83 01.
    ("00000000 01 02 8301 07 8301 07", "duplicate tag 9 at offset 9"),
    # Tag 4, 0b100, of one byte: 1 0 0 0 0 1, 0x21; version 0 does not have it.
    ("00000000 01 01 21 01", "tag 4 at offset 6 is not valid in this version"),
    ("00000000 01 01 ffffffffffffffffffff 01", "UNSIGNED_VARLONG at offset 6 has more than 10 bytes"),
    ("00000000 01 01 ffffffffffffffffff02", "UNSIGNED_VARLONG at offset 6 has more than 64 bits"),
    # All 64 bits: tag and length 4294967295.
    ("00000000 01 01 ffffffffffffffffff01", "field with tag 4294967295: 4294967295 bytes needed at offset 16, 0 left"),
    ("00000000 01 01 ff", "UNSIGNED_VARLONG: 1 byte needed at offset 7, 0 left"),
    ("00000000 01 7f", "UNSIGNED_VARLONG: 1 byte needed at offset 6, 0 left"),
    ("00000000 01 8080808080", "UNSIGNED_VARINT at offset 5 has more than 5 bytes"),
    # pieces[0] = 0001 and one unknown field, tag 1 of length 2 (0b0110), of which one byte is left.
    ("00000000 02 0001 01 06 00", "pieces[0]: field with tag 1: 2 bytes needed at offset 9, 1 left"),
    # tag3 (0b011) of 4 bytes, 0b100: 0 1 1 0 1 0 -> 0x1a; its name is empty, its own tag 0 has length 1 for an int64.
    ("00000000 01 01 1a 01 01 01 00", "tag3.weight: INT64: 8 bytes needed at offset 10, 1 left"),
]


@pytest.mark.parametrize(("data", "text"), INTERLEAVED)
def test_invalid_interleaved_sections_raise_decode_error(data: str, text: str) -> None:
    error = decode_error(InterleavedTags, 0, bytes.fromhex(data))
    assert str(error) == f"InterleavedTags v0: {text}"


RAW = "unknown_tagged_fields"
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
    text = "NullableAssignment v1: duplicate tag 0 at offset 5"
    assert str(decode_error(NullableAssignment, 1, data)) == text
    data = bytes.fromhex("ff 02 09 00 09 00")
    assert str(decode_error(NullableAssignment, 1, data)) == "NullableAssignment v1: duplicate tag 9 at offset 4"


# --- optional-field buffers -------------------------------------------------------------------------------------------

OPTIONAL = [
    # Known: user_agent, tag 1, classic string. Length 5 is 0a in zig-zag.
    ("0a 0001 0003616263 0a 0001 0003616263 00 00000000", "optional field 1 at offset 8 follows 1; tags must ascend"),
    ("02 0002 00 0a 0001 0003616263 00 00000000", "optional field 1 at offset 4 follows 2; tags must ascend"),
    ("02 0005 00 02 0003 00 00 00000000", "optional field 3 at offset 4 follows 5; tags must ascend"),
    ("02 0005 00 02 0005 00 00 00000000", "optional field 5 at offset 4 follows 5; tags must ascend"),
    ("02 ffff 00 00 00000000", "optional field -1 at offset 0 follows -1; tags must ascend"),
    ("01 0001 00 00000000", "length -1 of an optional field at offset 0 is negative"),
    ("ffffffff0f 0001 00 00000000", "length -2147483648 of an optional field at offset 0 is negative"),
    ("feffffff0f 0001 0003616263", "field with tag 1: 2147483647 bytes needed at offset 7, 5 left"),
    ("ffffffffff 0f 00", "VARINT at offset 0 has more than 5 bytes"),
    ("ffffffff1f 00", "VARINT at offset 0 has more than 32 bits"),
    ("", "the optional-field buffer at offset 0 is not terminated by a length of 0"),
    ("02 0005 00", "the optional-field buffer at offset 0 is not terminated by a length of 0"),
    ("0a 0001 0003616263", "the optional-field buffer at offset 0 is not terminated by a length of 0"),
    ("0a", "INT16: 2 bytes needed at offset 1, 0 left"),
    ("0a 00", "INT16: 2 bytes needed at offset 1, 1 left"),
    ("0a 0001 00036162", "field with tag 1: 5 bytes needed at offset 3, 4 left"),
    ("0a 0007 00036162", "field with tag 7: 5 bytes needed at offset 3, 4 left"),
    ("0c 0001 0003616263 00 00 00000000", "user_agent: optional field 1 has size 6 at offset 3, but its value takes 5"),
    ("08 0001 0003616263 00 00000000", "user_agent: optional field 1 has size 4 at offset 3, but its value takes 5"),
    ("08 0001 00036162", "user_agent: NULLABLE_STRING: 3 bytes needed at offset 5, 2 left"),
    ("06 0001 0001 ff 00 00000000", "user_agent: invalid UTF-8 at offset 5: invalid start byte"),
    # In the second foo: bar is not nullable, baz is missing, the buffer is truncated.
    ("00 00000002 00 0007 04 0001 ffff 00 0008", "foos[1].bar: unexpected null at offset 11 in this version"),
    ("00 00000002 00 0007 00 00", "foos[1].baz: INT16: 2 bytes needed at offset 9, 1 left"),
    ("00 00000002 00 0007", "foos[1]: the optional-field buffer at offset 8 is not terminated by a length of 0"),
    ("00 00000002 00 0007 02 0009 00 02 0002 00 00 0008", "foos[1]: optional field 2 at offset 12 follows 9; tags must ascend"),
    ("00 ffffffff", "foos: unexpected null at offset 1 in this version"),
    ("00 7fffffff 00 0007", "foos: array of 2147483647 elements at offset 1, but only 3 bytes left"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "text"), OPTIONAL)
def test_invalid_optional_field_buffers_raise_decode_error(data: str, text: str) -> None:
    error = decode_error(FooResponse, 9, bytes.fromhex(data))
    assert str(error) == f"FooResponse v9: {text}"
    assert error.path == (text.partition(":")[0] if text.startswith(("user_agent", "foos")) else "")


def test_invalid_optional_fields_of_optional_structs_raise() -> None:
    # limits (tag 2): buffer with reason (tag 0) = a string of claimed length 9, then bytes64.
    inner = bytes.fromhex("06 0000 000978 00 0000000000000000")
    #    length (zig-zag)  tag   value  end  names     depth
    data = b"\x1e" + b"\0\2" + inner + bytes.fromhex("00 00000000 00 00000000")
    error = decode_error(FooRequest, 9, data)
    assert str(error) == "FooRequest v9: limits.reason: optional field 0 has size 3 at offset 6, but its value takes 11"
    assert (error.path, error.offset) == ("limits.reason", 6)
    text = "FooRequest v9: limits.reason: STRING: 255 bytes needed at offset 8, 20 left"
    assert str(decode_error(FooRequest, 9, data[:7] + b"\xff" + data[8:])) == text


def test_padded_lengths_of_optional_fields_are_accepted() -> None:
    message = FooResponse(user_agent="abc", foos=[Foo(baz=7)])
    for buffer in ("8a 00 0001 0003616263 80 00", "8a 80 80 80 00 0001 0003616263 80 80 00"):
        for foo in ("00", "80 00", "80 80 80 80 00"):
            data = bytes.fromhex(f"{buffer} 00000001 {foo} 0007")
            assert FooResponse.read(data, 9) == message
            struct, end = schemas_of(FooResponse)[9].read(data)
            assert (struct["user_agent"], end) == ("abc", len(data))
    # The same for a struct without known optional fields.
    data = bytes.fromhex("80 00 00000000 80 00 00000005")
    assert FooRequest.read(data, 9) == FooRequest(depth=Depth(level=5))
    data = bytes.fromhex("80 80 80 80 80 00 00000000 00 00000005")
    assert str(decode_error(FooRequest, 9, data)) == "FooRequest v9: VARINT at offset 0 has more than 5 bytes"


OPTIONAL_VALUES: list[tuple[Message, int, str]] = [
    (FooResponse(user_agent="x"), 8, "user_agent: is set, but is not supported by version 8"),
    (FooResponse(foos=[Foo(), Foo(bar="x")]), 8, "foos[1].bar: is set, but is not supported by version 8"),
    (
        FooResponse(foos=[Foo(bar=None)]),  # type: ignore[arg-type]
        9,
        "foos[0].bar: must not be None in this version",
    ),
    (FooResponse(unknown_tagged_fields=(RawTaggedField(5, b"x"),)), 8, f"{RAW}: is set, but this version does not support tagged fields"),
    (FooResponse(unknown_tagged_fields=(RawTaggedField(5, b""),)), 9, f"{RAW}[0]: optional field 5 has no bytes; a length of 0 would end the buffer"),
    (FooResponse(unknown_tagged_fields=(RawTaggedField(1 << 15, b"x"),)), 9, f"{RAW}[0]: 32768 is out of range for INT16, -32768 to 32767"),
    (FooResponse(unknown_tagged_fields=(RawTaggedField(-1, b"x"),)), 9, f"{RAW}[0]: tag -1 is not in 0 to 32767"),
    (FooResponse(unknown_tagged_fields=(RawTaggedField(1, b"x"),)), 9, f"{RAW}[0]: tag 1 is a field of the definition"),
    (
        FooResponse(unknown_tagged_fields=(RawTaggedField(7, b"x"), RawTaggedField(8, b"x"), RawTaggedField(7, b"y"))),
        9,
        f"{RAW}[2]: duplicate tag 7",
    ),
    (
        FooResponse(foos=[Foo(unknown_tagged_fields=(RawTaggedField(2, b""),))]),
        9,
        f"foos[0].{RAW}[0]: optional field 2 has no bytes; a length of 0 would end the buffer",
    ),
    (
        FooRequest(depth=Depth(unknown_tagged_fields=(RawTaggedField(40000, b"x"),))),
        9,
        f"depth.{RAW}[0]: 40000 is out of range for INT16, -32768 to 32767",
    ),
    (
        FooRequest(limits=Limits(unknown_tagged_fields=(RawTaggedField(0, b"x"),))),
        9,
        f"limits.{RAW}[0]: tag 0 is a field of the definition",
    ),
    (FooRequest(origin=Origin(address="x")), 9, "origin.address: expected bytes, got str of 1 character"),  # type: ignore[arg-type]  # rejected
    (FooRequest(priority=128), 9, "priority: 128 is out of range for INT8, -128 to 127"),
    (FooRequest(forwarded_by=[1, 1 << 31]), 9, f"forwarded_by[1]: 2147483648 {NARROW} INT32, -2147483648 to 2147483647"),
    (OptionalTypes(number=1 << 31), 1, f"number: 2147483648 {NARROW} INT32, -2147483648 to 2147483647"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "version", "text"), OPTIONAL_VALUES, ids=lambda value: str(value)[:40])
def test_invalid_optional_fields_raise_encode_error(message: Message, version: int, text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        message.write(version)
    assert str(caught.value) == f"{message.NAME} v{version}: {text}"


def test_null_for_non_nullable_optional_struct_raises() -> None:
    message = FooRequest(limits=None)
    assert message.limits == Limits()
    message.limits = None  # type: ignore[assignment]
    with pytest.raises(EncodeError) as caught:
        message.write(9)
    assert str(caught.value) == "FooRequest v9: limits: must not be None in this version"


def test_ignorable_optional_field_is_dropped_in_older_versions() -> None:
    assert FooRequest(priority=3).write(8) == FooRequest().write(8)


# --- nullable structs -------------------------------------------------------------------------------------------------

PRESENCE = [
    ("", 0, "assignment: INT8: 1 byte needed at offset 0, 0 left"),
    ("01", 0, "assignment.error: INT8: 1 byte needed at offset 1, 0 left"),
    ("01 05 00000001", 0, "assignment.assigned_topic_partitions: array of 1 elements at offset 2, but only 0 bytes left"),
    ("01 05 00000000 ffffffff", 0, "assignment.pending_topic_partitions: unexpected null at offset 6 in this version"),
    ("ff 00", 0, "1 byte(s) left after the message, at offset 1"),
    ("ff 01 00 00", 1, "previous: UNSIGNED_VARINT: 1 byte needed at offset 4, 0 left"),
    ("ff 01 00 01 01", 1, "previous.epoch: INT32: 4 bytes needed at offset 5, 0 left"),
    ("ff 01 00 02 00 00", 1, "previous: tagged field 0 has size 2 at offset 4, but its value takes 1"),
    ("ff 01 00 06 8080808080 00", 1, "previous: UNSIGNED_VARINT at offset 4 has more than 5 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "version", "text"), PRESENCE)
def test_invalid_nullable_structs_raise_decode_error(data: str, version: int, text: str) -> None:
    assert (
        str(decode_error(NullableAssignment, version, bytes.fromhex(data))) == f"NullableAssignment v{version}: {text}"
    )


@pytest.mark.parametrize("mark", range(256))
def test_every_presence_byte_is_null_or_present(mark: int) -> None:
    struct = bytes.fromhex("05 00000000 00000000 0002 00000000")
    if mark > 127:
        assert NullableAssignment.read(bytes([mark]), 0) == NullableAssignment()
        decode_error(NullableAssignment, 0, bytes([mark]) + struct)
    else:
        assert NullableAssignment.read(bytes([mark]) + struct, 0).write(0) == b"\x01" + struct
        decode_error(NullableAssignment, 0, bytes([mark]))


# --- everything -------------------------------------------------------------------------------------------------------


def sample_encodings(name: str, seed: int, mixed: int) -> Iterator[tuple[Any, int, bytes]]:
    """Yield short random messages of every version as bytes."""
    cls = PACKAGE.message(name)
    for version in versions_of(cls):
        for message in messages(cls, version, seed, mixed):
            data = message.write(version)
            if len(data) < 6000:
                yield cls, version, data


@pytest.mark.parametrize("name", NAMES)
def test_truncated_messages_raise_decode_error(name: str) -> None:
    for cls, version, data in sample_encodings(name, seed=1, mixed=2):
        cuts = range(len(data)) if len(data) < 700 else random.Random(name).sample(range(len(data)), 700)
        for cut in cuts:
            error = decode_error(cls, version, data[:cut])
            assert error.offset <= cut
            assert "offset" in str(error)


@pytest.mark.parametrize("name", NAMES)
def test_trailing_bytes_raise_decode_error(name: str) -> None:
    for cls, version, data in sample_encodings(name, seed=2, mixed=2):
        error = decode_error(cls, version, data + b"\0")
        reason = f"1 byte(s) left after the message, at offset {len(data)}"
        assert str(error) == f"{name} v{version}: {reason}"
        _, end = cls.read_from(b"\0" + data + b"\0", 1, version)
        assert end == len(data) + 1


CHANGES = [b"", b"\0", b"\x01", b"\x02", b"\x7f", b"\x80", b"\xff", b"\x80\0", b"\x80\x80\0", b"\xff" * 4]
CHANGES += [b"\xff" * 4 + b"\x0f", b"\xff" * 4 + b"\x7f", b"\xff" * 9 + b"\x01", b"\xff" * 9 + b"\x03", b"\xff" * 11]


@pytest.mark.parametrize("name", NAMES)
def test_mutated_bytes_are_rejected_or_re_encodable(name: str) -> None:
    for cls, version, data in sample_encodings(name, seed=3, mixed=3):
        draw = random.Random(f"{name} {version} {len(data)}")
        for _ in range(60 if data else 0):
            at = draw.randrange(len(data))
            changed = data[:at] + draw.choice(CHANGES) + data[at + draw.choice((0, 1, 1, 1, 2)) :]
            try:
                message = cls.read(changed, version)
            except DecodeError:
                decode_error(cls, version, changed)
                continue
            written = message.write(version)
            assert message.size(version) == len(written)
            struct, end = cls.schemas()[version].read(changed)
            assert end == len(changed)
            for value in (message, struct):
                out = bytearray()
                cls.schemas()[version].write(out, value)
                assert bytes(out) == written


def test_70000_elements_with_only_a_struct_round_trip() -> None:
    message = AllTypesRequest(wrappers=[Wrapper(content=Content(size=1))] * 70000)
    assert AllTypesRequest.read(message.write(0), 0) == message


def test_errors_in_tagged_fields_name_the_field() -> None:
    data = TaggedTypes(words="abc").write(1)
    at = data.index(b"abc")
    error = decode_error(TaggedTypes, 1, data[: at - 1] + b"\x09" + data[at:])
    assert str(error) == "TaggedTypes v1: words: COMPACT_STRING: 8 bytes needed at offset 4, 3 left"
    assert (error.path, error.offset) == ("words", 4)
