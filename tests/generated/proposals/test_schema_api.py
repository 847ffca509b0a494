"""``schema`` as a library: hand-made types, fields and structs without message classes."""

# ruff: noqa: E501 -- each expected text is whole, as a user reads it

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID as UUIDValue

import pytest
from kafka_messages_proposals import AllTypesRequest, FooRequest, FooResponse, InterleavedTags, RawTaggedField, schema
from kafka_messages_proposals.messages.foo_response import Foo
from kafka_messages_proposals.schema import (
    BOOLEAN,
    INT8,
    INT16,
    INT32,
    NULLABLE_STRING,
    STRING,
    UNSIGNED_VARINT,
    ArrayOf,
    CompactArrayOf,
    Field,
    InterleavedTagSection,
    NullableStruct,
    OptionalFieldBuffer,
    Schema,
    SchemaError,
    Struct,
    TaggedStruct,
    TagSection,
    Type,
    schemas_of,
)

from tests.support.goldens import matches_golden
from tests.support.proposals import PROPOSALS
from tests.support.random_messages import PACKAGES, Package, versions_of

GOLDENS = Path(__file__).parent / "goldens"

TEXT = "\u00e9t\u00e9"  # five bytes of UTF-8
VALUES: list[tuple[str, object, str]] = [
    ("BOOLEAN", True, "01"),
    ("INT8", -1, "ff"),
    ("INT16", -2, "fffe"),
    ("UINT16", 65534, "fffe"),
    ("INT32", -2, "fffffffe"),
    ("UNSIGNED_INT32", (1 << 32) - 2, "fffffffe"),
    ("INT64", -2, "fffffffffffffffe"),
    ("FLOAT64", 1.5, "3ff8000000000000"),
    ("UUID", UUIDValue(int=1), "00" * 15 + "01"),
    ("VARINT", -2, "03"),
    ("VARLONG", -(1 << 40), "ffffffffff3f"),
    ("UNSIGNED_VARINT", 300, "ac02"),
    ("UNSIGNED_VARLONG", 1 << 35, "808080808001"),
    ("PACKED16", 64, "8001"),
    ("PACKED32", 64, "8001"),
    ("PACKED64", 64, "8001"),
    ("UPACKED16", -1, "ffff03"),
    ("UPACKED32", -1, "ffffffff0f"),
    ("UPACKED64", -1, "ffffffffffffffffff01"),
    ("STRING", TEXT, "0005c3a974c3a9"),
    ("NULLABLE_STRING", None, "ffff"),
    ("COMPACT_STRING", TEXT, "06c3a974c3a9"),
    ("COMPACT_NULLABLE_STRING", None, "00"),
    ("BYTES", b"ab", "000000026162"),
    ("NULLABLE_BYTES", None, "ffffffff"),
    ("COMPACT_BYTES", b"ab", "036162"),
    ("COMPACT_NULLABLE_BYTES", None, "00"),
    ("RECORDS", b"ab", "000000026162"),
    ("NULLABLE_RECORDS", None, "ffffffff"),
    ("COMPACT_RECORDS", b"ab", "036162"),
    ("COMPACT_NULLABLE_RECORDS", None, "00"),
]


@pytest.mark.parametrize(("name", "value", "data"), VALUES, ids=[name for name, _, _ in VALUES])
def test_types_round_trip(name: str, value: object, data: str) -> None:
    kind: Type = getattr(schema, name)
    expected = bytes.fromhex(data)
    out = bytearray(b"\xff")
    kind.write(out, value)
    assert bytes(out[1:]) == expected
    assert kind.read(b"\xff" + expected + b"\xff", 1) == (value, 1 + len(expected))
    assert kind.size_of(value) == len(expected)
    kind.validate(value)
    aliases = {"PACKED32": "VARINT", "PACKED64": "VARLONG"}
    assert str(kind) == aliases.get(name, name)
    assert repr(kind) == f"<{kind}>"
    assert kind.nullable == ("NULLABLE" in name)


