"""Decoder of every Kafka message from protocol.json alone, as a model for other languages.

python examples/protocol_codec.py PROTOCOL_JSON MESSAGE VERSION HEX
"""

from __future__ import annotations

import base64
import json
import struct
import sys
from pathlib import Path
from typing import Any

FIXED = {"bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q"}
FIXED |= {"float64": "d", "uuid": "16s"}


class Decoder:
    def __init__(self, message: dict[str, Any], version: int, data: bytes) -> None:
        self.structs = {struct["name"]: struct for struct in message["structs"]}
        self.version = version
        self.data = data
        self.pos = 0

    def struct(self, name: str) -> dict[str, Any]:
        layouts = self.structs[name]["layouts"]
        layout = next(each for each in layouts if self.version in each["versions"])
        value = {field["name"]: self.value(field) for field in layout["fields"]}
        if "tags" in layout:
            tagged = {field["tag"]: field for field in layout["tags"]}
            defaults = {field["name"]: field["default"] for field in self.structs[name]["fields"]}
            for _ in range(self.uvarint()):
                tag, size = self.uvarint(), self.uvarint()
                if tag not in tagged:
                    self.take(size)  # a field of a later version: skip or keep it
                elif (found := self.value(tagged[tag], is_tagged=True)) != defaults[tagged[tag]["name"]]:
                    value[tagged[tag]["name"]] = found
        return value

    def value(self, field: dict[str, Any], is_tagged: bool = False) -> Any:
        kind = field["type"]
        if kind == "struct":
            if field.get("nullable") and (self.uvarint() < 1 if is_tagged else self.fixed("b") < 0):
                return None
            return self.struct(field["struct"])
        if kind in FIXED:
            found = self.fixed(FIXED[kind])
            return base64.urlsafe_b64encode(found).decode().rstrip("=") if kind == "uuid" else found
        length = self.uvarint() - 1 if field.get("compact") else self.fixed("h" if kind == "string" else "i")
        if length < 0:
            if not field.get("nullable"):
                raise ValueError(f"null at offset {self.pos}")
            return None
        if kind == "array":
            return [self.value(field["element"]) for _ in range(length)]
        content = self.take(length)
        return content.decode() if kind == "string" else base64.b64encode(content).decode()

    def fixed(self, code: str) -> Any:
        return struct.unpack(f">{code}", self.take(struct.calcsize(f">{code}")))[0]

    def uvarint(self) -> int:
        number = shift = 0
        while (byte := self.take(1)[0]) > 127:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.pos:
            raise ValueError(f"{count} bytes needed at offset {self.pos}, {len(self.data) - self.pos} left")
        self.pos += count
        return self.data[self.pos - count : self.pos]


def decode(message: dict[str, Any], version: int, data: bytes) -> dict[str, Any]:
    """Decode a message to Kafka's JSON form. Raises ValueError for invalid bytes."""
    decoder = Decoder(message, version, data)
    value = decoder.struct(message["name"])
    if decoder.pos < len(data):
        raise ValueError(f"the message ends at offset {decoder.pos}, but {len(data) - decoder.pos} more byte(s) follow")
    return value


def main(path: str, name: str, version: str, text: str) -> None:
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    message = next(each for each in document["messages"] if each["name"] == name)
    print(json.dumps(decode(message, int(version), bytes.fromhex(text)), indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
