"""Local Spark session with one of Spark's connectors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

WORK = Path(__file__).resolve().parent / ".venvs" / "jars"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def local_session(
    connector: str | None = None, jars: str | None = None, settings: Sequence[str] = ()
) -> Iterator[SparkSession]:
    """Start Spark on two cores with settings such as ``spark.some.name=true``, and stop it at the end."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("benchmarks")
    for name, value in [*SETTINGS.items(), *(text.split("=", 1) for text in settings)]:
        builder = builder.config(name, value)
    if connector:
        builder = builder.config("spark.jars", jars or fetched(connector))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def fetched(connector: str) -> str:
    """Return the jar of a connector, cached from Maven Central."""
    version = pyspark.__version__
    jar = WORK / f"{connector}-{version}.jar"
    if not jar.is_file():
        if shutil.which("mvn") is None:
            raise SystemExit("Maven (the command mvn) is not installed; pass the jar of Spark's connector with --jars")
        artifact = f"-Dartifact=org.apache.spark:{connector}:{version}"
        command = ["mvn", "-q", "-B", "dependency:copy", artifact, f"-DoutputDirectory={WORK}"]
        if subprocess.run(command, check=False, timeout=600, stdout=sys.stderr).returncode:
            raise SystemExit(f"Maven Central has no {connector} {version}; install a PySpark whose connector it has")
    return str(jar)
