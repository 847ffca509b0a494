"""Invalid varints and numbers in the proposed integer encodings."""

# ruff: noqa: E501 -- each expected text is whole, as a user reads it

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages_proposals import AllEncodings, EncodeError, IntegerEncodings, Message
from kafka_messages_proposals.json import JsonError, from_json, to_json
from kafka_messages_proposals.messages.integer_encodings import Pair
from kafka_messages_proposals.schema import schemas_of

from tests.support.proposal_errors import NARROW, PACKAGE, decode_error

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


WRONG = {
    "str of 1 character": "5",
    "float (5.0)": 5.0,
    "None": None,
    "1 byte": b"\x05",
    "list of 1 element": [5],
}


@pytest.mark.parametrize(("got", "value"), WRONG.items())
@pytest.mark.parametrize(
    ("name", "kind"), [("int64_packed64", "VARLONG"), ("int64_upacked16", "UPACKED16"), ("int64_fixed16", "INT16")]
)
def test_non_integers_raise_encode_error(name: str, kind: str, got: str, value: object) -> None:
    message: Any = AllEncodings()
    setattr(message, name, value)
    with pytest.raises(EncodeError) as caught:
        message.write(0)
    assert str(caught.value) == f"AllEncodings v0: {name}: expected int for {kind}, got {got}"


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
