"""Compare our package, pure and native, with its peers side by side in one run.

    python benchmarks/compare.py [--quick] [--workloads W1,W6] [--codecs kafka-messages,kio] [--output FILE]

Every codec runs in its own process and environment. All codecs must write the same bytes for every workload.
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import environments
import memory
import report
from codec import OPERATIONS
from environments import Environment
from rounds import in_turns
from workers import Worker, Written, disagreements, started
from workloads import WORKLOADS, Workload


def check(workers: Sequence[Worker], workloads: Sequence[Workload]) -> dict[str, Sequence[str]]:
    """Load all workloads and return the operations of each codec; exit if their bytes differ."""
    problems: list[str] = []
    operations: dict[str, Sequence[str]] = {}
    for workload in workloads:
        written: Mapping[str, Written] = {worker.name: worker.load(workload) for worker in workers}
        problems += disagreements(workload, written)
        operations |= {name: each.operations for name, each in written.items()}
    if problems:
        raise SystemExit("\n".join(problems))
    return operations


def measurements(
    prepared: Sequence[Environment], arguments: Namespace, versions: dict[str, str]
) -> list[report.Measurement]:
    measured = []
    with ExitStack() as stack:
        workers = [stack.enter_context(started(*environment.worker())) for environment in prepared]
        versions |= {worker.name: worker.version for worker in workers}
        able = check(workers, arguments.workloads)
        for worker in workers:
            worker.ask(do="freeze")
        for workload in arguments.workloads:
            print(f"measuring {workload.title}", file=sys.stderr)
            for operation in arguments.operations:
                subjects = {
                    worker.name: partial(worker.time, workload, operation)
                    for worker in workers
                    if operation in able[worker.name]
                }
                if subjects:
                    times = in_turns(subjects, arguments.samples, arguments.seconds)
                    measured.append(report.Measurement(workload, operation, times))
    return measured


def parse(argv: Sequence[str] | None = None) -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    environments.add_arguments(parser)
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    complete(parser, arguments)
    return arguments


def add_arguments(parser: ArgumentParser, operations: Sequence[str] = OPERATIONS) -> None:
    parser.add_argument(
        "--workloads", type=environments.names, default=list(WORKLOADS), metavar="KEYS", help="such as W1,W6"
    )
    parser.add_argument(
        "--operations",
        type=environments.names,
        default=list(operations),
        metavar="NAMES",
        help=f"choice among {', '.join(operations)} (default: all)",
    )
    parser.add_argument("--samples", type=int, help="rounds per workload and operation (default 21, quick 5)")
    parser.add_argument("--quick", action="store_true", help="short run: 10 ms samples instead of 40 ms, and fewer")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there too")


def complete(parser: ArgumentParser, arguments: Namespace, operations: Sequence[str] = OPERATIONS) -> None:
    arguments.samples = arguments.samples or (5 if arguments.quick else 21)
    arguments.seconds = 0.010 if arguments.quick else 0.040
    for kind, chosen, known in (
        ("workload", arguments.workloads, list(WORKLOADS)),
        ("operation", arguments.operations, operations),
    ):
        if unknown := [name for name in chosen if name not in known]:
            parser.error(f"unknown {kind} {', '.join(unknown)}; expected one of {', '.join(known)}")
    arguments.workloads = [WORKLOADS[key] for key in arguments.workloads]


def main() -> None:
    arguments = parse()
    prepared = environments.prepare(arguments)
    versions: dict[str, str] = {}
    measured = measurements(prepared, arguments, versions)
    print("measuring memory", file=sys.stderr)
    held = memory.measure(prepared, arguments.workloads)
    setup = report.BenchmarkSetup(
        command=shlex.join(["python", "benchmarks/compare.py", *sys.argv[1:]]),
        versions=versions,
        ours=[environment.codec.name for environment in prepared if not environment.codec.is_peer],
        samples=arguments.samples,
        milliseconds=round(arguments.seconds * 1000),
    )
    text = report.render(setup, measured, held)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