def test_every_exported_type_is_tested() -> None:
    constants = {name for name in dir(schema) if isinstance(getattr(schema, name), Type)}
    assert constants == {name for name, _, _ in VALUES}
    made = {
        "ArrayOf",
        "CompactArrayOf",
        "Field",
        "InterleavedTagSection",
        "NullableStruct",
        "OptionalFieldBuffer",
        "Schema",
        "SchemaError",
        "Struct",
        "TagSection",
        "TaggedStruct",
        "Type",
        "schemas_of",
    }
    made |= {
        "FieldDescriptor",
        "UnsupportedField",
        "MessageDescriptor",
        "Versions",
        "entity_types",
        "descriptor_of",
        "fields_of",
    }
    assert set(schema.__all__) == constants | made


@pytest.mark.parametrize(
    ("kind", "value", "data", "name"),
    [
        (ArrayOf(INT16), [1, 2], "00000002 0001 0002", "ARRAY(INT16)"),
        (ArrayOf(INT16, nullable=True), None, "ffffffff", "NULLABLE_ARRAY(INT16)"),
        (CompactArrayOf(STRING), ["a"], "02 0001 61", "COMPACT_ARRAY(STRING)"),
        (CompactArrayOf(STRING, nullable=True), None, "00", "NULLABLE_COMPACT_ARRAY(STRING)"),
        (ArrayOf(ArrayOf(INT8)), [[1], []], "00000002 00000001 01 00000000", "ARRAY(ARRAY(INT8))"),
        (ArrayOf(Schema()), [Struct(Schema(), {})] * 3, "00000003", "ARRAY({})"),
    ],
    ids=str,
)
def test_arrays_are_read_and_sized(kind: Type, value: object, data: str, name: str) -> None:
    expected = bytes.fromhex(data)
    assert kind.read(expected, 0) == (value, len(expected))
    assert kind.size_of(value) == len(expected)
    assert str(kind) == name


INVALID: list[tuple[Type, object, str]] = [
    (INT8, 128, "128 is out of range for INT8, -128 to 127"),
    (INT8, "1", "expected int for INT8, got str of 1 character"),
    (BOOLEAN, 2, "expected bool, got int (2)"),
    (STRING, None, "must not be None in this version"),
    (STRING, b"a", "expected str, got 1 byte"),
    (ArrayOf(INT8), "ab", "expected list, got str of 2 characters"),
    (ArrayOf(INT8), [1, None], "[1]: expected int for INT8, got None"),
    (Schema(Field("a", ArrayOf(Schema(Field("b", INT8))))), {"a": [{"b": 1}, {"b": 200}]}, "a[1].b: 200 is out of range for INT8, -128 to 127"),
    (Schema(Field("a", INT8)), {}, "a: is missing"),
    (Schema(Field("a", INT8)), object(), "a: is missing"),
    (Schema(Field("a", INT8)), None, "must not be None in this version"),
    (Schema(Field("a", INT8)), {"a": 1, "b": 2}, "b: is not a field of this schema"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "text"), INVALID, ids=[text for _, _, text in INVALID])
def test_invalid_values_raise_schema_error(kind: Type, value: object, text: str) -> None:
    for attempt in (kind.validate, kind.size_of, lambda given: kind.write(bytearray(), given)):
        with pytest.raises(SchemaError) as caught:
            attempt(value)
        assert str(caught.value) == text
        assert caught.value.offset == -1


# --- schemas ----------------------------------------------------------------------------------------------------------

PERSON = Schema(
    Field("name", STRING),
    Field("ages", ArrayOf(INT8, nullable=True)),
    tags=TagSection({1: Field("nick", STRING, default=""), 0: Field("home", INT32)}),
)


