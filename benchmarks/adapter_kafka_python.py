"""Adapter of kafka-python, with classes built from the definitions."""

from __future__ import annotations

from functools import reduce
from importlib import import_module

from building import Constructor, building
from codec import Case
from workloads import NO_OPERATIONS, Value, Workload

DISTRIBUTION = "kafka-python"

MODULES = {
    "ApiVersionsRequest": "kafka.protocol.metadata",
    "FetchResponse": "kafka.protocol.consumer",
    "JoinGroupResponse": "kafka.protocol.consumer",
    "MetadataResponse": "kafka.protocol.metadata",
    "OffsetCommitRequest": "kafka.protocol.consumer",
    "ProduceRequest": "kafka.protocol.producer",
}
OPERATIONS_FIELD = "topic_authorized_operations"


def prepare(workload: Workload) -> Case:
    # Imported by name, as type checkers lack the package.
    message_class = getattr(import_module(MODULES[workload.message]), workload.message)

    def constructor(path: tuple[str, ...]) -> Constructor:
        struct_class = reduce(getattr, path, message_class)  # structs are attributes of the enclosing class
        keywords = {OPERATIONS_FIELD: "authorized_operations"}
        return Constructor(struct_class, keywords, _converted, first=(f"version={workload.version}",))

    built = building(workload, constructor)
    encode = "data = message.encode()"
    return Case(
        message=built.message,
        decode=f"message = {workload.message}.decode(data, version={workload.version})",
        encode=encode,
        names={**built.names, workload.message: message_class},
        more={"build+encode": f"{built.statement}; {encode}"},
    )


def _converted(name: str, value: Value) -> object:
    if name != OPERATIONS_FIELD:
        return value
    # kafka-python uses a set of bit numbers under another name, with None for "not requested".
    if value != NO_OPERATIONS:
        raise NotImplementedError(f"{value!r} as a set of bit numbers")
    return None
