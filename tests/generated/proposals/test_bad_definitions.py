"""Errors of the generator about definitions that misuse the proposed encodings."""

# ruff: noqa: E501 -- each expected line is whole, as a user reads it

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_message_generator import cli
from tests.support.broken.case import Case, common, sub
from tests.support.specs import field, optional, problems_of, text

WITH: dict[str, object] = {"flexibleVersions": "none", "versionsWithOptional": "2+"}
"""Properties of a message with optional-field buffers."""
NAMES = "use fixed, packed or upacked, followed by 16, 32 or 64, for example packed32"

LEADER = """{
  "type": "data",
  "name": "Leader",
  "validVersions": "0-12",
  "flexibleVersions": "none",
  "fields": [
    { "name": "LeaderId",
      "type": "int32",
      "versions": "0+",
      "entityType": "brokerId",
      "about": "The ID of the leader broker.",
      "encoding": {
        "0-9": "fixed32",
        "10+": "unsigned32"
      } }
  ]
}"""
"""The last example of proposal 002, completed; its encoding is missing from the proposal's grammar."""

TOO_SMALL = """{
  "type": "data",
  "name": "TooSmall",
  "validVersions": "0-3",
  "flexibleVersions": "none",
  "fields": [
    { "name": "tooSmall", "type": "int64", "versions": "0+",
      "encoding": { "0-1": "fixed32", "2+", "2+": "fixed64"} }
  ]
}"""
"""The example of proposal 002 for a field that grew, with its duplicate key."""

FOO = """{
  "apiKey": 9000,
  "type": "response",
  "name": "FooResponse",
  "validVersions": "0-9",
  "optionalFields": [
      { "name": "UserAgent", "type": "string", "nullable": true, "tag": "0x0001" }
  ],
  "fields": [
    { "name": "Foos", "type": "[]Foo", "versions": "0+",
      "optionalFields": [
        { "name": "Bar", "type": "string", "nullable": false, "tag": "1" },
        { "name": "Bars", "type": "[]Bar", "tag": "0x0002", "fields": [
          { "name": "Id", "type": "int8", "versions": "9+" }
        ] },
        { "name": "Count", "type": "int32", "nullable": true, "tag": "0x0002" }
      ], "fields": [
        { "name": "Baz", "type": "int16", "versions": "0+" }
      ] }
  ]
}"""
"""The definition of proposal 004 without versionsWithOptional and commas, and with further mistakes."""

