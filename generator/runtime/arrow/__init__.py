"""Columns: whole Arrow arrays of encoded messages, and Kafka's log segments, as Arrow. Needs the extra ``arrow``."""

from __future__ import annotations

from .._index import load as _load
from ._rows import EncodeRowError, RowError
from .columns import decode, encode, schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._hidden import hidden
    from .batch_headers import read_batch_headers
    from .batch_writer import write_batches, write_control_batch
    from .batches import CorruptSegmentError, find_batch
    from .segments import CorruptBatch, SegmentReader, SegmentReport, read_segments

__all__ = [
    "CorruptBatch",
    "CorruptSegmentError",
    "EncodeRowError",
    "RowError",
    "SegmentReader",
    "SegmentReport",
    "decode",
    "encode",
    "find_batch",
    "hidden",
    "read_batch_headers",
    "read_segments",
    "schema",
    "write_batches",
    "write_control_batch",
]

_MODULES = {
    "CorruptBatch": "segments",
    "CorruptSegmentError": "batches",
    "SegmentReader": "segments",
    "SegmentReport": "segments",
    "find_batch": "batches",
    "hidden": "_hidden",
    "read_batch_headers": "batch_headers",
    "read_segments": "segments",
    "write_batches": "batch_writer",
    "write_control_batch": "batch_writer",
}
"""What is about log segments or secrets is imported when it is first used: who only decodes columns does without."""


def __getattr__(name: str) -> object:
    return _load(__name__, _MODULES, name, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
