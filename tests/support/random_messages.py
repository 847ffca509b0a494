"""Random messages of any class and version, drawn from what the definition says; the same seed draws the same ones."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kafka_messages._base.message import Message
from kafka_messages.schema.facts import FieldFacts, MessageFacts, Range

PACKAGES = ("kafka_messages", "kafka_messages_proposals")

WIDTHS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
ALPHABETS = ("ab-z.0", "éßÿ", "日本語", "😀𝄞", "\x00\x7f\u0080\u07ff\u0800\uffff")
SHORT = (0, 1, 2, 3, 5, 8)
LONG = (20, 62, 63, 64, 126, 127, 128, 129, 300)
HUGE = (16382, 16383, 16384, 32767)
FLOATS = (0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, float("inf"), float("-inf"), float("nan"))
COUNTS = (0, 1, 2, 3, 14, 15, 16, 17, 126, 127, 128)


@dataclass(frozen=True)
class Package:
    """A generated package: its modules are the same in every package, its classes are not.

    Types are written as those of ``kafka_messages``; at run time they are the package's own.
    """

    name: str

    def module(self, name: str) -> Any:
        """A module of the package."""
        return importlib.import_module(f"{self.name}.{name}")

    @property
    def message_names(self) -> list[str]:
        """The name of every message of the package."""
        modules: dict[str, str] = importlib.import_module(self.name)._MODULES
        return sorted(name for name, module in modules.items() if module.startswith("messages."))

    def message(self, name: str) -> Any:
        """The class of a message."""
        return getattr(importlib.import_module(self.name), name)

    def facts_of(self, message: type[Message]) -> MessageFacts:
        """The definition behind a message class."""
        facts: MessageFacts = self.module("schema.facts").facts_of(message)
        return facts


def package_of(message: type[Message]) -> Package:
    """The package that a message class belongs to."""
    return Package(message.__module__.partition(".")[0])


def versions_of(message: type[Message]) -> range:
    """The versions that a message has."""
    return range(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION + 1)


@dataclass(frozen=True)
class Chances:
    """How often, 0 to 1, what may be null is, a field keeps its default, a struct has unknown fields, a key repeats."""

    null: float = 0.2
    default: float = 0.25
    unknown: float = 0.2
    repeat: float = 0.3
    empty: float = 0.2
    """How often an array, text or bytes is as short as can be."""


FULL = Chances(null=0, default=0, unknown=1, empty=0)
"""Every field of the version is there, not null, with something in it (by chance it may still be its default)."""
NULLS = Chances(null=1, default=0)
"""Everything that may be null is."""
MIXED = Chances()


def messages(message: type[Message], version: int, seed: int = 0, mixed: int = 3) -> Iterator[Message]:
    """A full message, one of nulls and ``mixed`` others; fields that the version does not have keep their defaults."""
    for number, chances in enumerate([FULL, NULLS, *[MIXED] * mixed]):
        yield Draw(message, version, f"{message.NAME} v{version} {seed} {number}", chances).message()


class Draw:
    """Draws one message; equal seeds draw equal messages."""

    def __init__(self, message: type[Message], version: int, seed: str, chances: Chances = MIXED) -> None:
        self.cls = message
        self.version = version
        self.chances = chances
        self.random = random.Random(seed)
        self.package = package_of(message)
        self.facts = self.package.facts_of(message)
        self.raw: Callable[[int, bytes], Any] = self.package.module("_core.wire").RawTaggedField
        self.depth = 0

    def message(self) -> Message:
        drawn: Message = self.struct(self.cls, self.facts.fields)
        return drawn

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def struct(self, cls: Any, fields: tuple[FieldFacts, ...]) -> Any:
        """An object of a class, from the fields that the version has."""
        self.depth += 1
        values: dict[str, object] = {}
        for field in fields:
            if self.version in field.versions and not self.chance(self.chances.default):
                values[field.name] = self.value(field)
        unknown = self.unknown(fields)
        if unknown:
            values["unknown_tagged_fields"] = unknown
        self.depth -= 1
        return cls(**values)

    def value(self, field: FieldFacts) -> object:
        if self.version in field.nullable and self.chance(self.chances.null):
            return None
        if field.is_array:
            return self.array(field)
        return self.inner(field) if field.is_struct else self.scalar(field.type, self.bits(field.type, field.encodings))

    def inner(self, field: FieldFacts) -> Any:
        return self.struct(getattr(sys.modules[self.cls.__module__], field.type), self.facts.structs[field.type])

    def array(self, field: FieldFacts) -> list[Any]:
        if not field.is_struct:
            bits = self.bits(field.type, field.element_encodings)
            # NaN in a list equals no other NaN, in Python as in Java.
            elements = (self.scalar(field.type, bits, is_element=True) for _ in range(self.count(field)))
            return list(elements)
        drawn = [self.inner(field) for _ in range(self.count(field))]
        keys = [each.name for each in self.facts.structs[field.type] if each.map_key]
        if drawn and keys and self.chance(self.chances.repeat):
            twin = self.inner(field)
            for key in keys:
                setattr(twin, key, getattr(drawn[0], key))
            drawn.append(twin)
        return drawn

    def count(self, field: FieldFacts) -> int:
        if self.chance(self.chances.empty):
            return 0
        if field.is_struct or self.depth > 2 or field.type in ("string", "bytes"):
            return self.random.choice((1, 1, 2, 3) if self.depth < 3 else (1, 1, 2))
        return self.random.choice(COUNTS[1:])

    def bits(self, kind: str, encodings: tuple[tuple[Range, str], ...]) -> int:
        """The width of an integer in this version, which an encoding may make narrower than its type."""
        name = next((name for versions, name in encodings if self.version in versions), None)
        return WIDTHS.get(kind, 0) if name is None else int(name[-2:])

    def scalar(self, kind: str, bits: int, is_element: bool = False) -> object:
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
        lowest = -(1 << bits - 1) if is_signed else 0
        highest = (1 << bits - 1) - 1 if is_signed else (1 << bits) - 1
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
        length = self.length()
        alphabet = self.random.choice(ALPHABETS)
        drawn = "".join(self.random.choices(alphabet, k=length)) if length < 1000 else alphabet[0] * length
        # Cut to that many bytes: a character that does not fit whole goes away.
        return drawn.encode()[:length].decode(errors="ignore") or "~" * length

    def unknown(self, fields: tuple[FieldFacts, ...]) -> tuple[Any, ...]:
        """Fields by tags that the definition does not have, where the version has a place for them."""
        is_optional = self.version in self.facts.with_optional
        if (not is_optional and self.version not in self.facts.flexible) or not self.chance(self.chances.unknown):
            return ()
        bound = 1 << 15 if is_optional else 1 << 32
        taken = {field.tag for field in fields}
        tags = {self.random.choice((self.random.randrange(40), self.random.randrange(bound), bound - 1))}
        tags |= {self.random.randrange(40) for _ in range(self.random.randrange(3))}
        size = self.random.choice((1, 2, 70, 130))
        shortest = 1 if is_optional else 0  # no bytes would end the buffer
        return tuple(
            self.raw(tag, self.random.randbytes(self.random.randint(shortest, size))) for tag in sorted(tags - taken)
        )