ENCODINGS = (
    Case(
        "unsigned32 in the proposal's example",
        LEADER,
        f"14: $.fields[0].encoding.10+: unknown encoding 'unsigned32'; {NAMES}",
    ),
    Case(
        "duplicate key in the proposal's tooSmall",
        TOO_SMALL,
        "8: $.fields[0].encoding: the properties of an object need names and values; "
        "for a list write [ and ] instead of { and }",
    ),
    Case(
        "duplicate range in the completed tooSmall",
        TOO_SMALL.replace('"2+",', '"2+": "fixed32",'),
        "8: $.fields[0].encoding.2+: duplicate property '2+' with different values; remove one (the first is on line 8)",
    ),
    Case(
        "unknown encoding names",
        text(
            *(
                field(f"A{i}", encoding=name)
                for i, name in enumerate(("Packed32", "packed", "fixed8", " packed32", "", "zigzag32"))
            )
        ),
        f"2: $.fields[0].encoding: unknown encoding 'Packed32'; {NAMES}",
        f"3: $.fields[1].encoding: unknown encoding 'packed'; {NAMES}",
        f"4: $.fields[2].encoding: unknown encoding 'fixed8'; {NAMES}",
        f"5: $.fields[3].encoding: unknown encoding ' packed32'; {NAMES}",
        f"6: $.fields[4].encoding: unknown encoding ''; {NAMES}",
        f"7: $.fields[5].encoding: unknown encoding 'zigzag32'; {NAMES}",
    ),
    Case(
        "encoding names of wrong type",
        text(field("A", encoding=["packed32"]), field("B", encoding=True), field("C", encoding={"0+": 32})),
        "2: $.fields[0].encoding: expected an encoding name, or an object from version range to encoding name, found array ['packed32']",
        "3: $.fields[1].encoding: expected an encoding name, or an object from version range to encoding name, found boolean True",
        f"4: $.fields[2].encoding.0+: unknown encoding '32'; {NAMES}",
    ),
    Case(
        "empty ranges",
        text(field("A", encoding={}), field("B", "[]int32", elementEncoding={})),
        "2: $.fields[0].encoding: encoding is empty; give each version one encoding, or remove it",
        "3: $.fields[1].elementEncoding: elementEncoding is empty; give each version one encoding, or remove it",
    ),
    Case(
        "invalid ranges",
        text(field("A", encoding={"0-": "fixed32", "3-1": "packed32", "0+": "packed32"})),
        "2: $.fields[0].encoding.0-: '0-' is not a version range; write none, N, N-M or N+ (for example 0-3 or 2+)",
        "2: $.fields[0].encoding.3-1: version range '3-1' is descending; write 1-3 or none",
    ),
    Case(
        "overlapping ranges",
        text(field("A", encoding={"0-9": "fixed32", "1-2": "packed32", "5": "packed32", "9+": "fixed32"})),
        "2: $.fields[0].encoding.1-2: encoding of field A: ranges 0-9 and 1-2 overlap; give each version one encoding",
        "2: $.fields[0].encoding.5: encoding of field A: ranges 0-9 and 5 overlap; give each version one encoding",
        "2: $.fields[0].encoding.9+: encoding of field A: ranges 0-9 and 9+ overlap; give each version one encoding",
    ),
    Case(
        "versions without an encoding",
        text(
            field("A", encoding={"0-1": "fixed32", "3+": "packed32"}),
            field("B", encoding={"1+": "packed32"}),
            field("C", "[]int64", elementEncoding={"0-32766": "packed64"}),
        ),
        "2: $.fields[0].encoding: encoding of field A: version 2 has no encoding; the ranges must be exactly 0+",
        "3: $.fields[1].encoding: encoding of field B: version 0 has no encoding; the ranges must be exactly 0+",
        "4: $.fields[2].elementEncoding: elementEncoding of field C: version 32767 has no encoding; the ranges must be exactly 0+",
    ),
    Case(
        "encodings outside the field's versions",
        text(
            field("A", versions="1-2", encoding={"0-1": "fixed32", "2+": "packed32"}),
            field("B", versions="1+", encoding={"0": "fixed32", "2+": "packed32"}),
        ),
        "2: $.fields[0].encoding: encoding of field A: version 0 does not have the field; the ranges must be exactly 1-2",
        "3: $.fields[1].encoding: encoding of field B: version 1 has no encoding; the ranges must be exactly 1+",
        "3: $.fields[1].encoding: encoding of field B: version 0 does not have the field; the ranges must be exactly 1+",
    ),
    Case(
        "encoding wider than the type",
        text(
            field("A", "int16", encoding="upacked64"),
            field("B", encoding={"0": "fixed64", "1+": "fixed32"}),
            field("C", "[]int16", elementEncoding="fixed32"),
        ),
        "2: $.fields[0].encoding: encoding upacked64 is wider than field A of type int16; use at most 16 bits",
        "3: $.fields[1].encoding.0: encoding fixed64 is wider than field B of type int32; use at most 32 bits",
        "4: $.fields[2].elementEncoding: encoding fixed32 is wider than field C of type []int16; use at most 16 bits",
    ),
    Case(
        "types without encodings",
        text(
            *(
                field(f"A{i}", name, encoding="fixed16")
                for i, name in enumerate(
                    ("bool", "int8", "uint16", "uint32", "float64", "uuid", "string", "bytes", "records")
                )
            ),
            sub("S", field("X"), type="Sub", encoding="packed32"),
        ),
        "2: $.fields[0].encoding: field A0 of type bool cannot have an encoding; use int16, int32, int64",
        "3: $.fields[1].encoding: field A1 of type int8 cannot have an encoding; use int16, int32, int64",
        "4: $.fields[2].encoding: field A2 of type uint16 cannot have an encoding; use int16, int32, int64",
        "5: $.fields[3].encoding: field A3 of type uint32 cannot have an encoding; use int16, int32, int64",
        "6: $.fields[4].encoding: field A4 of type float64 cannot have an encoding; use int16, int32, int64",
        "7: $.fields[5].encoding: field A5 of type uuid cannot have an encoding; use int16, int32, int64",
        "8: $.fields[6].encoding: field A6 of type string cannot have an encoding; use int16, int32, int64",
        "9: $.fields[7].encoding: field A7 of type bytes cannot have an encoding; use int16, int32, int64",
        "10: $.fields[8].encoding: field A8 of type records cannot have an encoding; use int16, int32, int64",
        "11: $.fields[9].encoding: field S of type Sub cannot have an encoding; use int16, int32, int64",
    ),
    Case(
        "encoding of an array, elementEncoding of a scalar",
        text(
            field("A", "[]int32", encoding="packed32"),
            field("B", "int32", elementEncoding="packed32"),
            field("C", "[]uint32", elementEncoding="packed32"),
            sub("D", field("X"), type="[]Sub", elementEncoding="packed32"),
        ),
        "2: $.fields[0].encoding: field A of type []int32 cannot have an encoding; use elementEncoding for an array",
        "3: $.fields[1].elementEncoding: field B of type int32 cannot have an elementEncoding; only arrays of int16, int32, int64 can",
        "4: $.fields[2].elementEncoding: field C of type []uint32 cannot have an elementEncoding; only arrays of int16, int32, int64 can",
        "5: $.fields[3].elementEncoding: field D of type []Sub cannot have an elementEncoding; only arrays of int16, int32, int64 can",
    ),
    Case(
        "default out of range of the encoding",
        text(
            field("A", "int64", default="0x80000000", encoding={"0": "fixed32", "1": "fixed64", "2+": "upacked16"}),
            field("B", "int64", versions="2+", tag=0, taggedVersions="2+", default="70000", encoding="packed16"),
        ),
        # Tagged fields are omitted at their default, so B can always be written.
        "2: $.fields[0].encoding.0: default 2147483648 of field A is out of range for encoding fixed32; change one of the two",
        "2: $.fields[0].encoding.2+: default 2147483648 of field A is out of range for encoding upacked16; change one of the two",
    ),
)

