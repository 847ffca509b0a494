"""Measure ``from_kafka`` and ``decode`` on Spark side by side with Spark's own ``from_avro`` and a row-by-row ``udf``.

    python benchmarks/spark_functions.py [--samples N] [--rows N] [--jars SPARK_AVRO_JAR] [--output FILE]

The same values are written once as Kafka messages and once as Avro, by Spark, to Parquet files; every way decodes them
to the same struct, which is checked, and gives it to Spark's ``noop`` sink. Samples are taken in turns, the order rotating
from round to round; a ratio is the median of the ratios to ``from_avro`` within a round. CPU is that of the JVM and all
Python workers. The jar of from_avro comes from Maven Central unless ``--jars`` names it.
"""

from __future__ import annotations

import os
import shlex
import statistics
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kafka_messages
import pyarrow as pa
from kafka_messages import arrow
from kafka_messages_spark import decode, from_kafka, schema_of_kafka
from markdown import number, table
from process_tree import cpu_seconds
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro
from pyspark.sql.types import ArrayType, DataType, StructType
from rounds import rotated
from spark_session import local_session

PEER, SCAN = "from_avro", "scan only"
DISTINCT = 20_000
"""Different rows of a workload; the others are the same again."""
Way = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Workload:
    """A message, its version, how many rows of it for a thousand of the option, and the row with a number."""

    title: str
    message: str
    version: int
    share: float
    row: Callable[[int], dict[str, Any]]
    avro: str
    fields: str = ""
    by_row: bool = False
    """Also row by row, which takes minutes where there are millions of rows."""

    @property
    def options(self) -> dict[str, str]:
        """Those of ``from_kafka``: the fields that this version has, where other versions have more."""
        return {"fields": self.fields} if self.fields else {}


def heartbeat(at: int) -> dict[str, Any]:
    """A flat record: three texts, one of them null in half of the rows, and a number."""
    instance = f"instance-{at % 97}" if at % 2 else None
    ids = {"group_id": f"billing-{at % 1009}", "member_id": f"consumer-{at % 5003}-5f1c7a"}
    return ids | {"generation_id": at % 65536, "group_instance_id": instance}


def acl_filter(at: int) -> dict[str, Any]:
    """A flat record: three texts that may be null, and four small numbers."""
    name = f"orders-{at % 300}" if at % 3 else None
    texts = {"resource_name_filter": name, "principal_filter": f"User:app-{at % 1000}", "host_filter": "10.0.0.7"}
    return texts | {"resource_type_filter": 2, "pattern_type_filter": 3, "operation": at % 12, "permission_type": 1}


def token(at: int) -> dict[str, Any]:
    """A wide record: five texts, bytes, and five numbers."""
    owner = {"principal_type": "User", "principal_name": f"app-{at % 1000}"}
    requester = {"token_requester_principal_type": "User", "token_requester_principal_name": f"admin-{at % 7}"}
    times = {f"{what}_timestamp_ms": 1_700_000_000_000 + at for what in ("issue", "expiry", "max")}
    secret = {"token_id": f"token-{at:08d}", "hmac": at.to_bytes(8, "big") * 4}
    return owner | requester | times | secret | {"error_code": 0, "throttle_time_ms": at % 3}


def commit(at: int) -> dict[str, Any]:
    """The value of an offset commit, nearly all numbers."""
    value = {"offset": at * 31, "leader_epoch": at % 9, "metadata": "" if at % 3 else f"host-{at % 40}"}
    return value | {"commit_timestamp": 1_700_000_000_000 + at}


def offsets(at: int) -> dict[str, Any]:
    """An array of structs in an array of structs: six partitions in all."""
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
    """The text of an Avro record."""
    return f'{{"type":"record","name":"{name}","fields":[{",".join(fields)}]}}'


def field(name: str, kind: str) -> str:
    """A field of an Avro record; a kind that is a text of JSON already stays."""
    return f'{{"name":"{name}","type":{kind if kind[0] in "[{" else chr(34) + kind + chr(34)}}}'


