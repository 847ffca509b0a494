"""kafka-python: classes made at run time from the definitions, codec functions compiled on first use."""

from __future__ import annotations

from functools import reduce
from importlib import import_module

from codec import Case, construct
from workloads import NO_OPERATIONS, Workload

DISTRIBUTION = "kafka-python"

MODULES = {
    "ApiVersionsRequest": "kafka.protocol.metadata",
    "FetchResponse": "kafka.protocol.consumer",
    "JoinGroupResponse": "kafka.protocol.consumer",
    "MetadataResponse": "kafka.protocol.metadata",
    "OffsetCommitRequest": "kafka.protocol.consumer",
    "ProduceRequest": "kafka.protocol.producer",
}


def prepare(workload: Workload) -> Case:
    """Build the message and name the calls: ``Message.decode(data, version=…)`` and ``message.encode()``.

    The latter gives a ``bytearray``; that is what kafka-python itself sends, so no conversion is measured.
    """
    # Imported by name because kafka-python is only present in the worker's environment, not in the type checker's.
    message_class = getattr(import_module(MODULES[workload.message]), workload.message)

    def make(path: tuple[str, ...], values: dict[str, object]) -> object:
        struct_class = reduce(getattr, path, message_class)  # structs are attributes of the class that contains them
        # Here a set of bit numbers under another name, with None for "not asked for".
        if "topic_authorized_operations" in values:
            operations = values.pop("topic_authorized_operations")
            if operations != NO_OPERATIONS:
                raise NotImplementedError(f"{operations} as a set of bit numbers")
            values["authorized_operations"] = None
        return struct_class(version=workload.version, **values)

    return Case(
        message=construct(workload, make),
        decode=f"message = {workload.message}.decode(data, version={workload.version})",
        encode="data = message.encode()",
        names={workload.message: message_class},
    )
