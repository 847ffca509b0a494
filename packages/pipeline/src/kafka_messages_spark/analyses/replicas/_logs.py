"""Compare the replicas of one partition by leader epochs, log ends and checkpoints.

In a partition, an offset and a leader epoch identify a record (KIP-101, KIP-279): each epoch has one leader. Where two logs
have different epochs at the same offset, one of them is truncated once its broker follows the other. The log cleaner
changes neither the offsets nor the epochs of the records that it keeps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Kinds of observations: batches of a leader epoch; a byte range of a file; entries of the checkpoints for leader epochs,
# high watermarks and the cleaner.
BATCHES, FILE, EPOCH, WATERMARK, CLEANED = "batches", "file", "epoch", "watermark", "cleaned"
# Exclusive end of an epoch that no record ended yet.
_OPEN = 1 << 63

Observation = dict[str, Any]
# First offset, exclusive end and leader epoch.
EpochSpan = tuple[int, int, int]


@dataclass(frozen=True)
class ReplicaLog:
    # Folder of the partition.
    name: str
    batches: Sequence[Observation]
    files: Sequence[Observation]
    # Leader epochs and their start offsets in leader-epoch-checkpoint, ascending.
    chain: Sequence[tuple[int, int]]
    # Offset in replication-offset-checkpoint.
    high_watermark: int | None

    @cached_property
    def start(self) -> int:
        starts: list[int] = [row["start"] for row in (*self.batches, *self.files) if row["start"] is not None]
        return min(starts)

    @cached_property
    def end(self) -> int:
        """Exclusive end offset: in the name of the last segment, if that is empty."""
        names: list[int] = [row["start"] for row in self.files if row["start"] is not None]
        return max([*names, *(row["end"] for row in self.batches)])

    @cached_property
    def incomplete_tail(self) -> int:
        """Bytes of an incomplete batch at the end of the last file."""
        tails: list[tuple[int, int]] = [(row["start"] or 0, row["end"]) for row in self.files]
        return max(tails, default=(0, 0))[1]

    @cached_property
    def leader_epoch(self) -> int:
        return max([-1, *(row["leader_epoch"] for row in self.batches), *(epoch for epoch, _ in self.chain)])

    def spans(self, *, is_open: bool) -> list[EpochSpan]:
        """Return the offsets whose leader epoch is known, ascending.

        An epoch has all offsets from its first to its last batch, and those up to the next entry of the checkpoint. With
        ``is_open``, a last entry at or after the log end means that no later offset has an earlier epoch.
        """
        found = {row["leader_epoch"]: (row["start"], row["end"]) for row in self.batches if row["leader_epoch"] >= 0}
        nexts = [start for _, start in self.chain[1:]]
        for at, (epoch, start) in enumerate(self.chain):
            end = nexts[at] if at < len(nexts) else _OPEN if is_open and start >= self.end else start
            low, high = found.get(epoch, (start, end))
            found[epoch] = min(low, start), max(high, end)
        return sorted((low, high, epoch) for epoch, (low, high) in found.items())


def _epoch_at(spans: Sequence[EpochSpan], offset: int) -> int | None:
    at = bisect_right(spans, (offset, _OPEN, _OPEN)) - 1
    return spans[at][2] if at >= 0 and offset < spans[at][1] else None


def _divergence(log: ReplicaLog, newest: ReplicaLog, *, is_open: bool) -> tuple[int, int] | None:
    """Return the first offset at which the leader epochs differ, and the epoch of the newest log there."""
    here, there = log.spans(is_open=False), newest.spans(is_open=is_open)
    for offset in sorted({span[0] for span in (*here, *there)}):
        epoch, newer = _epoch_at(here, offset), _epoch_at(there, offset)
        if epoch is not None and newer is not None and epoch != newer:
            return (offset, newer) if offset < log.end else None
    return None


def compare_logs(observations: Sequence[Observation]) -> Iterator[dict[str, Any]]:
    """Yield the values of each replica, with its findings.

    The newest replica has the highest leader epoch, then the highest end. Its checkpoint can end the records of other
    replicas only if all have a ``leader-epoch-checkpoint``: without one, a newer epoch may be unknown.
    """
    logs = sorted(_logs(observations), key=lambda log: (-log.leader_epoch, -log.end, log.name))
    if not logs:
        return
    is_open = all(log.chain for log in logs)
    newest = logs[0]
    splits = {log.name: _divergence(log, newest, is_open=is_open) for log in logs}
    end = max((log.end for log in logs if splits[log.name] is None), default=0)
    compacted = any(row["kind"] == CLEANED or row["traces"] for row in observations)
    for rank, log in enumerate(logs):
        split = splits[log.name]
        yield {
            "replica": log.name,
            "rank": rank,
            "log_start_offset": log.start,
            "log_end_offset": log.end,
            "leader_epoch": log.leader_epoch,
            "high_watermark": log.high_watermark,
            "diverges_at": split and split[0],
            "replaced_by_epoch": split and split[1],
            "compacted": compacted,
            "batches": sum(row["count"] for row in log.batches),
            "found": list(_findings(log, split, newest.name, end)),
        }


def _logs(observations: Sequence[Observation]) -> list[ReplicaLog]:
    by: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for row in observations:
        by[row["kind"], row["replica"]].append(row)
    logs = []
    for name in {name for kind, name in by if kind in (BATCHES, FILE)}:
        chain = sorted((row["leader_epoch"], row["start"]) for row in by[EPOCH, name])
        marks = [row["start"] for row in by[WATERMARK, name.rpartition("/")[0]]]
        log = ReplicaLog(name, by[BATCHES, name], by[FILE, name], chain, max(marks, default=None))
        if log.batches or any(row["start"] is not None for row in log.files):
            logs.append(log)
    return logs


def _findings(log: ReplicaLog, split: tuple[int, int] | None, newest: str, end: int) -> Iterator[dict[str, Any]]:
    claim, of = log.high_watermark or 0, "its high watermark"
    if log.chain and log.chain[-1][1] > claim:
        claim, of = log.chain[-1][1], f"the start of leader epoch {log.chain[-1][0]}"
    if split:
        detail = f"replaced by leader epoch {split[1]} in {newest}"
        yield _finding("diverged", "error", split[0], log.end, detail)
    if log.end < claim:
        detail = f"ends below {of}: truncated, or copied before the checkpoint"
        yield _finding("truncated", "warning", log.end, claim, detail)
    elif not split and log.end < end and log.incomplete_tail:
        detail = f"ends with {log.incomplete_tail} bytes of a batch"
        yield _finding("incomplete_tail", "warning", log.end, end, detail)
    elif not split and log.end < end:
        yield _finding("behind", "info", log.end, end, "ends after a whole batch")


def _finding(check: str, severity: str, offset: int, end: int, detail: str) -> dict[str, Any]:
    return {
        "check": check,
        "severity": severity,
        "offset": offset,
        "end_offset": end,
        "count": end - offset,
        "detail": detail,
    }
