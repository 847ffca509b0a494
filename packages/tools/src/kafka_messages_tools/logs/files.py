"""Files of a log directory: their kinds, entries of index files and checkpoints, and markers of transactions."""

from __future__ import annotations

import os
import re
import sys
import zlib
from bisect import bisect
from contextlib import contextmanager, suppress
from gzip import BadGzipFile, GzipFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Files without records and entries.
_OTHERS = {
    "partition.metadata": "the id of the topic",
    "meta.properties": "the ids of the cluster, the node and the log directory",
    "quorum-state": "the leader and the vote of a KRaft quorum",
    ".lock": "the lock of a broker that uses the directory",
    ".kafka_cleanshutdown": "the mark of a clean shutdown",
}
RECORDS = (".log", ".checkpoint")
# Ends of names of compressed files, and of files that Kafka has not finished or will delete.
_ENDS = re.compile(r"(\.(gz|part|cleaned|swap|deleted|tmp|bak))+$")
_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x1f]")
GZIP_ERRORS = (BadGzipFile, EOFError, zlib.error)
# Maximum size in bytes of a batch, and of a snapshot or checkpoint, whose entries take more memory.
_MOST, _MOST_ENTRIES = 128 << 20, 16 << 20
# Number of bytes up to the length of a batch, and up to its attributes.
_OVERHEAD, _START = 12, 23
_CONTROL = 1 << 5


def plain_name(path: str) -> str:
    return _ENDS.sub("", os.path.basename(path))


def record_files(folder: str) -> tuple[list[str], list[str]]:
    """Return the segments and metadata snapshots in a folder and the folders below it, in order, and other files."""
    places = sorted(os.walk(folder, onerror=_fail))
    paths = [os.path.join(place, name) for place, _, names in places for name in sorted(names)]
    is_record = {path: path.removesuffix(".gz").endswith(RECORDS) and os.path.isfile(path) for path in paths}
    return [path for path in paths if is_record[path]], [path for path in paths if not is_record[path]]


def _fail(error: OSError) -> None:
    raise error


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a file, or standard input for ``-``; a gzip file is decompressed while it is read."""
    is_input = path == "-"
    with open(sys.stdin.fileno() if is_input else path, "rb", closefd=not is_input) as file:
        yield GzipFile(fileobj=file) if file.peek(2)[:2] == b"\x1f\x8b" else file


def entries(file: Any, path: str) -> Iterator[dict[str, Any]] | None:
    """Return the entries of an index, snapshot or checkpoint; None for a file of records.

    Raises ValueError for text and for damaged files, during iteration after the entries before the damage. Offsets of
    indexes are absolute if the name of the file starts with the base offset.
    """
    from kafka_records import index_files
    from kafka_records.index_files import INDEXES, LEADER_EPOCH, PRODUCER

    name = plain_name(path)
    suffix = os.path.splitext(name)[1]
    if suffix in INDEXES:
        base = re.match(r"([0-9]+)[._]", name)  # in the cache of remote storage, an id follows
        add, key = (int(base[1]), "offset") if base else (0, "relative_offset")
        names = [key if each == "offset" else each for each in INDEXES[suffix][0]]
        pairs = (zip(names, each, strict=True) for each in index_files.read_index(file, suffix))
        return ({name: value + add * (name == "offset") for name, value in each} for each in pairs)
    if suffix == ".snapshot":
        producers = index_files.read_snapshot(index_files.read_file(file, _MOST_ENTRIES))
        return (dict(zip(PRODUCER, each, strict=True)) for each in producers)
    if name.endswith("-checkpoint"):
        text = index_files.read_file(file, _MOST_ENTRIES).decode()
        found = index_files.read_checkpoint(text, epochs=name == LEADER_EPOCH)
        keys = ("", "leader_epoch", "start_offset") if name == LEADER_EPOCH else ("topic", "partition", "offset")
        return ({key: value for key, value in zip(keys, each, strict=True) if key} for each in found)
    if name in _OTHERS:
        return iter([{"about": _OTHERS[name]}])
    head = file.peek(1024)[:1024]
    if not head:
        return iter([{"about": "an empty file"}])
    if not _CONTROLS.search(head):
        raise ValueError("this is a text file, not a log segment")
    return None


def batches(file: Any, *, verify: bool, only_control: bool = False) -> Iterator[tuple[int, Any]]:
    """Yield the position and the batch of each batch in a file. Raises ValueError, with the position."""
    from kafka_records import BatchDecodeError, read_batches

    at = 0
    while start := file.read(_START):
        size = _OVERHEAD + int.from_bytes(start[8:_OVERHEAD], "big", signed=True) if len(start) >= _OVERHEAD else 0
        if size == _OVERHEAD and not any(start[:_OVERHEAD]):
            _check_zeros(file, at, start)
            return
        if only_control and size > _START and not (start[16:17] == b"\2" and start[-1] & _CONTROL):
            file.seek(size - _START, os.SEEK_CUR)
            at += size
            continue
        data = start + (file.read(size - _START) if _START < size <= _MOST else b"")
        reader = read_batches(data, verify=verify)
        try:
            yield from ((at, batch) for batch in reader)
        except BatchDecodeError as error:
            raise ValueError(f"RecordBatch: at byte {at}: {error.reason.removeprefix('batch at byte 0: ')}") from None
        if reader.incomplete:
            whole = f" of {size}" if size else ""
            raise ValueError(f"RecordBatch: at byte {at}: incomplete batch: {len(data)}{whole} bytes")
        at += len(data)


def _check_zeros(file: Any, at: int, zeros: bytes) -> None:
    read = at
    while zeros:
        read += len(zeros)
        if any(zeros):
            found = read - len(zeros.lstrip(b"\0"))
            raise ValueError(f"RecordBatch: zeros from byte {at} on are followed by other bytes at {found}")
        zeros = file.read(1 << 20)


class AbortedBatches:
    """Batches whose transaction a marker in one of the files of the same folder aborts."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = [path for path in paths if os.path.isfile(path)]  # a pipe can be read only once
        # By folder, read when first needed.
        self._markers: dict[str, dict[int, list[tuple[int, bool]]]] = {}

    def has(self, batch: Any, path: str) -> bool:
        if not batch.is_transactional or batch.is_control:
            return False
        folder = os.path.dirname(path)
        if folder not in self._markers:
            self._markers[folder] = _markers([each for each in self._paths if os.path.dirname(each) == folder])
        markers = self._markers[folder].get(batch.producer_id, [])
        at = bisect(markers, (batch.base_offset, True))
        return at < len(markers) and markers[at][1]


def _markers(paths: list[str]) -> dict[int, list[tuple[int, bool]]]:
    """Return by producer ID the offset of each marker, and whether it aborts, up to the first damage of each file."""
    found: dict[int, list[tuple[int, bool]]] = {}
    for path in paths:
        with suppress(ValueError, OSError, *GZIP_ERRORS), opened(path) as file:
            for _, batch in batches(file, verify=True, only_control=True):
                some = [(control.offset, control.type == "ABORT") for control in batch.control_records()]
                found.setdefault(batch.producer_id, []).extend(some)
    return {producer: sorted(markers) for producer, markers in found.items()}
