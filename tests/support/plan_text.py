"""Parser of plan texts into layouts, which print like the plan itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_message_generator.plan.model import (
    Array,
    Bytes,
    Default,
    FixedField,
    FixedRun,
    Layout,
    LayoutRef,
    NoSection,
    Operation,
    OptionalBuffer,
    Packed,
    PackedElement,
    Payload,
    Single,
    String,
    Tagged,
    TaggedFields,
    joined_runs,
)
from kafka_message_generator.plan.text import FORMAT, LETTERS
from kafka_message_generator.spec.versions import Versions

_NAMES = {letter: name for name, letter in LETTERS.items()}
_FIELD = re.compile(r"(?P<name>\w+)/~?(?P<array>[\[{]?)(?:@\w+|(?P<letter>\w))\??(?:=(?P<default>.*))?")
_WORD = re.compile(
    r"(?P<place>\d+)(?:@(?P<layout>\d+)|:(?P<letter>\w)|(?P<sign>[vz])(?P<bits>\d+))?"
    r"(?P<compact>c?)(?P<nullable>n?)(?P<empty>e?)"
)


@dataclass(frozen=True)
class PlanText:
    """The layouts of each struct, in the order of the text."""

    structs: tuple[tuple[Layout, ...], ...]

    def __str__(self) -> str:
        return "\n".join(str(layout) for struct in self.structs for layout in struct) + "\n"


@dataclass(frozen=True)
class _Member:
    name: str
    is_array: bool
    letter: str | None


def parsed(text: str) -> PlanText:
    """Parse the output of ``text_of``; raise ValueError for another format or an invalid line."""
    form, *lines = text.splitlines()
    if form != str(FORMAT):
        raise ValueError(f"line 1: format {form}, only {FORMAT} is known")
    structs: list[list[Layout]] = []
    known: list[LayoutRef] = []
    struct = _Struct("", ())
    for number, line in enumerate(lines, 2):
        try:
            if line.startswith(":"):
                name, *fields = line[1:].split(" ")
                struct = _Struct(name, tuple(map(_member, fields)))
                structs.append([])
            else:
                layout = struct.layout(line, known)
                known.append(layout.ref)
                structs[-1].append(layout)
        except (ValueError, IndexError, KeyError) as error:
            raise ValueError(f"line {number}: {line!r}: {error}") from error
    return PlanText(tuple(map(tuple, structs)))


def _member(word: str) -> _Member:
    found = _matched(_FIELD, word)
    return _Member(found["name"], bool(found["array"]), found["letter"])


def _matched(pattern: re.Pattern[str], word: str) -> re.Match[str]:
    found = pattern.fullmatch(word)
    if found is None:
        raise ValueError(f"{word!r} is not understood")
    return found


@dataclass(frozen=True)
class _Struct:
    name: str
    fields: tuple[_Member, ...]

    def layout(self, line: str, known: list[LayoutRef]) -> Layout:
        first, *words = line.split(" ")
        versions = tuple(version for part in first.split(",") for version in Versions.parse(part))
        operations = tuple(joined_runs(self.operations(words, known)))
        return Layout(LayoutRef(self.name, versions[0]), operations, versions)

    def operations(self, words: list[str], known: list[LayoutRef]) -> Iterator[Operation]:
        at = next((place for place, word in enumerate(words) if word in (";", ";;", "&")), len(words))
        before, section = words[:at], words[at:]
        tagged = tuple(self.tagged(word, known) for word in section[1:] if not word.startswith("^"))
        absent = tuple(int(word[1:]) for word in section[1:] if word.startswith("^"))
        if section[:1] == ["&"]:
            yield OptionalBuffer(tagged)
        for word in before:
            yield self.absent(word) if word.startswith("-") else self.payload(word, known)
        if not section:
            yield NoSection()
        elif section[0] != "&":
            yield TaggedFields(tagged, absent, section[0] == ";;")

    def absent(self, word: str) -> Default:
        return Default(self.fields[int(word[1:].rstrip("!"))].name, word.endswith("!"))

    def tagged(self, word: str, known: list[LayoutRef]) -> Tagged:
        tag, _, payload = word.partition("=")
        operation = self.payload(payload, known)
        return Tagged(int(tag), self.fields[int(_matched(_WORD, payload)["place"])].name, operation)

    def payload(self, word: str, known: list[LayoutRef]) -> Payload:
        found = _matched(_WORD, word)
        member = self.fields[int(found["place"])]
        compact, nullable, empty = (bool(found[flag]) for flag in ("compact", "nullable", "empty"))
        layout = None if found["layout"] is None else known[int(found["layout"])]
        bits, signed = int(found["bits"] or 0), found["sign"] == "z"
        letter = found["letter"] or member.letter
        if member.is_array:
            packed = PackedElement(bits, signed) if bits else None
            element = layout or packed or _NAMES[letter or ""]
            return Array(member.name, element, compact, nullable, empty)
        if layout is not None:
            return Single(member.name, layout, nullable)
        if bits:
            return Packed(member.name, bits, signed)
        if letter in ("s", "y", "r"):
            return (String if letter == "s" else Bytes)(member.name, compact, nullable)
        return FixedRun((FixedField(member.name, _NAMES[letter or ""]),))