def test_hand_made_schema_round_trips() -> None:
    #                           name      ages  two fields  tag 0, 4 bytes  tag 1, 3 bytes
    data = bytes.fromhex("0003 416e6e ffffffff 02 00 04 0000002a 01 03 0001 41")
    struct, end = PERSON.read(data)
    assert end == len(data)
    assert (struct["name"], struct["ages"], struct["home"], struct["nick"]) == ("Ann", None, 42, "A")
    assert list(struct) == ["name", "ages", "home", "nick"]

    class Person:
        name, ages, home, nick = "Ann", None, 42, "A"

    for value in (struct, dict(struct.values), Person()):
        out = bytearray()
        PERSON.write(out, value)
        assert bytes(out) == data
        assert PERSON.size_of(value) == len(data)


def test_tagged_field_at_default_takes_no_bytes() -> None:
    struct, _ = PERSON.read(bytes.fromhex("0000 00000000 00"))
    assert "home" not in struct
    assert "nick" not in struct
    assert PERSON.size_of(struct) == 7
    struct["nick"] = ""
    assert PERSON.size_of(struct) == 7
    struct["home"] = 0
    assert PERSON.size_of(struct) == 7 + 6


def test_structs_support_lookup_assignment_and_equality() -> None:
    struct, _ = PERSON.read(bytes.fromhex("0000 00000000 00"))
    assert repr(struct) == "Struct(name='', ages=[])"
    assert "name" in struct
    assert "unknown" not in struct
    with pytest.raises(KeyError):
        struct["nick"]
    with pytest.raises(SchemaError) as caught:
        struct["unknown"] = 1
    assert str(caught.value) == "the schema has no field 'unknown'"
    assert struct == Struct(PERSON, {"name": "", "ages": []})
    assert struct != Struct(PERSON, {"name": "", "ages": []}, (RawTaggedField(7, b""),))
    assert struct != {"name": "", "ages": []}
    with pytest.raises(TypeError):
        hash(struct)
    with pytest.raises(SchemaError) as caught:
        PERSON.validate(Struct(PERSON, {"name": "", "ages": [], "unknown": 1}))
    assert str(caught.value) == "unknown: is not a field of this schema"


def test_unknown_fields_are_kept() -> None:
    unknown = (RawTaggedField(3, b"xy"), RawTaggedField(70000, b""))
    for section in (TagSection({}), InterleavedTagSection({})):
        kind = Schema(tags=section)
        data = bytearray()
        kind.write(data, Struct(kind, {}, unknown[::-1]))
        assert kind.read(bytes(data)) == (Struct(kind, {}, unknown), len(data))
    kind = Schema({})
    data = bytearray()
    kind.write(data, Struct(kind, {}, (RawTaggedField(3, b"xy"),)))
    assert data.hex() == "04000378" + "79" + "00"
    assert kind.read(bytes(data)) == (Struct(kind, {}, (RawTaggedField(3, b"xy"),)), len(data))
    with pytest.raises(SchemaError) as caught:
        Schema().validate(Struct(Schema(), {}, unknown))
    assert str(caught.value) == "unknown_tagged_fields: is set, but this version does not support tagged fields"


def test_hand_made_optional_fields_equal_the_message_schema() -> None:
    foo = Schema({1: Field("bar", STRING, default="hello world")}, Field("baz", INT16))
    response = Schema({1: Field("user_agent", NULLABLE_STRING, default=None)}, Field("foos", ArrayOf(foo)))
    assert str(response) == str(schemas_of(FooResponse)[9])
    message = FooResponse(user_agent="x", foos=[Foo(bar="y"), Foo(baz=2)])
    struct, _ = response.read(message.write(9))
    assert struct["user_agent"] == "x"
    assert response.size_of(message) == response.size_of(struct) == message.size(9)


def test_nullable_structs_are_read_and_sized() -> None:
    inner = Schema(Field("a", INT8))
    assert NullableStruct(inner).read(b"\xff", 0) == (None, 1)
    assert NullableStruct(inner).read(b"\x01\x05", 0) == (Struct(inner, {"a": 5}), 2)
    assert TaggedStruct(inner).read(b"\x00", 0) == (None, 1)
    assert TaggedStruct(inner).read(b"\x01\x05", 0) == (Struct(inner, {"a": 5}), 2)
    sizes = [kind.size_of(value) for kind in (NullableStruct(inner), TaggedStruct(inner)) for value in (None, {"a": 5})]
    assert sizes == [1, 2, 1, 2]
    assert str(NullableStruct(inner)) == "NULLABLE_STRUCT{a => INT8}"


