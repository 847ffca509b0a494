"""Data sources: ``register(spark)``, then ``spark.read.format("kafka_log")`` or ``kafka_frames``."""

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
    """Make the data sources and the SQL functions of this package known to a session.

    ``functions`` are functions for SQL by their names: a message, by its class or name, its version, and perhaps options,
    such as ``{"metadata_response": (MetadataResponse, 12)}``. Each takes bytes and gives the struct that ``from_kafka``
    makes of them, with the same options; version None means that each value begins with its version. There are also
    ``kafka_message_json(message, version, bytes)``, which gives Kafka's JSON of any message as text, and
    ``try_kafka_message_json``, which is null where that is an error. Functions are of the session alone.

    Workers of a local session run the Python that runs this, also where its environment is not activated. Raises
    PySparkValueError for what is no such function, and where a local server of Spark Connect was started with a Python
    that lacks this package.
    """
    use_for_session(spark)
    register_functions(spark, functions or {})
    spark.dataSource.register(KafkaLogDataSource)
    spark.dataSource.register(KafkaFramesDataSource)
