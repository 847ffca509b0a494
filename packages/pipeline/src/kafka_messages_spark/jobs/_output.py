"""Output of jobs: report files, and tables in a folder or in a catalog such as Iceberg or Unity.

Several jobs write the table ``unreadable`` of corrupt batches, records and checkpoint files.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.jobs._report import JobReport, JobRun
from kafka_messages_spark.sources._files import display_path, is_local, open_filesystem, write_file

if TYPE_CHECKING:
    from argparse import _ArgumentGroup

# Columns of the table ``unreadable``.
UNREADABLE = ("file", "topic", "partition", "position", "offset", "reason")


def save(report: JobReport, run: JobRun, place: str) -> None:
    filesystem, path, _ = open_filesystem(place)
    write_file(filesystem, path, _written(report, run, place).encode(errors="backslashreplace"))
    print(f"written: {display_path(place)}", file=sys.stderr, flush=True)


def check_place(owner: str, place: str) -> None:
    """Raise PySparkValueError if a local report file cannot be written."""
    filesystem, path, _ = open_filesystem(place, owner)
    if not is_local(filesystem):
        return
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise invalid_argument(f"{owner}: --report: folder not found: {folder}")
    if os.path.isdir(path):
        raise invalid_argument(f"{owner}: --report: {path} is a folder, but must be a file")
    places = (folder, path) if os.path.isfile(path) or not os.path.exists(path) else (path,)  # no pipe is replaced
    if not all(os.access(each, os.W_OK) for each in places if os.path.exists(each)):
        raise invalid_argument(f"{owner}: --report: no permission to write {path}")


def is_page(place: str) -> bool:
    return place.endswith((".html", ".htm"))


def is_openmetrics(place: str) -> bool:
    return place.endswith(".prom")


def inputs(args: Namespace) -> dict[str, object]:

    def formatted(value: object) -> object:
        if isinstance(value, list):
            return [formatted(each) for each in value]
        return display_path(value) if isinstance(value, str) else value

    return {name: formatted(value) for name, value in sorted(vars(args).items())}


def _written(report: JobReport, run: JobRun, place: str) -> str:
    if is_page(place):
        return report.html(run)
    if place.endswith(".json"):
        return report.json(run)
    if is_openmetrics(place):
        return report.openmetrics(run)
    return report.markdown() if place.endswith(".md") else report.text()


def add_arguments(out: _ArgumentGroup) -> None:
    out.add_argument("--output", metavar="URI", help="folder for the output tables; default: report only")
    out.add_argument("--tables", metavar="SCHEMA", help="catalog schema for the output tables, CATALOG.SCHEMA")
    out.add_argument("--format", default="parquet", help="format of the tables: parquet (default), delta, iceberg, ...")
    out.add_argument("--mode", default="errorifexists", choices=["errorifexists", "overwrite", "append", "ignore"])


def check_tables(owner: str, spark: SparkSession, args: Namespace, names: Sequence[str]) -> None:
    """Raise PySparkValueError if the output tables cannot be written."""
    if args.tables is not None and not _has_schema(spark, args.tables):
        raise invalid_argument(f"{owner}: --tables: unknown schema {args.tables!r}; create the schema first")
    if (args.output or args.tables) and not _has_format(spark, args.format):
        raise invalid_argument(f"{owner}: --format: unknown format {args.format!r}")
    if args.mode != "errorifexists":
        return
    hint = "choose another place, or use --mode overwrite, append or ignore"
    if args.output and _is_there(spark, args.output):
        for place in (f"{args.output.rstrip('/')}/{name}" for name in names):
            if _is_there(spark, place):
                raise invalid_argument(f"{owner}: --output: {display_path(place)} exists; {hint}")
    for table in (f"{args.tables}.{name}" for name in names if args.tables):
        if spark.catalog.tableExists(table):
            raise invalid_argument(f"{owner}: --tables: the table {table} exists; {hint}")


def _has_schema(spark: SparkSession, schema: str) -> bool:
    try:
        return bool(spark.catalog.databaseExists(schema))
    except PySparkException:  # no such catalog, or invalid name
        return False


def _has_format(spark: SparkSession, name: str) -> bool:
    try:
        _ = spark.read.format(name).load().schema
    except Exception as error:  # not a PySparkException on classic Spark; known formats without a path raise, too
        return "DATA_SOURCE_NOT_FOUND" not in str(error)
    return True


def _is_there(spark: SparkSession, place: str) -> bool:
    try:
        _ = spark.read.format("text").load(place).schema
    except PySparkException:
        return False
    return True


def writers(name: str, df: DataFrame, args: Namespace) -> Iterator[tuple[str, Callable[[], None]]]:
    mode = "error" if args.mode == "errorifexists" else args.mode  # Spark Connect accepts only this name
    writer = df.write.format(args.format).mode(mode)
    if args.output:
        place = f"{args.output.rstrip('/')}/{name}"
        yield display_path(place), partial(writer.save, place)
    if args.tables:
        table = f"{args.tables}.{name}"
        yield table, partial(writer.saveAsTable, table)


def corrupt_batches(batches: DataFrame) -> DataFrame:
    offset = F.lit(None).cast("long").alias("offset")
    reason = F.col("corrupt.reason").alias("reason")
    return batches.where("corrupt is not null").select("file", "topic", "partition", "position", offset, reason)


def bad_records(records: DataFrame) -> DataFrame:
    file = F.col("file") if "file" in records.columns else F.lit(None).cast("string").alias("file")
    return records.where("corrupt is not null or problem is not null").select(
        file,
        "topic",
        "partition",
        F.col("corrupt.position").alias("position"),
        "offset",
        F.coalesce("corrupt.reason", "problem").alias("reason"),
    )


def damaged_checkpoints(checkpoints: DataFrame) -> DataFrame:
    nowhere = [F.lit(None).cast("long").alias(name) for name in ("position", "offset")]
    problem = F.col("problem").alias("reason")
    return checkpoints.where("problem is not null").select("file", "topic", "partition", *nowhere, problem)
