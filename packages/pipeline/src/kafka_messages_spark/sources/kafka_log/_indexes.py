"""Kafka's index files beside segments, which make it unnecessary to read all batch headers.

An index is used only if it fits the segment; otherwise a warning names it, and the headers are read. Sources: Kafka's
TimeIndex, OffsetIndex, TransactionIndex, LeaderEpochCheckpointFile and ProducerStateManager.
"""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from operator import itemgetter

from kafka_records.index_files import LEADER_EPOCH, PRODUCER, read_checkpoint, read_file, read_index, read_snapshot
from kafka_records.segments.batch_headers import read_batch_headers

from .._files import File, FileView, open_file
from ._batch_scan import BatchHead, heads
from ._progress import base_of

_log = logging.getLogger(__name__)


class _Unusable(Exception):
    """An index that does not fit its segment; the message has the file and the reason."""


@dataclass(frozen=True)
class KnownTransactions:
    """Transactions below ``offset``, according to index files."""

    offset: int
    # First offset of open transactions by producer ID.
    begun: dict[int, int]
    # Producer ID, first offset and offset of the marker of aborted transactions.
    aborted: list[tuple[int, int, int]]


class IndexedSegment:
    """A segment with the index files beside it, each of which is read once."""

    def __init__(self, file: File) -> None:
        self.file = file
        base = base_of(file.base_name)
        # -1 for files that are not named as segments, which have no index files.
        self.base = -1 if base is None else base
        self._entries: dict[str, list[tuple[int, ...]]] = {}

    @cached_property
    def epochs(self) -> list[tuple[int, int]]:
        """Start offset and leader epoch, in order."""
        try:
            found = read_checkpoint(self.content(LEADER_EPOCH).decode(), epochs=True)
        except FileNotFoundError:
            return []
        except ValueError as error:  # includes UnicodeDecodeError
            raise _Unusable(f"{self.name(LEADER_EPOCH)}: {error}") from None
        return sorted((offset, epoch) for _, epoch, offset in found)

    def batch_with(self, offset: int) -> BatchHead:
        """Return the batch that has or follows an offset."""
        at = bisect_right(self.entries(".index"), offset - self.base, key=itemgetter(0)) - 1
        position = 0 if at < 0 else self.entries(".index")[at][1]
        with closing(open_file(self.file.root, self.file.path)) as opened:
            for head in heads(opened, self.file.size, position):
                if head.base_offset > offset and head.position == position:
                    break
                if head.base_offset >= offset or head.last_offset >= offset:
                    epoch = next((each for start, each in reversed(self.epochs) if start <= head.base_offset), None)
                    if epoch is not None and epoch != head.leader_epoch >= 0:
                        where = f"{self.name(LEADER_EPOCH)}: epoch {epoch} at offset {head.base_offset}"
                        raise _Unusable(f"{where} is not that of the batch, {head.leader_epoch}")
                    return head
        raise _Unusable(f"{self.name('.index')}: no batch with offset {offset} at or after position {position}")

    def content(self, suffix: str) -> bytes:
        folder, slash, name = self.file.path.rpartition("/")
        path = f"{folder}{slash}{suffix if suffix == LEADER_EPOCH else name.removesuffix('.log') + suffix}"
        with closing(open_file(self.file.root, path)) as opened:
            try:
                return read_file(opened)
            except ValueError as error:
                raise _Unusable(f"{self.name(suffix)}: {error}") from None

    def name(self, suffix: str) -> str:
        return (
            f"{self.file.folder}/{suffix}" if suffix == LEADER_EPOCH else self.file.name.removesuffix(".log") + suffix
        )

    def entries(self, suffix: str) -> list[tuple[int, ...]]:
        if suffix not in self._entries:
            try:
                self._entries[suffix] = list(read_index(BytesIO(self.content(suffix)), suffix))
            except ValueError as error:
                raise _Unusable(f"{self.name(suffix)}: {error}") from None
        return self._entries[suffix]


