"""Report the sizes of integer fields by encoding.

spark-submit encodings.py consumer_offsets /kafka/__consumer_offsets-* --plot offsets.svg
spark-submit encodings.py table /captures.parquet --columns api,version,body
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_messages_spark._charts.document import document
from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.analyses import encodings
from kafka_messages_spark.analyses.traffic import pair
from kafka_messages_spark.jobs import _cli, _output, _selection
from kafka_messages_spark.jobs._charts import encodings as charts
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._local_mode import Input
from kafka_messages_spark.jobs._report import size
from kafka_messages_spark.jobs.internal_topics import TOPICS
from kafka_messages_spark.sources._files import open_filesystem, write_file

TABLE, FRAMES = "table", "frames"

TABLES = ("fields", "histogram", "messages", "unreadable")


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run(
        "Integer fields and their encodings",
        _parser(),
        argv,
        work,
        reads=lambda args: [Input(args.paths, {f"__{args.what}"})] if args.what in TOPICS else [],
        writes=lambda args: TABLES,
    )


def work(job: Job) -> None:
    """Measure integer fields; malformed messages, unreadable input and differing copies are findings."""
    args, report, limit = job.args, job.report, job.args.limit
    if args.plot and not args.plot.endswith(".svg"):
        raise invalid_argument(f"{job.name}: --plot writes SVG, so the file name must end in .svg")
    measured = job.keep(_measured(job))
    job.progress("measuring integers")
    totals = job.keep(encodings.totals(measured))
    fields = job.keep(encodings.fields(measured))
    count = totals.agg(*(F.coalesce(F.sum(name), F.lit(0)) for name in ("messages", "malformed", "bytes", "smallest")))
    messages, malformed, total, smallest = count.collect()[0]
    report.facts(
        {
            "messages": messages,
            "bytes": f"{total} ({size(total)})",
            "with the smallest encodings": f"{smallest} ({100 * smallest / (total or 1):.1f} %)",
            "undecodable": malformed,
        }
    )
    job.find("undecodable", malformed, "error")
    figures = {"messages": messages, "malformed": malformed, "bytes": total, "smallest": smallest}
    report.figures |= figures
    if messages or malformed:
        report.section("Messages")
        largest = totals.orderBy(F.desc("bytes"), "message")
        report.frame(largest.withColumn("percent", F.try_divide(100.0 * F.col("smallest"), F.col("bytes"))), limit)
    best = fields.orderBy(F.desc("saved"), F.desc("defined"), "message", "path")
    if messages:
        report.section("Integer fields by savings")
        report.frame(best, limit)
    if args.plot:
        _plot(job, best, encodings.histogram(measured))
    for name, table in (("fields", fields), ("histogram", encodings.histogram(measured)), ("messages", totals)):
        job.write(name, table)


def _measured(job: Job) -> DataFrame:
    args = job.args
    if args.what in TOPICS:
        topic = f"__{args.what}"
        records = _selection.records(job, args.paths, topic, batch_metadata=True)
        job.unreadable(_output.corrupt_batches(records))
        return encodings.measure(encodings.messages_of(records.where("corrupt is null"), topic))
    if args.what == FRAMES:
        options = {"mode": "PERMISSIVE", "recursiveFileLookup": "true", "paths": json.dumps(args.paths)}
        if args.broker_ports:
            options["brokerPorts"] = args.broker_ports
        if args.glob:
            options["pathGlobFilter"] = args.glob
        frames = job.spark.read.format("kafka_frames").options(**options).load()
        job.unreadable(_no_frames(frames))
        return encodings.measure(encodings.messages_of_pairs(pair(frames)))
    columns = [name.strip() for name in args.columns.split(",")]
    if len(columns) != 3:
        raise invalid_argument(f"{job.name}: --columns must be three comma-separated names, not {args.columns!r}")
    return encodings.measure(job.spark.read.format(args.table_format).load(args.paths), *columns)


def _no_frames(frames: DataFrame) -> DataFrame:
    nulls = {"topic": "string", "partition": "int", "offset": "long"}
    gone = frames.where("frame is null").withColumns({name: F.lit(None).cast(kind) for name, kind in nulls.items()})
    return gone.withColumnRenamed("problem", "reason").select(*_output.UNREADABLE)


def _plot(job: Job, best: DataFrame, histogram: DataFrame) -> None:
    rows = [row.asDict() for row in best.limit(job.args.limit).collect()]
    chosen = best.limit(job.args.limit).select("message", "path")
    sizes: dict[tuple[str, str], dict[int, int]] = {}
    for row in histogram.where("encoding = 'packed'").join(chosen, ["message", "path"]).collect():
        sizes.setdefault((row["message"], row["path"]), {})[row["bytes"]] = row["values"]
    filesystem, path, _ = open_filesystem(job.args.plot)
    page = document("Integer fields and their encodings", charts.pictures(rows, sizes))
    write_file(filesystem, path, page.encode())
    print(f"written: {job.args.plot}", file=sys.stderr, flush=True)


def _parser() -> ArgumentParser:
    parser = _cli.parser("encodings", "Sizes of integer fields by encoding (proposal 002).")
    parser.add_argument(
        "what",
        choices=[*TOPICS, FRAMES, TABLE],
        help="records of an internal topic, captures for kafka_frames, or a table with messages",
    )
    parser.add_argument("paths", nargs="+", help="segments, captures or tables; paths or URIs")
    parser.add_argument(
        "--columns",
        default="message,version,body",
        metavar="NAMES",
        help="columns of a table with message name, version and body (message,version,body)",
    )
    parser.add_argument(
        "--table-format", default="parquet", metavar="FORMAT", help="format of the input table (parquet)"
    )
    parser.add_argument("--broker-ports", metavar="PORTS", help="broker ports of captures (9092)")
    parser.add_argument("--plot", metavar="FILE", help="write a chart of the fields to this SVG file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
