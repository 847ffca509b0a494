"""Cases for fields, and for the structs that they name."""

# ruff: noqa: E501 -- each expected line is whole, as a user reads it

from __future__ import annotations

from tests.support.broken.case import Case, common, sub
from tests.support.specs import field, text

FIELDS: tuple[Case, ...] = (
    Case(
        "nullable int",
        text(field("A", nullableVersions="0+"), field("B", "uuid", nullableVersions="1+")),
        "2: $.fields[0].nullableVersions: type int32 cannot be nullable; remove nullableVersions",
        "3: $.fields[1].nullableVersions: type uuid cannot be nullable; remove nullableVersions",
    ),
    Case(
        "nullable outside versions",
        text(field("A", "string", "2+", nullableVersions="0+")),
        "2: $.fields[0].nullableVersions: warning: field A has nullableVersions 0+, but versions 2+; the other versions are ignored",
    ),
    Case(
        "entityType",
        text(field("A", entityType="topicName"), field("B", "[]int64", entityType="brokerId")),
        "2: $.fields[0].entityType: field A has entityType topicName, which needs string, but type int32; change one of the two",
        "3: $.fields[1].entityType: field B has entityType brokerId, which needs int32, but type []int64; change one of the two",
    ),
    Case(
        "fields of an int",
        text(field("A", fields=[field("X")])),
        "2: $.fields[0].fields: field A of type int32 cannot have fields",
    ),
    Case(
        "fields of an int array",
        text(field("A", "[]int32", fields=[field("X")])),
        "2: $.fields[0].fields: field A of type []int32 cannot have fields",
    ),
    Case(
        "array of records",
        text(field("A", "[]records")),
        "2: $.fields[0].type: field A: an array cannot contain records; use []bytes or a struct",
    ),
    Case(
        "flexible override of an int",
        text(field("A", flexibleVersions="none"), field("B", "[]string", flexibleVersions="none")),
        "2: $.fields[0].flexibleVersions: field A of type int32 cannot override flexibleVersions; only string and bytes can",
        "3: $.fields[1].flexibleVersions: field B of type []string cannot override flexibleVersions; only string and bytes can",
    ),
    Case(
        "flexible override too wide",
        text(field("A", "string", flexibleVersions="1+")),
        "2: $.fields[0].flexibleVersions: field A has flexibleVersions 1+, which are not all among the message's flexible versions 2+",
    ),
    Case(
        "tagged key",
        text(sub("A", field("X", versions="2+", mapKey=True, tag=0, taggedVersions="2+"), type="[]Sub")),
        "2: $.fields[0].fields[0].mapKey: field X is tagged, and tagged fields cannot be keys",
    ),
    Case(
        "key of a struct",
        text(sub("A", sub("X", field("Y"), type="In", mapKey=True), field("Z", "[]int8", mapKey=True), type="[]Sub")),
        "2: $.fields[0].fields[0].mapKey: field X of type In cannot be a key; use a primitive",
        "2: $.fields[0].fields[1].mapKey: field Z of type []int8 cannot be a key; use a primitive",
    ),
    Case(
        "key of a float",
        text(sub("A", field("X", "float64", mapKey=True), type="[]Sub")),
        "2: $.fields[0].fields[0].mapKey: warning: field X is a float64 key; NaN cannot be found",
    ),
    Case(
        "tag negative",
        text(field("A", versions="2+", tag=-1, taggedVersions="2+")),
        "2: $.fields[0].tag: field A has tag -1; tags cannot be negative",
    ),
    Case(
        "tag without taggedVersions",
        text(field("A", tag=0), field("B", tag=1, taggedVersions="none")),
        "2: $.fields[0].tag: field A has tag 0, but no taggedVersions; add them or remove the tag",
        "3: $.fields[1].tag: field B has tag 1, but no taggedVersions; add them or remove the tag",
    ),
    Case(
        "taggedVersions without tag",
        text(field("A", taggedVersions="2+")),
        "2: $.fields[0].taggedVersions: field A has taggedVersions 2+, but no tag; add one or remove the taggedVersions",
    ),
    Case(
        "tagged sometimes nullable",
        text(field("A", "string", tag=0, taggedVersions="2+", nullableVersions="3+")),
        "2: $.fields[0].taggedVersions: field A has nullableVersions 3+ and taggedVersions 2+; either all tagged versions must be nullable, or none",
    ),
    Case(
        "tagged closed",
        text(field("A", tag=0, taggedVersions="2-3")),
        "2: $.fields[0].taggedVersions: field A has taggedVersions 2-3; they must be open-ended, like 2+",
    ),
    Case(
        "tagged outside versions",
        text(field("A", versions="0-2", tag=0, taggedVersions="2+")),
        "2: $.fields[0].taggedVersions: field A has taggedVersions 2+ outside its versions 0-2; widen the versions",
    ),
    Case(
        "tagged before flexible",
        text(field("A", tag=0, taggedVersions="1+")),
        "2: $.fields[0].taggedVersions: field A has taggedVersions 1+, but flexible versions 2+; only flexible versions have tagged fields",
    ),
    Case(
        "tagged text with flexibleVersions none",
        text(field("A", "string", tag=0, taggedVersions="2+", flexibleVersions="none")),
        "2: $.fields[0].taggedVersions: field A has taggedVersions 2+, but flexible versions none; only flexible versions have tagged fields",
    ),
    Case(
        "tagged records",
        text(field("A", "records", tag=0, taggedVersions="2+")),
        "2: $.fields[0].tag: field A is of type records, which cannot be tagged; use bytes",
    ),
    Case(
        "zeroCopy text",
        text(field("A", "string", zeroCopy=True), field("B", "[]bytes", zeroCopy=True)),
        "2: $.fields[0].zeroCopy: field A of type string cannot be zeroCopy; only bytes can",
        "3: $.fields[1].zeroCopy: field B of type []bytes cannot be zeroCopy; only bytes can",
    ),
    Case(
        "default",
        text(field("A", default="x")),
        "2: $.fields[0].default: invalid default 'x' for int32 field A: use a decimal, 0x hexadecimal or 0 octal number",
    ),
    Case(
        "default of many digits",
        text(field("A", "int64", default="1" * 5000)),
        f"2: $.fields[0].default: invalid default '{'1' * 57}...' for int64 field A: out of range for int64; use -9223372036854775808 to 9223372036854775807",
    ),
    Case(
        "taggedVersions above the message",
        text(field("A", tag=0, taggedVersions="4+")),
        "2: $.fields[0].taggedVersions: warning: field A has taggedVersions 4+, but the message has versions 0-3; they have no effect yet",
    ),
    Case(
        "nullableVersions above the message",
        text(field("A", "string", nullableVersions="4+")),
        "2: $.fields[0].nullableVersions: warning: field A has nullableVersions 4+, but the message has versions 0-3; they have no effect yet",
    ),
    Case(
        "flexibleVersions of a field above the message",
        text(field("A", "string", flexibleVersions="4+")),
        "2: $.fields[0].flexibleVersions: warning: field A has flexibleVersions 4+, but the message has versions 0-3; they have no effect yet",
    ),
    Case(
        "versions outside the message",
        text(field("A", versions="4+")),
        "2: $.fields[0].versions: warning: field A has versions 4+, but the message has versions 0-3; the field is never sent",
    ),
)

