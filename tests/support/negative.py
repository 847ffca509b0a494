"""Makes the vectors that are to be refused: each is one of Kafka's own encodings with one thing wrong.

    python -m tests.support.negative FOLDER

asks Kafka's classes what they do with each, and writes the file of the package. Maven brings the jars into the folder.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from kafka_messages import DecodeError
from kafka_messages.schema.types import ArrayOf, Blob, Text

from kafka_message_generator.release.artifacts import Jars, resolve
from kafka_message_generator.vectors.definitions import Definition, read_definitions
from kafka_message_generator.vectors.java_oracle import JavaClasses, oracle
from kafka_message_generator.vectors.write import pinned_release
from tests.support import vectors
from tests.support.pages import ROOT
from tests.support.vectors import Site, TagsSite, Vector, sites_of, uvarint

SPECS = ROOT / "specs" / "kafka"
FILE = vectors.FOLDER / "negative" / f"kafka-{vectors.RELEASE}.jsonl.gz"
LARGEST = 4000
"""Bytes of an encoding that is damaged; the long ones would say nothing more."""


@dataclass(frozen=True)
class Damaged:
    """Bytes with one thing wrong, and where a reader finds it."""

    message: str
    version: int
    kind: str
    hex: str
    offset: int
    path: str


def damaged() -> Iterator[Damaged]:
    """Every case of the versions that the pinned release has, by message, version and kind."""
    for name, written in sorted(vectors.pinned().items()):
        known = [vector for vector in written if len(vector.data) <= LARGEST]
        for version in _versions(name, {vector.version for vector in written}):
            here = [vector for vector in known if vector.version == version]
            found: dict[str, Damaged] = {}
            for vector in sorted(here, key=lambda each: (each.sample != "full", each.sample)):
                for kind, data in _changes(vector):
                    if kind not in found and (error := _refusal(vector, data)) is not None:
                        found[kind] = Damaged(name, version, kind, data.hex(), error.offset, error.path)
            yield from (case for _, case in sorted(found.items()))


def _versions(name: str, written: set[int]) -> list[int]:
    """The lowest, the highest, and the first flexible one."""
    cls = vectors.message_class(name)
    every = sorted(written)
    flexible = [version for version in every if cls.schemas()[version].tags is not None]
    return sorted({every[0], every[-1], *flexible[:1]})


def _refusal(vector: Vector, data: bytes) -> DecodeError | None:
    try:
        vector.cls.read(data, vector.version)
    except DecodeError as error:
        return error
    return None


def _changes(vector: Vector) -> Iterator[tuple[str, bytes]]:
    """Damage by its kind; that of the first place where it can be done."""
    data = vector.data
    sites, sections = sites_of(vector)
    yield "trailing", data + b"\0"
    if data:
        yield "truncated", data[:-1]
    for site in sites:
        for kind, part in _at_site(site, data):
            yield kind, data[: site.start] + part + data[site.end :]
    for section in sections:
        for kind, part in _in_section(section):
            yield kind, data[: section.start] + part + data[section.end :]


def _at_site(site: Site, data: bytes) -> Iterator[tuple[str, bytes]]:
    if site.is_tagged:
        return  # there the size of the field would be wrong as well
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


def verdicts(cases: list[Damaged], jars: Jars) -> list[str]:
    """What Kafka's classes do with each: ``refused``, ``accepted``, or ``rest`` if they leave bytes unread."""
    definitions = {each.name: each for each in read_definitions(SPECS)}
    classes = JavaClasses(jars)
    with oracle(jars) as java:
        return java.read([(_class(classes, definitions[case.message]), case.version, case.hex) for case in cases])


def _class(classes: JavaClasses, definition: Definition) -> str:
    return classes.question(definition, 0, None).java_class


def lines(cases: list[Damaged], kafka: list[str]) -> str:
    found = [asdict(case) | {"kafka": said} for case, said in zip(cases, kafka, strict=True)]
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in found)


def main(folder: str) -> int:
    cases = list(damaged())
    text = lines(cases, verdicts(cases, resolve(pinned_release(SPECS), Path(folder)))).encode("ascii")
    if FILE.exists() and gzip.decompress(FILE.read_bytes()) == text:
        print(f"{len(cases)} cases, as before")
        return 0
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(text)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(packed.getvalue())
    print(f"{len(cases)} cases, {FILE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
