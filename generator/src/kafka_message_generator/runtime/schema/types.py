"""Wire types of the schema codec, which share no code with generated functions."""

from __future__ import annotations

import operator
import struct
from codecs import utf_8_decode
from collections.abc import Sequence
from typing import Any, SupportsIndex, cast
from uuid import UUID as UUIDValue

from .._core.display import display, summary
from .._core.wire import NO_UTF8
from ..errors import KafkaMessageError

MAX_STRING_LENGTH = 32767
MAX_EMPTY_ELEMENTS = 65535


class SchemaError(KafkaMessageError, ValueError):
    """Error for values or bytes that do not match a schema, and for invalid schemas.

    ``path`` lists names and ``[index]`` parts; ``offset`` is the position in the data when reading, else -1.
    """

    def __init__(self, reason: str, offset: int = -1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset
        self.path: list[str] = []

    def inside(self, part: str) -> SchemaError:
        self.path[:0] = filter(None, [part])
        return self

    @property
    def place(self) -> str:
        return "".join(self.path).removeprefix(".")

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.path else self.reason


class ShortError(SchemaError):
    """Data that ends within a value."""


class Type:
    """Wire type with its name in Kafka's protocol guide."""

    name = ""
    nullable = False
    # Size in bytes if all values have this size and any bytes are valid, else 0.
    width = 0
    # Length before the value, the size of its unit (0 if it varies), and the maximum.
    length: Any = None
    unit = 0
    most = 1 << 32
    # Error handler of ``bytes.decode`` for invalid UTF-8, or "" if the value is no text.
    errors = ""
    walk: Any = None
    # Lower bound of the encoded size in bytes.
    least = 1

    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        """Return the value at ``pos`` and the offset after it. Raises SchemaError."""
        raise NotImplementedError

    def skip(self, data: bytes, pos: int) -> int:
        """Return the offset after the value at ``pos`` and keep no value. Raises SchemaError as ``read`` does.

        ``data`` may be a memoryview of bytes.
        """
        return self.read(data, pos)[1]

    def write(self, out: bytearray, value: object) -> None:
        """Append an encoded value to ``out``. Raises SchemaError."""
        raise NotImplementedError

    def size_of(self, value: object) -> int:
        """Return the encoded size in bytes. Raises SchemaError."""
        out = bytearray()
        self.write(out, value)
        return len(out)

    def validate(self, value: object) -> None:
        self.write(bytearray(), value)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{self.name}>"


def need(data: bytes, pos: int, count: int, what: str) -> int:
    left = len(data) - pos
    if left < count:
        raise ShortError(f"{what}: {_bytes(count)} needed at offset {pos}, {left} left", pos)
    return pos + count


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


def wrong(value: object, expected: str) -> SchemaError:
    return SchemaError(f"expected {expected}, got {summary(value)}")


class Fixed(Type):
    def __init__(self, name: str, code: str, lowest: int, highest: int) -> None:
        self.name = name
        self.lowest, self.highest = lowest, highest
        self._struct = struct.Struct(">" + code)
        self.unpack = self._struct.unpack_from
        self.width = self._struct.size

    def read(self, data: bytes, pos: int) -> tuple[int, int]:
        end = pos + self.width
        if end > len(data):
            need(data, pos, self.width, self.name)
        return int(self._struct.unpack_from(data, pos)[0]), end

    def write(self, out: bytearray, value: object) -> None:
        out += self._struct.pack(integer(value, self))


class Boolean(Type):
    """Boolean in one byte; any value but 0 reads as true."""

    name = "BOOLEAN"
    width = 1

    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        end = need(data, pos, 1, self.name)
        return data[pos] != 0, end

    def write(self, out: bytearray, value: object) -> None:
        if value not in (0, 1):
            raise wrong(value, "bool")
        out.append(1 if value else 0)


class Float64(Type):
    name = "FLOAT64"
    width = 8

    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        end = need(data, pos, 8, self.name)
        return struct.unpack_from(">d", data, pos)[0], end

    def write(self, out: bytearray, value: object) -> None:
        try:
            out += struct.pack(">d", value)
        except (struct.error, OverflowError):
            if isinstance(value, int):
                raise SchemaError(f"{display(value)} is out of range for {self.name}") from None
            raise wrong(value, "float") from None


class Uuid(Type):
    name = "UUID"
    width = 16

    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        end = need(data, pos, 16, self.name)
        return UUIDValue(bytes=bytes(data[pos:end])), end

    def write(self, out: bytearray, value: object) -> None:
        if not isinstance(value, UUIDValue):
            raise wrong(value, "UUID")
        out += value.bytes


class VarInt(Type):
    """Integer in groups of seven bits; zigzag if signed."""

    def __init__(self, name: str, bits: int, is_signed: bool) -> None:
        self.name = name
        self.bits = bits
        self.is_signed = is_signed
        self.longest = (bits + 6) // 7
        self.lowest = -(1 << bits - 1) if is_signed else 0
        self.highest = (1 << bits - 1) - 1 if is_signed else (1 << bits) - 1

    def read(self, data: bytes, pos: int) -> tuple[int, int]:
        if not self.is_signed and pos < len(data) and data[pos] < 128:  # common case, performance-critical
            return data[pos], pos + 1
        number, at = 0, pos
        for shift in range(0, 7 * self.longest, 7):
            if at >= len(data):
                need(data, at, 1, self.name)
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                if number >> self.bits:
                    raise SchemaError(f"{self.name} at offset {pos} has more than {self.bits} bits", pos)
                return (number >> 1) ^ -(number & 1) if self.is_signed else number, at
        raise SchemaError(f"{self.name} at offset {pos} has more than {self.longest} bytes", pos)

    def write(self, out: bytearray, value: object) -> None:
        number = integer(value, self)
        number = (number << 1) ^ (number >> self.bits - 1) if self.is_signed else number
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)


