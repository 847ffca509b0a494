"""Adapter of kio, which decodes in Rust and encodes in Python."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from importlib import import_module
from io import BytesIO

from building import Constructor, building
from codec import Case
from workloads import Value, Workload, snake_case

DISTRIBUTION = "kio"


def prepare(workload: Workload) -> Case:
    # Imported by name, as type checkers lack the package.
    serial = import_module("kio.serial")
    error_code = import_module("kio.schema.errors").ErrorCode
    api, kind = snake_case(workload.message).rsplit("_", 1)
    module = import_module(f"kio.schema.{api}.v{workload.version}.{kind}")
    message_class = getattr(module, workload.message)

    def constructor(path: tuple[str, ...]) -> Constructor:
        struct_class = getattr(module, path[-1]) if path else message_class
        types = {field.name: field.metadata.get("kafka_type") for field in fields(struct_class)}
        keywords = {f"{name}_ms": name for name in types}

        def converted(name: str, value: Value) -> object:
            kafka_type = types[name if name in types else name.removesuffix("_ms")]
            if isinstance(value, list):
                return tuple(value)
            if kafka_type == "error_code":
                return error_code(value)
            if kafka_type == "timedelta_i32" and isinstance(value, int):
                return timedelta(milliseconds=value)
            return value  # kio's BrokerId, i32 and Records return a valid plain value unchanged

        return Constructor(struct_class, keywords, converted)

    built = building(workload, constructor, sequence="tuple([{}])".format)
    encode = "stream = BytesIO(); write(stream, message); data = stream.getvalue()"
    return Case(
        message=built.message,
        decode="message, size = read(data, 0)",
        encode=encode,
        names={
            **built.names,
            "read": serial.entity_reader(message_class),
            "write": serial.entity_writer(message_class),
            "BytesIO": BytesIO,
        },
        more={"build+encode": f"{built.statement}; {encode}"},
    )
