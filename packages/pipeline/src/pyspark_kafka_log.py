"""Spark's entry point for the format ``kafka_log``."""

from __future__ import annotations

from kafka_messages_spark._core.discovery import LazyDataSource


class DefaultSource(LazyDataSource):
    source = "kafka_log", "kafka_messages_spark.sources.kafka_log", "KafkaLogDataSource"