A, B = Field("a", INT8), Field("b", INT8)
MISTAKES: list[tuple[Callable[[], object], str]] = [
    (lambda: Schema(A, B, Field("a", INT16)), "duplicate field 'a'"),
    (lambda: Schema(A, tags=TagSection({0: Field("a", INT16)})), "duplicate field 'a'"),
    (lambda: Schema({0: Field("a", INT16)}, A), "duplicate field 'a'"),
    (lambda: TagSection({0: A, 1: Field("a", INT16)}), "duplicate field 'a'"),
    (lambda: OptionalFieldBuffer({0: A, 1: Field("a", INT16)}), "duplicate field 'a'"),
    # A mapping cannot hold a key twice, pairs can.
    (lambda: TagSection([(0, A), (0, B)]), "duplicate tag 0, of fields 'a' and 'b'"),
    (lambda: InterleavedTagSection([(3, A), (4, B), (3, B)]), "duplicate tag 3, of fields 'a' and 'b'"),
    (lambda: Schema([(1, A), (1, B)], Field("c", INT8)), "duplicate tag 1, of fields 'a' and 'b'"),
    (lambda: TagSection({-1: A}), "tag -1 is not in 0 to 4294967295"),
    (lambda: TagSection({1 << 32: A}), "tag 4294967296 is not in 0 to 4294967295"),
    (lambda: Schema({1 << 15: A}), "tag 32768 is not in 0 to 32767"),
    (lambda: Schema({-1: A}), "tag -1 is not in 0 to 32767"),
    (lambda: Schema(A, {1: B}), "only the first argument of a schema can be its optional fields"),
    (lambda: Schema({1: A}, {2: B}), "only the first argument of a schema can be its optional fields"),
    (lambda: Schema({1: A}, tags=TagSection({1: B})), "a struct has optional fields or tagged fields, not both"),
]


