"""Data sources: ``register(spark)``, then ``spark.read.format("kafka_log")``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kafka_log import KafkaLogDataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["KafkaLogDataSource", "register"]


def register(spark: SparkSession) -> None:
    """Make the data sources of this package known to a session."""
    spark.dataSource.register(KafkaLogDataSource)