TAGS = (
    Case(
        "interleaved without tagged fields",
        text(flexibleVersions="none", taggedFieldFormat="interleaved"),
        "1: $.taggedFieldFormat: taggedFieldFormat interleaved needs flexibleVersions; add them or remove it",
    ),
    Case(
        "unknown taggedFieldFormat",
        text(taggedFieldFormat="Interleaved"),
        "1: $.taggedFieldFormat: unknown taggedFieldFormat 'Interleaved'; did you mean interleaved?",
    ),
)

OPTIONAL = (
    Case(
        "several mistakes in the proposal's definition",
        {
            "FooResponse.json": FOO,
            "FooRequest.json": text(name="FooRequest", type="request", apiKey=9000, validVersions="0-9"),
        },
        "FooResponse.json:1: $: message FooResponse has no flexibleVersions; write 0+ for a new message, or none",
        "FooResponse.json:12: $.fields[0].optionalFields[0].tag: tag '1' of optional field Bar is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "FooResponse.json:7: $.optionalFields[0]: optional field UserAgent in a message without versionsWithOptional; add them, for example 9+",
        "FooResponse.json:13: $.fields[0].optionalFields[1]: optional field Bars in a message without versionsWithOptional; add them, for example 9+",
        "FooResponse.json:13: $.fields[0].optionalFields[1].type: optional field Bars is an array of structs, which optional-field buffers cannot contain; wrap the array in a struct",
        "FooResponse.json:16: $.fields[0].optionalFields[2]: optional field Count in a message without versionsWithOptional; add them, for example 9+",
        "FooResponse.json:16: $.fields[0].optionalFields[2].tag: in Foo, field Count has a duplicate tag 2, already the tag of Bars; tags must be unique",
    ),
    Case(
        "optional fields without versionsWithOptional",
        text(sub("S", field("X"), optionalFields=[optional("A")]), optionalFields=[optional("B")]),
        "2: $.fields[0].optionalFields[0]: optional field A in a message without versionsWithOptional; add them, for example 9+",
        "1: $.optionalFields[0]: optional field B in a message without versionsWithOptional; add them, for example 9+",
    ),
    Case(
        "types not allowed in optional-field buffers",
        text(
            optionalFields=[
                optional("A", "[]Sub", fields=[field("X", "int32", "2+")]),
                optional("B", "records", "0x2"),
                optional("C", "[]records", "0x3"),
            ],
            **WITH,
        ),
        "1: $.optionalFields[2].type: field C: an array cannot contain records; use []bytes or a struct",
        "1: $.optionalFields[0].type: optional field A is an array of structs, which optional-field buffers cannot contain; wrap the array in a struct",
        "1: $.optionalFields[1].type: optional field B cannot be records; use bytes",
        "1: $.optionalFields[2].type: optional field C cannot be records; use bytes",
    ),
    Case(
        "versionsWithOptional with flexibleVersions",
        text(optionalFields=[optional("A")], versionsWithOptional="2+"),
        "1: $.versionsWithOptional: versionsWithOptional and flexibleVersions exclude each other; use one of them",
    ),
    Case(
        "tagged fields with optional fields",
        text(
            field("A", versions="2+", tag=0, taggedVersions="2+"), field("B", "string", flexibleVersions="2+"), **WITH
        ),
        "2: $.fields[0].taggedVersions: field A has taggedVersions 2+, but flexible versions none; only flexible versions have tagged fields",
        "3: $.fields[1].flexibleVersions: field B has flexibleVersions 2+, which are not all among the message's flexible versions none",
    ),
    Case(
        "closed versionsWithOptional",
        text(optionalFields=[optional("A")], versionsWithOptional="1-2", flexibleVersions="none"),
        "1: $.versionsWithOptional: versionsWithOptional 1-2 must be open-ended, like 9+",
    ),
    Case(
        "versionsWithOptional beyond the valid versions",
        text(optionalFields=[optional("A")], versionsWithOptional="9+", flexibleVersions="none"),
        "1: $.optionalFields[0]: warning: field A has versions 9+, but the message has versions 0-3; the field is never sent",
    ),
    Case(
        "tags not an int16 in hexadecimal",
        text(
            optionalFields=[
                optional(f"A{i}", "int8", tag=tag)
                for i, tag in enumerate(("0x10000", "0x8000", "-0x1", "1", "0x", "0X1", "0x1g"))
            ]
            + [optional("B", tag="")],
            **WITH,
        ),
        "1: $.optionalFields[0].tag: tag '0x10000' of optional field A0 is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[1].tag: tag '0x8000' of optional field A1 is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[2].tag: tag '-0x1' of optional field A2 is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[3].tag: tag '1' of optional field A3 is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[4].tag: tag '0x' of optional field A4 is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[5].tag: tag '0X1' of optional field A5 is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[6].tag: tag '0x1g' of optional field A6 is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[7].tag: optional field B has no tag; add it",
    ),
    Case(
        "duplicate tags",
        text(
            sub("S", field("X"), optionalFields=[optional("A"), optional("B", tag="0x2"), optional("C", tag="0x02")]),
            optionalFields=[optional("A"), optional("B", tag="0x01"), optional("C", tag="0x0001")],
            **WITH,
        ),
        "2: $.fields[0].optionalFields[2].tag: in Sub, field C has a duplicate tag 2, already the tag of B; tags must be unique",
        "1: $.optionalFields[1].tag: in Probe, field B has a duplicate tag 1, already the tag of A; tags must be unique",
        "1: $.optionalFields[2].tag: in Probe, field C has a duplicate tag 1, already the tag of A; tags must be unique",
    ),
    Case(
        "duplicate names",
        text(sub("S", field("X"), optionalFields=[optional("X")]), optionalFields=[optional("S")], **WITH),
        "1: $.optionalFields[0].name: in Probe, field name S is used twice; field names must be unique",
        "2: $.fields[0].optionalFields[0].name: in Sub, field name X is used twice; field names must be unique",
    ),
    Case(
        "optional fields of a common struct",
        text(
            field("A", "Shared", optionalFields=[optional("X")]),
            commonStructs=[
                common("Shared", field("Y", "Other", optionalFields=[optional("Z")])),
                common("Other", field("X")),
            ],
            **WITH,
        ),
        "2: $.fields[0].optionalFields: Shared is a common struct; optional fields cannot be declared here; declare them in the common struct",
        "1: $.commonStructs[0].fields[0].optionalFields: struct Other is declared inside common struct Shared; declare it as a separate common struct",
    ),
    Case(
        "null in non-nullable fields",
        text(optionalFields=[optional("A", nullable=True), optional("B", "string", "0x2", default="null")], **WITH),
        "1: $.optionalFields[0].nullable: type int32 cannot be nullable; remove nullable",
        "1: $.optionalFields[1].default: invalid default 'null' for string field B: null is not a valid default: not all versions of this field are nullable (nullableVersions are none, versions 2+)",
    ),
    Case(
        "properties not allowed in optional fields",
        text(optionalFields=[optional("A", encoding="packed32", nullableVersions="2+")], **WITH),
        "1: $.optionalFields[0].encoding: unknown property 'encoding' of optional field A; expected one of about, default, fields, ignorable, name, nullable, optionalFields, tag, type",
        "1: $.optionalFields[0].nullableVersions: unknown property 'nullableVersions' of optional field A; expected one of about, default, fields, ignorable, name, nullable, optionalFields, tag, type",
    ),
)