@pytest.mark.parametrize(("make", "text"), MISTAKES, ids=[text for _, text in MISTAKES])
def test_inconsistent_schemas_raise_schema_error(make: Callable[[], object], text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        make()
    assert str(caught.value) == text


def test_tagged_fields_are_sorted_by_tag() -> None:
    first = TagSection({2: B, 1: A})
    second = TagSection([(1, A), (2, B)])
    assert list(first.fields) == list(second.fields) == [1, 2]
    data = bytearray()
    Schema(tags=first).write(data, {"a": 5, "b": 6})
    assert data.hex() == "02" + "010105" + "020106"


def test_read_error_has_place_and_offset() -> None:
    kind = Schema(Field("people", ArrayOf(PERSON)))
    with pytest.raises(SchemaError) as caught:
        kind.read(bytes.fromhex("00000001 0001 41 ffffffff 01 01 05 0001"))
    error = caught.value
    assert str(error) == "people[0]._tagged_fields: field with tag 1: 5 bytes needed at offset 14, 2 left"
    assert (error.place, error.offset) == ("people[0]._tagged_fields", 14)
    assert error.reason == "field with tag 1: 5 bytes needed at offset 14, 2 left"
    assert isinstance(error, ValueError)


# --- schemas of messages ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PACKAGES)
def test_versions_with_equal_layout_share_one_schema(name: str) -> None:
    package = Package(name)
    shared = 0
    for message in map(package.message, package.message_names):
        schemas = message.schemas()
        assert list(schemas) == list(versions_of(message))
        assert message.schemas() is schemas
        by_text: dict[str, set[int]] = {}
        for each in schemas.values():
            by_text.setdefault(str(each), set()).add(id(each))
        assert all(len(ids) == 1 for ids in by_text.values()), message.NAME
        shared += len(schemas) - len(by_text)
    assert shared > 0


PROBE = """
import sys
from kafka_messages_proposals import AllTypesRequest
message = AllTypesRequest.read(AllTypesRequest(number=5).write(4), 4)
assert message.number == 5
slow = ("schema", "json")
loaded = [name for name in slow if f"kafka_messages_proposals.{name}" in sys.modules]
assert loaded == [], loaded
schemas = AllTypesRequest.schemas()
assert "kafka_messages_proposals.schema" in sys.modules
print(len(schemas))
"""


def test_schemas_are_created_on_demand() -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={"PYTHONPATH": str(PROPOSALS.source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.stdout, result.stderr) == ("5\n", "")


def test_schemas_are_printed_on_one_line() -> None:
    assert str(schemas_of(FooResponse)[8]) == "{foos => ARRAY({baz => INT16})}"
    inner = "{_optional_fields, bar<optional: 0x0001> => STRING, baz => INT16}"
    outer = f"{{_optional_fields, user_agent<optional: 0x0001> => NULLABLE_STRING, foos => ARRAY({inner})}}"
    assert str(schemas_of(FooResponse)[9]) == outer
    assert repr(PERSON) == (
        "<Schema {name => STRING, ages => NULLABLE_ARRAY(INT8), "
        "_tagged_fields, home<tag: 0> => INT32, nick<tag: 1> => STRING}>"
    )
    assert repr(A) == "Field('a', <INT8>)"
    assert [str(TagSection({})), str(InterleavedTagSection({})), str(OptionalFieldBuffer({}))] == [
        "TAG_SECTION",
        "INTERLEAVED_TAG_SECTION",
        "OPTIONAL_FIELD_BUFFER",
    ]


BNF: list[tuple[Any, int]] = [(AllTypesRequest, 4), (FooRequest, 9), (InterleavedTags, 1)]


@pytest.mark.parametrize(("message", "version"), BNF, ids=lambda value: getattr(value, "NAME", str(value)))
def test_bnf_matches_the_golden_file(message: Any, version: int) -> None:
    title = f"{message.NAME} (Version: {version})"
    matches_golden(GOLDENS / f"{message.NAME}.bnf.txt", message.schemas()[version].bnf(title))


def test_bnf_marks_arrays_and_nullable_fields() -> None:
    kind = Schema(
        Field("plain", ArrayOf(INT8)),
        Field("maybe", CompactArrayOf(INT8, nullable=True)),
        Field("lists", ArrayOf(ArrayOf(INT8, nullable=True))),
        Field("struct", NullableStruct(Schema())),
        Field("structs", ArrayOf(NullableStruct(Schema(Field("a", NULLABLE_STRING))))),
    )
    assert kind.bnf("Thing").splitlines() == [
        "Thing => [plain] [maybe]? [[lists]?] struct? [structs?]",
        "  plain => INT8",
        "  maybe => INT8",
        "  lists => INT8",
        "  struct =>",
        "  structs => a",
        "    a => NULLABLE_STRING",
    ]


def test_bnf_of_every_message_is_well_formed() -> None:
    for name in PACKAGES:
        package = Package(name)
        for message in map(package.message, package.message_names):
            for each in message.schemas().values():
                lines = each.bnf(message.NAME).splitlines()
                assert lines[0].startswith(f"{message.NAME} =>")
                assert all(line == line.rstrip() and " => " in f"{line} " for line in lines)


def test_invalid_tag_and_array_counts_raise_schema_error() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema(tags=TagSection({})).read(b"\x80\x80\x80\x80\x80")
    assert str(caught.value) == "_tagged_fields: UNSIGNED_VARINT at offset 0 has more than 5 bytes"
    with pytest.raises(SchemaError) as caught:
        ArrayOf(Schema()).read(b"\x7f\xff\xff\xff", 0)
    assert str(caught.value) == "array of 2147483647 elements at offset 0, but the bound is 65535"
    assert UNSIGNED_VARINT.nullable is False
