"""Scan of a growing segment by batch lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from struct import Struct
from typing import Any

from kafka_records.format import MAX_BATCH_BYTES, OVERHEAD, SMALLEST
from kafka_records.segments.batch_headers import read_batch_headers

from .._files import File, FileView, is_local, open_file, open_filesystem

_LOCAL_CHUNK, _REMOTE_CHUNK = 4 << 10, 1 << 20
# After a batch of at least this size, read only the next header, not a chunk.
_FAR = 1 << 10
# Maximum bytes to scan in remote files; for larger ones only the end is read.
_REMOTE_SCAN = 32 << 20
_REMOTE_TAIL = 4 << 20

_head = Struct(">qiib").unpack_from
_int32, _int64 = Struct(">i").unpack_from, Struct(">q").unpack_from
# Positions of the last offset delta and of the maximum timestamp in format 2.
_LAST_OFFSET_DELTA, _MAX = 23, 35


@dataclass(frozen=True)
class BatchScan:
    # End of the last complete batch, or the start of the scan if there is none.
    end: int
    first_offset: int | None = None
    # Offset after the last batch.
    next_offset: int | None = None
    # True if the limit ended the scan, so that more complete batches may follow.
    is_cut: bool = False
    # False if the scan ended at bytes that are not a batch; True at the end of the file.
    is_batch: bool = True


def scan_batches(file: File, position: int, most: int | None = None) -> BatchScan:
    """Find the end of the complete batches in ``most`` bytes from ``position``, or of the first batch if it is larger.

    For a remote file, ignores ``most`` above 32 MiB and goes on to the end of the file. Raises OSError.
    """
    filesystem, _, _ = open_filesystem(file.root)
    if not is_local(filesystem) and most is not None and most > _REMOTE_SCAN:
        most = None  # too much to read: take the whole file
    with closing(open_file(file.root, file.path)) as opened:
        if is_local(filesystem):
            return _scan_lengths(_reader(opened, _LOCAL_CHUNK), file.size, position, most)
        if file.size - position <= _REMOTE_SCAN or most is not None:
            return _scan_lengths(_reader(opened, _REMOTE_CHUNK), file.size, position, most)
        found = _scan_headers(FileView(opened, file.name, 0), max(position, file.size - _REMOTE_TAIL), file.size)
        return found or _scan_lengths(_reader(opened, 8 * _REMOTE_CHUNK), file.size, position, None)


def beyond_damage(file: File, position: int) -> BatchScan:
    with closing(FileView(open_file(file.root, file.path), file.name, position)) as view:
        found = _scan_headers(view, 0, file.size - position)
    if found is None:
        return BatchScan(file.size)
    return BatchScan(position + found.end, None, found.next_offset)


def _scan_headers(view: FileView, start: int, end: int) -> BatchScan | None:
    with read_batch_headers(view, mode="PERMISSIVE", check_crcs=False, start=start, end=end) as batches:
        for _ in batches:
            pass
        (report,) = batches.reports
    if not report.batches:
        return None
    return BatchScan(report.next_position, None, report.next_offset)


def _reader(file: Any, chunk: int) -> Callable[[int, int], bytes]:
    data, low = b"", 0

    def read(position: int, size: int) -> bytes:
        nonlocal data, low
        if not low <= position <= position + size <= low + len(data):
            file.seek(position)
            data, low = file.read(max(chunk, size)), position
        return data[position - low : position - low + size]

    return read


def batch_before(file: Any, base: int, place: int) -> int | None:
    """Return the start of the last batch at or before ``place``, or None at invalid bytes.

    ``base`` is the start of a batch at or before ``place``. After a damaged length the result may be wrong.
    """
    read, at, last = _reader(file, _LOCAL_CHUNK), base, base
    seek, fetch = file.seek, file.read
    while at <= place:
        if at - last < _FAR:
            head = read(at, _HEAD)
        else:
            seek(at)
            head = fetch(_HEAD)
        if len(head) < _HEAD or not (length := _plausible(*_head(head))):
            return None
        last, at = at, at + length
    return last


@dataclass(frozen=True)
class BatchHead:
    position: int
    base_offset: int
    last_offset: int
    leader_epoch: int
    max_timestamp: int


def heads(file: Any, size: int, position: int) -> Iterator[BatchHead]:
    """Yield the batches of format 2 from a position on, up to invalid bytes or another format."""
    read = _reader(file, _LOCAL_CHUNK)
    while position + SMALLEST[2] <= size:
        head = read(position, SMALLEST[2])
        offset, length, epoch, magic = _head(head)
        whole = _plausible(offset, length, epoch, magic)
        if not whole or magic != 2:
            return
        yield BatchHead(position, offset, offset + _int32(head, _LAST_OFFSET_DELTA)[0], epoch, _int64(head, _MAX)[0])
        position += whole


def _plausible(offset: int, length: int, _: int, magic: int) -> int:
    whole = length + OVERHEAD
    return whole if offset >= 0 and 0 <= magic <= 2 and SMALLEST[magic] <= whole <= MAX_BATCH_BYTES else 0


def _scan_lengths(read: Callable[[int, int], bytes], size: int, position: int, most: int | None) -> BatchScan:
    at, last, first_offset = position, None, None
    is_cut, is_batch = False, True
    while at + OVERHEAD < size:
        head = read(at, _HEAD)
        if len(head) < _HEAD:
            break
        offset, length, epoch, magic = _head(head)
        if offset == length == 0:
            break  # zeros that fill a preallocated file
        whole = _plausible(offset, length, epoch, magic)
        is_batch = whole > 0
        stop = at + whole
        if not is_batch or stop > size:
            break
        if last is None:
            first_offset = offset
        elif most is not None and stop - position > most:
            is_cut = True
            break
        last, at = at, stop
    return BatchScan(at, first_offset, None if last is None else _after(read, last), is_cut, is_batch)


# Bytes up to and including the magic, whose position is the same in all formats.
_HEAD = 17


def _after(read: Callable[[int, int], bytes], batch: int) -> int:
    head = read(batch, _LAST_OFFSET_DELTA + 4)
    offset, _, _, magic = _head(head)
    delta: int = _int32(head, _LAST_OFFSET_DELTA)[0] if magic == 2 else 0
    return int(offset) + delta + 1
