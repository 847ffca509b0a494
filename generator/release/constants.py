"""The constants of an enumeration in a Java class file, read without Java."""

from __future__ import annotations

import zipfile
from pathlib import Path
from struct import unpack_from

ERRORS = "org/apache/kafka/common/protocol/Errors.class"
_ENUM = 0x4000
_WIDTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of the entries of a constant pool behind their tag (JVM specification, 4.4)."""
_TEXT, _WIDE = 1, (5, 6)


def error_codes(clients: Path) -> list[str]:
    """The names of Kafka's error codes, from the jar of its clients, in the order of the enumeration; none without it.

    Raises BadZipFile.
    """
    with zipfile.ZipFile(clients) as archive:
        return enum_constants(archive.read(ERRORS)) if ERRORS in archive.namelist() else []


def enum_constants(data: bytes) -> list[str]:
    """The constants of the enumeration that is this class (JVM specification, 4.1)."""
    texts, at = _texts(data)
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


def _texts(data: bytes) -> tuple[dict[int, str], int]:
    """The texts of the constant pool by their numbers, and where the pool ends."""
    (count,) = unpack_from(">8xH", data)
    texts, at, number = {}, 10, 1
    while number < count:
        tag = data[at]
        if tag == _TEXT:
            (length,) = unpack_from(">H", data, at + 1)
            texts[number] = data[at + 3 : at + 3 + length].decode("utf-8", "surrogatepass")
            at += 3 + length
        else:
            at += 1 + _WIDTHS[tag]
        number += 2 if tag in _WIDE else 1
    return texts, at
