"""Fixups of old released definitions that the reader rejects."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_protocol_upstream.kafka.facts import Json


@dataclass(frozen=True)
class Fixup:
    """A text in a file of some releases, and its replacement."""

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
    """Return a definition file after its fixup, and the reason or None.

    Raises ValueError if the file lacks the text that the fixup replaces.
    """
    for fixup in FIXUPS:
        if fixup.file == file and release in fixup.releases:
            if data.count(fixup.text) != 1:
                raise ValueError(f"text to fix not found in {file} of {release}: {fixup.text!r}")
            return data.replace(fixup.text, fixup.instead), fixup.why
    return data, None


def completed(definition: dict[str, Json]) -> dict[str, Json]:
    """Add ``flexibleVersions``, which was optional up to Kafka 2.8 (KIP-482)."""
    if "flexibleVersions" in definition or definition.get("validVersions") == "none":
        return definition
    return {**definition, "flexibleVersions": "none"}
