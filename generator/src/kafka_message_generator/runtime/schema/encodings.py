"""Types of integer encodings proposed for Kafka: varints of 16, 32 or 64 bits, zigzag or two's complement."""

from __future__ import annotations

from .types import VARINT, VARLONG, Type, VarInt, integer


class TwosComplement(Type):

    def __init__(self, bits: int) -> None:
        self.name = f"UPACKED{bits}"
        self.bits = bits
        self.lowest, self.highest = -(1 << bits - 1), (1 << bits - 1) - 1
        self._plain = VarInt(self.name, bits, is_signed=False)
        self._range = VarInt(self.name, bits, is_signed=True)

    def read(self, data: bytes, pos: int) -> tuple[int, int]:
        number, pos = self._plain.read(data, pos)
        return (number - (1 << self.bits) if number >> self.bits - 1 else number), pos

    def write(self, out: bytearray, value: object) -> None:
        self._plain.write(out, integer(value, self._range) & (1 << self.bits) - 1)


PACKED16 = VarInt("PACKED16", 16, is_signed=True)
PACKED32 = VARINT
PACKED64 = VARLONG
UPACKED16 = TwosComplement(16)
UPACKED32 = TwosComplement(32)
UPACKED64 = TwosComplement(64)

ENCODINGS: dict[str, Type] = {
    "packed16": PACKED16,
    "packed32": PACKED32,
    "packed64": PACKED64,
    "upacked16": UPACKED16,
    "upacked32": UPACKED32,
    "upacked64": UPACKED64,
}
