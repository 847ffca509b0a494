"""Damaged encodings with one error each, for negative test vectors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import kafka_messages
from kafka_messages import DecodeError, Message
from kafka_messages.schema.arrays import ArrayOf
from kafka_messages.schema.types import Blob, Text

from kafka_protocol_upstream.kafka.artifacts import Jars
from kafka_protocol_upstream.vectors.definitions import VectorDefinition, read_definitions
from kafka_protocol_upstream.vectors.java_oracle import JavaClasses, oracle
from kafka_protocol_upstream.vectors.sites import DamageSite, TagsSite, sites_of, uvarint
from kafka_protocol_upstream.vectors.write import write_compressed

LARGEST = 4000
"""Maximum size of an encoding to damage."""


@dataclass(frozen=True)
class Encoded:
    cls: type[Message]
    version: int
    sample: str
    data: bytes


@dataclass(frozen=True)
class Damaged:
    """Bytes with one error, and the place where a reader detects it."""

    message: str
    version: int
    kind: str
    hex: str
    offset: int
    path: str


def damaged(folder: Path) -> Iterator[Damaged]:
    """Yield damaged encodings of the lowest, highest and first flexible version of each message in a folder, sorted."""
    for name, written in sorted(_written(folder).items()):
        known = [each for each in written if len(each.data) <= LARGEST]
        for version in _versions(written):
            here = [each for each in known if each.version == version]
            found: dict[str, Damaged] = {}
            for encoded in sorted(here, key=lambda each: (each.sample != "full", each.sample)):
                for kind, data in _changes(encoded):
                    if kind not in found and (error := _refusal(encoded, data)) is not None:
                        found[kind] = Damaged(name, version, kind, data.hex(), error.offset, error.path)
            yield from (case for _, case in sorted(found.items()))


def _written(folder: Path) -> dict[str, list[Encoded]]:
    found: dict[str, list[Encoded]] = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="ascii") as lines:
            for line in map(json.loads, lines):
                cls = getattr(kafka_messages, line["message"])
                encoded = Encoded(cls, line["version"], line["sample"], bytes.fromhex(line["hex"]))
                found.setdefault(line["message"], []).append(encoded)
    return found


def _versions(written: Sequence[Encoded]) -> list[int]:
    schemas = written[0].cls.schemas()
    every = sorted({each.version for each in written})
    flexible = [version for version in every if schemas[version].tags is not None]
    return sorted({every[0], every[-1], *flexible[:1]})


def _refusal(encoded: Encoded, data: bytes) -> DecodeError | None:
    try:
        encoded.cls.read(data, encoded.version)
    except DecodeError as error:
        return error
    return None


def _changes(encoded: Encoded) -> Iterator[tuple[str, bytes]]:
    data = encoded.data
    sites, sections = sites_of(data, encoded.cls.schemas()[encoded.version])
    yield "trailing", data + b"\0"
    if data:
        yield "truncated", data[:-1]
    for site in sites:
        for kind, part in _at_site(site, data):
            yield kind, data[: site.start] + part + data[site.end :]
    for section in sections:
        for kind, part in _in_section(section):
            yield kind, data[: section.start] + part + data[section.end :]


def _at_site(site: DamageSite, data: bytes) -> Iterator[tuple[str, bytes]]:
    if site.is_tagged:
        return  # the size of the tagged field would be wrong as well
    if site.kind == "text":
        yield "invalid-utf8", b"\xff" + data[site.start + 1 : site.end]
    if site.kind != "length":
        return
    kind = site.type
    assert isinstance(kind, Text | Blob | ArrayOf)
    fixed = kind.length.fixed
    beyond = len(data) - site.end + 1
    word = "count-beyond-the-end" if isinstance(kind, ArrayOf) else "length-beyond-the-end"
    if fixed is None:
        yield word, uvarint(beyond + 1)
        yield "varint-too-long", b"\xff\xff\xff\xff\xff\x01"
        yield "varint-too-large", b"\xff\xff\xff\xff\x7f"
    elif beyond <= fixed.highest:
        yield word, beyond.to_bytes(fixed.width, "big")
    if not kind.nullable:
        yield "null", b"\0" if fixed is None else b"\xff" * fixed.width
        if fixed is not None:
            yield "negative-length", (fixed.lowest).to_bytes(fixed.width, "big", signed=True)
    if isinstance(kind, Text) and fixed is None:
        yield "text-too-long", uvarint(32769) + b"a" * 32768 if len(data) < 100 else uvarint(32769)


def _in_section(section: TagsSite) -> Iterator[tuple[str, bytes]]:
    if section.is_tagged:
        return
    for entry in section.entries:
        yield "tag-twice", section.extended(entry.data)
        longer = uvarint(entry.tag) + uvarint(len(entry.value) + 1) + entry.value + b"\0"
        others = [each for each in section.entries if each is not entry]
        yield "tag-size", uvarint(len(section.entries)) + b"".join(
            longer if each is entry else each.data for each in (entry, *others)
        )
    yield "tag-beyond-the-end", section.extended(uvarint(10_000) + uvarint(2**31 - 1))
    for tag in sorted(section.absent):
        yield "tag-of-another-version", section.extended(uvarint(tag) + b"\0")


def verdicts(specs: Path, cases: Sequence[Damaged], jars: Jars) -> list[str]:
    """Return Kafka's verdict for each case: ``refused``, ``accepted``, or ``rest`` if bytes are left unread."""
    definitions = {each.name: each for each in read_definitions(specs)}
    classes = JavaClasses(jars)
    with oracle(jars) as java:
        return java.read([(_class(classes, definitions[case.message]), case.version, case.hex) for case in cases])


def _class(classes: JavaClasses, definition: VectorDefinition) -> str:
    return classes.question(definition, 0, None).java_class


def lines(cases: list[Damaged], kafka: list[str]) -> str:
    found = [asdict(case) | {"kafka": verdict} for case, verdict in zip(cases, kafka, strict=True)]
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in found)


def write_damaged(specs: Path, jars: Jars, target: Path) -> int:
    """Write ``negative/kafka-<release>.jsonl.gz`` below ``target``; return the number of cases."""
    cases = list(damaged(target / f"kafka-{jars.release}"))
    (target / "negative").mkdir(exist_ok=True)
    path = target / "negative" / f"kafka-{jars.release}.jsonl.gz"
    write_compressed(path, lines(cases, verdicts(specs, cases, jars)))
    return len(cases)
