"""The data source ``kafka_log``: log segments and KRaft snapshots."""

from __future__ import annotations

from ._source import KafkaLogDataSource

__all__ = ["KafkaLogDataSource"]
