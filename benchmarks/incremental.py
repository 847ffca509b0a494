"""Measure what a Spark job with --state costs after 1 % of new data, relative to a run that reads everything.

    python benchmarks/incremental.py [--gigabytes N] [--samples N] [--jobs groups,segments] [--output FILE]

The logs are hard links to one segment of 32 MiB, so that they take little space. Of the new data, half are new segments,
half are bytes that segments have grown by. Costs are CPU seconds of all processes less those of a session that reads one
row. Exits with status 1 if a report differs from that of the full run.
"""

from __future__ import annotations

import os
import shlex
import shutil
import struct
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from jobs import SESSION, report_head, run
from kafka_messages import OffsetCommitKey, OffsetCommitValue
from kafka_messages.internal_topics import write_coordinator_record
from kafka_records.segments.batch_writer import write_batches
from markdown import number, table
from rounds import rotated
from segment_files import Shape, write_segment

SEGMENT = 32 << 20
# Partitions whose segments grow.
GROWN = 8
GROUPS, COMMITS, NEW_COMMITS, NOW = 10, 100, 1, 1_700_000_000_000
LOGS, BEFORE, AFTER, STATE = "logs", "before", "after", "state"
JOBS: Mapping[str, Sequence[str]] = {
    "transactions": (LOGS,),
    "segments": (LOGS,),
    "groups": (LOGS, "--data", LOGS),
    "batching": (LOGS,),
}
HEADER = ("job", "full run", "1 % new data", "of the full run")


def rebased(data: bytes, base: int) -> bytes:
    """Return batches with other offsets, which the checksums do not cover."""
    found, at = bytearray(data), 0
    while at < len(found):
        offset, length = struct.unpack_from(">qi", found, at)
        struct.pack_into(">q", found, at, base + offset)
        at += 12 + length
    return bytes(found)


def first_batches(data: bytes, size: int) -> bytes:
    """Return the first batches, at least ``size`` bytes."""
    at = 0
    while at < size:
        at += 12 + struct.unpack_from(">i", data, at + 8)[0]
    return data[:at]


def commits(partitions: int, first: int, count: int) -> bytes:
    """Return ``count`` commits of each group and partition as batches of ``__consumer_offsets``."""
    rows = []
    for at in range(first, first + count):
        for group in range(GROUPS):
            for partition in range(partitions):
                key = OffsetCommitKey(group=f"group-{group}", topic="orders", partition=partition)
                value = OffsetCommitValue(offset=at, commit_timestamp=NOW + at)
                pair = write_coordinator_record(key, value, 3)
                rows.append({"key": pair[0], "value": pair[1], "timestamp": NOW + at})
    return write_batches(rows, base_offset=first * GROUPS * partitions, max_records=100)


def make(folder: Path, gigabytes: float) -> tuple[int, int]:
    """Write the logs before and after; return the size of both in bytes."""
    original = folder / "original.log"
    records = write_segment(original, Shape(100, 64), size=SEGMENT)
    data = original.read_bytes()
    partitions = max(2 * GROWN, round(gigabytes * 1e9 / len(data)))
    share = len(data) * partitions // 100
    new = max(1, share // 2 // len(data))
    for tree in (BEFORE, AFTER):
        for partition in range(partitions):
            log = folder / tree / f"orders-{partition}" / f"{0:020}.log"
            log.parent.mkdir(parents=True)
            os.link(original, log)
    for partition in range(new):
        (folder / AFTER / f"orders-{partition}" / f"{records:020}.log").write_bytes(rebased(data, records))
    grown = data + rebased(first_batches(data, (share - new * len(data)) // GROWN), records)
    for partition in range(partitions - GROWN, partitions):
        log = folder / AFTER / f"orders-{partition}" / f"{0:020}.log"
        log.unlink()
        log.write_bytes(grown)
    old = commits(partitions, 0, COMMITS)
    for tree, content in ((BEFORE, old), (AFTER, old + commits(partitions, COMMITS, NEW_COMMITS))):
        log = folder / tree / "__consumer_offsets-0" / f"{0:020}.log"
        log.parent.mkdir()
        log.write_bytes(content)
    return size_of(folder / BEFORE), size_of(folder / AFTER)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.log"))


class Trees:
    """Gives the logs before or after the name under which the jobs read them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.current = folder, ""

    def show(self, tree: str) -> None:
        if self.current:
            (self.folder / LOGS).rename(self.folder / self.current)
        (self.folder / tree).rename(self.folder / LOGS)
        self.current = tree


def measure(folder: Path, jobs: Sequence[str], samples: int) -> dict[str, list[tuple[float, float]]]:
    """Return the costs of full runs and of runs with 1 % new data, beyond those of a session."""
    trees, found = Trees(folder), {job: list[tuple[float, float]]() for job in jobs}

    def cost(job: str, *options: str) -> float:
        words = [job, *(str(folder / word) if word == LOGS else word for word in JOBS[job]), *options]
        return run(words, folder).cpu

    trees.show(BEFORE)
    for job in jobs:
        print(
            f"{job}: {cost(job, '--state', str(folder / STATE)):.1f} s to write the state", file=sys.stderr, flush=True
        )
    trees.show(AFTER)
    for turn in range(samples):
        session = run((), folder).cpu
        for job in rotated(jobs, turn):
            full = cost(job)
            report = (folder / "report.txt").read_text(encoding="utf-8")
            state = folder / f"state-{turn}"
            shutil.copytree(folder / STATE, state)
            new = cost(job, "--state", str(state))
            if (folder / "report.txt").read_text(encoding="utf-8") != report:
                raise SystemExit(f"{job}: the reports differ")
            shutil.rmtree(state)
            found[job].append((full - session, new - session))
            print(f"{job}: {full:.1f} and {new:.1f} s, {SESSION} {session:.1f} s", file=sys.stderr, flush=True)
    return found


def render(sizes: tuple[int, int], found: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    rows = []
    for job, costs in found.items():
        full, new = (median(each[at] for each in costs) for at in (0, 1))
        rows.append([job, number(full), number(new), f"{median(new / full for full, new in costs):.1%}"])
    samples = len(next(iter(found.values())))
    data = f"{sizes[1] / 1e9:.2f} GB, of it {(sizes[1] - sizes[0]) / 1e6:.0f} MB new"
    return report_head(shlex.join(["python", "benchmarks/incremental.py", *sys.argv[1:]]), samples, data) + "\n".join(
        table(HEADER, rows)
    )


def main(words: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=4.5, help="size of the logs (default %(default)s)")
    parser.add_argument("--samples", type=int, default=5, help="runs of each kind (default %(default)s)")
    parser.add_argument("--jobs", default=",".join(JOBS), help="jobs to measure (default: all)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table there too")
    arguments = parser.parse_args(words)
    jobs = arguments.jobs.split(",")
    if unknown := set(jobs) - JOBS.keys():
        parser.error(f"there is no job {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as name:
        sizes = make(Path(name), arguments.gigabytes)
        text = render(sizes, measure(Path(name), jobs, arguments.samples))
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