def position_before(file: File, milliseconds: int) -> int:
    """Return the position of a batch up to which all records are older than a timestamp, or 0 without usable indexes."""
    segment = IndexedSegment(file)
    try:
        times = [] if segment.base < 0 else segment.entries(".timeindex")
        at = bisect_left(times, milliseconds, key=itemgetter(0)) - 1
        if at < 0:
            return 0
        timestamp, offset = times[at]
        head = segment.batch_with(segment.base + offset)
        if head.max_timestamp != timestamp:
            where = f"{segment.name('.timeindex')}: entry {at} is not the highest timestamp"
            raise _Unusable(f"{where} of the batch at offset {head.base_offset}")
        return head.position
    except FileNotFoundError:
        return 0
    except (_Unusable, OSError) as error:
        _warn(error)
        return 0


def transactions_before(files: Sequence[File]) -> KnownTransactions | None:
    """Return the transactions up to the last usable ``.snapshot`` at the start of a file, or None without usable indexes.

    ``files`` are the segments of one log, sorted by name.
    """
    segments = [IndexedSegment(file) for file in files]
    if any(segment.base < 0 for segment in segments):
        return None
    for count in range(len(segments) - 1, 0, -1):
        end = segments[count].base
        try:
            begun = _begun(segments[count])
            if any(first < segments[0].base for first in begun.values()):
                return None
            ends = [segment.base for segment in segments[1 : count + 1]]
            pairs = zip(segments[:count], ends, strict=True)
            return KnownTransactions(end, begun, [each for pair in pairs for each in _aborted(segments, *pair)])
        except FileNotFoundError:
            return None
        except (_Unusable, OSError) as error:
            _warn(error)
    return None


def _begun(segment: IndexedSegment) -> dict[int, int]:
    name = segment.name(".snapshot")
    try:
        found = [dict(zip(PRODUCER, each, strict=True)) for each in read_snapshot(segment.content(".snapshot"))]
    except ValueError as error:
        raise _Unusable(f"{name}: {error}") from None
    if any(each["last_offset"] >= segment.base for each in found):
        raise _Unusable(f"{name}: an offset is not below the one in its name")
    return {each["producer_id"]: first for each in found if (first := each["current_txn_first_offset"]) >= 0}


def _aborted(segments: Sequence[IndexedSegment], segment: IndexedSegment, end: int) -> Iterator[tuple[int, int, int]]:
    try:
        entries = segment.entries(".txnindex")
    except FileNotFoundError:
        # Kafka writes the file with the first aborted transaction; the other indexes show that the folder is complete.
        _ = segment.entries(".timeindex"), segment.entries(".index")
        return
    name = segment.name(".txnindex")
    if not entries:
        raise _Unusable(f"{name}: the file has no entries")
    for version, producer_id, first, last, _ in entries:
        if version != 0 or not 0 <= first <= last or not segment.base <= last < end:
            raise _Unusable(f"{name}: the transaction at offsets {first} to {last} is not within the segment")
        owner = next((each for each in reversed(segments) if each.base <= first), None)
        _check(name, owner, first, producer_id, None)
        _check(name, segment, last, producer_id, "ABORT")
        yield producer_id, first, last


def _check(name: str, segment: IndexedSegment | None, offset: int, producer_id: int, marker: str | None) -> None:
    """Raise an error unless a transactional batch of the producer begins at the offset."""
    head = None if segment is None else segment.batch_with(offset)
    if segment is None or head is None or head.base_offset != offset:
        raise _Unusable(f"{name}: no batch begins at offset {offset}")
    with (
        closing(FileView(open_file(segment.file.root, segment.file.path), segment.file.name, 0)) as view,
        read_batch_headers(
            view, mode="PERMISSIVE", check_crcs=False, start=head.position, end=head.position + 1, base=head.position
        ) as batches,
    ):
        found = [row for batch in batches for row in batch.to_pylist() if row["corrupt"] is None]
    fits = found and found[0]["is_transactional"] and found[0]["producer_id"] == producer_id
    if not fits or found[0]["control_type"] != marker:
        raise _Unusable(f"{name}: the batch at offset {offset} is not of a transaction of producer {producer_id}")


def _warn(error: Exception) -> None:
    _log.warning("%s; reading the headers of the segment instead", error)
