"""kio: one dataclass per struct and version, a decoder in Rust and an encoder in Python."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from importlib import import_module
from io import BytesIO

from codec import Case, construct
from workloads import Workload, snake_case

DISTRIBUTION = "kio"


def prepare(workload: Workload) -> Case:
    """Build the message and name the calls: a reader and a writer per class, both obtained once."""
    # Imported by name because kio is only present in the worker's environment, not in the type checker's.
    serial = import_module("kio.serial")
    error_code = import_module("kio.schema.errors").ErrorCode
    api, kind = snake_case(workload.message).rsplit("_", 1)
    module = import_module(f"kio.schema.{api}.v{workload.version}.{kind}")
    message_class = getattr(module, workload.message)

    def convert(kafka_type: str | None, value: object) -> object:
        if isinstance(value, list):
            return tuple(value)
        if kafka_type == "error_code":
            return error_code(value)
        if kafka_type == "timedelta_i32" and isinstance(value, int):
            return timedelta(milliseconds=value)
        return value  # kio's BrokerId, i32, Records … check a plain value and return it as it is

    def make(path: tuple[str, ...], values: dict[str, object]) -> object:
        struct_class = getattr(module, path[-1]) if path else message_class
        types = {field.name: field.metadata.get("kafka_type") for field in fields(struct_class)}
        named = {name if name in types else name.removesuffix("_ms"): value for name, value in values.items()}
        return struct_class(**{name: convert(types[name], value) for name, value in named.items()})

    return Case(
        message=construct(workload, make),
        decode="message, size = read(data, 0)",
        encode="stream = BytesIO(); write(stream, message); data = stream.getvalue()",
        names={
            "read": serial.entity_reader(message_class),
            "write": serial.entity_writer(message_class),
            "BytesIO": BytesIO,
        },
    )
