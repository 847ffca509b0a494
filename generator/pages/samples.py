"""The bytes that pages show: of each message version one sample out of test vectors, which Kafka's own classes wrote."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_message_generator.pages.package import PagesError

MOST = 640
"""Bytes of a sample that is still easy to look through."""


@dataclass(frozen=True)
class Sample:
    """The body of a message; ``origin`` says who wrote it, as the end of a sentence."""

    data: bytes
    origin: str


Samples = dict[tuple[str, int], Sample]
"""By message and version."""


def read_samples(folder: Path) -> Samples:
    """The most telling sample of each message version in the files of vectors below a folder; empty without any.

    That is the one with the most fields in it that has no more than ``MOST`` bytes, and of equal ones the shortest.
    Raises PagesError for a line that is no vector.
    """
    best: dict[tuple[str, int], tuple[tuple[bool, int, int], Sample]] = {}
    for path in sorted(folder.glob("**/*.jsonl.gz")):
        if path.parent.name == "negative":
            continue  # damaged bytes
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    entry = json.loads(line)
                    key, data = (entry["message"], entry["version"]), bytes.fromhex(entry["hex"])
                    rank = len(data) > MOST, -len(_paths(entry["json_out"])), len(data)
                except (ValueError, KeyError, TypeError) as error:
                    what = "a JSON object with message, version, sample, hex and json_out"
                    raise PagesError(f"{path}:{number}: is no test vector, {what}") from error
                if key not in best or rank < best[key][0]:
                    best[key] = rank, Sample(
                        data, f"that Kafka's own classes wrote: the sample {entry['sample']} of the test vectors."
                    )
    return {key: sample for key, (_, sample) in best.items()}


def _paths(value: Any, above: str = "") -> set[str]:
    """The fields of a message in Kafka's JSON form that hold something."""
    if isinstance(value, dict):
        return {path for key, each in value.items() for path in _paths(each, f"{above}.{key}")}
    if isinstance(value, list):
        return {path for each in value for path in _paths(each, above)}
    return {above} if value not in (None, "", 0, False) else set()
