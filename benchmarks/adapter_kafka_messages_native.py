"""This project's generated package with the native core. A message that the core does not take is not measured as native."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import adapter_kafka_messages
from codec import Case
from workloads import Workload

DISTRIBUTION = "kafka-messages-native"


def prepare(workload: Workload) -> Case:
    """As the pure rendering. Raises RuntimeError where the core did not do the work."""
    case = adapter_kafka_messages.prepare(workload)
    message_class: Any = case.names[workload.message]
    message_class.read(message_class().write(workload.version), workload.version)
    core = import_module("kafka_messages_native")
    if not (isinstance(message_class.read, core.Reader) and isinstance(message_class.write, core.Writer)):
        door = import_module("kafka_messages._core.native")
        reason = door.refused().get(workload.message, f"the rendering is {door.rendering()}")
        raise RuntimeError(f"{workload.message} is not read and written by the core: {reason}")
    if declined := message_class.read.declined + message_class.write.declined:
        raise RuntimeError(f"the core declined {declined} calls for {workload.message}, which is well-formed")
    return case
