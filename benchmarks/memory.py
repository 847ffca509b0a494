"""Memory of decoded messages, measured in fresh processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from environments import Environment
from workers import Worker, started
from workloads import Workload

# Encoded bytes to decode per measurement with tracemalloc, which is slow.
TRACED_BYTES = 1 << 22
MOST_COPIES = 10_000


@dataclass(frozen=True)
class Held:
    title: str
    size: int
    bytes: dict[str, float]


def measure(prepared: Sequence[Environment], workloads: Sequence[Workload]) -> list[Held]:
    held = [Held(workload.title, workload.size, {}) for workload in workloads]
    for environment in prepared:
        with started(*environment.worker()) as worker:
            for workload, each in zip(workloads, held, strict=True):
                worker.load(workload)
                each.bytes[worker.name] = traced(worker, workload)
    return held


def traced(worker: Worker, workload: Workload) -> float:
    copies = min(MOST_COPIES, max(1, TRACED_BYTES // workload.size))
    return float(str(worker.ask(do="traced", workload=workload.key, copies=copies)["bytes"]))
