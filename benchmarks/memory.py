"""What decoded messages hold in memory, every codec in fresh processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from environments import Environment
from process_tree import resident_bytes
from workers import Worker, started
from workloads import Workload

TRACED_BYTES = 1 << 22
"""About so many encoded bytes are decoded where allocations are traced, which makes them slow."""
RESIDENT_BYTES = 1 << 24
MOST_COPIES = 10_000


@dataclass(frozen=True)
class Held:
    """Bytes per decoded message, by codec."""

    title: str
    size: int
    bytes: dict[str, float]


def measure(prepared: Sequence[Environment], workloads: Sequence[Workload]) -> list[Held]:
    """What Python's allocators gave for every workload, and for the largest also what the process took."""
    held = [Held(workload.title, workload.size, {}) for workload in workloads]
    for environment in prepared:
        with started(*environment.worker()) as worker:
            for workload, each in zip(workloads, held, strict=True):
                worker.load(workload)
                each.bytes[worker.name] = traced(worker, workload)
    largest = max(workloads, key=lambda workload: workload.size)
    process = Held(f"{largest.title}, resident", largest.size, {})
    for environment in prepared:
        with started(*environment.worker()) as worker:
            worker.load(largest)
            process.bytes[worker.name] = resident(worker, largest)
    return [*held, process] if all(process.bytes.values()) else held  # without /proc there is no number


def traced(worker: Worker, workload: Workload) -> float:
    """Bytes that were allocated, by Python's own account, and not released while the messages are kept."""
    copies = min(MOST_COPIES, max(1, TRACED_BYTES // workload.size))
    return float(str(worker.ask(do="traced", workload=workload.key, copies=copies)["bytes"]))


def resident(worker: Worker, workload: Workload) -> float:
    """By how much the process grows per message that it keeps; what was free before is used up by the first half."""
    copies = min(MOST_COPIES, max(1, RESIDENT_BYTES // workload.size))
    worker.ask(do="keep", workload=workload.key, copies=copies)
    before = resident_bytes(worker.pid)
    worker.ask(do="keep", workload=workload.key, copies=copies)
    return (resident_bytes(worker.pid) - before) / copies
