"""Spark discovers installed sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import sys
from pyspark.sql import SparkSession
from kafka_messages_spark.java import ensure_java

ensure_java()
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
spark.sql(f"CREATE TEMP VIEW log USING kafka_log OPTIONS (path '{sys.argv[1]}')")
found = [spark.table("log").count(), spark.read.format("kafka_frames").load(sys.argv[2]).count()]
from kafka_messages_spark import register

register(spark)
print(*found, spark.read.format("kafka_log").load(sys.argv[1]).count())
spark.stop()
"""


def test_installed_sources_are_discovered(tmp_path: Path) -> None:
    logs = Path(__file__).parents[2] / "examples" / "cluster" / "logs"
    (tmp_path / "a.request").write_bytes(bytes.fromhex("0000000b 0003 0001 00000007 0000 ff"))
    command = [sys.executable, "-c", CODE, str(logs / "orders-0"), str(tmp_path)]
    env = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    rows, frames, again = map(int, done.stdout.split())
    assert rows == again > 0
    assert frames == 1
