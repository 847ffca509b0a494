"""Random messages of any class and version."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar
from uuid import UUID

from .._base.enum_names import enumerations
from .._base.message import Message, check_class, checked_version
from .._core.structs import made
from .._core.versions import Versions
from .._core.wire import RawTaggedField
from ..schema.descriptors import FieldDescriptor, class_in, descriptor_of
from ..schema.types import INTEGERS

M = TypeVar("M", bound=Message)

ALPHABETS = ("ab-z.0", "éßÿ", "日本語", "😀𝄞", "\x00\x7f\u0080\u07ff\u0800\uffff")
SHORT = (0, 1, 2, 3, 5, 8)
LONG = (20, 62, 63, 64, 126, 127, 128, 129, 300)
HUGE = (16382, 16383, 16384, 32767)
FLOATS = (0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, float("inf"), float("-inf"), float("nan"))
COUNTS = (0, 1, 2, 3, 14, 15, 16, 17, 126, 127, 128)


# In arrays with more primitive elements, one choice of Hypothesis determines all elements.
_FEW = 4


@dataclass(frozen=True)
class Chances:
    """Probability (0 to 1) of each kind of special value."""

    null: float = 0.2
    default: float = 0.25
    unknown: float = 0.2
    repeat: float = 0.3
    empty: float = 0.2
    member: float = 0.15


FULL = Chances(null=0, default=0, unknown=1, empty=0)
NULLS = Chances(null=1, default=0)
MIXED = Chances()


def random_messages(message: type[M], version: int, seed: int = 0, mixed: int = 3) -> Iterator[M]:
    """Yield a message with every field set, one with every nullable field null, and ``mixed`` random ones.

    Equal seeds give equal messages. Fields that the version lacks have their defaults. The call itself raises
    UnsupportedVersionError.
    """
    check_class(message)
    return _generated(message, checked_version(message, version), seed, mixed)


def _generated(message: type[M], version: int, seed: int, mixed: int) -> Iterator[M]:
    for number, chances in enumerate([FULL, NULLS, *[MIXED] * mixed]):
        source = random.Random(f"{message.NAME} v{version} {seed} {number}")
        yield MessageGenerator(message, version, source, chances).message()


class MessageGenerator(Generic[M]):
    """Generator of one message; a random source that returns only zeros gives the simplest message."""

    def __init__(self, message: type[M], version: int, source: random.Random, chances: Chances = MIXED) -> None:
        self.cls = message
        self.version = version
        self.chances = chances
        self.random = source
        self.descriptor = descriptor_of(message)
        self.depth = 0

    def message(self) -> M:
        message: M = self.struct(self.cls, self.descriptor.fields)
        return message

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def struct(self, cls: Any, fields: tuple[FieldDescriptor, ...]) -> Any:
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

    def part(self, field: FieldDescriptor) -> object:
        return self.value(field)

    def value(self, field: FieldDescriptor) -> object:
        if self.version in field.nullable and self.chance(self.chances.null):
            return None
        if field.is_array:
            return self.array(field)
        return self.inner(field) if field.is_struct else self.plain(field, self.bits(field.type, field.encodings))

    def inner(self, field: FieldDescriptor) -> Any:
        return self.struct(class_in(self.cls, field.type), field.fields)

    def array(self, field: FieldDescriptor) -> list[Any]:
        if not field.is_struct:
            bits = self.bits(field.type, field.element_encodings)
            # Without NaN, because lists with NaN differ from their decoded copies, in Python as in Java.
            count, source = self.count(field), self.random
            if count > _FEW:
                self.random = random.Random(source.getrandbits(16))
            elements = [self.plain(field, bits, is_element=True) for _ in range(count)]
            self.random = source
            return elements
        structs = [self.inner(field) for _ in range(self.count(field))]
        keys = [each.name for each in self.descriptor.structs[field.type] if each.map_key]
        if structs and keys and not self.chance(1 - self.chances.repeat):
            twin = self.inner(field)
            for key in keys:
                setattr(twin, key, getattr(structs[0], key))
            structs.append(twin)
        return structs

    def count(self, field: FieldDescriptor) -> int:
        if self.chance(self.chances.empty):
            return 0
        if field.is_struct or self.depth > 2 or field.type in ("string", "bytes"):
            return self.random.choice((1, 1, 2, 3) if self.depth < 3 else (1, 1, 2))
        return self.random.choice(COUNTS[1:])

    def bits(self, kind: str, encodings: tuple[tuple[Versions, str], ...]) -> int:
        name = next((name for versions, name in encodings if self.version in versions), None)
        if name is not None:
            return int(name[-2:])
        return 8 * INTEGERS[kind].width if kind in INTEGERS else 0

    def plain(self, field: FieldDescriptor, bits: int, is_element: bool = False) -> object:
        members = () if field.enumeration is None else _members(field.enumeration, field.type, bits)
        if members and not self.chance(1 - self.chances.member):
            return self.random.choice(members)
        return self.scalar(field.type, bits, is_element)

    def scalar(self, kind: str, bits: int, is_element: bool = False) -> object:
        if kind in INTEGERS:
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
        """Return a random integer, biased towards the boundaries of the varint encodings."""
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
        """Draw a length in bytes: usually at most 300; larger ones are rare, and only outside nested structs."""
        if self.chance(self.chances.empty):
            return 0
        if self.depth < 2 and self.chance(0.01):
            return self.random.choice(HUGE)
        return self.random.choice(LONG if self.chance(0.25) else SHORT[1:])

    def text(self) -> str:
        length = self.length()
        alphabet = self.random.choice(ALPHABETS)
        seed = self.random.getrandbits(16) if length < 1000 else 0
        text = "".join(random.Random(seed).choices(alphabet, k=length)) if seed else alphabet[0] * length
        # Cut to `length` bytes and drop a partial character.
        return text.encode()[:length].decode(errors="ignore") or "~" * length

    def unknown(self, fields: tuple[FieldDescriptor, ...]) -> tuple[RawTaggedField, ...]:
        is_optional = self.version in self.descriptor.with_optional
        if (not is_optional and self.version not in self.descriptor.flexible) or self.chance(1 - self.chances.unknown):
            return ()
        bound = 1 << 15 if is_optional else 1 << 32
        known = {field.tag for field in fields}
        tags = {self.random.choice((self.random.randrange(40), self.random.randrange(bound), bound - 1))}
        tags |= {self.random.randrange(40) for _ in range(self.random.randrange(3))}
        size = self.random.choice((1, 2, 70, 130))
        shortest = 1 if is_optional else 0  # an empty field would end the buffer
        return tuple(
            RawTaggedField(tag, self.random.randbytes(self.random.randint(shortest, size)))
            for tag in sorted(tags - known)
        )


def _bounds(bits: int, is_signed: bool) -> tuple[int, int]:
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


@cache
def _members(enumeration: str, kind: str, bits: int) -> tuple[object, ...]:
    try:
        found = tuple(enumerations()[enumeration])
    except ValueError:
        return ()
    if kind not in INTEGERS:
        return found if kind == "string" else ()
    lowest, highest = _bounds(bits, is_signed=not kind.startswith("uint"))
    return tuple(each for each in found if lowest <= each.value <= highest)
