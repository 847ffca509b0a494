"""Input bytes from a file, standard input or the command line: raw, hex, base64 or a literal."""

from __future__ import annotations

import os
import re
import sys
from itertools import pairwise

from ._errors import DumpError, UsageError
from ._output import note
from ._packets import tcp_payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

FORMS = ("auto", "hex", "base64", "raw", "literal")
STANDARD_INPUT = "standard input"
# Maximum input size in bytes.
MOST = 256 << 20
_HEX = frozenset("0123456789abcdefABCDEF")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=")
# UTF-16 byte order marks, as written by Windows tools.
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Minimum number of hex digits that are read as hex without a note about base64.
_CERTAIN = 16


def read_bytes(word: str | None, form: str | None) -> bytes:
    """Read the bytes of an argument: a file, ``-`` or None for standard input, or the bytes as text.

    Raises UsageError for a missing file or invalid bytes.
    """
    form = form or "auto"
    if word is None or word == "-":
        data = from_standard_input("no input: give a file name or hex, or pipe the bytes in", word)
        return decoded(data, form, STANDARD_INPUT)
    if os.path.exists(word):
        with open(word, "rb") as file:
            return decoded(whole(file, word), form, word)
    if form == "raw":
        raise UsageError(f"file not found: {word!r}")
    try:
        if form == "auto" and not is_like_bytes(word):
            raise UsageError(f"file not found: {word!r}; for base64 use --in base64")
        return decoded(word.encode(), form, "the argument")
    except UsageError as error:
        if form == "auto" and not str(error).startswith("file not found:") and not _is_object(word):
            raise UsageError(f"file not found: {word!r}; not valid as bytes: {error}") from None
        raise


def is_like_bytes(word: str) -> bool:
    """Check for a literal, base64 with padding, several lines, or hex, also with errors."""
    return is_literal(word) or "=" in word or "\n" in word or _is_like_hex(word)


def _is_like_hex(text: str) -> bool:
    bare = [each for each in text if each not in " \t\r\n:,;-_xX"]
    return sum(each in _HEX for each in bare) * 4 >= len(bare) * 3  # a third of base64 characters are hex digits


def from_standard_input(otherwise: str, word: str | None) -> bytes:
    """Read standard input. Raises UsageError if it is closed or too large, or a terminal and ``word`` is None."""
    if sys.stdin is None or (word is None and sys.stdin.isatty()):
        raise UsageError(otherwise)
    return whole(sys.stdin.buffer, STANDARD_INPUT)


def whole(file: BinaryIO, name: str) -> bytes:
    data = file.read(MOST + 1)
    if len(data) > MOST:
        raise UsageError(f"{name} has more than {MOST} bytes; extract the relevant part")
    return data


def decoded(data: bytes, form: str, name: str) -> bytes:
    """Decode input in a format; ``auto`` detects it. Raises UsageError."""
    if form == "raw":
        return data
    text = _text(data)
    if text is None:
        if form != "auto":
            raise UsageError(f"{name} is binary, not {form}; use --in raw")
        return data
    if form != "auto":
        return _READERS[form](text)
    return _found(text, name)


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-16" if data[:2] in _UTF_16 else "utf-8-sig")
    except UnicodeDecodeError:
        return None
    text = text.replace("\N{RIGHTWARDS ARROW}", "->")  # in summaries of tshark
    is_plain = text.isascii() and all(each.isprintable() or each in "\t\r\n" for each in text)
    return text if is_plain else None


def _found(text: str, name: str) -> bytes:
    if not text.strip():
        return b""
    if _is_object(text):
        raise UsageError(f"{name} is JSON, not bytes; use the subcommand encode")
    if is_literal(text):
        return read_literal(text)
    try:
        data = read_hex(text)
    except DumpError as error:
        raise UsageError(f"{name}: {error}") from None
    except UsageError as error:
        no_hex = error
    else:
        bare = "".join(text.split())
        if len(bare) < _CERTAIN and len(bare) % 4 == 0 and _HEX.issuperset(bare):
            note(f"{name} is read as hex; for base64 use --in base64")
        return data
    if text.lstrip()[:2] in ("0x", "0X") or _is_like_hex(text):
        raise UsageError(f"{name} is not hex: {no_hex}; for other formats use --in base64 or --in raw")
    try:
        return read_base64(text)
    except UsageError as error:
        raise UsageError(f"{name} is neither hex nor base64: {error}; for raw bytes use --in raw") from None


def _is_object(text: str) -> bool:
    return text.lstrip()[:1] == "{" and text.lstrip()[1:].lstrip()[:1] == '"'


