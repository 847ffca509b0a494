"""Wire formats of the proposals: packed integers, interleaved tag headers, optional-field buffers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from tests.support.building import build_package, module_of
from tests.support.specs import field, message, optional

NUMBERS = message(
    field("P16", "int16", encoding="packed16"),
    field("P32", "int32", encoding="packed32"),
    field("P64", "int64", encoding="packed64"),
    field("U16", "int16", encoding="upacked16"),
    field("U32", "int32", encoding="upacked32"),
    field("U64", "int64", encoding="upacked64"),
    name="Numbers",
    validVersions="0",
    flexibleVersions="none",
)
CHANGING = message(
    field("N", "int64", encoding={"0": "fixed64", "1": "fixed16", "2": "packed32", "3": "upacked16", "4+": "packed64"}),
    field("Each", "[]int32", elementEncoding={"0": "fixed32", "1": "fixed16", "2-3": "packed32", "4+": "upacked16"}),
    name="Changing",
    validVersions="0-4",
    flexibleVersions="none",
)
INTERLEAVED = message(
    *(field(f"T{tag}", "int32", tag=tag, taggedVersions="0+") for tag in range(6)),
    field("Text", "string", tag=6, taggedVersions="0+"),
    name="Interleaved",
    validVersions="0",
    flexibleVersions="0+",
    taggedFieldFormat="interleaved",
)
OPTIONAL = message(
    field("A", "int8"),
    field("Part", "Part", fields=[field("X", "int8")], optionalFields=[optional("Y", "string", "0x10", default="why")]),
    field("Pieces", "[]Element", fields=[field("X", "int8")]),
    name="Buffers",
    validVersions="0-1",
    flexibleVersions="none",
    versionsWithOptional="1+",
    optionalFields=[
        optional("Late", "int16", "0x0100", default="7"),
        optional("Early", "string", "0x0001", nullable=True, default="null"),
        optional("Maybe", "bytes", "0x0002", nullable=True),
        optional("Inner", "Inner", "0x0003", nullable=True, default="null", fields=[field("Z", "int8", "1+")]),
    ],
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return build_package(tmp_path_factory.mktemp("proposals"), NUMBERS, CHANGING, INTERLEAVED, OPTIONAL)


def round_trip(built: Any, version: int, data: str) -> None:
    wanted = bytes.fromhex(data)
    assert built.write(version).hex() == wanted.hex()
    assert built.size(version) == len(wanted)
    assert type(built).read(wanted, version) == built
    slow = bytearray()
    built.schemas()[version].write(slow, built)
    assert slow == wanted


@pytest.mark.parametrize(
    ("number", "zigzag", "unsigned"),
    [
        (0, "00", "00"),
        (1, "02", "01"),
        (63, "7e", "3f"),
        (64, "8001", "40"),
        (127, "fe01", "7f"),
        (128, "8002", "8001"),
    ],
)
def test_packed_integers_have_the_expected_bytes(package: ModuleType, number: int, zigzag: str, unsigned: str) -> None:
    names = ("p16", "p32", "p64", "u16", "u32", "u64")
    round_trip(package.Numbers(**dict.fromkeys(names, number)), 0, zigzag * 3 + unsigned * 3)


def test_negative_and_extreme_packed_integers_round_trip(package: ModuleType) -> None:
    ones = package.Numbers(p16=-1, p32=-1, p64=-1, u16=-1, u32=-1, u64=-1)
    round_trip(ones, 0, "01 01 01 ffff03 ffffffff0f ffffffffffffffffff01")
    low = package.Numbers(p16=-(1 << 15), p32=-(1 << 31), p64=-(1 << 63))
    round_trip(low, 0, "ffff03 ffffffff0f ffffffffffffffffff01 00 00 00")
    high = package.Numbers(p16=(1 << 15) - 1, p32=(1 << 31) - 1, p64=(1 << 63) - 1)
    round_trip(high, 0, "feff03 feffffff0f feffffffffffffffff01 00 00 00")


@pytest.mark.parametrize(
    ("version", "data"),
    [
        (0, "0000000000000005 00000002 00000001 ffffffff"),
        (1, "0005 00000002 0001 ffff"),
        (2, "0a 00000002 02 01"),
        (3, "05 00000002 02 01"),
        (4, "0a 00000002 01 ffff03"),
    ],
)
def test_encoding_may_change_between_versions(package: ModuleType, version: int, data: str) -> None:
    round_trip(package.Changing(n=5, each=[1, -1]), version, data)


def test_out_of_range_narrow_integer_raises_encode_error(package: ModuleType) -> None:
    for version, number in ((1, 32768), (1, -32769), (2, 1 << 31), (3, 32768)):
        with pytest.raises(package.EncodeError, match=rf"^Changing v{version}: n: {number} is out of range for "):
            package.Changing(n=number).write(version)
    for version, number in ((1, 32768), (2, 1 << 31), (4, -32769)):
        with pytest.raises(
            package.EncodeError, match=rf"^Changing v{version}: each\[1\]: {number} is out of range for "
        ):
            package.Changing(each=[0, number]).write(version)


@pytest.mark.parametrize("data", ["80808080808080808080 01 00000000", "ffffffff1f 00000000", "ff"])
def test_overlong_varint_raises_decode_error(package: ModuleType, data: str) -> None:
    with pytest.raises(package.DecodeError, match=r"^Changing v2: n: VARINT"):
        package.Changing.read(bytes.fromhex(data), 2)


def test_interleaved_tags_round_trip(package: ModuleType) -> None:
    round_trip(package.Interleaved(t5=1), 0, "01 32 00000001")
    round_trip(package.Interleaved(), 0, "00")
    round_trip(package.Interleaved(t0=1, t1=2), 0, "02 10 00000001 12 00000002")
    # Tag 6 is at bits 3 and 5, a length of 9 at bits 0 and 6: 0b1101001.
    round_trip(package.Interleaved(text="12345678"), 0, "01 69 09 3132333435363738")


def test_unknown_interleaved_tags_are_kept(package: ModuleType) -> None:
    raw = package.RawTaggedField
    built = package.Interleaved(t0=1, unknown_tagged_fields=(raw(7, b"ab"),))
    round_trip(built, 0, "02 10 00000001 2e 6162")
    assert package.Interleaved.read(bytes.fromhex("02 2e 6162 10 00000001"), 0) == built


def test_optional_fields_round_trip(package: ModuleType) -> None:
    inside = module_of(package.Buffers)
    round_trip(package.Buffers(a=1), 0, "01 00 00000000")
    round_trip(package.Buffers(a=1), 1, "00 01 00 00 00000000")
    built = package.Buffers(a=1, late=8, early="hi", part=inside.Part(x=2, y=""), pieces=[inside.Element(x=3)])
    round_trip(built, 1, "08 0001 00026869 04 0100 0008 00 01 04 0010 0000 00 02 00000001 00 03")


def test_null_optional_field_round_trips(package: ModuleType) -> None:
    round_trip(package.Buffers(maybe=None), 1, "08 0002 ffffffff 00 00 00 00 00000000")


def test_optional_struct_round_trips(package: ModuleType) -> None:
    inside = module_of(package.Buffers)
    round_trip(package.Buffers(inner=inside.Inner(z=5)), 1, "06 0003 01 00 05 00 00 00 00 00000000")


def test_unknown_optional_fields_are_kept(package: ModuleType) -> None:
    built = package.Buffers(late=8, unknown_tagged_fields=(package.RawTaggedField(0x50, b"abc"),))
    round_trip(built, 1, "06 0050 616263 04 0100 0008 00 00 00 00 00000000")
    passed_on = package.Buffers(unknown_tagged_fields=built.unknown_tagged_fields)
    with pytest.raises(
        package.EncodeError,
        match=r"^Buffers v0: unknown_tagged_fields: is set, but this version does not support tagged fields",
    ):
        passed_on.write(0)


def test_optional_field_in_version_without_buffer_is_rejected(package: ModuleType) -> None:
    with pytest.raises(package.EncodeError, match=r"^Buffers v0: late: is set, but is not supported by version 0$"):
        package.Buffers(late=8).write(0)


@pytest.mark.parametrize(
    "data", ["04 0100 00", "ff 01", "03 0100 00", "04 0100 0008 04 0100 0008 00 00 00 00 00000000"]
)
def test_invalid_optional_buffer_raises_decode_error(package: ModuleType, data: str) -> None:
    with pytest.raises(package.DecodeError, match=r"^Buffers v1: "):
        package.Buffers.read(bytes.fromhex(data), 1)
