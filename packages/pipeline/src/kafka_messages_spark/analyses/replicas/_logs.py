"""Compare the replicas of one partition by leader epochs, log ends and checkpoints.

An offset and a leader epoch identify a record, because each epoch has one leader (KIP-101, KIP-279). Where two logs have
different epochs at one offset, a broker truncates its log when it follows the other broker. The log cleaner changes
neither the offsets nor the epochs of the records that it keeps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Kinds of observations: batches of a leader epoch; a byte range of a file; entries of the checkpoints for leader epochs,
# high watermarks and the cleaner.
BATCHES, FILE, EPOCH, WATERMARK, CLEANED = "batches", "file", "epoch", "watermark", "cleaned"
FINDING = ("check", "severity", "offset", "end_offset", "count", "detail")
# Exclusive end of an epoch that no later one ended.
_OPEN = 1 << 63

Observation = dict[str, Any]
Finding = tuple[str, str, int, int, int, str]
# First offset, exclusive end, leader epoch.
EpochSpan = tuple[int, int, int]


@dataclass(frozen=True)
class ReplicaLog:
    # Folder of the partition.
    name: str
    # First offset and exclusive end of the batches of each leader epoch.
    epochs: Mapping[int, tuple[int, int]]
    # Base offsets in file names.
    segments: Sequence[int]
    # Leader epochs and their start offsets in leader-epoch-checkpoint, ascending.
    chain: Sequence[tuple[int, int]]
    # Offset in replication-offset-checkpoint.
    high_watermark: int | None
    # Bytes of an incomplete batch at the end.
    incomplete_tail: int

    @property
    def start(self) -> int:
        return min([*self.segments, *(start for start, _ in self.epochs.values())])

    @cached_property
    def end(self) -> int:
        """Exclusive end offset: in the name of the last segment, if that is empty."""
        return max([*self.segments, *(end for _, end in self.epochs.values())])

    @cached_property
    def leader_epoch(self) -> int:
        return max([-1, *self.epochs, *(epoch for epoch, _ in self.chain)])

    def spans(self, *, is_open: bool) -> list[EpochSpan]:
        """Return the offsets whose leader epoch is known, ascending.

        An epoch has all offsets from its first to its last batch, and those up to the next entry of the checkpoint. With
        ``is_open``, a last entry at or after the log end means that no later offset has an earlier epoch.
        """
        found = {epoch: span for epoch, span in self.epochs.items() if epoch >= 0}
        ends = [start for _, start in self.chain[1:]]
        for at, (epoch, start) in enumerate(self.chain):
            end = ends[at] if at < len(ends) else _OPEN if is_open and start >= self.end else start
            low, high = found.get(epoch, (start, end))
            found[epoch] = min(low, start), max(high, end)
        return sorted((low, high, epoch) for epoch, (low, high) in found.items())


def _divergence(log: ReplicaLog, newest: ReplicaLog, *, is_open: bool) -> tuple[int, int] | tuple[None, None]:
    """Return the first offset at which the leader epochs differ, and the epoch of the newest log there."""
    here, there = log.spans(is_open=False), newest.spans(is_open=is_open)
    for offset in sorted({span[0] for span in (*here, *there)}):
        epoch, other = _epoch_at(here, offset), _epoch_at(there, offset)
        if epoch is not None and other is not None and epoch != other:
            return (offset, other) if offset < log.end else (None, None)
    return None, None


def _epoch_at(spans: Sequence[EpochSpan], offset: int) -> int | None:
    at = bisect_right(spans, (offset, _OPEN, _OPEN)) - 1
    return spans[at][2] if at >= 0 and offset < spans[at][1] else None


def compare_logs(observations: Sequence[Observation]) -> Iterator[dict[str, Any]]:
    """Yield the values of each replica, with its findings.

    The newest replica has the highest leader epoch, then the highest end. Its checkpoint can end the records of other
    replicas only if all have a ``leader-epoch-checkpoint``: without one, a newer epoch may be unknown.
    """
    logs = sorted(_logs(observations), key=lambda log: (-log.leader_epoch, -log.end, log.name))
    is_open = all(log.chain for log in logs)
    splits = [_divergence(log, logs[0], is_open=is_open) for log in logs]
    end = max((log.end for log, (offset, _) in zip(logs, splits, strict=True) if offset is None), default=0)
    compacted = any(row["kind"] == CLEANED or row["traces"] for row in observations)
    for rank, (log, (offset, epoch)) in enumerate(zip(logs, splits, strict=True)):
        found = list(_findings(log, offset, end))
        if offset is not None:
            detail = f"leader epoch {epoch} begins at this offset in {logs[0].name}, whose log ends at {logs[0].end}"
            found.append(("diverged", "error", offset, log.end, log.end - offset, detail))
        yield {
            "replica": log.name,
            "rank": rank,
            "log_start_offset": log.start,
            "log_end_offset": log.end,
            "leader_epoch": log.leader_epoch,
            "high_watermark": log.high_watermark,
            "diverges_at": offset,
            "replaced_by_epoch": epoch,
            "compacted": compacted,
            "found": [dict(zip(FINDING, each, strict=True)) for each in found],
        }


def _logs(observations: Sequence[Observation]) -> Iterator[ReplicaLog]:
    by: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for row in observations:
        by[row["kind"], row["replica"]].append(row)
    for name in {name for kind, name in by if kind in (BATCHES, FILE)}:
        epochs = {row["leader_epoch"]: (row["start"], row["end"]) for row in by[BATCHES, name]}
        files = [(row["start"], row["end"]) for row in by[FILE, name] if row["start"] is not None]
        if epochs or files:
            chain = sorted((row["leader_epoch"], row["start"]) for row in by[EPOCH, name])
            marks = [row["start"] for row in by[WATERMARK, name.rpartition("/")[0]]]
            tail = max(files, default=(0, 0))[1]
            yield ReplicaLog(name, epochs, [start for start, _ in files], chain, max(marks, default=None), tail)


def _findings(log: ReplicaLog, diverges_at: int | None, end: int) -> Iterator[Finding]:
    claim, of = log.high_watermark or 0, "the high watermark"
    if log.chain and log.chain[-1][1] > claim:
        claim, of = log.chain[-1][1], f"the start of leader epoch {log.chain[-1][0]}"
    if log.end < claim:
        detail = f"ends below {of}: truncated, or copied before the checkpoint"
        yield "truncated", "warning", log.end, claim, claim - log.end, detail
    elif diverges_at is None and log.end < end:
        is_whole = not log.incomplete_tail
        detail = "ends after a whole batch" if is_whole else f"ends with {log.incomplete_tail} bytes of a batch"
        kind = ("behind", "info") if is_whole else ("incomplete_tail", "warning")
        yield *kind, log.end, end, end - log.end, detail
