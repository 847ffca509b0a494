"""Record batches of the formats 2, 1 and 0 as plain objects, read and written; they know no message and need no package.

What is named here is imported when it is first used.
"""

from __future__ import annotations

from .._core.index import load as _load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .engines import MissingCodecError
    from .format import CompressionName
    from .header import ChecksumError, with_base_offset
    from .reader import Batch, BatchReader, read_batches, read_headers
    from .records import ControlRecord, Record
    from .writer import write_batch, write_control_batch

__all__ = [
    "Batch",
    "BatchReader",
    "ChecksumError",
    "CompressionName",
    "ControlRecord",
    "MissingCodecError",
    "Record",
    "read_batches",
    "read_headers",
    "with_base_offset",
    "write_batch",
    "write_control_batch",
]

_MODULES = {
    "Batch": "reader",
    "BatchReader": "reader",
    "ChecksumError": "header",
    "CompressionName": "format",
    "ControlRecord": "records",
    "MissingCodecError": "engines",
    "Record": "records",
    "read_batches": "reader",
    "read_headers": "reader",
    "with_base_offset": "header",
    "write_batch": "writer",
    "write_control_batch": "writer",
}


def __getattr__(name: str) -> object:
    return _load(__name__, _MODULES, name, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
