"""Captures that tcpdump and tshark made of real clients and a broker, and its log: ``nox -s upstream -- captures``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "examples" / "captures"
CAPTURES = ("kafka-python.pcap", "librdkafka.pcap", "java.pcapng")
Key = tuple[int, ...]


def captured(name: str) -> Path:
    """One of the captures, as it is committed."""
    return DATA / f"{name}.gz"


def logged() -> dict[Key, dict[str, Any]]:
    """What the broker says of each request, by port of the client, API key, version and correlation id."""
    lines = map(json.loads, gzip.decompress((DATA / "requests.jsonl.gz").read_bytes()).splitlines())
    names = ("port", "requestApiKey", "requestApiVersion", "correlationId")
    return {tuple(line[name] for name in names): line for line in lines}
