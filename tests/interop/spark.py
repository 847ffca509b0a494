"""Spark with its Kafka connector."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from .kafka import jars
from .make import WORK

OFFSETS_BY_CONSUMER = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
"""Setting that lets the connector read internal topics subscribed by name."""


def session(settings: Mapping[str, str]) -> SparkSession:
    """Return a Spark session with the connector from Maven Central."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    connector = ",".join(map(str, jars("spark", WORK / "spark")))
    builder = SparkSession.builder.master("local[2]").appName("tests/interop")
    for name, value in {**settings, "spark.jars": connector, OFFSETS_BY_CONSUMER: "true"}.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made
