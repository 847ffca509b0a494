"""Fixups of old definitions, which the generator would reject otherwise."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_protocol_upstream.kafka.canonical import Json


@dataclass(frozen=True)
class Fixup:
    """An invalid text in a definition file of some releases, and its replacement."""

    file: str
    releases: tuple[str, ...]
    text: bytes
    instead: bytes
    why: str


FIXUPS = (
    Fixup(
        "DescribeProducersRequest.json",
        ("2.8.0", "2.8.1", "2.8.2"),
        b"    ]}\n  ]\n}",
        b"    ]}",
        "an extra bracket ends the definition early; Kafka's own reader stops there without an error",
    ),
)


def fixed(file: str, release: str, data: bytes) -> tuple[bytes, str | None]:
    """Apply the fixup of a definition file, if there is one; return the content, and the reason or None.

    Raises ValueError unless the file contains the text to replace exactly once.
    """
    for fixup in FIXUPS:
        if fixup.file == file and release in fixup.releases:
            if (found := data.count(fixup.text)) != 1:
                raise ValueError(f"{file} of {release}: expected one text {fixup.text!r} to fix, found {found}")
            return data.replace(fixup.text, fixup.instead), fixup.why
    return data, None


def completed(definition: dict[str, Json]) -> dict[str, Json]:
    """Add ``flexibleVersions`` if it is missing; it was optional up to Kafka 2.8 (KIP-482)."""
    if "flexibleVersions" in definition or definition.get("validVersions") == "none":
        return definition
    return {**definition, "flexibleVersions": "none"}