def integer(value: object, kind: Fixed | VarInt) -> int:
    try:
        number = operator.index(cast(SupportsIndex, value))
    except TypeError:
        raise wrong(value, f"int for {kind.name}") from None
    if not kind.lowest <= number <= kind.highest:
        raise SchemaError(f"{display(number)} is out of range for {kind.name}, {kind.lowest} to {kind.highest}")
    return number


BOOLEAN = Boolean()
INT8 = Fixed("INT8", "b", -(1 << 7), (1 << 7) - 1)
INT16 = Fixed("INT16", "h", -(1 << 15), (1 << 15) - 1)
UINT16 = Fixed("UINT16", "H", 0, (1 << 16) - 1)
INT32 = Fixed("INT32", "i", -(1 << 31), (1 << 31) - 1)
UNSIGNED_INT32 = Fixed("UNSIGNED_INT32", "I", 0, (1 << 32) - 1)
INT64 = Fixed("INT64", "q", -(1 << 63), (1 << 63) - 1)
FLOAT64 = Float64()
UUID = Uuid()
VARINT = VarInt("VARINT", 32, is_signed=True)
VARLONG = VarInt("VARLONG", 64, is_signed=True)
UNSIGNED_VARINT = VarInt("UNSIGNED_VARINT", 32, is_signed=False)
UNSIGNED_VARLONG = VarInt("UNSIGNED_VARLONG", 64, is_signed=False)


class Length:
    """Length prefix: fixed with -1 for null, or compact (plus one, 0 for null)."""

    def __init__(self, fixed: Fixed | None) -> None:
        self.fixed = fixed

    def read(self, data: bytes, pos: int) -> tuple[int, int]:
        if self.fixed is not None:
            return self.fixed.read(data, pos)
        first = data[pos] if pos < len(data) else 128  # most lengths take one byte
        length, pos = (first, pos + 1) if first < 128 else UNSIGNED_VARINT.read(data, pos)
        return length - 1, pos

    def write(self, out: bytearray, length: int) -> None:
        if self.fixed is None:
            UNSIGNED_VARINT.write(out, length + 1)
        else:
            self.fixed.write(out, length)


class _Sized(Type):
    length: Length
    unit = 1

    def __init__(self, name: str, length: Length, nullable: bool) -> None:
        self.name = name
        self.nullable = nullable
        self.length = length

    def read_length(self, data: bytes, pos: int) -> tuple[int, int]:
        length, after = self.length.read(data, pos)
        if length < 0 and not self.nullable:
            raise SchemaError(f"unexpected null at offset {pos} in this version", pos)
        return length, after

    def write_null(self, out: bytearray) -> None:
        if not self.nullable:
            raise SchemaError("must not be None in this version")
        self.length.write(out, -1)