STRUCTS: tuple[Case, ...] = (
    Case(
        "common struct twice",
        text(field("A", "Sub"), commonStructs=[common("Sub", field("X")), common("Sub")]),
        "1: $.commonStructs[1]: common struct Sub is specified twice; remove one",
    ),
    Case(
        "common struct given again",
        text(sub("A", field("X")), commonStructs=[common("Sub", field("X"))]),
        "2: $.fields[0].fields: Sub is a common struct; its fields cannot be repeated here",
    ),
    Case(
        "struct twice",
        text(sub("A", field("X")), field("B", "Sub")),
        "3: $.fields[1].type: struct Sub is specified twice; a struct used twice must be a common struct",
    ),
    Case(
        "struct unknown",
        text(field("A", "Sub"), field("B", "[]Sub")),
        "2: $.fields[0].type: unknown struct Sub; declare its fields here or in commonStructs",
        "3: $.fields[1].type: unknown struct Sub; declare its fields here or in commonStructs",
    ),
    Case(
        "struct inside a common struct",
        text(field("A", "Com"), commonStructs=[common("Com", sub("B", field("X")))]),
        "1: $.commonStructs[0].fields[0].fields: struct Sub is declared inside common struct Com; declare it as a separate common struct",
    ),
    Case(
        "struct unknown in a common struct",
        text(field("A", "Com"), commonStructs=[common("Com", field("B", "Sub"))]),
        "1: $.commonStructs[0].fields[0].type: unknown struct Sub; declare it as a common struct",
    ),
    Case(
        "struct has the name of the message",
        text(sub("A", field("X"), type="Probe"), sub("B", field("X"), type="ProbeData")),
        "2: $.fields[0]: struct Probe has a name that is reserved for its message; rename it",
        "3: $.fields[1]: struct ProbeData has a name that is reserved for its message; rename it",
    ),
    Case(
        "common struct unused",
        text(commonStructs=[common("Sub", field("X"))]),
        "1: $.commonStructs[0]: warning: common struct Sub is never used",
    ),
    Case(
        "mapKey at the top",
        text(field("A", mapKey=True)),
        "2: $.fields[0].mapKey: field A of the message cannot be a key; remove mapKey",
    ),
    Case(
        "tag twice",
        text(*(field(n, versions="2+", tag=0, taggedVersions="2+") for n in "AB")),
        "3: $.fields[1].tag: in Probe, field B has a duplicate tag 0, already the tag of A; tags must be unique",
    ),
    Case(
        "tag gap",
        text(*(field(n, versions="2+", tag=t, taggedVersions="2+") for n, t in zip("AB", (0, 2), strict=True))),
        "3: $.fields[1].tag: in Probe, the tags are not contiguous: 1 is unused, but 2 is used; use the lower tags first",
    ),
    Case(
        "tags per struct",
        text(sub("S", field("A", versions="2+", tag=1, taggedVersions="2+"))),
        "2: $.fields[0].fields[0].tag: in Sub, the tags are not contiguous: 0 is unused, but 1 is used; use the lower tags first",
    ),
    Case(
        "struct in no version",
        text(sub("A", sub("B", field("X", versions="3"), type="In", versions="0-1"), versions="2+")),
        "2: $.fields[0].fields[0].versions: field B has versions 0-1, but its parent has versions 2-3",
    ),
    Case(
        "field in no version",
        text(
            sub("A", field("X", versions="0-1"), field("Y", versions="none"), field("Z", versions="9+"), versions="2+"),
        ),
        "2: $.fields[0].fields[0].versions: warning: field X has versions 0-1, but struct Sub has versions 2-3; the field is never sent",
        "2: $.fields[0].fields[2].versions: warning: field Z has versions 9+, but the message has versions 0-3; the field is never sent",
    ),
    Case(
        "struct in no version of a common struct",
        text(
            field("A", "Com", "2+"),
            commonStructs=[
                common("Com", field("B", "Sub", "0-1"), field("X", versions="1")),
                common("Sub", field("Y")),
            ],
        ),
        "1: $.commonStructs[0].fields[0].versions: field B has versions 0-1, but its parent has versions 2-3",
        "1: $.commonStructs[0].fields[1].versions: warning: field X has versions 1, but struct Com has versions 2-3; the field is never sent",
    ),
    Case(
        "key of a struct in no array",
        text(sub("A", field("X", mapKey=True), field("Y", "string", mapKey=True))),
        "2: $.fields[0].fields[0].mapKey: warning: field X is a key, but struct Sub is not in an array; the key has no effect",
        "2: $.fields[0].fields[1].mapKey: warning: field Y is a key, but struct Sub is not in an array; the key has no effect",
    ),
    Case(
        "structs too deep",
        text(
            field("A", "S0"),
            commonStructs=[
                *(common(f"S{n}", field("X", f"S{n + 1}")) for n in range(50)),
                common("S50", field("X")),
            ],
        ),
        "1: $.commonStructs[0]: struct S0 contains structs more than 50 levels deep; flatten it",
    ),
    Case(
        "struct contains itself",
        text(field("A", "Sub"), commonStructs=[common("Sub", field("X", "[]Bus")), common("Bus", field("Y", "Sub"))]),
        "1: $.commonStructs[1].fields[0].type: struct Sub contains itself (Sub -> Bus -> Sub); a message needs a fixed depth",
    ),
)
