"""Default values of fields: literals, their values, and errors."""

from __future__ import annotations

import math
import uuid
from pathlib import Path

import pytest

from kafka_message_generator.rules import defaults
from kafka_message_generator.rules.defaults import Empty, Value, default_of
from tests.support.building import check
from tests.support.lines import raises, recording
from tests.support.specs import field, message, problems_of, text

TYPES = ("[]int32", "[]string", "[]Inner", "Inner")


def default(kind: str, given: object = ..., **more: object) -> Value:
    member = field("A", kind) | more | ({} if given is ... else {"default": given})
    if kind.removeprefix("[]") == "Inner":
        member["fields"] = [field("X")]
    return default_of(check(message(member)).message.fields[0])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("bool", False),
        *((kind, 0) for kind in ("int8", "int16", "uint16", "int32", "uint32", "int64")),
        ("float64", 0.0),
        ("uuid", uuid.UUID(int=0)),
        ("string", ""),
        ("bytes", b""),
        ("Inner", Empty.STRUCT),
        ("[]int32", Empty.ARRAY),
        ("[]Inner", Empty.ARRAY),
    ],
)
def test_missing_default_is_the_zero_of_the_type(kind: str, value: Value) -> None:
    for given in (..., None, ""):
        found = default(kind, given)
        assert found == value
        assert type(found) is type(value)


@pytest.mark.parametrize(("given", "value"), [("true", True), ("TRUE", True), ("fAlse", False), (True, True)])
def test_boolean_default_is_case_insensitive(given: object, value: bool) -> None:
    assert default("bool", given) is value


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("int32", "5", 5),
        ("int32", 5, 5),
        ("int32", "-1", -1),
        ("int32", "+5", 5),
        ("int32", "-0", 0),
        ("int32", "010", 8),
        ("int32", "0777", 511),
        ("int32", "-010", -8),
        ("int32", "00", 0),
        ("int32", "0xff", 255),
        ("int32", "0xFF", 255),
        ("int32", "0x0", 0),
        ("int8", "-128", -128),
        ("int8", "0x7f", 127),
        ("int16", "-32768", -32768),
        ("int16", "0x7fff", 32767),
        ("uint16", "65535", 65535),
        ("uint16", "0xffff", 65535),
        ("int32", "-2147483648", -(1 << 31)),
        ("int32", "0x7fffffff", (1 << 31) - 1),
        ("uint32", "4294967295", (1 << 32) - 1),
        ("uint32", "0xffffffff", (1 << 32) - 1),
        ("int64", "-9223372036854775808", -(1 << 63)),
        ("int64", "0xcafcacafcacafca", 0xCAFCACAFCACAFCA),
        ("int64", "0x7fffffffffffffff", (1 << 63) - 1),
    ],
)
def test_integer_default_is_parsed_as_java_literal(kind: str, given: object, value: int) -> None:
    """A leading zero makes a Java literal octal. Java reads unsigned maxima as -1; here they keep their value."""
    assert default(kind, given) == value


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("1", 1.0),
        ("-1.5", -1.5),
        ("+2.", 2.0),
        (".5", 0.5),
        ("1.5d", 1.5),
        ("1F", 1.0),
        ("1e3", 1000.0),
        ("2.5E-3", 0.0025),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1e400", math.inf),
        ("0x1p3", 8.0),
        ("-0x1.8P-1", -0.75),
        ("0x.8p0", 0.5),
        ("0x1p0d", 1.0),
        (1.5, 1.5),
        (1, 1.0),
    ],
)
def test_float_default_is_parsed_like_java(given: object, value: float) -> None:
    assert default("float64", given) == value


def test_nan_and_negative_zero_defaults_are_kept() -> None:
    assert math.isnan(float(str(default("float64", "NaN"))))
    assert math.copysign(1, float(str(default("float64", "-0.0")))) == -1


@pytest.mark.parametrize("given", ["x7D3Ck_ZRA22-dzIvu_pnQ", "x7D3Ck_ZRA22-dzIvu_pnQ=="])
def test_uuid_default_is_parsed_from_base64(given: str) -> None:
    assert default("uuid", given) == uuid.UUID("c7b0f70a-4fd9-440d-b6f9-dcc8beefe99d")


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("foo", "foo"),
        ('"', '"'),
        ("a\\b", "a\\b"),
        ("Null", "Null"),
        (" ", " "),
        (5, "5"),
        (True, "true"),
        ("é\n", "é\n"),
    ],
)
def test_string_default_is_converted_to_text(given: object, value: str) -> None:
    assert default("string", given) == value


@pytest.mark.parametrize("kind", ["string", "bytes", "records", *TYPES])
def test_default_null_is_valid_if_every_version_is_nullable(kind: str) -> None:
    assert default(kind, "null", nullableVersions="0+") is None
    assert kind == "records" or default(kind, None, nullableVersions="0+") is not None


def test_null_default_requires_only_versions_of_the_field() -> None:
    assert default("string", "null", versions="2+", nullableVersions="2+") is None


