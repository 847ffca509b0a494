"""One Spark session for all tests; without PySpark there is none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = ("pyspark", "kafka_messages_spark", "pyarrow", "numpy")
collect_ignore_glob = [] if all(map(find_spec, NEEDED)) else ["test_[!i]*.py", "test_internal*.py"]
"""Without PySpark only test_installed.py is left, which says so."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session of Spark classic with two cores, as a test suite should have it: nothing listens outside."""
    from kafka_messages_spark.java import ensure_java
    from pyspark.sql import SparkSession

    ensure_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("tests/pipeline")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
