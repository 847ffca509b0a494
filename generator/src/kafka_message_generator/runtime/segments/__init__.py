"""Record batches and log segments as Arrow data, read and written; they know no message. Needs the extra ``arrow``.

What is named here is imported when it is first used.
"""

from __future__ import annotations

from .._core.index import load as _load
from .._core.optional import check_extra as _check_extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .batch_headers import read_batch_headers
    from .batch_writer import write_batches, write_control_batch
    from .frames import CorruptSegmentError, find_batch
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
    "CorruptSegmentError": "frames",
    "SegmentReader": "reader",
    "SegmentReport": "reader",
    "find_batch": "frames",
    "read_batch_headers": "batch_headers",
    "read_segments": "reader",
    "write_batches": "batch_writer",
    "write_control_batch": "batch_writer",
}


def __getattr__(name: str) -> object:
    try:
        return _load(__name__, _MODULES, name, globals())
    except ModuleNotFoundError as error:
        _check_extra(error, __name__, "arrow")
        raise


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
