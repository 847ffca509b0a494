"""Runs in its own process: every job on Spark Connect, with a server of its own; prints exit statuses and reports as JSON."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO

from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.remote("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
logs, out = sys.argv[1:]
found = {"session": type(spark).__module__}
for name, *arguments in (
    ("transactions", logs, "--output", f"{out}/transactions"),
    ("groups", logs, "--data", logs),
    ("segments", logs, "--depth", "batches"),
    ("metadata_diff", logs, "--limit", "1"),
    ("encodings", "transaction_state", logs),
):
    printed = StringIO()
    with redirect_stdout(printed):
        status = import_module(f"kafka_messages_spark.jobs.{name}").main([*arguments, "--quiet"])
    found[name] = f"{status} {printed.getvalue()}"
found["table"] = str(spark.read.parquet(f"{out}/transactions/open_transactions").where("verdict = 'hanging'").count())
spark.stop()
print(json.dumps(found))
