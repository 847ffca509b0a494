"""The data source ``kafka_log``: Kafka's log segments and KRaft snapshots, read at once or followed as a stream."""

from __future__ import annotations

from ._source import KafkaLogDataSource

__all__ = ["KafkaLogDataSource"]