def read_hex(text: str) -> bytes:
    """Parse hex with spaces, colons, commas, dashes or ``0x`` between bytes, or a hex dump; skip headers of TCP."""
    lines = text.splitlines()
    try:
        dumps = _dumps(lines) or [_digits(lines)]
    except DumpError as error:
        if _is_dump(lines):
            raise
        try:
            dumps = [_digits(lines)]
        except UsageError:
            raise error from None
    return tcp_payload(dumps)


def _digits(lines: list[str]) -> bytes:
    out = bytearray()
    pending, place = "", (1, 1)
    for number, line in enumerate(lines, 1):
        at = 0
        while at < len(line):
            char = line[at]
            if line[at : at + 2] in ("0x", "0X") and not pending:
                at += 2
                continue
            if char in _HEX:
                place = place if pending else (number, at + 1)
                pending += char
                if len(pending) == 2:
                    out.append(int(pending, 16))
                    pending = ""
            elif char not in " \t:,;-_" or pending:
                what = f"{char!r} at line {number}, column {at + 1} is not a hex digit"
                if pending and char in " \t:,;-_":
                    what = f"single hex digit at line {place[0]}, column {place[1]}; bytes have two digits"
                raise UsageError(what)
            at += 1
    if pending:
        raise UsageError(f"odd number of hex digits ({2 * len(out) + 1})")
    return bytes(out)


def _dumps(lines: list[str]) -> list[bytes] | None:
    """Parse hex dumps of xxd, hexdump -C, od, tcpdump or Wireshark; return None for other text. Raises DumpError.

    A row with address 0 starts a dump; lines before it may be summaries of packets.
    """
    dumps: list[tuple[list[tuple[int, str]], set[int]]] = []
    other, lines = 0, [line.strip() for line in lines]  # number of the last line of a summary
    is_tcpdump = any(line[:2] == "0x" and _addressed(line)[0] is not None for line in lines)
    for number, line in enumerate(lines, 1):
        address, rest = _addressed(line)
        if line == "*" and dumps:
            dumps[-1][1].add(len(dumps[-1][0]))
        elif address is None:
            if is_tcpdump and line[:2] == "0x":
                raise DumpError(f"line {number} is not a row of the hex dump")
            other = number if line else other
        elif address == 0 or not (dumps or other):
            dumps.append(([(address, rest)], set()))
            other = 0
        elif other and rest:
            raise DumpError(f"line {other} is not a row of the hex dump, which continues at the address {address:x}")
        elif other:
            return None
        else:
            dumps[-1][0].append((address, rest))
    if not any(rest for rows, _ in dumps for _, rest in rows):
        return None
    if other and not is_tcpdump:
        raise DumpError(f"line {other} is not a row of the hex dump")
    return [_rows(*dump) for dump in dumps]


def _is_dump(lines: list[str]) -> bool:
    """Check that lines are no hex without addresses: a colon after an address, or more than two rising addresses."""
    starts = [address for address, _ in map(_addressed, map(str.strip, lines)) if address is not None]
    return any(": " in line or line.strip() == "*" for line in lines) or (
        len(starts) > 2 and starts[0] == 0 and all(a < b or b == 0 for a, b in pairwise(starts))
    )


def _addressed(line: str) -> tuple[int | None, str]:
    line = line[2:] if line[:2] == "0x" and ":" in line else line  # tcpdump -X
    digits = 0
    while digits < len(line) and line[digits] in _HEX:
        digits += 1
    if not 4 <= digits <= 16:
        return None, ""
    address, rest = int(line[:digits], 16), line[digits:]
    if rest.startswith(": "):
        return address, rest[2:].lstrip().partition("  ")[0]
    words = rest.split()
    is_apart = rest.startswith("  ") or (digits in (6, 7) and all(len(word) == 2 for word in words))
    if rest and not is_apart:
        return None, ""  # grouped hex without an address
    return address, rest.lstrip().partition("  |")[0].partition("   ")[0]