class Text(_Sized):
    """UTF-8 string of at most 32767 bytes."""

    errors = "strict"
    most = MAX_STRING_LENGTH

    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        length, start = self.read_length(data, pos)
        if length < 0:
            return None, start
        if length > self.most:
            raise SchemaError(f"string length {length} at offset {pos} is above {self.most}", pos)
        end = start + length
        if end > len(data):
            need(data, start, length, self.name)
        try:
            return utf_8_decode(data[start:end], self.errors, True)[0], end
        except UnicodeDecodeError as error:
            at = start + error.start
            found = SchemaError(f"{NO_UTF8} at offset {at}: {error.reason}", at)
        raise found  # without the error above as its context, which has the text

    def write(self, out: bytearray, value: object) -> None:
        if value is None:
            self.write_null(out)
            return
        if not isinstance(value, str):
            raise wrong(value, "str")
        try:
            data = value.encode("utf-8", self.errors)
        except UnicodeEncodeError as error:
            raise SchemaError(f"cannot be encoded as UTF-8: {error.reason} at character {error.start}") from None
        if len(data) > MAX_STRING_LENGTH:
            raise SchemaError(f"has {len(data)} bytes of UTF-8, at most {MAX_STRING_LENGTH} allowed")
        self.length.write(out, len(data))
        out += data


class EscapedText(Text):
    """String with invalid UTF-8 bytes as surrogates (PEP 383)."""

    errors = "surrogateescape"


class Blob(_Sized):
    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        length, start = self.read_length(data, pos)
        if length < 0:
            return None, start
        end = need(data, start, length, self.name)
        return data[start:end], end

    def skip(self, data: bytes, pos: int) -> int:
        length, start = self.read_length(data, pos)
        return need(data, start, max(length, 0), self.name)

    def write(self, out: bytearray, value: object) -> None:
        if value is None:
            self.write_null(out)
            return
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise wrong(value, "bytes")
        data = bytes(value)
        self.length.write(out, len(data))
        out += data


_CLASSIC16, _CLASSIC32, _COMPACT = Length(INT16), Length(INT32), Length(None)
STRING = Text("STRING", _CLASSIC16, nullable=False)
NULLABLE_STRING = Text("NULLABLE_STRING", _CLASSIC16, nullable=True)
COMPACT_STRING = Text("COMPACT_STRING", _COMPACT, nullable=False)
COMPACT_NULLABLE_STRING = Text("COMPACT_NULLABLE_STRING", _COMPACT, nullable=True)
# Indexed by compact, then by nullable.
Kinds = Sequence[Sequence[Type]]
STRINGS = (STRING, NULLABLE_STRING), (COMPACT_STRING, COMPACT_NULLABLE_STRING)
ESCAPED_STRINGS: Kinds = [[EscapedText(kind.name, kind.length, kind.nullable) for kind in kinds] for kinds in STRINGS]
BYTES = Blob("BYTES", _CLASSIC32, nullable=False)
NULLABLE_BYTES = Blob("NULLABLE_BYTES", _CLASSIC32, nullable=True)
COMPACT_BYTES = Blob("COMPACT_BYTES", _COMPACT, nullable=False)
COMPACT_NULLABLE_BYTES = Blob("COMPACT_NULLABLE_BYTES", _COMPACT, nullable=True)
RECORDS = Blob("RECORDS", _CLASSIC32, nullable=False)
NULLABLE_RECORDS = Blob("NULLABLE_RECORDS", _CLASSIC32, nullable=True)
COMPACT_RECORDS = Blob("COMPACT_RECORDS", _COMPACT, nullable=False)
COMPACT_NULLABLE_RECORDS = Blob("COMPACT_NULLABLE_RECORDS", _COMPACT, nullable=True)
INTEGERS = {
    "int8": INT8,
    "int16": INT16,
    "uint16": UINT16,
    "int32": INT32,
    "uint32": UNSIGNED_INT32,
    "int64": INT64,
}
PRIMITIVES: dict[str, Type] = {**INTEGERS, "bool": BOOLEAN, "float64": FLOAT64, "uuid": UUID}
SIZED: dict[str, Kinds] = {
    "bytes": ((BYTES, NULLABLE_BYTES), (COMPACT_BYTES, COMPACT_NULLABLE_BYTES)),
    "records": ((RECORDS, NULLABLE_RECORDS), (COMPACT_RECORDS, COMPACT_NULLABLE_RECORDS)),
}
