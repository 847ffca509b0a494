"""The data source ``kafka_frames``: one row per request or response of captured connections."""

from __future__ import annotations

from ._source import OPTIONS, FramesError, KafkaFramesDataSource

__all__ = ["OPTIONS", "FramesError", "KafkaFramesDataSource"]
