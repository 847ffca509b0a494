"""The data sources ``kafka_log`` and ``kafka_frames``, and their registration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core.worker_python import use_for_session
from ..columns.sql import register_functions
from .kafka_frames import KafkaFramesDataSource
from .kafka_log import KafkaLogDataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["KafkaFramesDataSource", "KafkaLogDataSource", "register"]


def register(spark: SparkSession, functions: Mapping[str, Sequence[Any]] | None = None) -> None:
    """Register the data sources and SQL functions in a session.

    ``functions`` maps names of SQL functions to (message, version) or (message, version, options), such as
    ``{"metadata_response": (MetadataResponse, 12)}``. These functions decode bytes like ``from_kafka``.

    Always registers ``kafka_message_json(message, version, bytes)``, which returns Kafka's JSON, and
    ``try_kafka_message_json``, which returns null for malformed bytes.

    The workers of a local session run the current Python, unless ``PYSPARK_PYTHON`` is set. Raises PySparkValueError for
    an invalid function, or if a local Spark Connect server uses a Python without this package.
    """
    use_for_session(spark)
    register_functions(spark, functions or {})
    spark.dataSource.register(KafkaLogDataSource)
    spark.dataSource.register(KafkaFramesDataSource)
