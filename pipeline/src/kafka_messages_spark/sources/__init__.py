"""Data sources: ``register(spark)``, then ``spark.read.format("kafka_log")`` or ``kafka_frames``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.worker_python import use_for_session
from .kafka_frames import KafkaFramesDataSource
from .kafka_log import KafkaLogDataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["KafkaFramesDataSource", "KafkaLogDataSource", "register"]


def register(spark: SparkSession) -> None:
    """Make the data sources of this package known to a session.

    Workers of a local session run the Python that runs this, also where its environment is not activated. Raises
    PySparkValueError where a local server of Spark Connect was started with a Python that lacks this package.
    """
    use_for_session(spark)
    spark.dataSource.register(KafkaLogDataSource)
    spark.dataSource.register(KafkaFramesDataSource)
