"""The data source ``kafka_log``: log segments and KRaft snapshots, in batch queries and streams."""

from __future__ import annotations

from ._source import KafkaLogDataSource

__all__ = ["KafkaLogDataSource"]
