"""Module that Spark discovers by its name, so that ``kafka_log`` needs no ``register``."""

from __future__ import annotations

from kafka_messages_spark._core.discovery import LazyDataSource


class DefaultSource(LazyDataSource):
    source = "kafka_log", "kafka_messages_spark.sources.kafka_log", "KafkaLogDataSource"
