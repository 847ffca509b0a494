"""Members of consumer groups, and how they reach their target assignment (KIP-848)."""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from enum import Enum, auto

from kafka_messages.protocol import ErrorCode

from .consumer_assignor import Partition
from .errors import RequestError

LEFT = -2
"""Epoch of a static member that left for a while."""


class MemberState(Enum):
    STABLE = auto()
    """Has reached its epoch."""
    UNREVOKED_PARTITIONS = auto()
    """Must give up partitions."""
    UNRELEASED_PARTITIONS = auto()
    """Waits for partitions that other members still hold."""


@dataclass(slots=True, eq=False)
class ConsumerMember:
    """A member, its subscription and its current assignment."""

    id: str
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    """Subscribed topics."""
    regex: str = ""
    """Pattern of subscribed topics; empty for none."""
    assignor: str | None = None
    rebalance_timeout: float = 300.0
    """Seconds in which the member must give up partitions."""
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: dict[Partition, int] = field(default_factory=dict)
    """Partitions the member may use, with the epoch at which it got each."""
    revoking: dict[Partition, int] = field(default_factory=dict)
    """Partitions the member must give up."""
    session_timer: TimerHandle | None = None
    rebalance_timer: TimerHandle | None = None

    def holds(self, partition: Partition) -> bool:
        return partition in self.assigned or partition in self.revoking

    def is_reconciled(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    def check_epoch(self, epoch: int, owned: Set[Partition] | None) -> None:
        """Raise RequestError for a fenced member.

        Epoch 0 always joins again. The previous epoch is accepted if the member owns nothing else than its assignment:
        the response with the new epoch may have been lost
        (``GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid``).
        """
        is_retry = epoch == self.previous_epoch and owned is not None and owned <= self.assigned.keys()
        if epoch > self.epoch or (0 != epoch < self.epoch and not is_retry):
            raise RequestError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                f"The consumer group member has a {'greater' if epoch > self.epoch else 'smaller'} member epoch ({epoch})"
                f" than the one known by the group coordinator ({self.epoch}). The member must abandon all its partitions"
                " and rejoin.",
            )

    def reconcile(
        self, epoch: int, target: Set[Partition], owned: Set[Partition] | None, is_free: Callable[[Partition], bool]
    ) -> bool:
        """Take the next step towards a target assignment; return False if there is none.

        First the member gives up partitions, which it confirms with a heartbeat that does not contain them in ``owned``;
        then it reaches the epoch, and gets each partition that no other member holds (``CurrentAssignmentBuilder``).
        """

        def owns(partitions: Set[Partition]) -> bool:
            return owned is None or not owned.isdisjoint(partitions)

        if self.is_reconciled(epoch) or (self.state is MemberState.UNREVOKED_PARTITIONS and owns(self.revoking.keys())):
            return False
        kept = {partition: since for partition, since in self.assigned.items() if partition in target}
        lost = {partition: since for partition, since in self.assigned.items() if partition not in target}
        missing = target - kept.keys()
        free = {partition for partition in missing if partition in self.revoking or is_free(partition)}
        self.previous_epoch = self.epoch
        if lost and owns(lost.keys()):
            self.state, self.assigned, self.revoking = MemberState.UNREVOKED_PARTITIONS, kept, lost
            return True
        self.state = MemberState.STABLE if free == missing else MemberState.UNRELEASED_PARTITIONS
        self.epoch, self.assigned, self.revoking = epoch, kept | dict.fromkeys(free, epoch), {}
        return True

    def cancel_timers(self) -> None:
        for timer in (self.session_timer, self.rebalance_timer):
            if timer is not None:
                timer.cancel()
