"""Readers and writers of Kafka record batches (formats 0, 1 and 2) as plain Python objects.

Names are imported on first use. `kafka_records.segments` reads and writes Arrow data.
"""

from __future__ import annotations

from ._lazy import find as _find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .errors import (
        BatchDecodeError,
        BatchEncodeError,
        ChecksumError,
        CompressionError,
        CorruptSegmentError,
        MissingCodecError,
        RecordError,
    )
    from .format import CompressionName
    from .header import with_base_offset
    from .reader import Batch, BatchReader, read_batches, read_headers
    from .records import ControlRecord, Record
    from .writer import write_batch, write_control_batch

__all__ = [
    "Batch",
    "BatchDecodeError",
    "BatchEncodeError",
    "BatchReader",
    "ChecksumError",
    "CompressionError",
    "CompressionName",
    "ControlRecord",
    "CorruptSegmentError",
    "MissingCodecError",
    "Record",
    "RecordError",
    "read_batches",
    "read_headers",
    "with_base_offset",
    "write_batch",
    "write_control_batch",
]

_MODULES = dict.fromkeys(__all__, "errors") | {
    "Batch": "reader",
    "BatchReader": "reader",
    "CompressionName": "format",
    "ControlRecord": "records",
    "Record": "records",
    "read_batches": "reader",
    "read_headers": "reader",
    "with_base_offset": "header",
    "write_batch": "writer",
    "write_control_batch": "writer",
}


def __getattr__(name: str) -> object:
    return _find(__name__, _MODULES, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
