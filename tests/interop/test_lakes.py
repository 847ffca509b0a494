"""Tables that jobs write in Delta and Iceberg, with the newest Spark that both projects support."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.interop.kafka import ROOT, jars

SECONDS = 900
SPARK = "pyspark~=4.1.0"
LOGS = ROOT / "examples" / "cluster" / "logs"
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
)
SCRIPT = """
import json
import sys

from kafka_messages_spark.jobs import groups, transactions
from pyspark.sql import SparkSession

logs, folder = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
written = {}
for job in (transactions, groups):
    kind = job.__name__.rpartition(".")[2]
    spark.sql(f"CREATE NAMESPACE lake.{kind}")
    ways = {
        "parquet": ["--output", f"{folder}/parquet/{kind}"],
        "delta": ["--output", f"{folder}/delta/{kind}", "--format", "delta"],
        "iceberg": ["--tables", f"lake.{kind}", "--format", "iceberg"],
    }
    for way in ways.values():
        assert job.main([logs, *way, "--exit-zero", "--quiet"]) == 0
    assert job.main([logs, *ways["delta"], "--exit-zero", "--quiet"]) == 2, "tables that are there are not written over"
    assert job.main([logs, *ways["iceberg"], "--exit-zero", "--quiet"]) == 2, "tables that are there are not written over"
    assert job.main([logs, *ways["iceberg"], "--exit-zero", "--quiet", "--mode", "overwrite"]) == 0
    for name in (row.tableName for row in spark.sql(f"SHOW TABLES IN lake.{kind}").collect()):
        read = {
            "parquet": spark.read.parquet(f"{folder}/parquet/{kind}/{name}"),
            "delta": spark.read.format("delta").load(f"{folder}/delta/{kind}/{name}"),
            "iceberg": spark.table(f"lake.{kind}.{name}"),
        }
        written[f"{kind}.{name}"] = {
            way: [found.columns, sorted(str(row) for row in found.collect())] for way, found in read.items()
        }
print("WRITTEN", json.dumps(written))
"""


def test_jobs_write_delta_and_iceberg_tables(tmp_path: Path) -> None:
    python = environment(tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [python.with_name("spark-submit"), *options(tmp_path), "script.py", LOGS, tmp_path / "tables"],
        cwd=tmp_path,
        env=variables(python),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("WRITTEN "))
    written = json.loads(line.removeprefix("WRITTEN "))
    assert {"transactions.open_transactions", "groups.offsets"} <= written.keys()
    assert any(rows for each in written.values() for _, rows in each.values())
    for name, each in written.items():
        assert each["delta"] == each["parquet"], name
        assert each["iceberg"] == each["parquet"], name


def environment(folder: Path) -> Path:
    """Return the Python of an environment with Spark, Delta and Iceberg."""
    for project in ("generated", "packages/pipeline", "packages/records"):
        shutil.copytree(ROOT / project, folder / project, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True, timeout=SECONDS)
    python = folder / "environment" / "bin" / "python"
    wanted = [SPARK, "./generated[arrow]", "./packages/records[arrow]", "./packages/pipeline"]
    subprocess.run([python, "-m", "pip", "install", "-q", *wanted], cwd=folder, check=True, timeout=SECONDS)
    return python


def options(folder: Path) -> list[str]:
    """Return the spark-submit options of both projects; the Iceberg catalog ``lake`` is a folder."""
    found = jars("lakes", ROOT / ".work" / "interop" / "lakes")
    settings = {
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
    }
    conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return ["--master", "local[2]", "--jars", ",".join(map(str, found)), *conf]


def variables(python: Path) -> dict[str, str]:
    """Return the environment variables, without those that select the current Spark."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))}
    return kept | {"SPARK_LOCAL_IP": "127.0.0.1", "PATH": f"{python.parent}:{os.environ['PATH']}"}
