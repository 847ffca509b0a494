"""The epochs and sequence numbers of the producers of one range of a segment file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_SEQUENCES = 1 << 31
"""Sequence numbers of producers begin at zero again behind the largest int32."""
GROUP_TOPIC = "__consumer_offsets"
"""Of its transactional batches the group coordinator writes each with base sequence 0 (Kafka's CoordinatorRuntime)."""
UNNAMED = "; so counts the group coordinator, and the folder does not tell the topic"

Fault = tuple[str, str, str]
"""Check, severity, detail."""


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
    """The producers of a range, as far as it was read."""

    topic: str | None
    """None where the folder does not tell it."""
    known: dict[int, _Producer] = field(default_factory=dict)

    def batch(self, number: int, epoch: int, sequence: int, first: int, final: int) -> Fault | None:
        """What is wrong with the next batch, of the producer id ``number`` with offsets from ``first`` to ``final``."""
        after = (sequence + final - first + 1) % _SEQUENCES if sequence >= 0 else -1
        known = self.known.get(number)
        if known is None:
            self.known[number] = _Producer(epoch, sequence, first, epoch, after, sequence)
            return coordinator_fault(epoch, epoch, sequence) if self.topic == GROUP_TOPIC else None
        fault = self._fault(known, epoch, sequence)
        if sequence >= 0:
            known.next_sequence, known.last_sequence = after, sequence
        elif epoch > known.epoch:
            known.next_sequence = known.last_sequence = -1  # a marker with a new epoch: numbers begin anew
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

    def rows(self) -> list[dict[str, Any]]:
        """How each producer begins and ends in the range."""
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
    """What is wrong with a batch of ``__consumer_offsets``: brokers check its epoch, but its sequence is 0, or none."""
    if epoch < epoch_before:
        return _back(epoch, epoch_before)
    if sequence > 0:
        return "sequence_not_zero", "warning", f"sequence {sequence}, where the group coordinator writes 0"
    return None


def sequence_fault(
    epoch_before: int, expected: int, epoch: int, sequence: int, last_sequence: int = -1
) -> Fault | None:
    """What is wrong with the sequence number of a batch behind another one of its producer: check, severity, detail.

    ``expected`` and ``sequence`` are -1 where there is none. A producer with a new epoch begins at 0 (KIP-360).
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
        return "sequence_duplicate", "error", f"sequence {sequence} comes twice"
    ahead = (sequence - expected) % _SEQUENCES
    if ahead < _SEQUENCES // 2:
        return "sequence_gap", "warning", f"sequence {sequence}, where {expected} comes next"
    return "sequence_back", "error", f"sequence {sequence} again, where {expected} comes next"


def _back(epoch: int, before: int) -> Fault:
    return "producer_epoch", "error", f"epoch {epoch} behind {before}"
