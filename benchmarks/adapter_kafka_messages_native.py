"""Adapter of the generated package with the native core."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import adapter_kafka_messages
from codec import Case
from workloads import Workload

DISTRIBUTION = "kafka-messages-native"


def prepare(workload: Workload) -> Case:
    """Return the case; raise RuntimeError if the core does not support the message."""
    case = adapter_kafka_messages.prepare(workload)
    message_class: Any = case.names[workload.message]
    message_class.read(message_class().write(workload.version), workload.version)
    core = import_module("kafka_messages_native")
    if not isinstance(message_class.read, core.Reader):
        native = import_module("kafka_messages._core.native")
        reason = native.refused.get(workload.message, native.reason)
        raise RuntimeError(f"{workload.message} is not read and written by the core: {reason}")
    if declined := message_class._native.declined:
        raise RuntimeError(f"the core declined {declined} calls for {workload.message}, which is well-formed")
    return case
