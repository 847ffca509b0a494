"""The data source ``kafka_frames``: requests and responses from captured connections, one row a frame."""

from __future__ import annotations

from ._source import OPTIONS, FramesError, KafkaFramesDataSource

__all__ = ["OPTIONS", "FramesError", "KafkaFramesDataSource"]
