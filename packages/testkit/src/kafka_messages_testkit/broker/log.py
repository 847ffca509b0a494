"""Log of a partition."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Log:
    """Batches of a partition, its leader, and who waits for new batches."""

    index: int
    leader: int
    """Node id of the leader; -1 for none."""
    leader_epoch: int = 0
    start: int = 0
    """First offset."""
    end: int = 0
    """Offset after the last record; also the high watermark, as there are no followers."""
    waiting: list[asyncio.Event] = field(default_factory=list)

    def notify(self) -> None:
        """Wake up requests that wait for a change of this log."""
        for event in self.waiting:
            event.set()
        self.waiting.clear()
