"""Tagged fields: omitted defaults, order, unknown tags and sizes at varint boundaries."""

from __future__ import annotations

import copy
import math
import pickle
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest

from tests.support import reference, shapes
from tests.support.building import build_package, module_of
from tests.support.specs import field, message

SIZED = message(
    field(
        "S",
        "Sub",
        tag=0,
        taggedVersions="0+",
        nullableVersions="0+",
        default="null",
        fields=[field("A", "bytes"), field("B", "bytes")],
    ),
    name="Sized",
    validVersions="0",
    flexibleVersions="0+",
)
NESTED = message(
    field("Pieces", "[]Part", fields=[field("X", "int8"), field("T", "string", "1+", tag=0, taggedVersions="1+")]),
    field("Single", "Single", fields=[field("Y", "int8")]),
    field("Mixed", "int32", "0+", tag=0, taggedVersions="2+", default="9"),
    name="Nested",
    validVersions="0-2",
    flexibleVersions="1+",
)
GAPS = message(
    field("C", "int8", "1+", tag=2, taggedVersions="1+"),
    field("A", "int8", "1+", tag=0, taggedVersions="1+"),
    field("B", "int8", "2+", tag=1, taggedVersions="2+"),
    name="Gaps",
    validVersions="1-2",
    flexibleVersions="1+",
)


