"""Exceptions of record batches and log segments."""

from __future__ import annotations


class RecordError(ValueError):
    """Base class of the exceptions of this package."""


class BatchDecodeError(RecordError):
    """Damaged record batch, bytes that are not a record batch, or a batch that exceeds a limit.

    ``path`` names the batch or record (``batches[3].records[1]``), or is empty. ``offset`` is the position of the batch in
    bytes, and ``magic`` is the format of the batch; each is -1 if unknown.
    """

    def __init__(self, reason: str, path: str = "", offset: int = -1, magic: int = -1) -> None:
        super().__init__(reason, path, offset, magic)
        self.reason = reason
        self.path = path
        self.offset = offset
        self.magic = magic

    def __str__(self) -> str:
        batch = "RecordBatch" if self.magic < 0 else f"RecordBatch v{self.magic}"
        return ": ".join(part for part in (batch, self.path, self.reason) if part)


class ChecksumError(BatchDecodeError):
    """Batch whose checksum does not match its bytes."""


class BatchEncodeError(RecordError):
    """Value that the batch format cannot hold. ``path`` is a field (``records[3].key``), an argument name, or empty."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class CorruptSegmentError(RecordError):
    """Damaged record batch in a log segment, or bytes that are not a batch.

    ``file`` is the file name (empty if unknown). ``position`` is the position of the batch in the file, in bytes.
    """

    def __init__(self, file: str, position: int, reason: str) -> None:
        super().__init__(file, position, reason)
        self.file = file
        self.position = position
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.file or '<segment>'}: batch at byte {self.position}: {self.reason}"


class CompressionError(RecordError):
    """Compressed data that is damaged or decompresses to too many bytes. Public functions raise other errors instead."""


class MissingCodecError(RecordError, ImportError):
    """Compression codec whose package is not installed."""


class MalformedRecord(Exception):
    """Internal error about the record with index ``number`` in its batch, or about the whole batch (-1)."""

    def __init__(self, reason: str, number: int = -1) -> None:
        super().__init__(reason)
        self.number = number
