"""The tables that a job writes: files in a folder, or tables of a catalog such as those of Iceberg and Unity."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafka_messages_spark._core.errors import wrong
from kafka_messages_spark.sources._files import shown

if TYPE_CHECKING:
    from argparse import _ArgumentGroup


def add_arguments(out: _ArgumentGroup) -> None:
    """Where tables go, and as what."""
    out.add_argument("--output", metavar="URI", help="folder in which tables are written; without it: only a report")
    out.add_argument(
        "--tables", metavar="SCHEMA", help="schema of a catalog in which tables are written, CATALOG.SCHEMA"
    )
    out.add_argument("--format", default="parquet", help="format of the tables: parquet (default), delta, iceberg, ...")
    out.add_argument("--mode", default="errorifexists", choices=["errorifexists", "overwrite", "append", "ignore"])


def check(owner: str, spark: SparkSession, args: Namespace) -> None:
    """Raises PySparkValueError, before anything is read, for a schema that is not there."""
    if args.tables is None:
        return
    try:
        is_there = spark.catalog.databaseExists(args.tables)
    except PySparkException:  # no such catalog, or no name
        is_there = False
    if not is_there:
        raise wrong(f"{owner}: --tables: this session has no schema {args.tables!r}")


def writers(name: str, df: DataFrame, args: Namespace) -> Iterator[tuple[str, Callable[[], None]]]:
    """The places that a table is written to, and what writes it there."""
    mode = "error" if args.mode == "errorifexists" else args.mode  # the only name that Connect has
    writer = df.write.format(args.format).mode(mode)
    if args.output:
        place = f"{args.output.rstrip('/')}/{name}"
        yield shown(place), partial(writer.save, place)
    if args.tables:
        table = f"{args.tables}.{name}"
        yield table, partial(writer.saveAsTable, table)
