"""KIPs of message versions, from the comments of Kafka's definitions.

A KIP belongs to a version only if a sentence about this version names it. Sentences about a version begin with it
(``Version 9 adds …``, ``Starting in versions 3 and 4, …``); a sentence that begins with ``See``, ``It``, ``Also``,
``This``, ``The request``, ``The response`` or a bracket is about the version of the sentence before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kafka_message_generator.files import replace_file
from kafka_message_generator.spec.annotations import KIPS
from kafka_message_generator.spec.kips import read_kips
from kafka_message_generator.spec.source import Problems, SpecError
from kafka_message_generator.spec.versions import Versions
from kafka_protocol_upstream.kafka.definitions import SourceDefinition

Kips = dict[str, dict[int, frozenset[int]]]
"""Numbers of KIPs by message and version."""

_KIP = re.compile(r"\bKIP[-_ ]?([0-9]+)")
_RANGE = re.compile(r"([0-9]+)\b(?:\s*(?:-|\u2013|through|to)\s*([0-9]+)\b)?")
_SUBJECT = re.compile(
    r"(?:(?:Starting|Beginning)\s+(?:in|from|with)\s+|Since\s+|The\s+\w+\s+)?[Vv]ersions?\s+"
    rf"(?P<versions>{_RANGE.pattern}(?:(?:,\s+and|,|\s+and)\s+{_RANGE.pattern})*)"
    r"(?!\+|\.[0-9]|\s+(?:and|or)\s+(?:above|below|earlier|later))"
)
_SENTENCE = re.compile(
    r"(?<=[.!?])\s+(?=[A-Z(])"
    r"|\n(?=(?:Starting\s+\w+\s+)?[Vv]ersions?\s+[0-9])"
    r"|(?:[,;]|\s+and)\s+(?:and\s+)?(?=[Vv]ersions?\s+[0-9]+\s+[a-z]+s\b)"
)
_CONTINUED = re.compile(r"\(|(?:See|It|Also|This|The (?:request|response))\b")


def kips_of(definition: str) -> dict[int, frozenset[int]]:
    """Return the KIPs by version that the comments of a definition name."""
    found: dict[int, frozenset[int]] = {}
    for paragraph in _paragraphs(definition):
        versions: list[int] = []
        for sentence in _SENTENCE.split(paragraph):
            if subject := _SUBJECT.match(sentence):
                versions = list(_versions(subject["versions"]))
            elif not _CONTINUED.match(sentence):
                versions = []
            for version in versions:
                found[version] = found.get(version, frozenset()) | set(map(int, _KIP.findall(sentence)))
    return {version: kips for version, kips in sorted(found.items()) if kips}


def _paragraphs(definition: str) -> Iterator[str]:
    """Yield blocks of comment lines; an empty comment and a list item begin a new one."""
    block: list[str] = []
    for line in map(str.strip, [*definition.splitlines(), ""]):
        text = line.removeprefix("//").strip() if line.startswith("//") else ""
        if block and (not text or text.startswith("- ")):
            yield "\n".join(block)
            block = []
        block += [text] if text else []


def _versions(text: str) -> Iterator[int]:
    for first, last in _RANGE.findall(text):
        yield from range(int(first), int(last or first) + 1)


def merged(known: Kips, found: Mapping[str, SourceDefinition]) -> Kips:
    """Add the KIPs in the definitions of a newer release to those of older releases.

    A version keeps the KIPs of the newest release that has the version and names any.
    """
    kips = dict(known)
    for name, each in found.items():
        valid = Versions.parse(str(each.plain["validVersions"]))
        if newer := {version: of for version, of in kips_of(each.data.decode()).items() if version in valid}:
            kips[name] = kips.get(name, {}) | newer
    return kips


def read(specs: Path) -> Kips:
    """Return the content of ``kips.json``, empty if there is none. Raises SpecError."""
    problems = Problems()
    found: Kips = {}
    for each in read_kips(specs, problems):
        for version in each.versions:
            of_message = found.setdefault(each.message, {})
            of_message[version] = of_message.get(version, frozenset()) | {each.kip}
    if problems.errors:
        raise SpecError(problems.errors)
    return found


def write(specs: Path, found: Kips) -> list[str]:
    """Write ``kips.json``, one line for each message, version and KIP; return the changes."""
    if not found or found == read(specs):
        return []
    lines = [
        json.dumps({"message": name, "versions": str(version), "kip": kip})
        for name, of_message in sorted(found.items())
        for version, kips in sorted(of_message.items())
        for kip in sorted(kips)
    ]
    replace_file(specs / KIPS, [("[\n  " + ",\n  ".join(lines) + "\n]\n").encode()])
    return [f"write {KIPS}"]
