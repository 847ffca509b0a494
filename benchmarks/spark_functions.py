"""Compare ``from_kafka`` and ``decode`` on Spark with Spark's own ``from_avro`` and a row-by-row ``udf``.

    python benchmarks/spark_functions.py [--quick] [--only TEXT] [--samples N] [--forks N] [--rows N] [--jars FILE]

Each function decodes the same values to the ``noop`` sink, alternately with ``from_avro`` and in its own JVM. The lower
bounds return prepared structs from an Arrow function and from ``mapInArrow``. from_avro comes from Maven Central unless
``--jars`` names it.
"""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from functools import partial
from pathlib import Path

import kafka_messages
import pyarrow as pa
import spark_workloads
from kafka_messages import arrow
from markdown import number, table
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro
from spark_runs import Sample, measure
from spark_session import local_session
from spark_workloads import FLOORS, PEER, SCAN, WORKLOADS, Workload, transformations

from kafka_messages_spark import from_kafka

# Distinct rows of a workload; further ones repeat them.
DISTINCT = 20_000
QUICK = ("from_kafka", "decode", *FLOORS)
# Rounds discarded while the JVM compiles.
WARM_UPS = 3
HEADER = (
    "record",
    "way",
    "best s",
    "from_avro best s",
    "M rows/s",
    "CPU s",
    "from_avro CPU s",
    "wall ratio",
    "CPU ratio",
)


@contextmanager
def session(arguments: Namespace) -> Iterator[SparkSession]:
    with local_session("spark-avro_2.13", arguments.jars, arguments.conf) as spark:
        spark.sparkContext.addPyFile(spark_workloads.__file__)
        yield spark


def prepare(spark: SparkSession, workload: Workload, rows: int, folder: Path) -> None:
    path, message = str(folder / workload.message), getattr(kafka_messages, workload.message)
    values = pa.array([workload.row(at) for at in range(DISTINCT)], pa.struct(list(arrow.schema(message))))
    data = arrow.encode(values, message, workload.version)
    seed = spark.createDataFrame([(row,) for row in data.to_pylist()], "kafka binary")
    struct = from_kafka("kafka", workload.message, workload.version, workload.options)
    encoded = seed.select("kafka", to_avro(struct, workload.avro).alias("avro"))
    encoded.crossJoin(spark.range(rows // DISTINCT)).drop("id").repartition(2).write.parquet(path)
    check(spark.read.parquet(path), workload)


def check(df: DataFrame, workload: Workload) -> None:
    made = transformations(workload)
    kind = made["from_kafka"](df).schema["m"].dataType  # Avro has no int16 and uses int32
    digests = {}
    for name, transformation in made.items():
        if name not in (SCAN, *FLOORS):
            text = F.to_json(F.col("m").cast(kind), {"ignoreNullFields": "false"})
            digests[name] = transformation(df).select(F.sum(F.xxhash64(text).cast("decimal(38,0)"))).collect()[0][0]
    if len(set(digests.values())) != 1:
        raise SystemExit(f"the functions return different rows: {digests}")


def measured(df: DataFrame, workload: Workload, variant: str, samples: int) -> dict[str, list[Sample]]:
    made = transformations(workload)
    return measure({name: partial(made[name], df) for name in (PEER, variant)}, samples, warm_ups=WARM_UPS)


def measured_alone(workload: Workload, variant: str, folder: Path, argv: Sequence[str]) -> dict[str, list[Sample]]:
    command = [sys.executable, __file__, *argv, "--pair", workload.title, variant, str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, timeout=1800)
    if done.returncode:
        raise SystemExit(f"measuring {variant} ended with status {done.returncode}")
    return {name: [Sample(*each) for each in samples] for name, samples in json.loads(done.stdout).items()}


def pair(arguments: Namespace) -> None:
    title, variant, folder = arguments.pair
    workload = next(each for each in WORKLOADS if each.title == title)
    with session(arguments) as spark:
        runs = measured(spark.read.parquet(f"{folder}/{workload.message}"), workload, variant, arguments.samples)
    print(json.dumps({name: [astuple(each) for each in samples] for name, samples in runs.items()}))


def results(arguments: Namespace, folder: Path, argv: Sequence[str]) -> Iterator[Sequence[str]]:
    for workload in chosen(arguments):
        for variant in (
            name for name in transformations(workload) if name != PEER and (not arguments.quick or name in QUICK)
        ):
            print(f"measuring {workload.title}, {variant}", file=sys.stderr)
            runs = [measured_alone(workload, variant, folder, argv) for _ in range(arguments.forks)]
            ours, peer = ([sample for each in runs for sample in each[name]] for name in (variant, PEER))
            row = (workload.title, variant, *figures(ours, peer, rows_of(workload, arguments.rows)))
            print(" | ".join(row), file=sys.stderr, flush=True)  # also for an interrupted run
            yield row


def chosen(arguments: Namespace) -> list[Workload]:
    return [workload for workload in WORKLOADS if arguments.only in workload.title]


def figures(samples: Sequence[Sample], peer: Sequence[Sample], rows: int) -> Iterator[str]:
    best, best_of_peer = (min(sample.wall for sample in each) for each in (samples, peer))
    yield from (number(best), number(best_of_peer), f"{rows / best / 1e6:.2f}")
    yield from (number(statistics.median(sample.cpu for sample in each)) for each in (samples, peer))
    for what in ("wall", "cpu"):
        yield number(statistics.median(getattr(a, what) / getattr(b, what) for a, b in zip(samples, peer, strict=True)))


def rows_of(workload: Workload, rows: int) -> int:
    return max(DISTINCT, int(rows * workload.share) // DISTINCT * DISTINCT)


def parse(argv: Sequence[str]) -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one round in one JVM, fewer rows, no scan, no udf")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only workloads whose title contains this, such as nested"
    )
    parser.add_argument("--samples", type=int, help="rounds per JVM (default 3)")
    parser.add_argument("--forks", type=int, help="JVMs per function (default 3)")
    parser.add_argument("--rows", type=int, help="rows of the flat workloads (default 5,000,000)")
    parser.add_argument("--jars", metavar="FILE", help="spark-avro's jar (default: from Maven Central)")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there too")
    parser.add_argument("--pair", nargs=3, help=SUPPRESS)
    arguments = parser.parse_args(argv)
    arguments.samples = arguments.samples or (1 if arguments.quick else 3)
    arguments.forks = arguments.forks or (1 if arguments.quick else 3)
    arguments.rows = arguments.rows or (500_000 if arguments.quick else 5_000_000)
    if not chosen(arguments):
        parser.error(f"no workload has {arguments.only!r} in its title")
    return arguments


def main(argv: Sequence[str]) -> None:
    arguments = parse(argv)
    if arguments.pair:
        pair(arguments)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with session(arguments) as spark:
            version = spark.version
            for workload in chosen(arguments):
                prepare(spark, workload, rows_of(workload, arguments.rows), folder)
        report = [*table(HEADER, [*results(arguments, folder, argv)], texts=2)]
    command = shlex.join(["python", "benchmarks/spark_functions.py", *argv])
    report += [
        "",
        f"`{command}`, Spark {version}, `local[2]`, {arguments.forks} JVMs, {arguments.samples} rounds in each.",
    ]
    print("\n".join(report))
    if arguments.output:
        arguments.output.write_text("\n".join(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
