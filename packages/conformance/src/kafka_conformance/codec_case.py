"""Cases for codecs: written by hand, and generated from vectors and definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import kafka_messages
from kafka_messages import Message

from kafka_protocol_vectors import batches, frames, negative, vectors

from .case import Case, group_of, rows

Kind: TypeAlias = Literal["message", "request", "response", "records"]


_LENIENT = ("tag-size", "tag-of-another-version")
"""Kinds of damage in tagged fields that other codecs have reasons to skip, as they skip unknown ones (KIP-482)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecCase(Case):
    """Bytes that a codec reads and writes again, or refuses."""

    mode: ClassVar[str] = "codec"
    kind: Kind = "message"
    """``message`` without header; a whole frame of a ``request`` or ``response``; or ``records``: record batches."""
    name: str = ""
    """Message; of a frame, that in its body."""
    version: int = -1
    data: bytes
    expected: bytes | None = None
    """Bytes that are written again; None if the input is refused."""
    json: Mapping[str, Any] | None = None
    """Content in the form of Kafka's JSON converters, for decoding and encoding; None if it is not compared."""

    def description(self) -> list[str]:
        of = f"{self.name} {self.version}" if self.name else "record batches"
        expected = "refused" if self.expected is None else "same" if self.expected == self.data else self.expected.hex()
        lines = Case.description(self)  # super() does not work in dataclasses with slots
        return [*lines, f"kind      {self.kind}, {of}", f"bytes     {self.data.hex()}", f"expected  {expected}"]


def codec_cases() -> Iterator[CodecCase]:
    """Yield all cases: written by hand, messages, frames, record batches, damaged messages."""
    yield from written()
    yield from encodings()
    yield from whole_frames()
    yield from record_batches()
    yield from damaged_encodings()


def written() -> Iterator[CodecCase]:
    """Yield the cases of ``cases/codec.jsonl``."""
    for row in rows("codec"):
        data, expect = bytes.fromhex(row.pop("hex")), row.pop("expect")
        words: dict[str, bytes | None] = {"same": data, "refuse": None}
        yield CodecCase(data=data, expected=words[expect] if expect in words else bytes.fromhex(expect), **row)


def encodings() -> Iterator[CodecCase]:
    """Yield a case for each vector that Kafka's classes wrote."""
    for vector in vectors():
        yield CodecCase(
            id=_id(vector.message, vector.version, vector.sample),
            rule=f"{vector.message} {vector.version} ({vector.sample}) is read, and written again with the same bytes.",
            source=vector.file,
            name=vector.message,
            version=vector.version,
            data=vector.data,
            expected=vector.data,
            json=vector.json_out,
        )


def whole_frames() -> Iterator[CodecCase]:
    """Yield a case for each frame that Kafka's classes wrote, with its header and unknown tagged fields."""
    for vector in frames():
        kind: Kind = "request" if vector.kind == "request" else "response"
        header = f"header {vector.header_version}"
        yield CodecCase(
            id=_id(vector.message, vector.version, f"frame-{vector.sample}"),
            rule=f"{vector.message} {vector.version} with {header} ({vector.sample}) is read and written.",
            source=f"{vector.message}.json; KIP-482",
            kind=kind,
            name=vector.message,
            version=vector.version,
            data=vector.data,
            expected=vector.data,
        )


def record_batches() -> Iterator[CodecCase]:
    """Yield a case for each buffer of record batches that Kafka's classes wrote; a partial last batch is dropped."""
    for vector in batches():
        yield CodecCase(
            id=f"RECORDS.{vector.id}",
            rule=f"The record batches {vector.id} are read, and written again with the same content.",
            source="KIP-98; MemoryRecordsBuilder",
            kind="records",
            data=vector.data,
            expected=vector.data[: len(vector.data) - vector.incomplete],
            json={
                "records": [
                    _record(row) for each in vector.batches if not each["is_control"] for row in each["records"]
                ]
            },
        )


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all implementations know of a record."""
    return {name: row[name] for name in ("offset", "timestamp", "key", "value", "headers")}


def damaged_encodings() -> Iterator[CodecCase]:
    """Yield a case for each damaged encoding that Kafka's classes refuse."""
    for case in negative():
        if case.kafka == "refused":
            at = f"at byte {case.offset}" + (f" ({case.path})" if case.path else "")
            yield CodecCase(
                id=_id(case.message, case.version, f"damaged-{case.kind}"),
                rule=f"{case.message} {case.version} with damage {at} is refused: {case.kind.replace('-', ' ')}.",
                source=f"{case.message}.json",
                severity="warning" if case.kind in _LENIENT else "error",
                name=case.message,
                version=case.version,
                data=case.data,
            )


def _id(message: str, version: int, name: str) -> str:
    """Return an id such as ``FETCH.response-12-full``."""
    kind = next((f"{each.lower()}-" for each in ("Request", "Response") if message.endswith(each)), "")
    return f"{group_of(message)}.{kind}{version}-{name.replace('_', '-')}"


def message_named(name: str) -> type[Message]:
    """Return the message class. Raises AttributeError."""
    found: type[Message] = getattr(kafka_messages, name)
    return found
