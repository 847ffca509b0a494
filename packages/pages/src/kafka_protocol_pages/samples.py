"""Sample bytes: one test vector per message version."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_protocol_pages.package import PagesError

MOST = 640
"""Preferred maximum size of a sample in bytes."""


@dataclass(frozen=True)
class Sample:
    """The body of a message; ``origin`` is a clause such as ``that a client sent to a broker.``"""

    data: bytes
    origin: str
    is_opened: bool = False
    """True if the page shows record batches decoded."""
    frame: bytes = b""
    """Length, header and body as sent; empty for a body alone."""


Samples = Mapping[tuple[str, int], Sample]
"""Samples by message and version."""


@dataclass
class Best:
    """The best sample of each version: at most ``MOST`` bytes if possible, then most fields set, then shortest."""

    found: dict[tuple[str, int], tuple[tuple[bool, int, int], Sample]] = field(default_factory=dict)

    def add(self, key: tuple[str, int], sample: Sample, value: object) -> None:
        """Add a candidate for a message version; ``value`` is the sample in Kafka's JSON form."""
        rank = len(sample.data) > MOST, -len(_paths(value)), len(sample.data)
        if key not in self.found or rank < self.found[key][0]:
            self.found[key] = rank, sample

    def samples(self) -> Samples:
        return {key: sample for key, (_, sample) in self.found.items()}


def read_samples(folder: Path) -> Samples:
    """Return the best sample of each message version in a folder of test vectors. Raises PagesError."""
    best = Best()
    for path in sorted(folder.glob("**/*.jsonl.gz")):
        if path.parent.name == "negative":
            continue  # damaged bytes
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    entry = json.loads(line)
                    origin = f"that Kafka's own classes wrote: the sample {entry['sample']} of the test vectors."
                    sample = Sample(bytes.fromhex(entry["hex"]), origin)
                    best.add((entry["message"], entry["version"]), sample, entry["json_out"])
                except (ValueError, KeyError, TypeError) as error:
                    what = "a JSON object with message, version, sample, hex and json_out"
                    raise PagesError(f"{path}:{number}: not a test vector, expected {what}") from error
    return best.samples()


def _paths(value: Any, above: str = "") -> set[str]:
    if isinstance(value, dict):
        return {path for key, each in value.items() for path in _paths(each, f"{above}.{key}")}
    if isinstance(value, list):
        return {path for each in value for path in _paths(each, above)}
    return {above} if value not in (None, "", 0, False) else set()
