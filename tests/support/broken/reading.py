"""Cases for the reader: properties, their JSON types, and syntax inside strings."""

# ruff: noqa: E501 -- each expected line is whole, as a user reads it

from __future__ import annotations

from tests.support.broken.case import ASK, KNOWN_OF_FIELDS, KNOWN_OF_MESSAGES, KNOWN_OF_STRUCTS, Case, common, sub
from tests.support.specs import field, text

TYPES = (
    "bool, int8, int16, uint16, int32, uint32, int64, float64, uuid, string, bytes, records, a capitalized "
    "struct name, or [] before one of these"
)
NO_RANGE = "'x' is not a version range; write none, N, N-M or N+ (for example 0-3 or 2+)"

READER: tuple[Case, ...] = (
    Case("message is an array", {"Test.json": "[]"}, "Test.json:1: $: a message must be a JSON object, found array"),
    Case("field is a text", text("A"), "2: $.fields[0]: a field must be a JSON object, found string"),
    Case(
        "common struct is a number",
        text(commonStructs=[5]),
        "1: $.commonStructs[0]: a common struct must be a JSON object, found number",
    ),
    Case("name missing", text(name=...), "1: $: a message has no name; add it"),
    Case("name null", text(name=None), "1: $: a message has no name; add it"),
    Case("name blank", text(name=" "), "1: $.name: a message has no name; add it"),
    Case(
        "validVersions blank", text(validVersions=""), "1: $.validVersions: message Probe has no validVersions; add it"
    ),
    Case(
        "versions blank",
        text(field("A", versions=" "), sub("B", field("X"), versions="")),
        "2: $.fields[0].versions: field A has no versions; add them, for example 0+",
        "3: $.fields[1].versions: field B has no versions; add them, for example 0+",
    ),
    Case("name is an object", text(name={"a": 1}), "1: $.name: expected a string, found object {'a': 1}"),
    Case(
        "type missing",
        text(type=...),
        "1: $: message Probe has no type; use one of request, response, header, metadata, data, coordinator-key, coordinator-value",
    ),
    Case(
        "type unknown",
        text(type="Data"),
        "1: $.type: unknown type 'Data'; did you mean data?",
    ),
    Case(
        "message name",
        text(name="A-B"),
        "1: $.name: invalid message name 'A-B'; use ASCII letters and digits, and start with a letter",
    ),
    Case(
        "type missing, and more",
        text(field("A", "int128"), field("B", default="x"), type=..., listeners=["broker"], headerVersions={"0+": 1}),
        "1: $: message Probe has no type; use one of request, response, header, metadata, data, coordinator-key, coordinator-value",
        f"2: $.fields[0].type: unknown type 'int128'; use {TYPES}",
        "3: $.fields[1].default: invalid default 'x' for int32 field B: use a decimal, 0x hexadecimal or 0 octal number",
    ),
    Case(
        "type of a response missing",
        {"a.json": text(name="AskRequest", type="request", apiKey=1), "b.json": text(type=..., apiKey=1)},
        "b.json:1: $: message Probe has no type; use one of request, response, header, metadata, data, coordinator-key, coordinator-value",
    ),
    Case(
        "validVersions missing, and more",
        text(
            field("A", "string", "9+", tag=0, taggedVersions="9+", nullableVersions="9+"),
            field("B", nullableVersions="0+"),
            validVersions=...,
            deprecatedVersions="7",
            flexibleVersions=...,
        ),
        "1: $: message Probe has no flexibleVersions; write 0+ for a new message, or none",
        "1: $: message Probe has no validVersions; add it",
        "3: $.fields[1].nullableVersions: type int32 cannot be nullable; remove nullableVersions",
    ),
    Case(
        "validVersions invalid, without consequences",
        {
            "a.json": text(name="AskRequest", type="request", apiKey=1, validVersions="x"),
            "b.json": text(name="AskResponse", type="response", apiKey=1),
            "c.json": text(
                name="GiveKey", type="coordinator-key", apiKey=1, validVersions="x", flexibleVersions="none"
            ),
        },
        f"a.json:1: $.validVersions: {NO_RANGE}",
        f"c.json:1: $.validVersions: {NO_RANGE}",
    ),
    Case("validVersions missing", text(validVersions=...), "1: $: message Probe has no validVersions; add it"),
    Case(
        "validVersions no range",
        text(validVersions="a-b"),
        "1: $.validVersions: 'a-b' is not a version range; write none, N, N-M or N+ (for example 0-3 or 2+)",
    ),
    Case(
        "versions backwards",
        text(field("A", versions="3-1")),
        "2: $.fields[0].versions: version range '3-1' is descending; write 1-3 or none",
    ),
    Case(
        "versions invalid, without consequences",
        text(
            field("A", "string", "x", tag=0, taggedVersions="2+", nullableVersions="2+"),
            field("B", versions="x", encoding={"0+": "packed32"}),
            sub("C", field("X"), versions="x"),
        ),
        f"2: $.fields[0].versions: {NO_RANGE}",
        f"3: $.fields[1].versions: {NO_RANGE}",
        f"4: $.fields[2].versions: {NO_RANGE}",
    ),
    Case(
        "versions of many digits",
        text(field("A", versions="0-" + "9" * 5000), field("B", versions="0-" + "0" * 5000 + "7")),
        "2: $.fields[0].versions: a version of 5000 digits is above 32767, the largest int16",
    ),
    Case(
        "versions too high",
        text(field("A", versions="0-40000")),
        "2: $.fields[0].versions: version 40000 in '0-40000' is above 32767, the largest int16",
    ),
    Case(
        "flexibleVersions missing",
        text(flexibleVersions=...),
        "1: $: message Probe has no flexibleVersions; write 0+ for a new message, or none",
    ),
    Case(
        "flexibleVersions null",
        text(flexibleVersions=None),
        "1: $: message Probe has no flexibleVersions; write 0+ for a new message, or none",
    ),
    Case(
        "flexibleVersions invalid, without consequences",
        text(field("A", tag=0, taggedVersions="2+"), flexibleVersions="x"),
        f"1: $.flexibleVersions: {NO_RANGE}",
    ),
    Case(
        "flexibleVersions is a list",
        text(flexibleVersions=["2+"]),
        "1: $.flexibleVersions: expected a string, found array ['2+']",
    ),
    Case("apiKey is a fraction", text(apiKey=1.9), "1: $.apiKey: expected an int16, found number 1.9"),
    Case(
        "apiKey of many digits",
        text(apiKey="1" * 21),
        "1: $.apiKey: expected an int16, found string '111111111111111111111'",
    ),
    Case("apiKey is true", text(apiKey=True), "1: $.apiKey: expected an int16, found boolean True"),
    Case("apiKey too large", text(apiKey=70000), "1: $.apiKey: 70000 is out of range for apiKey, an int16"),
    Case("apiKey too small", text(apiKey=-32769), "1: $.apiKey: -32769 is out of range for apiKey, an int16"),
    Case(
        "tag hexadecimal",
        text(*(field(n, versions="2+", tag=t, taggedVersions="2+") for n, t in zip("AB", ("0x0", 1), strict=True))),
        "2: $.fields[0].tag: expected an int32, found string '0x0'",
    ),
    Case(
        "unreadable properties, without consequences",
        text(
            field("A", versions="2+", tag=0, taggedVersions="x"),
            field("B", "string", nullableVersions="x", default="null"),
            field("C", flexibleVersions="x"),
            field("D", "int128", "2+", tag=1, taggedVersions="2+", default="0x"),
            field("E", versions="2+", tag=2, taggedVersions="2+"),
            field("F", versions=["0+"]),  # type: ignore[arg-type]  # a list is what is wrong
        ),
        f"2: $.fields[0].taggedVersions: {NO_RANGE}",
        f"3: $.fields[1].nullableVersions: {NO_RANGE}",
        f"4: $.fields[2].flexibleVersions: {NO_RANGE}",
        f"5: $.fields[3].type: unknown type 'int128'; use {TYPES}",
        "7: $.fields[5].versions: expected a string, found array ['0+']",
    ),
    Case(
        "apiKey of a record cannot be read",
        text(name="GiveValue", type="coordinator-value", apiKey="x"),
        "1: $.apiKey: expected an int16, found string 'x'",
    ),
    Case(
        "tag blank",
        text(field("A", versions="2+", tag="", taggedVersions="2+")),
        "2: $.fields[0].taggedVersions: field A has taggedVersions 2+, but no tag; add one or remove the taggedVersions",
    ),
    Case(
        "tag beyond int32",
        text(field("A", versions="2+", tag=1 << 31, taggedVersions="2+")),
        "2: $.fields[0].tag: 2147483648 is out of range for tag, an int32",
    ),
    Case(
        "boolean yes",
        text(field("A", ignorable="yes")),
        "2: $.fields[0].ignorable: expected true or false, found string 'yes'",
    ),
    Case(
        "boolean fraction",
        text(field("A", ignorable=1.0)),
        "2: $.fields[0].ignorable: expected true or false, found number 1.0",
    ),
    Case(
        "listener unknown",
        text(**ASK, listeners=["broker", "Controller"]),
        "1: $.listeners[1]: unknown listener 'Controller'; use one of zkBroker, broker, controller",
    ),
    Case(
        "listener is a list",
        text(**ASK, listeners=[["broker"]]),
        "1: $.listeners[0]: unknown listener ['broker']; use one of zkBroker, broker, controller",
    ),
    Case(
        "headerVersions is a text",
        text(**ASK, headerVersions="0+"),
        "1: $.headerVersions: expected an object from version range to header version, found string '0+'",
    ),
    Case(
        "unknown property of a field",
        text(field("A", comment="x")),
        f"2: $.fields[0].comment: unknown property 'comment' of field A; expected one of {KNOWN_OF_FIELDS}",
    ),
    Case(
        "unknown property of a message",
        text(comment="x"),
        f"1: $.comment: unknown property 'comment' of message Probe; expected one of {KNOWN_OF_MESSAGES}",
    ),
    Case(
        "unknown property of a common struct",
        text(field("A", "Sub"), commonStructs=[{**common("Sub", field("X")), "comment": None}]),
        f"1: $.commonStructs[0].comment: unknown property 'comment' of common struct Sub; expected one of {KNOWN_OF_STRUCTS}",
    ),
    Case(
        "common struct name missing",
        text(commonStructs=[{"versions": "0+"}]),
        "1: $.commonStructs[0]: a common struct has no name; add it",
    ),
    Case(
        "common struct versions missing",
        text(field("A", "Sub"), commonStructs=[{"name": "Sub"}]),
        "1: $.commonStructs[0]: common struct Sub has no versions; add it",
    ),
    Case("field name missing", text({"type": "int8", "versions": "0+"}), "2: $.fields[0]: a field has no name; add it"),
    Case(
        "field name",
        text(field("_a"), field("1a"), field("a_b"), field("é")),
        "2: $.fields[0].name: invalid field name '_a'; use ASCII letters and digits, and start with a letter",
        "3: $.fields[1].name: invalid field name '1a'; use ASCII letters and digits, and start with a letter",
        "4: $.fields[2].name: invalid field name 'a_b'; use ASCII letters and digits, and start with a letter",
        "5: $.fields[3].name: invalid field name 'é'; use ASCII letters and digits, and start with a letter",
    ),
    Case("field type missing", text({"name": "A", "versions": "0+"}), "2: $.fields[0]: field A has no type; add it"),
    Case(
        "field type unknown",
        text(field("A", "int128"), field("B", "float32"), field("C", "[]int"), field("D", "[]")),
        "2: $.fields[0].type: unknown type 'int128'; use bool, int8, int16, uint16, int32, uint32, int64, float64, uuid, string, bytes, records, a capitalized struct name, or [] before one of these",
        "3: $.fields[1].type: unknown type 'float32'; use bool, int8, int16, uint16, int32, uint32, int64, float64, uuid, string, bytes, records, a capitalized struct name, or [] before one of these",
        "4: $.fields[2].type: unknown type '[]int'; use bool, int8, int16, uint16, int32, uint32, int64, float64, uuid, string, bytes, records, a capitalized struct name, or [] before one of these",
        "5: $.fields[3].type: the array type [] has no element type; write for example []int32",
    ),
    Case(
        "array of arrays",
        text(field("A", "[][]int8")),
        "2: $.fields[0].type: arrays of arrays are not supported; use an array of structs with an array",
    ),
    Case(
        "field versions missing",
        text({"name": "A", "type": "int8"}),
        "2: $.fields[0]: field A has no versions; add them, for example 0+",
    ),
    Case(
        "entityType unknown",
        text(field("A", "string", entityType="topicname")),
        "2: $.fields[0].entityType: unknown entityType 'topicname'; did you mean topicName?",
    ),
)
