"""Decodes one response that Kafka's own classes wrote, and prints it as Kafka's JSON form."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from kafka_messages import MetadataResponse
from kafka_messages.json import to_json

VECTORS = Path(__file__).parents[1] / "tests" / "vectors" / "kafka-4.4.0" / "clients.jsonl.gz"


def main() -> None:
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        vectors = (json.loads(line) for line in lines)
        vector = next(
            v for v in vectors if (v["message"], v["version"], v["sample"]) == ("MetadataResponse", 12, "full")
        )
    data = bytes.fromhex(vector["hex"])
    response = MetadataResponse.read(data, vector["version"])
    print(f"MetadataResponse v12, {len(data)} bytes: {len(response.brokers)} brokers, {len(response.topics)} topics")
    print(json.dumps(to_json(response, 12), indent=2))
    assert response.write(12) == data
    assert response.size(12) == len(data)
    print("written again: the same bytes")


if __name__ == "__main__":
    main()
