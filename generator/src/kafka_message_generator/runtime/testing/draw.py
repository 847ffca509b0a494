"""Draws random messages of any class and version from what the definition says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar
from uuid import UUID

from .._base.message import Message, check_class, checked_version
from .._base.named import enumerations
from .._core.structs import made
from .._core.versions import Versions
from .._core.wire import RawTaggedField
from ..schema.facts import FieldFacts, class_in, facts_of

M = TypeVar("M", bound=Message)

WIDTHS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
ALPHABETS = ("ab-z.0", "éßÿ", "日本語", "😀𝄞", "\x00\x7f\u0080\u07ff\u0800\uffff")
SHORT = (0, 1, 2, 3, 5, 8)
LONG = (20, 62, 63, 64, 126, 127, 128, 129, 300)
HUGE = (16382, 16383, 16384, 32767)
FLOATS = (0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, float("inf"), float("-inf"), float("nan"))
COUNTS = (0, 1, 2, 3, 14, 15, 16, 17, 126, 127, 128)


_FEW = 4
"""Elements that are drawn each by itself. Each character and number of long ones would cost Hypothesis a choice: these come
from one."""


@dataclass(frozen=True)
class Chances:
    """How often, 0 to 1, what may be null is, a field keeps its default, a struct has unknown fields, a key repeats.

    ``empty`` is how often an array, text or bytes is as short as can be, ``member`` how often a number or text that has
    names is a member of its enumeration.
    """

    null: float = 0.2
    default: float = 0.25
    unknown: float = 0.2
    repeat: float = 0.3
    empty: float = 0.2
    member: float = 0.15


FULL = Chances(null=0, default=0, unknown=1, empty=0)
"""Every field of the version is there, not null, with something in it (by chance it may still be its default)."""
NULLS = Chances(null=1, default=0)
"""Everything that may be null is."""
MIXED = Chances()


def random_messages(message: type[M], version: int, seed: int = 0, mixed: int = 3) -> Iterator[M]:
    """A full message, one of nulls and ``mixed`` others; the same seed draws the same ones.

    Fields that the version does not have keep their defaults, so each can be written. Raises UnsupportedVersionError
    when it is called, before the first message is drawn.
    """
    check_class(message)
    return _drawn(message, checked_version(message, version), seed, mixed)


def _drawn(message: type[M], version: int, seed: int, mixed: int) -> Iterator[M]:
    for number, chances in enumerate([FULL, NULLS, *[MIXED] * mixed]):
        source = random.Random(f"{message.NAME} v{version} {seed} {number}")
        yield Draw(message, version, source, chances).message()


class Draw(Generic[M]):
    """Draws one message from a source of random numbers: where that only gives 0, the message is as plain as can be."""

    def __init__(self, message: type[M], version: int, source: random.Random, chances: Chances = MIXED) -> None:
        self.cls = message
        self.version = version
        self.chances = chances
        self.random = source
        self.facts = facts_of(message)
        self.depth = 0

    def message(self) -> M:
        """The message."""
        drawn: M = self.struct(self.cls, self.facts.fields)
        return drawn

    def chance(self, share: float) -> bool:
        """Yes, so often."""
        return self.random.random() < share

    def struct(self, cls: Any, fields: tuple[FieldFacts, ...]) -> Any:
        """An object of a class, from the fields that the version has."""
        self.depth += 1
        values: dict[str, object] = {}
        for field in fields:
            if self.version in field.versions and not self.chance(self.chances.default):
                values[field.name] = self.part(field)
        unknown = self.unknown(fields)
        if unknown:
            values["unknown_tagged_fields"] = unknown
        self.depth -= 1
        return made(cls, values)

    def part(self, field: FieldFacts) -> object:
        """A value of a field of a struct: a place for those who must know what was drawn for it."""
        return self.value(field)

    def value(self, field: FieldFacts) -> object:
        """A value of a field."""
        if self.version in field.nullable and self.chance(self.chances.null):
            return None
        if field.is_array:
            return self.array(field)
        return self.inner(field) if field.is_struct else self.plain(field, self.bits(field.type, field.encodings))

    def inner(self, field: FieldFacts) -> Any:
        """A struct."""
        return self.struct(class_in(self.cls, field.type), field.fields)

    def array(self, field: FieldFacts) -> list[Any]:
        """An array; elements with keys may have one twice."""
        if not field.is_struct:
            bits = self.bits(field.type, field.element_encodings)
            # NaN in a list equals no other NaN, in Python as in Java.
            count, source = self.count(field), self.random
            if count > _FEW:
                self.random = random.Random(source.getrandbits(16))
            elements = [self.plain(field, bits, is_element=True) for _ in range(count)]
            self.random = source
            return elements
        drawn = [self.inner(field) for _ in range(self.count(field))]
        keys = [each.name for each in self.facts.structs[field.type] if each.map_key]
        if drawn and keys and not self.chance(1 - self.chances.repeat):
            twin = self.inner(field)
            for key in keys:
                setattr(twin, key, getattr(drawn[0], key))
            drawn.append(twin)
        return drawn

    def count(self, field: FieldFacts) -> int:
        """How many elements; fewer, the deeper they are."""
        if self.chance(self.chances.empty):
            return 0
        if field.is_struct or self.depth > 2 or field.type in ("string", "bytes"):
            return self.random.choice((1, 1, 2, 3) if self.depth < 3 else (1, 1, 2))
        return self.random.choice(COUNTS[1:])

    def bits(self, kind: str, encodings: tuple[tuple[Versions, str], ...]) -> int:
        """The width of an integer in this version, which an encoding may make narrower than its type."""
        name = next((name for versions, name in encodings if self.version in versions), None)
        return WIDTHS.get(kind, 0) if name is None else int(name[-2:])

    def plain(self, field: FieldFacts, bits: int, is_element: bool = False) -> object:
        """A value of a field that is no struct, or of one of its elements."""
        members = () if field.enumeration is None else _members(field.enumeration, field.type, bits)
        if members and not self.chance(1 - self.chances.member):
            return self.random.choice(members)
        return self.scalar(field.type, bits, is_element)

    def scalar(self, kind: str, bits: int, is_element: bool = False) -> object:
        """A value of a type that is no struct."""
        if kind in WIDTHS:
            return self.integer(bits, is_signed=not kind.startswith("uint"))
        if kind == "bool":
            return self.chance(0.5)
        if kind == "float64":
            number = self.random.choice((*FLOATS, self.random.uniform(-1e6, 1e6)))
            return 0.5 if is_element and number != number else number
        if kind == "uuid":
            return UUID(int=self.random.choice((0, 1, self.random.getrandbits(128))))
        return self.text() if kind == "string" else self.random.randbytes(self.length())

    def integer(self, bits: int, is_signed: bool) -> int:
        """Any number of so many bits, those most often at which an encoding needs another byte."""
        lowest, highest = _bounds(bits, is_signed)
        number = self.random.choice(
            (
                self.random.randint(-1, 130),
                (1 << self.random.randrange(bits)) + self.random.randint(-2, 1),
                -(1 << self.random.randrange(bits)) + self.random.randint(-2, 1),
                lowest,
                highest,
                self.random.randint(lowest, highest),
            )
        )
        return min(max(number, lowest), highest)

    def length(self) -> int:
        """Bytes of a text or of bytes; long ones are rare, and rarer still inside arrays."""
        if self.chance(self.chances.empty):
            return 0
        if self.depth < 2 and self.chance(0.01):
            return self.random.choice(HUGE)
        return self.random.choice(LONG if self.chance(0.25) else SHORT[1:])

    def text(self) -> str:
        """A text of one to four bytes a character."""
        length = self.length()
        alphabet = self.random.choice(ALPHABETS)
        seed = self.random.getrandbits(16) if length < 1000 else 0
        drawn = "".join(random.Random(seed).choices(alphabet, k=length)) if seed else alphabet[0] * length
        # Cut to that many bytes: a character that does not fit whole goes away.
        return drawn.encode()[:length].decode(errors="ignore") or "~" * length

    def unknown(self, fields: tuple[FieldFacts, ...]) -> tuple[RawTaggedField, ...]:
        """Fields by tags that the definition does not have, where the version has a place for them."""
        is_optional = self.version in self.facts.with_optional
        if (not is_optional and self.version not in self.facts.flexible) or self.chance(1 - self.chances.unknown):
            return ()
        bound = 1 << 15 if is_optional else 1 << 32
        taken = {field.tag for field in fields}
        tags = {self.random.choice((self.random.randrange(40), self.random.randrange(bound), bound - 1))}
        tags |= {self.random.randrange(40) for _ in range(self.random.randrange(3))}
        size = self.random.choice((1, 2, 70, 130))
        shortest = 1 if is_optional else 0  # no bytes would end the buffer
        return tuple(
            RawTaggedField(tag, self.random.randbytes(self.random.randint(shortest, size)))
            for tag in sorted(tags - taken)
        )


def _bounds(bits: int, is_signed: bool) -> tuple[int, int]:
    """The lowest and the highest integer of so many bits."""
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


@cache
def _members(enumeration: str, kind: str, bits: int) -> tuple[object, ...]:
    """The members of an enumeration that a type can hold; none in a package without names."""
    try:
        found = tuple(enumerations()[enumeration])
    except ValueError:
        return ()
    if kind not in WIDTHS:
        return found if kind == "string" else ()
    lowest, highest = _bounds(bits, is_signed=not kind.startswith("uint"))
    return tuple(each for each in found if lowest <= each.value <= highest)
