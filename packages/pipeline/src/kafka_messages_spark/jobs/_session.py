"""Spark session of a job."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from kafka_messages_spark.java import ensure_java, write_launcher

_LOGGING = Path(__file__).with_name("log4j2.properties")
# Environment variables that configure how Spark starts and logs.
_ENVIRONMENT = {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"}


def is_elsewhere() -> bool:
    return "SPARK_REMOTE" in os.environ or bool(is_remote())


def is_ours() -> bool:
    return not (is_elsewhere() or SparkSession.getActiveSession() is not None or _ENVIRONMENT & os.environ.keys())


def start(name: str, settings: Mapping[str, str], java: str = "") -> SparkSession:
    ensure_java()
    builder = SparkSession.builder.appName(f"kafka {name}")
    if not is_ours():
        return builder.getOrCreate()
    for key, value in settings.items():
        builder = builder.config(key, value)
    if _LOGGING.exists():  # missing in a zip
        java = f'{java} "-Dlog4j2.configurationFile={_LOGGING.as_uri()}"'
    if java:
        builder = builder.config("spark.driver.extraJavaOptions", java.strip())
    with _quiet_java():
        return builder.getOrCreate()


@contextmanager
def _quiet_java() -> Iterator[None]:
    home = os.environ.get("JAVA_HOME", "")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if os.name != "posix" or java is None:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="java-") as folder:
        write_launcher(Path(folder, "bin", "java"), Path(java))
        os.environ["JAVA_HOME"] = folder
        try:
            yield
        finally:
            del os.environ["JAVA_HOME"]
            if home:
                os.environ["JAVA_HOME"] = home