SIGNS = message(
    field("Zero", "float64", tag=0, taggedVersions="0+"),
    field("Nan", "float64", tag=1, taggedVersions="0+", default="NaN"),
    name="Signs",
    flexibleVersions="0+",
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return build_package(tmp_path_factory.mktemp("tags"), shapes.TAGS, SIZED, NESTED, GAPS, SIGNS)


def round_trip(built: Any, version: int, data: str) -> None:
    wanted = bytes.fromhex(data)
    assert built.write(version).hex() == wanted.hex()
    assert built.size(version) == len(wanted)
    assert type(built).read(wanted, version) == built


def raw(package: ModuleType, *fields: tuple[int, bytes]) -> tuple[Any, ...]:
    return tuple(package.RawTaggedField(tag, data) for tag, data in fields)


@pytest.mark.parametrize(
    ("fields", "version", "data"),
    [
        ({}, 1, "00"),
        ({}, 2, "00"),
        ({"numbers": [1, 2, 3]}, 1, "01 00 0d 04 00000001 00000002 00000003"),
        ({"text": "foobar"}, 1, "01 01 07 07 666f6f626172"),
        ({"short": 456, "word": "abc", "blob": b"Cf"}, 1, "03 02 02 01c8 04 04 04616263 05 03 03 4366"),
        ({"blob": None}, 1, "01 05 01 00"),
        ({"ratio": math.nan}, 1, "01 03 08 7ff8000000000000"),
        ({"ratio": 1.0}, 2, "01 03 08 3ff0000000000000"),
        (
            {"id": UUID("c7b0f70a-4fd9-440d-b6f9-dcc8beefe99d")},
            2,
            "01 06 10 c7b0f70a4fd9440db6f9dcc8beefe99d",
        ),
        (
            {"numbers": [4], "word": "blah", "long": 0x01234525FE2AC332},
            1,
            "03 00 05 02 00000004 04 05 05 626c6168 07 08 01234525fe2ac332",
        ),
        ({"late": 15}, 2, "01 09 08 000000000000000f"),
    ],
)
def test_tagged_fields_have_the_expected_bytes(
    package: ModuleType, fields: dict[str, object], version: int, data: str
) -> None:
    round_trip(package.Tags(**fields), version, data)


def test_tagged_struct_at_its_default_is_omitted(package: ModuleType) -> None:
    inside = module_of(package.Tags)
    round_trip(package.Tags(sub=inside.Sub()), 2, "00")
    round_trip(package.Tags(sub=inside.Sub(word="abc"), late=15), 2, "02 08 05 04616263 00 09 08 000000000000000f")
    unknown = inside.Sub(unknown_tagged_fields=raw(package, (7, b"x")))
    round_trip(package.Tags(sub=unknown), 2, "01 08 05 01 01 07 01 78")


def test_omitted_tagged_struct_is_read_as_its_default(package: ModuleType) -> None:
    first, second = package.Tags.read(b"\0", 2), package.Tags.read(b"\0", 2)
    assert first == second == package.Tags()
    assert repr(first) == repr(package.Tags())
    first.sub.word = "x"
    assert first.sub.word == "x"
    assert second.sub.word == ""
    assert first != second
    third = package.Tags.read(b"\0", 2)
    for each in (copy.copy(third), copy.deepcopy(third), pickle.loads(pickle.dumps(third))):
        assert each == package.Tags()
    with pytest.raises(AttributeError):
        _ = second.subs


def test_negative_zero_is_written_and_nan_default_is_omitted(package: ModuleType) -> None:
    round_trip(package.Signs(zero=-0.0), 0, "01 01 08 7ff8000000000000")
    round_trip(package.Signs(zero=1.0, nan=0.0), 0, "02 00 08 3ff0000000000000 01 08 0000000000000000")


def test_ignorable_tagged_field_is_dropped_in_version_without_it(package: ModuleType) -> None:
    assert package.Tags(late=15, sub=module_of(package.Tags).Sub(word="abc")).write(1) == b"\0"
    assert package.Tags(late=15).write(0) == b""
    line = r"^Tags v0: numbers: is set, but is not supported by version 0$"
    with pytest.raises(package.EncodeError, match=line):
        package.Tags(numbers=[1]).write(0)


def test_field_that_became_tagged_round_trips(package: ModuleType) -> None:
    for version, data in ((0, "00000000 00 00000009"), (1, "01 00 00 00000009 00"), (2, "01 00 00 00")):
        round_trip(package.Nested(), version, data)
    round_trip(package.Nested(mixed=1), 2, "01 00 00 01 00 04 00000001")


def test_unknown_tagged_fields_are_kept_and_merged_in_order(package: ModuleType) -> None:
    read = package.Tags.read(bytes.fromhex("04 1e 01 aa 02 02 01c8 14 00 0a 01 bb"), 1)
    assert read == package.Tags(short=456, unknown_tagged_fields=raw(package, (10, b"\xbb"), (20, b""), (30, b"\xaa")))
    assert read.write(1).hex() == "04 02 02 01c8 0a 01 bb 14 00 1e 01 aa".replace(" ", "")
    assert read.size(1) == len(read.write(1))
    turned = package.Tags(short=456, unknown_tagged_fields=tuple(reversed(read.unknown_tagged_fields)))
    assert turned.write(1) == read.write(1)


def test_unknown_tags_between_known_tags_are_kept(package: ModuleType) -> None:
    round_trip(package.Gaps(a=1, c=3), 1, "02 00 01 01 02 01 03")
    round_trip(package.Gaps(a=1, b=2, c=3), 2, "03 00 01 01 01 01 02 02 01 03")
    with pytest.raises(
        package.DecodeError, match=r"^Gaps v1: _tagged_fields: tag 1 at offset 4 is not valid in this version$"
    ):
        package.Gaps.read(bytes.fromhex("03 00 01 01 01 01 02 02 01 03"), 1)
    high = raw(package, (3, b"x"), (2**32 - 1, b"y"))
    round_trip(package.Gaps(c=3, unknown_tagged_fields=high), 1, "03 02 01 03 03 01 78 ffffffff0f 01 79")


def test_unknown_tags_of_nested_structs_are_kept(package: ModuleType) -> None:
    inside = module_of(package.Nested)
    built = package.Nested(
        pieces=[inside.Part(x=1, unknown_tagged_fields=raw(package, (5, b"e"))), inside.Part(t="t")],
        single=inside.Single(y=2, unknown_tagged_fields=raw(package, (300, b""))),
        unknown_tagged_fields=raw(package, (1, b"m")),
    )
    data = "03 01 01 05 01 65 00 01 00 02 0274 02 01 ac02 00"
    round_trip(built, 1, f"{data} 00000009 01 01 01 6d")
    round_trip(built, 2, f"{data} 01 01 01 6d")


@pytest.mark.parametrize("tag", [0, 2, 9])
def test_unknown_tag_equal_to_a_defined_tag_is_rejected(package: ModuleType, tag: int) -> None:
    """Kafka writes such a tag twice, which makes the message unreadable."""
    built = package.Tags(numbers=[1], short=5, late=2, unknown_tagged_fields=raw(package, (tag, b"x")))
    with pytest.raises(
        package.EncodeError, match=rf"^Tags v2: unknown_tagged_fields\[0\]: tag {tag} is a field of the definition$"
    ):
        built.write(2)


def test_unknown_tag_equal_to_an_omitted_defined_tag_is_rejected(package: ModuleType) -> None:
    built = package.Tags(unknown_tagged_fields=raw(package, (2, b"xx")))
    with pytest.raises(
        package.EncodeError, match=r"^Tags v2: unknown_tagged_fields\[0\]: tag 2 is a field of the definition$"
    ):
        built.write(2)


@pytest.mark.parametrize(
    ("tags", "line"),
    [
        ((5, 5), r"\[1\]: duplicate tag 5"),
        ((-1,), r"\[0\]: -1 is out of range for UNSIGNED_VARINT, 0 to 4294967295"),
        ((2**32,), r"\[0\]: 4294967296 is out of range for UNSIGNED_VARINT, 0 to 4294967295"),
    ],
)
def test_duplicate_or_out_of_range_unknown_tag_is_rejected(
    package: ModuleType, tags: tuple[int, ...], line: str
) -> None:
    built = package.Gaps(unknown_tagged_fields=raw(package, *((tag, b"") for tag in tags)))
    with pytest.raises(package.EncodeError, match=rf"^Gaps v1: unknown_tagged_fields{line}$"):
        built.write(1)


@pytest.mark.parametrize("action", ["write", "size"])
def test_unknown_tags_in_non_flexible_version_are_rejected(package: ModuleType, action: str) -> None:
    inside = module_of(package.Nested)
    unknown = raw(package, (5, b"x"))
    for built, where in (
        (package.Nested(unknown_tagged_fields=unknown), ""),
        (package.Nested(single=inside.Single(unknown_tagged_fields=unknown)), "single."),
        (package.Nested(pieces=[inside.Part(unknown_tagged_fields=unknown)]), r"pieces\[0\]\."),
    ):
        with pytest.raises(package.EncodeError, match=rf"^Nested v0: {where}unknown_tagged_fields: is set, but"):
            getattr(built, action)(0)


def test_non_flexible_version_reads_no_unknown_tags(package: ModuleType) -> None:
    read = package.Nested.read(bytes.fromhex("00000001 05 00 00000009"), 0)
    assert [each.unknown_tagged_fields for each in (read, read.single, read.pieces[0])] == [(), (), ()]
    assert read == package.Nested(pieces=[module_of(package.Nested).Part(x=5)])


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("01 02 03 01c8ff", r"short: tagged field 2 has size 3 at offset 3, but its value takes 2"),
        ("01 02 01 01c8", r"short: tagged field 2 has size 1 at offset 3, but its value takes 2"),
        ("02 02 02 01c8 02 02 01c8", r"_tagged_fields: duplicate tag 2 at offset 5"),
        ("02 1e 00 1e 00", r"_tagged_fields: duplicate tag 30 at offset 3"),
        ("01 1e 05 aabb", r"_tagged_fields: field with tag 30: 5 bytes needed at offset 3, 2 left"),
        ("01 08 02 0100", r"_tagged_fields: tag 8 at offset 1 is not valid in this version"),
        ("02 02 02 01c8", r"_tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset 5, 0 left"),
        ("ffffffff0f", r"_tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset 5, 0 left"),
        ("ffffffff1f", r"_tagged_fields: UNSIGNED_VARINT at offset 0 has more than 32 bits"),
        ("ffffffffff01", r"_tagged_fields: UNSIGNED_VARINT at offset 0 has more than 5 bytes"),
        ("01 01 01 01 00", r"1 byte\(s\) left after the message, at offset 4"),
        ("01 04 01 00", r"word: unexpected null at offset 3 in this version"),
    ],
)
def test_invalid_tag_section_raises_decode_error(package: ModuleType, data: str, line: str) -> None:
    with pytest.raises(package.DecodeError, match=rf"^Tags v1: {line}$"):
        package.Tags.read(bytes.fromhex(data), 1)


