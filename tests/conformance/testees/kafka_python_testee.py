"""Testee of the codec mode: kafka-python, whose message classes are built from Kafka's definitions.

Messages only ``rewrite``, because the dictionaries of kafka-python have names of their own. Records only ``decode``,
because its builder writes only batches of a producer, without leader epoch or base offset. Compression other than gzip
is not run, because kafka-python needs further packages for it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import kafka
from kafka.protocol.api_data import ApiData
from kafka.protocol.api_message import ApiMessage
from kafka.record import MemoryRecords

_MODULES = ("admin", "consumer", "metadata", "producer", "sasl", "consumer.metadata")
_COMPRESSIONS_IN_PACKAGES = (2, 3, 4)  # snappy, lz4, zstd


class UnsupportedError(Exception):
    """kafka-python does not have a message, version or kind."""


def classes() -> Iterator[tuple[str, Any]]:
    """Yield the messages by name."""
    for module in _MODULES:
        for name, found in vars(import_module(f"kafka.protocol.{module}")).items():
            if isinstance(found, type) and issubclass(found, ApiMessage | ApiData):
                yield name, found


_CLASSES = dict(classes())


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["op"] == "describe":
        return {"name": f"kafka-python {kafka.__version__}", "operations": ["rewrite", "decode"]}
    kind, name, version = request["kind"], request["name"], request["version"]
    if (kind == "records") != (request["op"] == "decode"):
        raise UnsupportedError("only messages are written again, and only records are decoded")
    if kind == "records":
        return {"json": {"records": list(map(record_to_json, records(bytes.fromhex(request["data"]))))}}
    cls = _CLASSES.get(name)
    if cls is None or not cls.min_version <= version <= cls.max_version:
        raise UnsupportedError(f"there is no {name} {version}")
    is_frame = kind != "message"
    data = bytes.fromhex(request["data"])
    if is_frame and len(data) < 4 + int.from_bytes(data[:4], "big"):
        raise ValueError("the frame is incomplete")  # as the client waits for the rest
    message = cls.decode(data, version=version, header=is_frame, framed=is_frame)
    if not is_frame and issubclass(cls, ApiMessage):
        message.with_header()  # as the client does before it encodes; not written here
    return {"data": bytes(message.encode(header=is_frame, framed=is_frame)).hex()}


def records(data: bytes) -> Iterator[Any]:
    """Yield the records that kafka-python's consumer returns."""
    batches = MemoryRecords(data)
    while batches.has_next():
        batch = batches.next_batch()
        if batch.compression_type in _COMPRESSIONS_IN_PACKAGES:
            raise UnsupportedError("this compression needs another package")
        # The consumer compares checksums by default, too.
        if not batch.validate_crc():
            raise ValueError("the checksum of a batch differs")
        is_control = getattr(batch, "is_control_batch", False)
        for record in batch:
            if not record.validate_crc():
                raise ValueError("the checksum of a record differs")
            if not is_control:
                yield record


def record_to_json(record: Any) -> dict[str, Any]:
    timestamp = -1 if record.timestamp is None else record.timestamp  # None in format 0
    headers = [[key, hexadecimal(value)] for key, value in record.headers or ()]
    key, value = hexadecimal(record.key), hexadecimal(record.value)
    return {"offset": record.offset, "timestamp": timestamp, "key": key, "value": value, "headers": headers}


def hexadecimal(content: bytes | None) -> str | None:
    return None if content is None else bytes(content).hex()


for line in sys.stdin:
    request = json.loads(line)
    try:
        outcome = answer(request)
    except UnsupportedError as error:
        outcome = {"unsupported": str(error)}
    except Exception as error:  # of any kind: the library refuses the bytes
        outcome = {"refused": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": request["id"], **outcome}), flush=True)