PARTITION = record(
    "Partition",
    field("partition_index", "int"),
    field("error_code", "int"),
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


@dataclass(frozen=True)
class Sample:
    """Seconds of one run."""

    wall: float
    cpu: float


def prepare(spark: SparkSession, workload: Workload, rows: int, folder: Path) -> DataFrame:
    """The columns ``kafka`` and ``avro`` with the same values, read back from Parquet."""
    path, message = str(folder / workload.message), getattr(kafka_messages, workload.message)
    values = pa.array([workload.row(at) for at in range(DISTINCT)], pa.struct(list(arrow.schema(message))))
    data = arrow.encode(values, message, workload.version)
    seed = spark.createDataFrame([(row,) for row in data.to_pylist()], "kafka binary")
    struct = from_kafka("kafka", workload.message, workload.version, workload.options)
    encoded = seed.select("kafka", to_avro(struct, workload.avro).alias("avro"))
    encoded.crossJoin(spark.range(rows // DISTINCT)).drop("id").repartition(2).write.parquet(path)
    return spark.read.parquet(path)


def ways(workload: Workload) -> dict[str, Way]:
    """What is compared: data frame of bytes to data frame of the struct ``m``."""
    name, version, options = workload.message, workload.version, workload.options
    message = getattr(kafka_messages, name)
    kind = schema_of_kafka(name, version)

    def row(data: bytes) -> Any:
        return as_row(message.read(data, version), kind)

    by_row = F.udf(row, kind)
    rows = {"row-by-row udf": lambda df: df.select(by_row("kafka").alias("m"))} if workload.by_row else {}
    return {
        PEER: lambda df: df.select(from_avro("avro", workload.avro).alias("m")),
        "from_kafka": lambda df: df.select(from_kafka("kafka", name, version, options).alias("m")),
        "decode": lambda df: decode(df, name, version, "kafka", options, into="m", keep=[]),
        **rows,
        SCAN: lambda df: df.select("kafka"),
    }


def as_row(struct: Any, kind: StructType) -> tuple[Any, ...]:
    """A generated object as the tuple that Spark takes, arrays of structs likewise."""
    return tuple(as_value(getattr(struct, each.name), each.dataType) for each in kind.fields)


def as_value(value: Any, kind: DataType) -> Any:
    return [as_row(each, kind.elementType) for each in value] if isinstance(kind, ArrayType) else value


def checked(df: DataFrame, workload: Workload, candidates: Mapping[str, Way]) -> None:
    """End the run unless every way gives the same rows."""
    kind = schema_of_kafka(workload.message, workload.version)  # Avro has no int16: there it is an int32
    digests = {}
    for name in candidates.keys() - {SCAN}:
        text = F.to_json(F.col("m").cast(kind), {"ignoreNullFields": "false"})
        frame = candidates[name](df)
        digests[name] = frame.select(F.sum(F.xxhash64(text).cast("decimal(38,0)"))).collect()[0][0]
    if len(set(digests.values())) != 1:
        raise SystemExit(f"the ways do not give the same rows: {digests}")


def run(frame: DataFrame) -> Sample:
    """One run to the noop sink."""
    cpu, wall = cpu_seconds(os.getpid()), time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return Sample(time.perf_counter() - wall, cpu_seconds(os.getpid()) - cpu)


def measure(df: DataFrame, candidates: Mapping[str, Way], samples: int) -> Any:
    """Samples of every way, in turns, after one that warms up."""
    taken: dict[str, list[Sample]] = {name: [] for name in candidates}
    for turn in range(-2, samples):
        for name in rotated(list(candidates), turn):
            sample = run(candidates[name](df))
            if turn >= 0:
                taken[name].append(sample)
    return taken


def lines(workload: Workload, rows: int, taken: Mapping[str, Sequence[Sample]]) -> Iterator[Sequence[str]]:
    """The rows of the table for a workload."""
    peer = taken[PEER]
    for name, samples in taken.items():
        wall, cpu = (
            statistics.median(getattr(a, what) / getattr(b, what) for a, b in zip(samples, peer, strict=True))
            for what in ("wall", "cpu")
        )
        best = min(sample.wall for sample in samples)
        median_cpu = statistics.median(sample.cpu for sample in samples)
        yield workload.title, name, number(best), number(median_cpu), f"{rows / best / 1e6:.2f}", number(wall), number(
            cpu
        )


def parse(argv: Sequence[str] | None = None) -> Namespace:
    """The command line."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=5, help="rounds per workload (default 5)")
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of the flat workloads (default 5,000,000)")
    parser.add_argument("--jars", metavar="FILE", help="spark-avro's jar (default: from Maven Central)")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there too")
    return parser.parse_args(argv)


def main() -> None:
    """Build, check, measure, report."""
    arguments = parse()
    with (
        tempfile.TemporaryDirectory() as folder,
        local_session("spark-avro_2.13", arguments.jars, arguments.conf) as spark,
    ):
        report = [*table(HEADER, [*results(spark, arguments, Path(folder))], texts=2)]
        command = shlex.join(["python", "benchmarks/spark_functions.py", *sys.argv[1:]])
        report += ["", f"`{command}`, Spark {spark.version}, `local[2]`, {arguments.samples} rounds."]
    print("\n".join(report))
    if arguments.output:
        arguments.output.write_text("\n".join(report) + "\n", encoding="utf-8")


HEADER = ("record", "way", "best s", "CPU s", "M rows/s", "wall to from_avro", "CPU to from_avro")


def results(spark: SparkSession, arguments: Namespace, folder: Path) -> Iterator[Sequence[str]]:
    """The rows of the table for all workloads."""
    for workload in WORKLOADS:
        print(f"measuring {workload.title}", file=sys.stderr)
        rows = max(DISTINCT, int(arguments.rows * workload.share) // DISTINCT * DISTINCT)
        df = prepare(spark, workload, rows, folder)
        candidates = ways(workload)
        checked(df, workload, candidates)
        yield from lines(workload, rows, measure(df, candidates, arguments.samples))


if __name__ == "__main__":
    main()