def test_overlong_varints_in_tag_section_are_accepted(package: ModuleType) -> None:
    padded = package.Tags.read(bytes.fromhex("8180808000 828000 8280808000 01c8"), 1)
    assert padded == package.Tags(short=456)


@pytest.mark.parametrize("size", [3, *range(120, 135), *range(16376, 16392)])
def test_tagged_struct_at_varint_boundaries_is_written_and_sized(package: ModuleType, size: int) -> None:
    sub = module_of(package.Sized).Sub
    made = sub(a=b"x" * min(max(size - 10, 0), 50))
    rest = size - len(reference.value("bytes", made.a, True)) - 1
    made.b = b"y" * next(n for n in range(rest + 1) if len(reference.value("bytes", b"y" * n, True)) == rest)
    inner = reference.value("bytes", made.a, True) + reference.value("bytes", made.b, True) + b"\0"
    wanted = reference.tags({0: b"\1" + inner})
    built = package.Sized(s=made)
    assert len(inner) == size
    assert (built.write(0), built.size(0)) == (wanted, len(wanted))
    assert package.Sized.read(wanted, 0) == built


@pytest.mark.parametrize("count", [126, 127, 128, 129, 16383, 16384])
def test_many_unknown_tags_round_trip(package: ModuleType, count: int) -> None:
    built = package.Gaps(a=1, unknown_tagged_fields=raw(package, *((tag, b"x") for tag in range(9, 9 + count))))
    data = built.write(1)
    assert data == reference.tags({0: b"\1", **dict.fromkeys(range(9, 9 + count), b"x")})
    assert built.size(1) == len(data)
    assert package.Gaps.read(data, 1) == built
