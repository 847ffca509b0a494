"""Check producer epochs and sequence numbers within a range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Sequence numbers wrap to 0 after the highest int32.
_SEQUENCES = 1 << 31
# The group coordinator writes transactional batches with base sequence 0 (Kafka's CoordinatorRuntime).
GROUP_TOPIC = "__consumer_offsets"
UNNAMED = "; normal for the group coordinator, but the folder name has no topic"

# Check, severity, detail.
Fault = tuple[str, str, str]


@dataclass
class _Producer:
    first_epoch: int
    first_sequence: int
    first_offset: int
    epoch: int
    next_sequence: int
    last_sequence: int


@dataclass
class Producers:
    # None if the folder name does not contain the topic.
    topic: str | None
    known: dict[int, _Producer] = field(default_factory=dict)

    def batch(self, number: int, epoch: int, sequence: int, first: int, final: int) -> Fault | None:
        after = (sequence + final - first + 1) % _SEQUENCES if sequence >= 0 else -1
        known = self.known.get(number)
        if known is None:
            self.known[number] = _Producer(epoch, sequence, first, epoch, after, sequence)
            return coordinator_fault(epoch, epoch, sequence) if self.topic == GROUP_TOPIC else None
        fault = self._fault(known, epoch, sequence)
        if sequence >= 0:
            known.next_sequence, known.last_sequence = after, sequence
        elif epoch > known.epoch:
            known.next_sequence = known.last_sequence = -1  # a marker with a new epoch restarts the sequence
        if known.first_sequence < 0 and sequence >= 0 and known.first_epoch == epoch:
            known.first_sequence, known.first_offset = sequence, first
        known.epoch = epoch
        return fault

    def _fault(self, known: _Producer, epoch: int, sequence: int) -> Fault | None:
        if self.topic == GROUP_TOPIC:
            return coordinator_fault(known.epoch, epoch, sequence)
        fault = sequence_fault(known.epoch, known.next_sequence, epoch, sequence, known.last_sequence)
        if fault and self.topic is None and sequence == 0 and epoch == known.epoch:
            return fault[0], "info", fault[2] + UNNAMED
        return fault

    def restore(self, row: Mapping[str, Any]) -> None:
        """Add a producer from an earlier result of ``rows``."""
        names = ("first_epoch", "first_sequence", "first_offset", "last_epoch", "next_sequence", "last_sequence")
        self.known[row["producer_id"]] = _Producer(*(row[name] for name in names))

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "producer_id": number,
                "first_epoch": each.first_epoch,
                "first_sequence": each.first_sequence,
                "first_offset": each.first_offset,
                "last_epoch": each.epoch,
                "last_sequence": each.last_sequence,
                "next_sequence": each.next_sequence,
            }
            for number, each in self.known.items()
        ]


def coordinator_fault(epoch_before: int, epoch: int, sequence: int) -> Fault | None:
    """Check a batch of ``__consumer_offsets``: epochs must not decrease, and a sequence must be 0 (or -1 for none)."""
    if epoch < epoch_before:
        return _back(epoch, epoch_before)
    if sequence > 0:
        return "sequence_not_zero", "warning", f"sequence {sequence}, expected 0 from the group coordinator"
    return None


def sequence_fault(
    epoch_before: int, expected: int, epoch: int, sequence: int, last_sequence: int = -1
) -> Fault | None:
    """Check a batch against the previous one of its producer; -1 means no sequence.

    A new epoch starts at sequence 0 (KIP-360).
    """
    if epoch < epoch_before:
        return _back(epoch, epoch_before)
    if sequence < 0 or expected < 0 or (epoch > epoch_before and sequence == 0):
        return None
    if epoch > epoch_before:
        return "sequence_gap", "warning", f"epoch {epoch} begins with sequence {sequence}"
    if sequence == expected:
        return None
    if sequence == last_sequence:
        return "sequence_duplicate", "error", f"duplicate sequence {sequence}"
    ahead = (sequence - expected) % _SEQUENCES
    if ahead < _SEQUENCES // 2:
        return "sequence_gap", "warning", f"sequence {sequence}, expected {expected}"
    return "sequence_back", "error", f"decreasing sequence {sequence}, expected {expected}"


def _back(epoch: int, before: int) -> Fault:
    return "producer_epoch", "error", f"epoch {epoch} below {before}"
