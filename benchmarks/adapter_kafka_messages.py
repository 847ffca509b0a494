"""Adapter of the generated package in pure Python."""

from __future__ import annotations

from importlib import import_module

from building import Constructor, building
from codec import Case
from workloads import Workload, snake_case

DISTRIBUTION = "kafka-messages"


def prepare(workload: Workload) -> Case:
    # Imported by name, as type checkers lack the package.
    message_class = getattr(import_module("kafka_messages"), workload.message)
    module = import_module(f"kafka_messages.messages.{snake_case(workload.message)}")

    def constructor(path: tuple[str, ...]) -> Constructor:
        return Constructor(getattr(module, path[-1]) if path else message_class)

    built = building(workload, constructor)
    protocol = import_module("kafka_messages.protocol")
    version = workload.version
    if workload.message.endswith("Request"):
        with_header = f"encode_request(message, {version}, 7, 'benchmark', framed=False)"
        without_header = "decode_request(with_header).message"
    else:
        with_header = f"encode_response(message, {version}, 7, framed=False)"
        without_header = f"decode_response(with_header, {workload.message}, {version}).message"
    names = {**built.names, **vars(protocol), workload.message: message_class}
    names["with_header"] = eval(with_header, {**names, "message": built.message})
    encode = f"data = message.write({version})"
    return Case(
        message=built.message,
        decode=f"message = {workload.message}.read(data, {version})",
        encode=encode,
        names=names,
        more={
            "build": built.statement,
            "build+encode": f"{built.statement}; {encode}",
            "decode+header": f"message = {without_header}",
            "encode+header": f"data = {with_header}",
        },
    )
