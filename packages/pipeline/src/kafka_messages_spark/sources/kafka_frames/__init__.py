"""The data source ``kafka_frames``: requests and responses of captured connections."""

from __future__ import annotations

from ._source import OPTIONS, FramesError, KafkaFramesDataSource

__all__ = ["OPTIONS", "FramesError", "KafkaFramesDataSource"]