def _rows(rows: list[tuple[int, str]], repeats: set[int]) -> bytes:
    out = bytearray()
    base, last = rows[0][0], b""
    for number, (address, rest) in enumerate(rows):
        if address - base > MOST:
            raise DumpError(f"the dump extends to the address {address:x}, more than {MOST} bytes")
        if number in repeats and last:
            out += last * -(-(address - base - len(out)) // len(last))
        if address - base != len(out):
            raise DumpError(f"the dump continues at the address {address:x}, expected {base + len(out):x}")
        most = rows[number + 1][0] - address if number + 1 < len(rows) and number + 1 not in repeats else 64
        row = _row(rest, most)
        if row is None:
            raise DumpError(f"the row of the dump at the address {address:x} is not hex")
        out += row
        last = row or last
    return bytes(out)


def _row(rest: str, most: int) -> bytes | None:
    digits = rest.replace(" ", "")
    if len(digits) % 2 or len(digits) > 2 * most or not _HEX.issuperset(digits):
        return None
    return bytes.fromhex(digits)


def read_base64(text: str) -> bytes:
    """Parse standard or URL-safe base64, with optional padding and line breaks."""
    from base64 import b64decode

    bare = "".join(text.split())
    for number, line in enumerate(text.splitlines(), 1):
        for column, char in enumerate(line, 1):
            if char not in _BASE64 and not (char.isspace() and not line[column:].strip()):
                raise UsageError(f"{char!r} at line {number}, column {column} is not a base64 character")
    bare = bare.replace("-", "+").replace("_", "/")
    try:
        return b64decode(bare.rstrip("=") + "=" * (-len(bare.rstrip("=")) % 4), validate=True)
    except ValueError:
        raise UsageError(f"invalid length or padding of base64: {len(bare)} characters") from None


def is_literal(text: str) -> bool:
    """Check whether text is a literal of Python, C or Java: quotes, brackets, braces or ``\\x``."""
    text = _without_declaration(text).strip().rstrip(";")
    return text[:1] in "\"'[{(" or text[:2] in ("b'", 'b"') or "\\x" in text or text.startswith(("bytes", "bytearray"))


_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FROM_HEX = ("bytes.fromhex", "bytearray.fromhex")


def read_literal(text: str) -> bytes:
    """Parse a literal: strings with escapes, numbers (-128 to 255), or a call of ``bytes.fromhex``."""
    source, text = text, _without_declaration(text).strip().rstrip(";").strip()
    is_hex = text.startswith(_FROM_HEX)
    for name in (*_FROM_HEX, "bytearray", "bytes"):
        text = text.removeprefix(name)
    inner = text.strip()
    while inner[:1] + inner[-1:] in ("()", "[]", "{}"):
        inner = inner[1:-1].strip()
    if inner[:1].isdigit() or inner[:2] == "/*":
        inner = _COMMENT.sub(" ", inner)
    if inner[:1] in "\"'" or inner[:2] in ("b'", 'b"') or "\\x" in inner:
        start = source.index(inner)
        found = _strings(source[: start + len(inner)], start)
        return read_hex(found.decode("latin-1")) if is_hex else tcp_payload([found])
    if is_hex:
        raise UsageError("bytes.fromhex requires a string of hex digits")
    out = bytearray()
    for word in filter(None, (each.strip() for each in inner.replace("\n", ",").split(","))):
        bare = word.removeprefix("(byte)").strip()
        try:
            number = int(bare, 0)
        except ValueError:
            raise UsageError(f"{word!r} is not a number from -128 to 255") from None
        if not -128 <= number <= 255:
            raise UsageError(f"{word} is not a number from -128 to 255")
        out.append(number & 255)
    return tcp_payload([bytes(out)])


def _without_declaration(text: str) -> str:
    """Return the array after a declaration in C or Java, or other text unchanged."""
    head, _, rest = text.partition("=")
    return rest if rest.lstrip()[:1] == "{" and "[" in head and not {"'", '"'} & set(head) else text


_ESCAPES = {"n": 10, "r": 13, "t": 9, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34}


def _strings(text: str, at: int) -> bytes:
    """Parse string literals from an offset on. Errors count characters from the start of ``text``."""
    out = bytearray()
    quote = "" if text[at : at + 1] not in "\"'b" else " "
    while at < len(text):
        char = text[at]
        if quote == " ":
            quote = char if char in "\"'" else quote
            if char not in "\"'b +\\\r\n\t":
                raise UsageError(f"{char!r} at character {at + 1} is outside the quotes")
        elif char == quote:
            quote = " "
        elif char == "\\":
            at = _escape(text, at + 1, out)
            continue
        else:
            out += char.encode()
        at += 1
    if quote in ("'", '"'):
        raise UsageError(f"unterminated string that starts with {quote}")
    return bytes(out)


def _escape(text: str, at: int, out: bytearray) -> int:
    char = text[at : at + 1]
    if char == "x":
        digits = text[at + 1 : at + 3]
        if len(digits) != 2 or not _HEX.issuperset(digits):
            raise UsageError(f"\\x{digits} at character {at} is not a byte")
        out.append(int(digits, 16))
        return at + 3
    octal = len(text[at : at + 3]) - len(text[at : at + 3].lstrip("01234567"))
    if octal > 1:
        out.append(int(text[at : at + octal], 8) & 255)
        return at + octal
    if char not in _ESCAPES:
        raise UsageError(f"\\{char} at character {at} is not a valid escape")
    out.append(_ESCAPES[char])
    return at + 1


_READERS: dict[str, Callable[[str], bytes]] = {"hex": read_hex, "base64": read_base64, "literal": read_literal}
