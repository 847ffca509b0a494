"""Errors of reading and writing record batches and log segments."""

from __future__ import annotations


class RecordError(ValueError):
    """Base of every error of this package; never raised itself."""


class BatchDecodeError(RecordError):
    """Bytes are no record batch, or a batch is damaged.

    ``path`` names the batch or record (``batches[3].records[1]``), ``offset`` is the byte at which the batch begins,
    and ``magic`` its format, -1 if unknown.
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
    """The stored checksum of a batch differs from the checksum of its bytes."""


class BatchEncodeError(RecordError):
    """A value does not fit the batch format; ``path`` names the record (``records[3].key``) or the argument."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class CorruptSegmentError(RecordError):
    """A log segment holds a damaged record batch, or bytes that are no batch.

    ``file`` is the name of the file, empty if it has none; ``position`` the byte at which the batch begins.
    """

    def __init__(self, file: str, position: int, reason: str) -> None:
        super().__init__(file, position, reason)
        self.file = file
        self.position = position
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.file or '<segment>'}: batch at byte {self.position}: {self.reason}"


class CompressionError(RecordError):
    """Data cannot be decompressed, or not within the limit; the text does not name the batch."""


class MissingCodecError(RecordError, ImportError):
    """A compression needs a package that is not installed; the text names it and the extra that brings it."""


class MalformedRecord(Exception):
    """Internal: what is wrong with record ``number`` of a batch, or -1 for the batch; becomes a `BatchDecodeError`.

    It is no ValueError, because the record reader takes those for fields that do not fit.
    """

    def __init__(self, reason: str, number: int = -1) -> None:
        super().__init__(reason)
        self.number = number
