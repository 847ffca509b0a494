"""The data source ``kafka_log``: log segments and KRaft snapshots."""

from __future__ import annotations

from ._log_options import OPTIONS
from ._source import KafkaLogDataSource

__all__ = ["OPTIONS", "KafkaLogDataSource"]
