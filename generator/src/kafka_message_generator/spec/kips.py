"""``kips.json``: the Kafka Improvement Proposals (KIPs) that definitions name for message versions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import KIPS, read
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Problems
from kafka_message_generator.spec.versions import Versions


@dataclass(frozen=True)
class KipAnnotation:
    message: str
    location: Location
    versions: Versions
    kip: int


def read_kips(specs: Path, problems: Problems) -> tuple[KipAnnotation, ...]:
    return tuple(read(specs, KIPS, problems, _kip))


def _kip(properties: Properties) -> KipAnnotation | None:
    message = properties.required("message")
    properties.required("versions")
    versions, kip = properties.versions("versions"), properties.integer("kip", 32)
    if kip is None or kip < 1:
        properties.problems.error(properties.node.location, "kip: expected the number of a KIP, such as 848")
        return None
    return None if versions is None else KipAnnotation(message, properties.places["message"], versions, kip)
