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
    encode = f"data = message.write({workload.version})"
    return Case(
        message=built.message,
        decode=f"message = {workload.message}.read(data, {workload.version})",
        encode=encode,
        names={**built.names, workload.message: message_class},
        more={"build+encode": f"{built.statement}; {encode}"},
    )