NULLABLE_STRUCTS = (
    Case(
        "default other than null",
        text(sub("A", field("X"), nullableVersions="0+", default="{}")),
        "2: $.fields[0].default: invalid default '{}' for Sub field A: the default of a struct must be empty or null",
    ),
    Case(
        "null by default, but not always nullable",
        text(sub("A", field("X"), nullableVersions="1+", default="null")),
        "2: $.fields[0].default: invalid default 'null' for Sub field A: null is not a valid default: not all versions of this field are nullable (nullableVersions are 1+, versions 0+)",
    ),
    Case(
        "nullable in some of the tagged versions",
        text(sub("A", field("X"), versions="2+", tag=0, taggedVersions="2+", nullableVersions="3+")),
        "2: $.fields[0].taggedVersions: field A has nullableVersions 3+ and taggedVersions 2+; either all tagged versions must be nullable, or none",
    ),
)


@pytest.mark.parametrize("case", [*ENCODINGS, *TAGS, *OPTIONAL, *NULLABLE_STRUCTS], ids=lambda case: case.name)
def test_invalid_definitions_are_reported(case: Case) -> None:
    assert sorted(problems_of(case.files)) == sorted(case.lines)


def test_command_reports_every_file_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs, output = tmp_path / "specs", tmp_path / "output"
    specs.mkdir()
    (specs / "Leader.json").write_text(LEADER)
    (specs / "Tags.json").write_text(text(name="Tags", flexibleVersions="none", taggedFieldFormat="interleaved"))
    assert cli.main(["generate", "--specs", str(specs), "--output", str(output), "--package", "bad"]) == 1
    root = specs.as_posix()
    assert capsys.readouterr().err.splitlines() == [
        f"{root}/Leader.json:14: $.fields[0].encoding.10+: unknown encoding 'unsigned32'; {NAMES}",
        f"{root}/Tags.json:1: $.taggedFieldFormat: taggedFieldFormat interleaved needs flexibleVersions; add them or remove it",
        "2 problem(s); nothing was generated",
    ]
    assert not output.exists()
