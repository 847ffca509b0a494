"""Fields of every type, plain, nullable and tagged: exact bytes and round trips in classic and flexible versions."""

from __future__ import annotations

import importlib
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from tests.support import reference
from tests.support.building import Workshop, module_of
from tests.support.specs import field, message

FIXED = ("bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "uuid")
ONE = UUID("c7b0f70a-4fd9-440d-b6f9-dcc8beefe99d")
NO_LENGTHS = (0, 1, 2, 15, 16, 17, 126, 127, 128, 300)  # Array lengths around every boundary of the length encodings.

# Non-default values by type.
VALUES: dict[str, list[object]] = {
    "bool": [True],
    "int8": [1, -128, 127],
    "int16": [1, -32768, 32767],
    "uint16": [1, 65535],
    "int32": [1, -(1 << 31), (1 << 31) - 1],
    "uint32": [1, (1 << 32) - 1],
    "int64": [1, -(1 << 63), (1 << 63) - 1],
    "float64": [1.5, -math.inf, 5e-324],
    "uuid": [ONE, UUID(int=1), UUID(int=(1 << 128) - 1)],
    "string": ["a", "é€😀", "\0", *("x" * n for n in NO_LENGTHS[1:]), "x" * 32767],
    "bytes": [b"\0", b"\xff\xfe", bytes(range(256)), *(b"x" * n for n in NO_LENGTHS[1:])],
    "records": [b"\0", b"x" * 127, b"x" * 16384],
    "Inner": [[("int16", -2), ("string", "in")], [("int16", 0), ("string", "x" * 200)]],
}

ZEROS: dict[str, object] = {
    **dict.fromkeys(("int8", "int16", "uint16", "int32", "uint32", "int64"), 0),
    "bool": False,
    "float64": 0.0,
    "uuid": UUID(int=0),
    "string": "",
    "bytes": b"",
    "records": b"",
    "Inner": [("int16", 0), ("string", "")],
}
KINDS = (*VALUES, *(f"[]{kind}" for kind in VALUES if kind != "records"))
CAN_BE_NULL = tuple(kind for kind in KINDS if kind not in FIXED)
CAN_BE_TAGGED = tuple(kind for kind in KINDS if kind != "records")


def values_of(kind: str) -> list[object]:
    """Return non-default values; arrays have every length around a boundary."""
    if not kind.startswith("[]"):
        return VALUES[kind]
    some = [ZEROS[kind[2:]], *VALUES[kind[2:]][:3]]
    return [[some[index % len(some)] for index in range(count)] for count in NO_LENGTHS[1:]]


def default_of(kind: str) -> object:
    return [] if kind.startswith("[]") else ZEROS[kind]


@dataclass
class Matrix:
    """A message with fields of one type: versions 0 and 1 are classic, 2 is flexible; ``maybe`` is nullable from 1."""

    kind: str
    message: Any

    @property
    def errors(self) -> Any:
        return importlib.import_module(f"{self.message.__module__.partition('.')[0]}.errors")

    def made(self, given: Any) -> object:
        """Convert a value of the reference codec to the generated class."""
        if given is None or "Inner" not in self.kind:
            return given
        inner = module_of(self.message).Inner
        if self.kind == "Inner":
            return inner(**dict(zip("xy", (each for _, each in given), strict=True)))
        return [inner(x=x, y=y) for (_, x), (_, y) in given]

    def expect(self, version: int, fields: dict[str, object], data: bytes) -> None:
        built = self.message(before=-7, after="z", **{name: self.made(each) for name, each in fields.items()})
        assert built.write(version) == data
        assert built.size(version) == len(data)
        assert self.message.read(data, version) == built
        assert self.message.read_from(b"\xee" + data + b"\xee", 1, version) == (built, len(data) + 1)
        slow = bytearray()
        self.message.schemas()[version].write(slow, built)
        assert slow == data

    def bytes(self, version: int, plain: object, maybe: object, tagged: dict[int, bytes] | None = None) -> bytes:
        flexible = version == 2
        parts = [reference.value("int8", -7, flexible), reference.value(self.kind, plain, flexible)]
        if self.kind in CAN_BE_NULL:
            if self.kind == "Inner" and version > 0:
                parts.append(b"\xff" if maybe is None else b"\x01")
            if not (self.kind == "Inner" and maybe is None):
                parts.append(reference.value(self.kind, maybe, flexible))
        parts.append(reference.value("string", "z", flexible))
        return b"".join(parts) + (reference.tags(tagged or {}) if flexible else b"")


def definition(kind: str) -> dict[str, object]:
    """Return a message with plain, nullable and tagged fields of a type, among fields of other types."""
    each = [field("Before", "int8"), field("Plain", kind)]
    if kind in CAN_BE_NULL:
        each.append(field("Maybe", kind, nullableVersions="1+"))
    each.append(field("After", "string"))
    if kind in CAN_BE_TAGGED:
        each.append(field("Tagged", kind, "2+", tag=0, taggedVersions="2+"))
        if kind in CAN_BE_NULL:
            more = {"taggedVersions": "2+", "nullableVersions": "2+"}
            each.append(field("TaggedMaybe", kind, "2+", tag=1, **more))
            each.append(field("TaggedNull", kind, "2+", tag=2, default="null", **more))
    inner = {"name": "Inner", "versions": "0+", "fields": [field("X", "int16"), field("Y", "string")]}
    return message(*each, validVersions="0-2", commonStructs=[inner] if "Inner" in kind else [])


@pytest.fixture(scope="session")
def matrix(workshop: Workshop) -> Callable[[str], Matrix]:
    built: dict[str, Matrix] = {}

    def get(kind: str) -> Matrix:
        if kind not in built:
            built[kind] = Matrix(kind, workshop.add(definition(kind)))
        return built[kind]

    return get


def versions_and_values(kind: str) -> Iterator[tuple[int, object]]:
    for version in range(3):
        for each in (default_of(kind), *values_of(kind)):
            yield version, each


@pytest.mark.parametrize("kind", KINDS)
def test_plain_values_have_reference_bytes(kind: str, matrix: Callable[[str], Matrix]) -> None:
    case = matrix(kind)
    for version, each in versions_and_values(kind):
        case.expect(version, {"plain": each}, case.bytes(version, each, default_of(kind)))


@pytest.mark.parametrize("kind", CAN_BE_NULL)
def test_nullable_values_have_reference_bytes(kind: str, matrix: Callable[[str], Matrix]) -> None:
    case = matrix(kind)
    for version, each in versions_and_values(kind):
        case.expect(version, {"maybe": each}, case.bytes(version, default_of(kind), each))
    for version in (1, 2):
        case.expect(version, {"maybe": None}, case.bytes(version, default_of(kind), None))


@pytest.mark.parametrize("kind", CAN_BE_NULL)
def test_null_in_non_nullable_version_is_rejected(kind: str, matrix: Callable[[str], Matrix]) -> None:
    case = matrix(kind)
    unsound = case.message(maybe=None)
    for act in (unsound.write, unsound.size):
        with pytest.raises(case.errors.EncodeError) as caught:
            act(0)
        assert str(caught.value) == "Probe v0: maybe: must not be None in this version"
    if kind != "Inner":  # structs in version 0 have no presence byte
        with pytest.raises(case.errors.DecodeError) as refused:
            case.message.read(case.bytes(0, default_of(kind), None), 0)
        assert refused.value.path == "maybe"


@pytest.mark.parametrize("kind", CAN_BE_TAGGED)
def test_tagged_values_have_reference_bytes(kind: str, matrix: Callable[[str], Matrix]) -> None:
    case = matrix(kind)
    nothing = default_of(kind)
    case.expect(2, {"tagged": nothing}, case.bytes(2, nothing, nothing))
    for each in values_of(kind):
        tag = {0: reference.value(kind, each, True)}
        case.expect(2, {"tagged": each}, case.bytes(2, nothing, nothing, tag))


@pytest.mark.parametrize("kind", [kind for kind in CAN_BE_TAGGED if kind in CAN_BE_NULL])
def test_tagged_nullable_values_have_reference_bytes(kind: str, matrix: Callable[[str], Matrix]) -> None:
    case = matrix(kind)
    nothing = default_of(kind)
    mark = b"\x01" if kind == "Inner" else b""
    case.expect(2, {"tagged_maybe": nothing}, case.bytes(2, nothing, nothing))
    case.expect(2, {"tagged_maybe": None}, case.bytes(2, nothing, nothing, {1: b"\0"}))
    case.expect(2, {"tagged_null": None}, case.bytes(2, nothing, nothing))
    for each in (nothing, *values_of(kind)):
        tag = mark + reference.value(kind, each, True)
        case.expect(2, {"tagged_null": each}, case.bytes(2, nothing, nothing, {2: tag}))
        if each != nothing:
            case.expect(2, {"tagged_maybe": each}, case.bytes(2, nothing, nothing, {1: tag}))


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_or_extended_bytes_raise_decode_error(kind: str, matrix: Callable[[str], Matrix]) -> None:
    case = matrix(kind)
    for version in range(3):
        data = case.bytes(version, values_of(kind)[0], default_of(kind))
        for broken in (*(data[:end] for end in range(len(data))), data + b"\0"):
            with pytest.raises(case.errors.DecodeError) as caught:
                case.message.read(broken, version)
            assert 0 <= caught.value.offset <= len(broken)


def test_reference_codec_agrees_with_struct() -> None:
    assert reference.value("int32", 258, False) == struct.pack(">i", 258) == b"\0\0\1\2"
    assert [reference.uvarint(n) for n in (0, 127, 128, 300)] == [b"\0", b"\x7f", b"\x80\x01", b"\xac\x02"]
    assert reference.value("[]string", ["a", ""], False) == b"\0\0\0\2\0\1a\0\0"
    assert reference.value("[]string", ["a", ""], True) == b"\3\2a\1"
    assert reference.tags({5: b"x", 2: b""}) == b"\2\2\0\5\1x"
