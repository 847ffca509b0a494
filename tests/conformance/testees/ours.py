"""Testee of the codec mode: kafka_messages and kafka_records."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import kafka_messages
from kafka_messages.errors import KafkaMessageError
from kafka_messages.json import from_json, to_json
from kafka_messages.protocol import api, decode_request, decode_response, split_frames
from kafka_records import Batch, Record, RecordError, read_batches, write_batch

Fields = dict[str, Any]


def answer(request: Mapping[str, Any]) -> Fields:
    operation, kind = request["op"], request["kind"]
    if kind == "records":
        return record_batches(operation, request)
    cls, version = getattr(kafka_messages, request["name"]), request["version"]
    if operation == "encode":
        return {"data": from_json(cls, request["json"], version).write(version).hex()}
    data = bytes.fromhex(request["data"])
    if kind == "message":
        message = cls.read(data, version)
        return {"data": message.write(version).hex()} if operation == "rewrite" else {"json": to_json(message, version)}
    [payload] = split_frames(data)
    decoded = decode_request(payload) if kind == "request" else decode_response(payload, api(cls), version)
    return {"data": decoded.encode().hex()}


def record_batches(operation: str, request: Mapping[str, Any]) -> Fields:
    if operation == "encode":
        return {"unsupported": "batches have headers that records do not have"}
    found = list(read_batches(bytes.fromhex(request["data"])))
    if operation == "rewrite":
        if not all(map(is_rewritable, found)):
            return {"unsupported": "batches whose header does not follow from the records"}
        return {"data": b"".join(map(rewritten, found)).hex()}
    return {"json": {"records": [fields(record) for each in found if not each.is_control for record in each.records()]}}


def is_rewritable(batch: Batch) -> bool:
    """Return False for batches after a compaction, and for those whose records have lost their own timestamps."""
    records = batch.records()
    ends = [records[0].offset, records[-1].offset] if records else []
    is_stamped = batch.timestamp_type == "LogAppendTime" or batch.delete_horizon is not None
    return ends == [batch.base_offset, batch.last_offset] and not is_stamped and not batch.is_control


def rewritten(batch: Batch) -> bytes:
    return write_batch(
        batch.records(),
        base_offset=batch.base_offset,
        compression=batch.compression,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        leader_epoch=batch.leader_epoch,
        magic=batch.magic,
    )


def fields(record: Record) -> Fields:
    headers = [[key, hex_of(value)] for key, value in record.headers]
    key, value = hex_of(record.key), hex_of(record.value)
    return {"offset": record.offset, "timestamp": record.timestamp, "key": key, "value": value, "headers": headers}


def hex_of(content: bytes | None) -> str | None:
    return None if content is None else content.hex()


DESCRIPTION = {"name": "kafka-messages", "operations": ["rewrite", "decode", "encode"]}

for line in sys.stdin:
    request = json.loads(line)
    try:
        answered = DESCRIPTION if request["op"] == "describe" else answer(request)
    except (KafkaMessageError, RecordError) as error:
        answered = {"refused": str(error)}
    print(json.dumps({"id": request["id"], **answered}), flush=True)
