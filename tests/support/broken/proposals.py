"""Cases for the proposals: integer encodings, interleaved tag headers, optional-field buffers."""

# ruff: noqa: E501 -- each expected line is whole, as a user reads it

from __future__ import annotations

from tests.support.broken.case import Case, common, sub
from tests.support.specs import field, optional, text

# Properties of a message with optional-field buffers.
WITH: dict[str, object] = {"flexibleVersions": "none", "versionsWithOptional": "2+"}

PROPOSALS: tuple[Case, ...] = (
    Case(
        "encoding is a number",
        text(field("A", encoding=16)),
        "2: $.fields[0].encoding: expected an encoding name, or an object from version range to encoding name, found number 16",
    ),
    Case(
        "encoding of no range",
        text(field("A", encoding={"x": "packed32"})),
        "2: $.fields[0].encoding.x: 'x' is not a version range; write none, N, N-M or N+ (for example 0-3 or 2+)",
    ),
    Case(
        "encoding of a bool",
        text(field("A", "bool", encoding="packed16"), field("B", "[]int32", encoding="packed32")),
        "2: $.fields[0].encoding: field A of type bool cannot have an encoding; use int16, int32, int64",
        "3: $.fields[1].encoding: field B of type []int32 cannot have an encoding; use elementEncoding for an array",
    ),
    Case(
        "elementEncoding of no array",
        text(field("A", elementEncoding="packed32"), field("B", "[]string", elementEncoding="packed16")),
        "2: $.fields[0].elementEncoding: field A of type int32 cannot have an elementEncoding; only arrays of int16, int32, int64 can",
        "3: $.fields[1].elementEncoding: field B of type []string cannot have an elementEncoding; only arrays of int16, int32, int64 can",
    ),
    Case(
        "encoding unknown",
        text(field("A", encoding="unsigned32"), field("B", "[]int64", elementEncoding="packed8")),
        "2: $.fields[0].encoding: unknown encoding 'unsigned32'; use fixed, packed or upacked, followed by 16, 32 or 64, for example packed32",
        "3: $.fields[1].elementEncoding: unknown encoding 'packed8'; use fixed, packed or upacked, followed by 16, 32 or 64, for example packed64",
    ),
    Case(
        "encoding wider than the type",
        text(field("A", "int16", encoding="packed32")),
        "2: $.fields[0].encoding: encoding packed32 is wider than field A of type int16; use at most 16 bits",
    ),
    Case(
        "encodings overlap",
        text(field("A", encoding={"0-2": "fixed16", "2+": "packed32"})),
        "2: $.fields[0].encoding.2+: encoding of field A: ranges 0-2 and 2+ overlap; give each version one encoding",
    ),
    Case(
        "encodings omit versions",
        text(field("A", encoding={"0": "fixed16", "2+": "packed32"})),
        "2: $.fields[0].encoding: encoding of field A: version 1 has no encoding; the ranges must be exactly 0+",
    ),
    Case(
        "encodings of other versions",
        text(field("A", versions="2+", encoding={"0+": "packed32"})),
        "2: $.fields[0].encoding: encoding of field A: version 0 does not have the field; the ranges must be exactly 2+",
    ),
    Case(
        "taggedFieldFormat unknown",
        text(taggedFieldFormat="mixed"),
        "1: $.taggedFieldFormat: unknown taggedFieldFormat 'mixed'; use one of sequential, interleaved",
    ),
    Case(
        "taggedFieldFormat without tags",
        text(flexibleVersions="none", taggedFieldFormat="interleaved"),
        "1: $.taggedFieldFormat: taggedFieldFormat interleaved needs flexibleVersions; add them or remove it",
    ),
    Case(
        "optional field without versionsWithOptional",
        text(optionalFields=[optional("A")]),
        "1: $.optionalFields[0]: optional field A in a message without versionsWithOptional; add them, for example 9+",
    ),
    Case(
        "versionsWithOptional invalid, without consequences",
        text(
            sub("A", field("X"), optionalFields=[optional("B")]),
            flexibleVersions=...,
            versionsWithOptional="x",
            optionalFields=[optional("C", "Bus", fields=[field("X")])],
        ),
        "1: $.versionsWithOptional: 'x' is not a version range; write none, N, N-M or N+ (for example 0-3 or 2+)",
    ),
    Case(
        "versionsWithOptional closed",
        text(flexibleVersions="none", versionsWithOptional="2-3"),
        "1: $.versionsWithOptional: versionsWithOptional 2-3 must be open-ended, like 9+",
    ),
    Case(
        "versionsWithOptional and flexibleVersions",
        text(versionsWithOptional="3+"),
        "1: $.versionsWithOptional: versionsWithOptional and flexibleVersions exclude each other; use one of them",
    ),
    Case(
        "optionalFields of an int",
        text(field("A", optionalFields=[optional("B")]), **WITH),
        "2: $.fields[0].optionalFields: field A of type int32 cannot have optionalFields; only structs can",
    ),
    Case(
        "optional array of structs",
        text(optionalFields=[optional("A", "[]Sub", fields=[field("X")])], **WITH),
        "1: $.optionalFields[0].type: optional field A is an array of structs, which optional-field buffers cannot contain; wrap the array in a struct",
    ),
    Case(
        "optional records",
        text(optionalFields=[optional("A", "records")], **WITH),
        "1: $.optionalFields[0].type: optional field A cannot be records; use bytes",
    ),
    Case(
        "optional field name",
        text(optionalFields=[optional("a_b")], **WITH),
        "1: $.optionalFields[0].name: invalid field name 'a_b'; use ASCII letters and digits, and start with a letter",
    ),
    Case(
        "optional tag decimal",
        text(optionalFields=[optional("A", tag="1"), optional("B", tag=2), optional("C", tag="0x8000")], **WITH),
        "1: $.optionalFields[0].tag: tag '1' of optional field A is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[1].tag: tag '2' of optional field B is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
        "1: $.optionalFields[2].tag: tag '0x8000' of optional field C is not an int16 in hexadecimal; write 0x0000 to 0x7fff",
    ),
    Case(
        "optional tag missing",
        text(optionalFields=[{"name": "A", "type": "int8"}], **WITH),
        "1: $.optionalFields[0]: optional field A has no tag; add it",
    ),
    Case(
        "optional tag twice",
        text(optionalFields=[optional("A"), optional("B", tag="0x0001")], **WITH),
        "1: $.optionalFields[1].tag: in Probe, field B has a duplicate tag 1, already the tag of A; tags must be unique",
    ),
    Case(
        "optional field named like another",
        text(field("A"), optionalFields=[optional("a")], **WITH),
        "1: $.optionalFields[0].name: in Probe, fields A and a are both a in Python; rename one",
    ),
    Case(
        "optional int that is null",
        text(optionalFields=[optional("A", nullable=True)], **WITH),
        "1: $.optionalFields[0].nullable: type int32 cannot be nullable; remove nullable",
    ),
    Case(
        "optional default",
        text(optionalFields=[optional("A", default="x")], **WITH),
        "1: $.optionalFields[0].default: invalid default 'x' for int32 field A: use a decimal, 0x hexadecimal or 0 octal number",
    ),
    Case(
        "optional property unknown",
        text(optionalFields=[optional("A", versions="2+")], **WITH),
        "1: $.optionalFields[0].versions: unknown property 'versions' of optional field A; expected one of about, default, fields, ignorable, name, nullable, optionalFields, tag, type",
    ),
    Case(
        "encodings empty",
        text(field("A", encoding={})),
        "2: $.fields[0].encoding: encoding is empty; give each version one encoding, or remove it",
    ),
    Case(
        "default that the encoding cannot hold",
        text(field("A", default="32768", encoding={"0": "fixed32", "1+": "packed16"})),
        "2: $.fields[0].encoding.1+: default 32768 of field A is out of range for encoding packed16; change one of the two",
    ),
    Case(
        "optional fields of a common struct given again",
        text(field("A", "Sub", optionalFields=[optional("B")]), commonStructs=[common("Sub", field("X"))], **WITH),
        "2: $.fields[0].optionalFields: Sub is a common struct; optional fields cannot be declared here; declare them in the common struct",
    ),
)
