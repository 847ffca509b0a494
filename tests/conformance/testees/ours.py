"""Testee of the codec mode: kafka_messages and kafka_records."""

from __future__ import annotations

import json
import sys
from typing import Any

import kafka_messages
from kafka_messages.errors import KafkaMessageError
from kafka_messages.json import from_json, to_json
from kafka_records import RecordError


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["op"] == "describe":
        return {"name": "kafka-messages", "operations": ["rewrite", "decode", "encode"]}
    if request["kind"] != "message":
        return {"unsupported": request["kind"]}
    cls, version = getattr(kafka_messages, request["name"]), request["version"]
    if request["op"] == "encode":
        return {"data": from_json(cls, request["json"], version).write(version).hex()}
    message = cls.read(bytes.fromhex(request["data"]), version)
    if request["op"] == "rewrite":
        return {"data": message.write(version).hex()}
    return {"json": to_json(message, version)}


for line in sys.stdin:
    request = json.loads(line)
    try:
        fields = answer(request)
    except (KafkaMessageError, RecordError) as error:
        fields = {"refused": str(error)}
    print(json.dumps({"id": request["id"], **fields}), flush=True)
