"""Workloads of the Spark functions, as Kafka and as Avro."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import kafka_messages
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import ArrayType, DataType, StructType

from kafka_messages_spark import decode, from_kafka, schema_of_kafka
from kafka_messages_spark._core.options import DecodeOptions
from kafka_messages_spark._core.spark_types import struct_type
from kafka_messages_spark.columns._codec import MessageDecoder

PEER, SCAN = "from_avro", "scan only"
# An Arrow function and ``mapInArrow`` that return prepared structs of the same shape.
FLOORS = ("floor of from_kafka", "floor of decode")
Transformation = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Workload:
    title: str
    message: str
    version: int
    share: float
    row: Callable[[int], dict[str, Any]]
    avro: str
    fields: str = ""
    by_row: bool = False
    """True to measure the slow row-by-row ``udf`` too."""

    @property
    def options(self) -> dict[str, str]:
        """Return the option ``fields`` of this version, if other versions have more."""
        return {"fields": self.fields} if self.fields else {}


def heartbeat(at: int) -> dict[str, Any]:
    instance = f"instance-{at % 97}" if at % 2 else None
    ids = {"group_id": f"billing-{at % 1009}", "member_id": f"consumer-{at % 5003}-5f1c7a"}
    return ids | {"generation_id": at % 65536, "group_instance_id": instance}


def acl_filter(at: int) -> dict[str, Any]:
    name = f"orders-{at % 300}" if at % 3 else None
    texts = {"resource_name_filter": name, "principal_filter": f"User:app-{at % 1000}", "host_filter": "10.0.0.7"}
    return texts | {"resource_type_filter": 2, "pattern_type_filter": 3, "operation": at % 12, "permission_type": 1}


def token(at: int) -> dict[str, Any]:
    owner = {"principal_type": "User", "principal_name": f"app-{at % 1000}"}
    requester = {"token_requester_principal_type": "User", "token_requester_principal_name": f"admin-{at % 7}"}
    times = {f"{what}_timestamp_ms": 1_700_000_000_000 + at for what in ("issue", "expiry", "max")}
    secret = {"token_id": f"token-{at:08d}", "hmac": at.to_bytes(8, "big") * 4}
    return owner | requester | times | secret | {"error_code": 0, "throttle_time_ms": at % 3}


def commit(at: int) -> dict[str, Any]:
    value = {"offset": at * 31, "leader_epoch": at % 9, "metadata": "" if at % 3 else f"host-{at % 40}"}
    return value | {"commit_timestamp": 1_700_000_000_000 + at}


def offsets(at: int) -> dict[str, Any]:
    topics = [
        {
            "name": f"orders-{(at + n) % 211}",
            "partitions": [
                {
                    "partition_index": p,
                    "error_code": 0,
                    "timestamp": 1_700_000_000_000 + at,
                    "offset": at * p,
                    "leader_epoch": at % 9,
                }
                for p in range(2 + 2 * n)
            ],
        }
        for n in range(2)
    ]
    return {"throttle_time_ms": at % 5, "topics": topics}


def record(name: str, *fields: str) -> str:
    return f'{{"type":"record","name":"{name}","fields":[{",".join(fields)}]}}'


def field(name: str, kind: str) -> str:
    return f'{{"name":"{name}","type":{kind if kind[0] in "[{" else chr(34) + kind + chr(34)}}}'


PARTITION = record(
    "Partition",
    field("partition_index", "int"),
    field("error_code", "int"),
    field("old_style_offsets", '["null",{"type":"array","items":"long"}]'),  # version 0
    field("timestamp", "long"),
    field("offset", "long"),
    field("leader_epoch", "int"),
)
TOPIC = record("Topic", field("name", "string"), field("partitions", f'{{"type":"array","items":{PARTITION}}}'))
TEXT_OR_NULL = '["null","string"]'
WORKLOADS = (
    Workload(
        "4 fields: HeartbeatRequest v4",
        "HeartbeatRequest",
        4,
        1,
        heartbeat,
        record(
            "HeartbeatRequest",
            field("group_id", "string"),
            field("generation_id", "int"),
            field("member_id", "string"),
            field("group_instance_id", TEXT_OR_NULL),
        ),
    ),
    Workload(
        "7 fields: DescribeAclsRequest v3",
        "DescribeAclsRequest",
        3,
        1,
        acl_filter,
        record(
            "DescribeAclsRequest",
            field("resource_type_filter", "int"),
            field("resource_name_filter", TEXT_OR_NULL),
            field("pattern_type_filter", "int"),
            field("principal_filter", TEXT_OR_NULL),
            field("host_filter", TEXT_OR_NULL),
            field("operation", "int"),
            field("permission_type", "int"),
        ),
    ),
    Workload(
        "11 fields: CreateDelegationTokenResponse v3",
        "CreateDelegationTokenResponse",
        3,
        1,
        token,
        record(
            "CreateDelegationTokenResponse",
            field("error_code", "int"),
            field("principal_type", "string"),
            field("principal_name", "string"),
            field("token_requester_principal_type", "string"),
            field("token_requester_principal_name", "string"),
            field("issue_timestamp_ms", "long"),
            field("expiry_timestamp_ms", "long"),
            field("max_timestamp_ms", "long"),
            field("token_id", "string"),
            field("hmac", "bytes"),
            field("throttle_time_ms", "int"),
        ),
    ),
    Workload(
        "4 fields: OffsetCommitValue v3",
        "OffsetCommitValue",
        3,
        1,
        commit,
        record(
            "OffsetCommitValue",
            field("offset", "long"),
            field("leader_epoch", "int"),
            field("metadata", "string"),
            field("commit_timestamp", "long"),
        ),
        "offset,leader_epoch,metadata,commit_timestamp",
    ),
    Workload(
        "nested: ListOffsetsResponse v7",
        "ListOffsetsResponse",
        7,
        0.2,
        offsets,
        record(
            "ListOffsetsResponse",
            field("throttle_time_ms", "int"),
            field("topics", f'{{"type":"array","items":{TOPIC}}}'),
        ),
        by_row=True,
    ),
)


def transformations(workload: Workload) -> dict[str, Transformation]:
    name, version, options = workload.message, workload.version, workload.options
    message = getattr(kafka_messages, name)
    kind, known = schema_of_kafka(name), schema_of_kafka(name, version)

    def row(data: bytes) -> Any:
        return as_row(message.read(data, version), kind, known)

    by_row = F.udf(row, kind)
    rows = {"row-by-row udf": lambda df: df.select(by_row("kafka").alias("m"))} if workload.by_row else {}
    return {
        PEER: lambda df: df.select(from_avro("avro", workload.avro).alias("m")),
        "from_kafka": lambda df: df.select(from_kafka("kafka", name, version, options).alias("m")),
        "decode": lambda df: decode(df, name, version, "kafka", options, into="m", keep=[]),
        **rows,
        FLOORS[0]: ready_function(workload),
        FLOORS[1]: ready_batches(workload),
        SCAN: lambda df: df.select("kafka"),
    }


class Ready:
    def __init__(self, workload: Workload) -> None:
        fields = tuple(workload.fields.split(",")) if workload.fields else ()
        self._decoding = MessageDecoder(workload.message, workload.version, DecodeOptions(fields=fields))
        self.type = struct_type(self._decoding.type())
        self._structs: pa.StructArray | None = None

    def structs(self, data: pa.Array) -> pa.StructArray:
        if self._structs is None or len(self._structs) < len(data):
            self._structs = self._decoding.decode(data)
        return self._structs.slice(0, len(data))


def ready_function(workload: Workload) -> Transformation:
    ready = Ready(workload)

    def function(data: pa.Array) -> pa.Array:
        return ready.structs(data)

    udf: Any = arrow_udf  # its annotation does not include structs
    return lambda df: df.select(udf(function, returnType=ready.type)("kafka").alias("m"))


def ready_batches(workload: Workload) -> Transformation:
    ready = Ready(workload)

    def function(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([ready.structs(batch.column(0))], ["m"])

    return lambda df: df.select("kafka").mapInArrow(function, StructType().add("m", ready.type))


def as_row(struct: Any, kind: StructType, known: StructType) -> tuple[Any, ...]:
    """Return an object as a tuple for Spark, with null for fields that are not in ``known``."""
    return tuple(
        (
            as_value(getattr(struct, each.name), each.dataType, known[each.name].dataType)
            if each.name in known.names
            else None
        )
        for each in kind.fields
    )


def as_value(value: Any, kind: DataType, known: Any) -> Any:
    if isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType):
        return [as_row(each, kind.elementType, known.elementType) for each in value]
    return value