@pytest.mark.parametrize(
    ("versions", "nullable", "value"), [("0+", "0+", None), ("0+", "1+", b""), ("0+", "none", b""), ("1+", "1+", None)]
)
def test_records_default_to_null_if_all_versions_are_nullable(versions: str, nullable: str, value: Value) -> None:
    """Kafka's classes always start records at null, even in versions without null."""
    assert default("records", versions=versions, nullableVersions=nullable) == value


NUMBER = "use a decimal, 0x hexadecimal or 0 octal number"
FLOAT = "use a floating-point number, NaN or Infinity"
UUID = "use the 22 characters of URL-safe base64 that Kafka prints for a uuid"
NOT_NULLABLE = "null is not a valid default: not all versions of this field are nullable"
REFUSED = [
    *(("bool", given, "use true or false") for given in ("1", "yes", "null", " true")),
    *(("int8", given, NUMBER) for given in ("0X7f", "-0x1", "0x-1", "0x", "0x1g", "08", "5L", "1_000", "1.0", " 5")),
    *(("int8", given, NUMBER) for given in ("5 ", "", "null", "--1", "+", "٣", "0b1", "0o7") if given),
    ("int8", "128", "out of range for int8; use -128 to 127"),
    ("int8", "0xff", "out of range for int8; use -128 to 127"),
    ("int8", "-0201", "out of range for int8; use -128 to 127"),
    ("int16", "-32769", "out of range for int16; use -32768 to 32767"),
    ("uint16", "-1", "out of range for uint16; use 0 to 65535"),
    ("uint16", "0x10000", "out of range for uint16; use 0 to 65535"),
    ("int32", "0x80000000", "out of range for int32; use -2147483648 to 2147483647"),
    ("uint32", "4294967296", "out of range for uint32; use 0 to 4294967295"),
    ("int64", "0xffffffffffffffff", "out of range for int64; use -9223372036854775808 to 9223372036854775807"),
    *(("float64", given, FLOAT) for given in ("abc", "nan", "inf", "1,5", "1e", "0x1", "0x1p", ".", "null", "1_0")),
    *(("uuid", given, UUID) for given in ("null", "x7D3Ck/ZRA22+dzIvu/pnQ", "x7D3Ck_ZRA22-dzIvu_pn")),
    *(("uuid", given, UUID) for given in ("x7D3Ck_ZRA22-dzIvu_pnQA", "x7D3Ck_ZRA22-dzIvu_pnQ=")),
    ("uuid", "1f728a3b-8353-44f6-825a-d1269b7bd6ec", UUID),
    ("bytes", "abc", "the default of bytes must be empty or null"),
    ("records", "abc", "the default of records must be empty or null"),
    ("[]int32", "[]", "the default of an array must be empty or null"),
    ("[]bytes", "0", "the default of an array must be empty or null"),
    *((kind, "null", f"{NOT_NULLABLE} (nullableVersions are none, versions 0+)") for kind in ("string", "records")),
    *((kind, "null", f"{NOT_NULLABLE} (nullableVersions are none, versions 0+)") for kind in ("bytes", "[]uuid")),
]


def complaints(kind: str, given: str, **more: object) -> list[str]:
    return problems_of({"Test.json": text(field("A", kind, default=given) | more)})


@pytest.mark.parametrize(("kind", "given", "reason"), REFUSED)
def test_invalid_default_is_reported(kind: str, given: str, reason: str) -> None:
    line = f"Test.json:2: $.fields[0].default: invalid default {given!r} for {kind} field A: {reason}"
    assert complaints(kind, given) == [line]


@pytest.mark.parametrize("kind", ["Inner", "[]Inner"])
def test_nonempty_struct_default_is_reported(kind: str) -> None:
    what = "an array" if kind.startswith("[]") else "a struct"
    place = f"Test.json:2: $.fields[0].default: invalid default 'x' for {kind} field A"
    assert complaints(kind, "x", fields=[field("X")]) == [f"{place}: the default of {what} must be empty or null"]


def test_null_default_in_non_nullable_version_is_reported() -> None:
    place = "Test.json:2: $.fields[0].default: invalid default 'null' for string field A"
    assert complaints("string", "null", nullableVersions="1+") == [
        f"{place}: {NOT_NULLABLE} (nullableVersions are 1+, versions 0+)"
    ]


@pytest.mark.parametrize("given", ["0xp1", "0x.p1"])
def test_hexadecimal_float_without_digit_is_reported(given: str) -> None:
    place = f"Test.json:2: $.fields[0].default: invalid default {given!r} for float64 field A"
    assert complaints("float64", given) == [f"{place}: {FLOAT}"]


def test_hexadecimal_float_overflow_is_infinite() -> None:
    assert default("float64", "0x1p99999") == math.inf
    assert default("float64", "-0x1.8p99999d") == -math.inf
    assert default("float64", "0x1p-99999") == 0.0


def test_integer_default_of_5000_digits_is_reported() -> None:
    assert len(complaints("int64", "1" * 5000)) == 1


def test_every_default_error_has_a_case() -> None:
    source = Path(defaults.__file__)
    with recording(source) as lines:
        for kind, given, _ in REFUSED:
            complaints(kind, given)
    assert lines.missing(raises([source], "DefaultError")) == []
