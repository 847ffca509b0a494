"""Testee of the codec mode: kafka-python, whose message classes are built from Kafka's definitions.

Only ``rewrite``: the dictionaries of kafka-python have names of their own. Record batches are not run, because its
builder writes only batches of a producer, without leader epoch or base offset.
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

_MODULES = ("admin", "consumer", "metadata", "producer", "sasl", "consumer.metadata")


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
        return {"name": f"kafka-python {kafka.__version__}", "operations": ["rewrite"]}
    kind, name, version = request["kind"], request["name"], request["version"]
    if kind == "records":
        raise UnsupportedError("the builder of batches is only for producers")
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


for line in sys.stdin:
    request = json.loads(line)
    try:
        outcome = answer(request)
    except UnsupportedError as error:
        outcome = {"unsupported": str(error)}
    except Exception as error:  # of any kind: the library refuses the bytes
        outcome = {"refused": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": request["id"], **outcome}), flush=True)
