"""Constants of a Java enum and their numbers, read from the class file without Java."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from struct import unpack_from

ERRORS = "org/apache/kafka/common/protocol/Errors.class"
_ENUM = 0x4000
_WIDTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Size of a constant pool entry after its tag, by tag (JVM specification, 4.4)."""
_TEXT, _STRING, _WIDE = 1, 8, (5, 6)
_NUMBER = rb"([\x02-\x08]|\x10.|\x11..)"
"""An instruction that pushes a small number: iconst, bipush or sipush (JVM specification, 6.5)."""
_MADE = rb"\xbb%s\x59(?:\x12(.)|\x13(..))" + _NUMBER + _NUMBER
"""Instructions that create a constant: new, dup, name (ldc), ordinal, first numeric argument."""


@dataclass(frozen=True)
class _Pool:
    texts: Mapping[int, str]
    strings: Mapping[int, int]
    """Index of the text of each String constant."""
    end: int


def error_codes(clients: Path) -> dict[str, int]:
    """Return the error codes in a jar of kafka-clients by name, in the order of the enum; empty without the enum.

    Raises BadZipFile for an invalid jar, and ValueError for an unexpected class file.
    """
    with zipfile.ZipFile(clients) as archive:
        return enum_numbers(archive.read(ERRORS)) if ERRORS in archive.namelist() else {}


def enum_numbers(data: bytes) -> dict[str, int]:
    """Return the first numeric argument of each enum constant. Raises ValueError for a constant without one."""
    pool = _pool(data)
    made = re.compile(_MADE % re.escape(data[pool.end + 2 : pool.end + 4]), re.DOTALL)
    found = {}
    for short, long, place, number in made.findall(data):
        name = pool.texts.get(pool.strings.get(int.from_bytes(short or long, "big"), 0))
        found[name, _number(place)] = _number(number)
    names = enum_constants(data)
    missing = [name for place, name in enumerate(names) if (name, place) not in found]
    if missing:
        raise ValueError(f"enum constants without a numeric argument: {', '.join(missing)}")
    return {name: found[name, place] for place, name in enumerate(names)}


def _number(instruction: bytes) -> int:
    first, *more = instruction
    return int.from_bytes(more, "big", signed=True) if more else first - 3


def enum_constants(data: bytes) -> list[str]:
    """Return the names of the enum constants (JVM specification, 4.1)."""
    pool = _pool(data)
    texts, at = pool.texts, pool.end
    (interfaces,) = unpack_from(">6xH", data, at)
    at += 8 + 2 * interfaces
    (count,) = unpack_from(">H", data, at)
    at += 2
    found = []
    for _ in range(count):
        flags, name, _, attributes = unpack_from(">HHHH", data, at)
        at += 8
        for _ in range(attributes):
            at += 6 + unpack_from(">2xI", data, at)[0]
        if flags & _ENUM:
            found.append(texts[name])
    return found


def _pool(data: bytes) -> _Pool:
    (count,) = unpack_from(">8xH", data)
    texts, strings, at, number = {}, {}, 10, 1
    while number < count:
        tag = data[at]
        if tag == _TEXT:
            (length,) = unpack_from(">H", data, at + 1)
            texts[number] = data[at + 3 : at + 3 + length].decode("utf-8", "surrogatepass")
            at += 3 + length
        else:
            if tag == _STRING:
                (strings[number],) = unpack_from(">H", data, at + 1)
            at += 1 + _WIDTHS[tag]
        number += 2 if tag in _WIDE else 1
    return _Pool(texts, strings, at)
