"""Readers and writers of log segments and record batches as Arrow data (extra ``arrow``)."""

from __future__ import annotations

from .. import _find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import CorruptSegmentError
    from .batch_headers import read_batch_headers
    from .batch_writer import write_batches, write_control_batch
    from .frames import find_batch
    from .reader import CorruptBatch, SegmentReader, SegmentReport, read_segments

__all__ = [
    "CorruptBatch",
    "CorruptSegmentError",
    "SegmentReader",
    "SegmentReport",
    "find_batch",
    "read_batch_headers",
    "read_segments",
    "write_batches",
    "write_control_batch",
]

_MODULES = {
    "CorruptBatch": "reader",
    "CorruptSegmentError": "reader",
    "SegmentReader": "reader",
    "SegmentReport": "reader",
    "find_batch": "frames",
    "read_batch_headers": "batch_headers",
    "read_segments": "reader",
    "write_batches": "batch_writer",
    "write_control_batch": "batch_writer",
}


def __getattr__(name: str) -> object:
    return _find(__name__, _MODULES, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
