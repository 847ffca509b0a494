"""Compare decoding and encoding of columns and of single messages, with and without the native core.

    python benchmarks/columns.py [--quick] [--only W1,OffsetCommitValue] [--output FILE]

Times are the minimum CPU time of all rounds. Needs kafka-messages-native.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import adapter_kafka_messages
import markdown
from environments import HERE, names
from peer_worker import Loaded
from workloads import WORKLOADS

# Rows per input, 5 to 30 MB; smaller inputs are measured too.
ROWS = {"W1": 5000, "W2": 40, "W3": 300, "W4": 500, "W5": 500, "W6": 100_000, "W7": 500, "OffsetCommitValue": 1_000_000}
FEW = (1, 100, 1000)
# Bytes of messages decoded one by one per sample; the time of all messages is extrapolated from it.
OBJECTS = 200_000
APPROACHES = ("native columns", "pure columns", "native objects", "pure objects")
# Values of KAFKA_MESSAGES_NATIVE, each measured in its own process.
IMPLEMENTATIONS = {"native": "1", "pure": "0"}


@dataclass(frozen=True)
class Input:
    name: str
    message: Any
    version: int
    rows: Sequence[bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.rows))


def inputs(only: Sequence[str]) -> list[Input]:
    import kafka_messages

    found = []
    for name in only:
        if name == "OffsetCommitValue":
            message, version, every = kafka_messages.OffsetCommitValue, 3, commits(ROWS[name])
        else:
            workload = WORKLOADS[name]
            message, version = getattr(kafka_messages, workload.message), workload.version
            every = [Loaded(adapter_kafka_messages.prepare(workload)).data] * ROWS[name]
        counts = sorted({*(few for few in FEW if few < len(every)), len(every)})
        found += [Input(name, message, version, every[:count]) for count in counts]
    return found


def commits(count: int) -> list[bytes]:
    from kafka_messages import OffsetCommitValue

    return [
        OffsetCommitValue(
            offset=at * 1000, leader_epoch=at % 100, metadata=f"host-{at % 1000}", commit_timestamp=at
        ).write(3)
        for at in range(count)
    ]


def seconds(call: Callable[[], object], budget: float) -> float:
    start, count = time.process_time(), 0
    spent = 0.0
    while spent < budget:
        call()
        count += 1
        spent = time.process_time() - start
    return spent / count


def measured(given: Input, rounds: int) -> dict[tuple[str, str], float]:
    import pyarrow as pa
    from kafka_messages import arrow, implementation

    array, version, message = pa.array(given.rows), given.version, given.message
    columns = arrow.decode(array, message, version)
    assert arrow.encode(columns, message, version).equals(array)
    some = given.rows[: max(1, OBJECTS * len(given.rows) // max(given.size, 1))]
    objects = [message.read(row, version) for row in some]
    share = len(given.rows) / len(some)
    work: dict[str, dict[str, tuple[Callable[[], object], float]]] = {
        "decode": {
            "columns": (lambda: arrow.decode(array, message, version), 1),
            "objects": (lambda: [message.read(row, version) is None for row in some], share),
        },
        "encode": {
            "columns": (lambda: arrow.encode(columns, message, version), 1),
            "objects": (lambda: [each.write(version) is None for each in objects], share),
        },
    }
    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for operation, calls in work.items():
            for kind, (call, factor) in calls.items():
                spent, key = seconds(call, 0.02) * factor, (operation, f"{implementation()} {kind}")
                best[key] = min(spent, best.get(key, spent))
    return best


def measured_apart(only: Sequence[str], rounds: int) -> list[dict[tuple[str, str], float]]:
    found: list[dict[tuple[str, str], float]] = [{} for _ in inputs(only)]
    for name, value in IMPLEMENTATIONS.items():
        print(name, file=sys.stderr, flush=True)
        command = [sys.executable, __file__, "--measure", str(rounds), "--only", ",".join(only)]
        done = subprocess.run(
            command, env=os.environ | {"KAFKA_MESSAGES_NATIVE": value}, stdout=subprocess.PIPE, check=True
        )
        for best, measurements in zip(found, json.loads(done.stdout), strict=True):
            best |= {(operation, kind): spent for operation, kind, spent in measurements}
    return found


def row_of(given: Input, operation: str, best: dict[tuple[str, str], float]) -> list[str]:
    native = best[operation, APPROACHES[0]]
    ratios = [f"{best[operation, approach] / native:.1f}" for approach in APPROACHES[1:]]
    times = [f"{native * 1e6:,.0f}", f"{given.size / native / 1e6:,.0f}"]
    return [f"{given.name}, {len(given.rows):,} of {given.size // len(given.rows):,} B", *times, *ratios]


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 9")
    parser.add_argument("--only", type=names, default=list(ROWS), metavar="NAMES", help="such as W1,OffsetCommitValue")
    parser.add_argument("--output", type=Path, help="write the report there too")
    parser.add_argument(
        "--measure", type=int, metavar="ROUNDS", help="internal: measure the selected implementation and print JSON"
    )
    arguments = parser.parse_args()
    sys.path.insert(0, str(HERE.parent / "generated" / "src"))
    parts = []
    tables: dict[str, list[list[str]]] = {"decode": [], "encode": []}
    if arguments.measure:
        every = [measured(given, arguments.measure) for given in inputs(arguments.only)]
        print(json.dumps([[(*key, spent) for key, spent in best.items()] for best in every]))
        return
    found = measured_apart(arguments.only, 3 if arguments.quick else 9)
    for given, best in zip(inputs(arguments.only), found, strict=True):
        for operation, rows in tables.items():
            rows.append(row_of(given, operation, best))
            print(operation, *rows[-1], sep=" | ", file=sys.stderr, flush=True)
    for operation, rows in tables.items():
        head = (operation, "µs", "MB/s", *(f"{approach} take" for approach in APPROACHES[1:]))
        parts.append("\n".join(markdown.table(head, rows)))
    report = "\n\n".join(parts) + "\n"
    print(report)
    if arguments.output is not None:
        arguments.output.write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
