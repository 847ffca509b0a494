"""Captures by tcpdump and tshark of real clients and a broker, and the broker's log: ``nox -s upstream -- captures``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "examples" / "captures"
CAPTURES = ("kafka-python.pcap", "librdkafka.pcap", "java.pcapng")
Key = tuple[int, ...]


def captured(name: str) -> Path:
    """Return the bytes of a committed capture."""
    return DATA / f"{name}.gz"


def logged() -> dict[Key, dict[str, Any]]:
    """Return the broker's log of each request, by client port, API key, version and correlation id."""
    lines = map(json.loads, gzip.decompress((DATA / "requests.jsonl.gz").read_bytes()).splitlines())
    names = ("port", "requestApiKey", "requestApiVersion", "correlationId")
    return {tuple(line[name] for name in names): line for line in lines}
