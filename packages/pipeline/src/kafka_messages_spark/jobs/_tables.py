"""Output tables in a folder or in a catalog such as Iceberg or Unity."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.sources._files import display_path

if TYPE_CHECKING:
    from argparse import _ArgumentGroup


def add_arguments(out: _ArgumentGroup) -> None:
    out.add_argument("--output", metavar="URI", help="folder for the output tables; default: report only")
    out.add_argument("--tables", metavar="SCHEMA", help="catalog schema for the output tables, CATALOG.SCHEMA")
    out.add_argument("--format", default="parquet", help="format of the tables: parquet (default), delta, iceberg, ...")
    out.add_argument("--mode", default="errorifexists", choices=["errorifexists", "overwrite", "append", "ignore"])


def check(owner: str, spark: SparkSession, args: Namespace, names: Sequence[str]) -> None:
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
