"""Readers and writers of Kafka record batches (formats 0, 1 and 2) as plain Python objects.

Names are imported on first use. `kafka_records.segments` reads and writes Arrow data.
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module

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


def _find(package: str, modules: dict[str, str], name: str) -> object:
    """Import ``name`` and cache it in ``package``. Raises AttributeError and ModuleNotFoundError."""
    parent = _sys.modules[package]
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=parent)
    try:
        module = _import_module(f"{package}.{modules[name]}")
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "pyarrow"):
            raise
        remedy = "pip install numpy pyarrow crc32c cramjam zstandard"
        text = f"{package} needs the package {error.name}, which is not installed: {remedy}"
        raise ModuleNotFoundError(text, name=error.name) from error
    value: object = getattr(module, name)
    setattr(parent, name, value)
    return value


def __getattr__(name: str) -> object:
    return _find(__name__, _MODULES, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
