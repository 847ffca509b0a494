"""The bytes that pages show: of each message version one sample out of test vectors, which Kafka's own classes wrote."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_protocol_pages.package import PagesError

MOST = 640
"""Bytes of a sample that is still easy to look through."""


@dataclass(frozen=True)
class Sample:
    """The body of a message; ``origin`` says who wrote it, as the end of a sentence."""

    data: bytes
    origin: str
    is_opened: bool = False
    """Whether its record batches are opened, too."""
    frame: bytes = b""
    """The whole of what was sent: length, header and body; empty if there was only a body."""


Samples = Mapping[tuple[str, int], Sample]
"""By message and version."""


@dataclass
class Best:
    """The most telling samples: those with the most fields in them, of equal ones the shortest; above all no long ones."""

    found: dict[tuple[str, int], tuple[tuple[bool, int, int], Sample]] = field(default_factory=dict)

    def add(self, key: tuple[str, int], sample: Sample, told: object) -> None:
        """One more sample of a message and version; ``told`` is the message in Kafka's JSON form."""
        rank = len(sample.data) > MOST, -len(_paths(told)), len(sample.data)
        if key not in self.found or rank < self.found[key][0]:
            self.found[key] = rank, sample

    def samples(self) -> Samples:
        """The best of each message and version."""
        return {key: sample for key, (_, sample) in self.found.items()}


def read_samples(folder: Path) -> Samples:
    """The most telling sample of each message version in the files of vectors below a folder; empty without any.

    Raises PagesError for a line that is no vector.
    """
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
                    raise PagesError(f"{path}:{number}: is no test vector, {what}") from error
    return best.samples()


def _paths(value: Any, above: str = "") -> set[str]:
    """The fields of a message in Kafka's JSON form that hold something."""
    if isinstance(value, dict):
        return {path for key, each in value.items() for path in _paths(each, f"{above}.{key}")}
    if isinstance(value, list):
        return {path for each in value for path in _paths(each, above)}
    return {above} if value not in (None, "", 0, False) else set()
