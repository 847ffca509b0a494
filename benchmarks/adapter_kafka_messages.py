"""This project's generated package, in any of its builds."""

from __future__ import annotations

from importlib import import_module

from codec import Case, construct
from workloads import Workload, snake_case

DISTRIBUTION = "kafka-messages"


def prepare(workload: Workload) -> Case:
    """Build the message and name the calls: ``Message.read(data, version)`` and ``message.write(version)``."""
    # Imported by name because the package is only present in the worker's environment, not in the type checker's.
    message_class = getattr(import_module("kafka_messages"), workload.message)
    module = import_module(f"kafka_messages.messages.{snake_case(workload.message)}")

    def make(path: tuple[str, ...], values: dict[str, object]) -> object:
        struct_class = getattr(module, path[-1]) if path else message_class
        return struct_class(**values)

    return Case(
        message=construct(workload, make),
        decode=f"message = {workload.message}.read(data, {workload.version})",
        encode=f"data = message.write({workload.version})",
        names={workload.message: message_class},
    )
