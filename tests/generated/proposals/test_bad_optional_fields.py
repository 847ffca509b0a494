"""Invalid bytes and values of optional-field buffers."""

# ruff: noqa: E501 -- each expected text is whole, as a user reads it

from __future__ import annotations

import pytest
from kafka_messages_proposals import EncodeError, FooRequest, FooResponse, Message, OptionalTypes, RawTaggedField
from kafka_messages_proposals.messages.foo_request import Depth, Limits, Origin
from kafka_messages_proposals.messages.foo_response import Foo
from kafka_messages_proposals.schema import schemas_of

from tests.support.proposal_errors import NARROW, RAW, decode_error

OPTIONAL = [
    # Known: user_agent, tag 1, classic string. Length 5 is 0a in zig-zag.
    ("0a 0001 0003616263 0a 0001 0003616263 00 00000000", "_optional_fields: optional field 1 at offset 8 follows 1; tags must ascend"),
    ("02 0002 00 0a 0001 0003616263 00 00000000", "_optional_fields: optional field 1 at offset 4 follows 2; tags must ascend"),
    ("02 0005 00 02 0003 00 00 00000000", "_optional_fields: optional field 3 at offset 4 follows 5; tags must ascend"),
    ("02 0005 00 02 0005 00 00 00000000", "_optional_fields: optional field 5 at offset 4 follows 5; tags must ascend"),
    ("02 ffff 00 00 00000000", "_optional_fields: optional field -1 at offset 0 follows -1; tags must ascend"),
    ("01 0001 00 00000000", "_optional_fields: length -1 of an optional field at offset 0 is negative"),
    ("ffffffff0f 0001 00 00000000", "_optional_fields: length -2147483648 of an optional field at offset 0 is negative"),
    ("feffffff0f 0001 0003616263", "_optional_fields: field with tag 1: 2147483647 bytes needed at offset 7, 5 left"),
    ("ffffffffff 0f 00", "_optional_fields: VARINT at offset 0 has more than 5 bytes"),
    ("ffffffff1f 00", "_optional_fields: VARINT at offset 0 has more than 32 bits"),
    ("", "_optional_fields: the optional-field buffer at offset 0 is not terminated by a length of 0"),
    ("02 0005 00", "_optional_fields: the optional-field buffer at offset 0 is not terminated by a length of 0"),
    ("0a 0001 0003616263", "_optional_fields: the optional-field buffer at offset 0 is not terminated by a length of 0"),
    ("0a", "_optional_fields: INT16: 2 bytes needed at offset 1, 0 left"),
    ("0a 00", "_optional_fields: INT16: 2 bytes needed at offset 1, 1 left"),
    ("0a 0001 00036162", "_optional_fields: field with tag 1: 5 bytes needed at offset 3, 4 left"),
    ("0a 0007 00036162", "_optional_fields: field with tag 7: 5 bytes needed at offset 3, 4 left"),
    ("0c 0001 0003616263 00 00 00000000", "user_agent: optional field 1 has size 6 at offset 3, but its value takes 5"),
    ("08 0001 0003616263 00 00000000", "user_agent: optional field 1 has size 4 at offset 3, but its value takes 5"),
    ("08 0001 00036162", "user_agent: NULLABLE_STRING: 3 bytes needed at offset 5, 2 left"),
    ("06 0001 0001 ff 00 00000000", "user_agent: invalid UTF-8 at offset 5: invalid start byte"),
    # In the second foo: bar is not nullable, baz is missing, the buffer is truncated.
    ("00 00000002 00 0007 04 0001 ffff 00 0008", "foos[1].bar: unexpected null at offset 11 in this version"),
    ("00 00000002 00 0007 00 00", "foos[1].baz: INT16: 2 bytes needed at offset 9, 1 left"),
    ("00 00000002 00 0007", "foos[1]._optional_fields: the optional-field buffer at offset 8 is not terminated by a length of 0"),
    ("00 00000002 00 0007 02 0009 00 02 0002 00 00 0008", "foos[1]._optional_fields: optional field 2 at offset 12 follows 9; tags must ascend"),
    ("00 ffffffff", "foos: unexpected null at offset 1 in this version"),
    ("00 7fffffff 00 0007", "foos: array of 2147483647 elements at offset 1, but only 3 bytes left"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "text"), OPTIONAL)
def test_invalid_optional_field_buffers_raise_decode_error(data: str, text: str) -> None:
    error = decode_error(FooResponse, 9, bytes.fromhex(data))
    assert str(error) == f"FooResponse v9: {text}"
    assert error.path == text.partition(":")[0]


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
    assert (
        str(decode_error(FooRequest, 9, data))
        == "FooRequest v9: _optional_fields: VARINT at offset 0 has more than 5 bytes"
    )


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
