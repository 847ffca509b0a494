"""Cases for codecs: written by hand, and generated from vectors and definitions."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, ClassVar, Literal, TypeAlias

import kafka_messages
from kafka_messages import Message, RawTaggedField
from kafka_messages.schema import descriptor_of

from kafka_protocol_vectors import negative, vectors

from .case import Case, group_of

Kind: TypeAlias = Literal["message", "request", "response", "records"]
_TAG, _CONTENT = 29, b"unknown"


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
    """Yield all cases: those written by hand, valid encodings, unknown tagged fields, damaged encodings."""
    yield from written()
    yield from encodings()
    yield from unknown_tags()
    yield from damaged_encodings()


def written() -> Iterator[CodecCase]:
    """Yield the cases of ``cases/codec.toml``."""
    text = files(__package__).joinpath("cases/codec.toml").read_text(encoding="utf-8")
    for row in tomllib.loads(text)["case"]:
        data, expect = bytes.fromhex(row.pop("hex")), row.pop("expect")
        expected = {"same": data, "refuse": None}.get(expect) if expect in ("same", "refuse") else bytes.fromhex(expect)
        yield CodecCase(data=data, expected=expected, **row)


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


def unknown_tags() -> Iterator[CodecCase]:
    """Yield a case for each flexible version, with an unknown tagged field in the message (KIP-482)."""
    for vector in vectors():
        cls = message_named(vector.message)
        if vector.sample != "full" or not _is_flexible(cls, vector.version):
            continue
        message = cls.read(vector.data, vector.version)
        setattr(message, "unknown_tagged_fields", (RawTaggedField(_TAG, _CONTENT),))  # noqa: B010 - of all messages
        data = message.write(vector.version)
        yield CodecCase(
            id=_id(vector.message, vector.version, "unknown-tag"),
            rule=f"{vector.message} {vector.version} keeps an unknown tagged field.",
            source=f"KIP-482; {vector.file}",
            name=vector.message,
            version=vector.version,
            data=data,
            expected=data,
        )


def damaged_encodings() -> Iterator[CodecCase]:
    """Yield a case for each damaged encoding that Kafka's classes refuse."""
    for case in negative():
        if case.kafka == "refused":
            at = f"at byte {case.offset}" + (f" ({case.path})" if case.path else "")
            yield CodecCase(
                id=_id(case.message, case.version, f"damaged-{case.kind}"),
                rule=f"{case.message} {case.version} with damage {at} is refused: {case.kind.replace('-', ' ')}.",
                source=f"{case.message}.json",
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


def _is_flexible(cls: type[Message], version: int) -> bool:
    versions = descriptor_of(cls).flexible
    return versions.lowest <= version <= versions.highest
