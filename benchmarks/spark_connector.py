"""Compare ``kafka_log`` with Spark's own Kafka connector on topics of a real broker.

    python benchmarks/spark_connector.py [--quick] [--samples N] [--records N] [--topics 64,4096] [--output FILE]

All sources read a topic alternately in one Spark session (``local[2]``); prepared rows are the lower bound for
``kafka_log``. CPU excludes the broker. Ratios are the connector's time divided by the source's. Needs Maven and a JDK.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING

from markdown import number, table
from segment_files import Shape
from spark_runs import COLUMNS, Query, Sample, measure, schema
from spark_session import local_session

if TYPE_CHECKING:
    from kafka_messages.messages.produce_request import PartitionProduceData
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSourceReader
    from pyspark.sql.types import StructType

    from tests.interop.wire import Connection

ROOT = Path(__file__).resolve().parents[1]
PEER, LOG, PURE, FLOOR = "kafka", "kafka_log", "kafka_log, without the core", "prepared rows"
PARTITIONS = 4
# Distinct batches of a topic; further ones repeat them.
DISTINCT = 200
LEADER_SECONDS = 60
# Time for the broker to finish the work on new records.
SETTLE_SECONDS = 3
HEADER = ("values", "way", "wall s", "CPU s", "of it Python", "µs CPU a record", f"records per CPU s, {PEER} = 1")


@dataclass(frozen=True)
class Topic:
    shape: Shape
    share: float
    """Number of records per record of ``--records``."""

    @property
    def name(self) -> str:
        return f"values-{self.shape.value}"

    def batches(self, records: int) -> int:
        return max(1, int(records * self.share) // (PARTITIONS * self.shape.records))


TOPICS = {str(shape.value): Topic(shape, share) for shape, share in ((Shape(200, 64), 1.0), (Shape(4, 4096), 1 / 32))}


def fill(connection: Connection, topic: Topic, batches: int) -> int:
    """Create a topic, write ``batches`` batches to each partition, and return the number of records."""
    from kafka_messages import CreateTopicsRequest, CreateTopicsResponse
    from kafka_messages.messages.create_topics_request import CreatableTopic
    from kafka_messages.messages.produce_request import PartitionProduceData

    from tests.interop.wire import accept

    made = CreateTopicsRequest(
        topics=[CreatableTopic(name=topic.name, num_partitions=PARTITIONS, replication_factor=1)]
    )
    for result in connection.ask(made, 7, CreateTopicsResponse).topics:
        accept(made, result.error_code)
    random = Random(1)
    distinct = [topic.shape.batch(random) for _ in range(min(DISTINCT, batches))]
    for at in range(batches):
        parts = [
            PartitionProduceData(index=index, records=distinct[(at + index) % len(distinct)])
            for index in range(PARTITIONS)
        ]
        write(connection, topic, parts)
    return batches * PARTITIONS * topic.shape.records


def write(connection: Connection, topic: Topic, parts: Sequence[PartitionProduceData]) -> None:
    from kafka_messages import ProduceRequest, ProduceResponse
    from kafka_messages.messages.produce_request import TopicProduceData
    from kafka_messages.protocol import ErrorCode

    from tests.interop.wire import PRODUCE_VERSION, accept

    deadline = time.monotonic() + LEADER_SECONDS
    while parts:
        data = [TopicProduceData(name=topic.name, partition_data=list(parts))]
        request = ProduceRequest(acks=1, timeout_ms=10_000, topic_data=data)
        (answer,) = connection.ask(request, PRODUCE_VERSION, ProduceResponse).responses
        codes = {written.index: written.error_code for written in answer.partition_responses}
        for code in codes.values():
            late = code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            if not late or time.monotonic() > deadline:
                accept(request, code)
        if parts := [part for part in parts if codes[part.index]]:
            time.sleep(0.1)


def register_all(spark: SparkSession) -> None:
    import ready_batches
    from kafka_messages import implementation
    from pyspark import cloudpickle

    from kafka_messages_spark import register
    from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource

    class PureLog(KafkaLogDataSource):
        @classmethod
        def name(cls) -> str:
            return "kafka_log_pure"

        def reader(self, schema: StructType) -> DataSourceReader:
            if implementation() != "pure":
                raise ValueError("the workers use the native core despite KAFKA_MESSAGES_NATIVE=0")
            return super().reader(schema)

    if implementation() != "native":
        raise SystemExit("the native core is not installed: pip install ./packages/native")
    cloudpickle.register_pickle_by_value(ready_batches)  # workers cannot import it
    register(spark)
    spark.dataSource.register(ready_batches.ReadyBatches)
    environment = spark.sparkContext.environment
    environment["KAFKA_MESSAGES_NATIVE"] = "0"  # sources registered with it have their own workers
    spark.dataSource.register(PureLog)
    del environment["KAFKA_MESSAGES_NATIVE"]


def queries(spark: SparkSession, logs: Path, topic: Topic, records: int, bootstrap: str) -> dict[str, Query]:
    def connector() -> DataFrame:
        reader = spark.read.format("kafka").options(subscribe=topic.name, startingOffsets="earliest")
        return reader.option("kafka.bootstrap.servers", bootstrap).load()

    def log(name: str) -> Query:
        return lambda: spark.read.format(name).schema(schema(*COLUMNS)).load(f"{logs}/{topic.name}-*")

    def ready() -> DataFrame:
        one = min((logs / f"{topic.name}-0").glob("*.log"))
        reader = spark.read.format("ready_batches").schema(schema(*COLUMNS))
        return reader.options(path=str(one), rows=records // PARTITIONS, partitions=PARTITIONS).load()

    return {PEER: connector, LOG: log("kafka_log"), PURE: log("kafka_log_pure"), FLOOR: ready}


def check(found: Mapping[str, Query], records: int) -> None:
    from pyspark.sql import functions as F

    digest = F.sum(F.xxhash64(*COLUMNS).cast("decimal(38,0)"))
    seen = {name: found[name]().select(F.count("*"), digest).collect()[0] for name in found}
    if any(row[0] != records for row in seen.values()) or len({seen[name][1] for name in (PEER, LOG, PURE)}) != 1:
        raise SystemExit(f"{records} records were written; rows and their sums are {seen}")


def rows(measured: Mapping[str, Sequence[Sample]], topic: Topic, records: int) -> Iterator[Sequence[str]]:
    for name, samples in measured.items():
        wall, cpu, python = (median(getattr(one, what) for one in samples) for what in ("wall", "cpu", "python"))
        ratio = median(peer.cpu / own.cpu for own, peer in zip(samples, measured[PEER], strict=True))
        title = f"{topic.shape.value:,} B, {records:,} records"
        yield title, name, *map(number, (wall, cpu, python, cpu / records * 1e6, ratio))


def measured(arguments: Namespace, work: Path) -> Iterator[Sequence[str]]:
    sys.path.append(str(ROOT))  # reuses the broker of the tests
    from tests.interop.broker import running
    from tests.interop.kafka import Java, jars
    from tests.interop.make import WORK
    from tests.interop.wire import Connection

    connector = ",".join(map(str, jars("spark", WORK / "spark")))
    java = Java.prepare(WORK)
    with running(java, work) as broker, local_session("kafka", connector) as spark:
        register_all(spark)
        for topic in (TOPICS[name] for name in arguments.topics):
            with Connection(broker.port) as connection:
                print(f"filling {topic.name}", file=sys.stderr)
                records = fill(connection, topic, topic.batches(arguments.records))
                time.sleep(SETTLE_SECONDS)
            found = queries(spark, broker.logs, topic, records, broker.bootstrap)
            print(f"measuring {topic.name}", file=sys.stderr)
            check(found, records)
            yield from rows(measure(found, arguments.samples, beside=broker.process.pid), topic, records)


def installed_versions() -> str:
    names = ("pyspark", "pyarrow", "numpy", "crc32c")
    return ", ".join((f"Python {sys.version.split()[0]}", *(f"{name} {version(name)}" for name in names)))


def parse(argv: Sequence[str]) -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the records, two rounds: a minute or two")
    parser.add_argument("--samples", type=int, help="rounds (default 5)")
    parser.add_argument("--records", type=int, help="number of 64-byte values (default 10,000,000); a 32nd for 4 KiB")
    parser.add_argument("--topics", default=",".join(TOPICS), help="value sizes in bytes, separated by commas")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there too")
    arguments = parser.parse_args(argv)
    arguments.samples = arguments.samples or (2 if arguments.quick else 5)
    arguments.records = arguments.records or (1_000_000 if arguments.quick else 10_000_000)
    arguments.topics = arguments.topics.split(",")
    if unknown := [name for name in arguments.topics if name not in TOPICS]:
        parser.error(f"there is no topic {unknown[0]}; there are {', '.join(TOPICS)}")
    return arguments


def main(argv: Sequence[str]) -> None:
    arguments = parse(argv)
    with tempfile.TemporaryDirectory() as work:
        report = [*table(HEADER, [*measured(arguments, Path(work))], texts=2)]
    command = shlex.join(["python", "benchmarks/spark_connector.py", *argv])
    report += ["", f"`{command}`: {installed_versions()}, `local[2]`, {arguments.samples} rounds."]
    print("\n".join(report))
    if arguments.output:
        arguments.output.write_text("\n".join(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
