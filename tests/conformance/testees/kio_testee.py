"""Testee of the codec mode: kio, with its readers of messages and of record batches."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from importlib.metadata import version as version_of
from io import BytesIO
from typing import Any, cast
from uuid import UUID

from kio.index import UnknownEntity, load_entity_schema
from kio.records.readers import read_batch
from kio.records.schema import Record, RecordBatch
from kio.records.writers import write_batch
from kio.serial import entity_reader, entity_writer
from kio.serial.readers import read_int32
from kio.serial.writers import write_int32
from kio.static.constants import EntityType

_SUFFIXES = {
    "_request": EntityType.request,
    "_response": EntityType.response,
    "_header": EntityType.header,
    "": EntityType.data,
}
_TIMES = ("timedelta_i32", "timedelta_i64", "datetime_i64")  # kio omits the unit in names of these fields
_RENAMED = {  # in Kafka 4.4, which is later than kio's definitions
    ("TxnOffsetCommitRequest", "generationId"): "generationIdOrMemberEpoch",
    ("StreamsGroupHeartbeatResponse", "acceptableRecoveryLag"): "acceptableRecoveryLagLegacy",
}
_RECORDS = "records"
_CONTROL = 0x20  # attribute of a batch


class UnsupportedError(Exception):
    """kio does not have a message, version or kind."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["op"] == "describe":
        return {"name": f"kio {version_of('kio')}", "operations": ["rewrite", "decode"]}
    data, kind = bytes.fromhex(request["data"]), request["kind"]
    if kind == _RECORDS and request["op"] == "decode":
        found = [record for batch in batches(data) if not batch.attributes & _CONTROL for record in batch.records]
        return {"json": {"records": list(map(record_to_json, found))}}
    if kind == _RECORDS:
        return {"data": written((write_batch, batch) for batch in batches(data)).hex()}
    body = entity_class(request["name"], request["version"])
    parts = [body] if kind == "message" else [body.__header_schema__, body]
    offset = 0
    if kind != "message":
        frame_size, offset = read_int32(data, 0)
        if not 0 <= frame_size <= len(data) - offset:
            raise ValueError(f"a frame of {frame_size} bytes")
    read = []
    for part in parts:
        message, size = entity_reader(part)(data, offset)
        offset += size
        read.append(message)
    if request["op"] == "rewrite":
        again = written((entity_writer(type(message)), message) for message in read)
        length = b"" if kind == "message" else written([(write_int32, len(again))])
        return {"data": (length + again).hex()}
    values = [to_json(message) for message in read]
    return {"json": values[0] if kind == "message" else {"header": values[0], "message": values[1]}}


def entity_class(name: str, version: int) -> Any:
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    suffix = next(each for each in _SUFFIXES if snake.endswith(each))
    # A header keeps the suffix in its name.
    stem = snake if suffix == "_header" else snake.removesuffix(suffix)
    try:
        return load_entity_schema(stem, version, cast(Any, _SUFFIXES[suffix]))
    except UnknownEntity as error:
        raise UnsupportedError(str(error)) from None


def batches(data: bytes) -> Iterator[RecordBatch]:
    """Yield the batches of format 2. As in a Fetch response, the last one may be incomplete."""
    offset = 0
    while offset + 12 <= len(data) and offset + 12 + read_int32(data, offset + 8)[0] <= len(data):
        if (magic := data[offset + 16]) != RecordBatch.magic:
            raise UnsupportedError(f"batches of format {magic}")
        batch, size = read_batch(data, offset)
        offset += size
        yield batch


def record_to_json(record: Record) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp": to_json(record.timestamp),
        "key": hex_of(record.key),
        "value": hex_of(record.value),
        "headers": [[None if each.key is None else each.key.decode(), hex_of(each.value)] for each in record.headers],
    }


def hex_of(content: bytes | None) -> str | None:
    return None if content is None else content.hex()


def written(parts: Any) -> bytes:
    stream = BytesIO()
    for write, value in parts:
        write(stream, value)
    return stream.getvalue()


def to_json(value: Any, kafka_type: str = "") -> Any:
    """Return a value in the form of Kafka's JSON converters."""
    if isinstance(value, tuple):
        return [to_json(each, kafka_type) for each in value]
    if is_dataclass(value):
        return dict(members(value))
    if kafka_type == "uuid":  # None is the id of zeros
        return urlsafe_b64encode((value or UUID(int=0)).bytes).decode().rstrip("=")
    if value is None:
        return -1 if kafka_type == "datetime_i64" else None
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    return b64encode(value).decode() if isinstance(value, bytes) else value


def members(entity: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(entity):
        value, kafka_type = getattr(entity, field.name), field.metadata.get("kafka_type", "")
        is_null_array = value is None and "tuple" in str(field.type)
        plain = field.name.rstrip("_")  # that of "type_" and "id_"
        name = re.sub("_(.)", lambda found: found[1].upper(), plain) + "Ms" * (kafka_type in _TIMES)
        name = _RENAMED.get((type(entity).__name__, name), name)
        yield name, None if is_null_array else to_json(value, kafka_type)


for line in sys.stdin:
    request = json.loads(line)
    try:
        outcome = answer(request)
    except UnsupportedError as error:
        outcome = {"unsupported": str(error)}
    except Exception as error:  # of any kind: the library refuses the bytes
        outcome = {"refused": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": request["id"], **outcome}), flush=True)
