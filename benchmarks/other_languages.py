"""Compare our package with the codecs of other languages: Kafka's Java classes, franz-go, kafka-protocol.

    python benchmarks/other_languages.py [--quick] [--languages java,go,rust] [--workloads W1,W2,W3] [--output FILE]

Each worker is built from ``languages/`` and must re-encode our bytes unchanged. CPU time is that of the whole process
with all threads (Linux).
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

import compare
import environments
import languages_report
import report
import toolchains
from rounds import calibrated, in_turns
from toolchains import LANGUAGES
from workers import Worker, Written, disagreements, started
from workloads import Workload

# The last operation encodes to a reused buffer, in other languages only; its peer is our ``encode``.
OPERATIONS = ("decode", "encode", "encode+reuse")


def cpu_seconds(worker: Worker) -> float:
    # Encoded like clock_getcpuclockid: inverted process id, and the kind of clock in the low bits.
    return time.clock_gettime((~worker.pid << 3) | 2)


def seconds_of(worker: Worker, workload: Workload, operation: str, loops: int) -> float:
    before = cpu_seconds(worker)
    worker.ask(do="time", workload=workload.key, operation=operation, loops=loops)
    return cpu_seconds(worker) - before


def check(ours: Sequence[Worker], theirs: Sequence[Worker], workloads: Sequence[Workload]) -> None:
    problems: list[str] = []
    for workload in workloads:
        written: dict[str, Written] = {worker.name: worker.load(workload) for worker in ours}
        data = next(iter(written.values())).data
        written |= {worker.name: worker.load_bytes(workload, data) for worker in theirs}
        problems += disagreements(workload, written)
    if problems:
        raise SystemExit("\n".join(problems))


def warm_up(worker: Worker, seconds: float, arguments: Namespace) -> None:
    """Run the operations until just-in-time compilers have finished."""
    print(f"warming up {worker.name}", file=sys.stderr)
    for workload in arguments.workloads:
        for operation in arguments.operations:
            timed = partial(seconds_of, worker, workload, operation)
            timed(calibrated(timed, seconds))


def measure(
    ours: Sequence[Worker], theirs: Sequence[Worker], workload: Workload, arguments: Namespace
) -> list[report.Measurement]:
    measured = []
    for operation in arguments.operations:
        own = "encode" if operation == "encode+reuse" else operation
        subjects = {worker.name: partial(seconds_of, worker, workload, own) for worker in ours}
        subjects |= {worker.name: partial(seconds_of, worker, workload, operation) for worker in theirs}
        times = in_turns(subjects, arguments.samples, arguments.seconds)
        measured.append(report.Measurement(workload, operation, times))
    return measured


def parse(argv: Sequence[str] | None = None) -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    environments.add_arguments(parser)
    compare.add_arguments(parser, OPERATIONS)
    parser.add_argument(
        "--languages",
        type=environments.names,
        default=list(LANGUAGES),
        metavar="NAMES",
        help=f"choice among {', '.join(LANGUAGES)} (default: all whose toolchains are installed)",
    )
    parser.set_defaults(codecs=[environments.NATIVE, environments.OURS])
    arguments = parser.parse_args(argv)
    compare.complete(parser, arguments, OPERATIONS)
    if unknown := [name for name in arguments.languages if name not in LANGUAGES]:
        parser.error(f"unknown language {', '.join(unknown)}; there are {', '.join(LANGUAGES)}")
    return arguments


def main() -> None:
    arguments = parse()
    if not sys.platform.startswith("linux"):
        raise SystemExit("this comparison needs Linux, to read the CPU clock of other processes")
    chosen = [LANGUAGES[name] for name in arguments.languages]
    skipped = {language.name: missing for language in chosen if (missing := language.missing())}
    present = [language for language in chosen if language.name not in skipped]
    prepared = environments.prepare(arguments)
    commands = [toolchains.make(language, arguments.work) for language in present]
    with ExitStack() as stack:
        ours = [stack.enter_context(started(*environment.worker())) for environment in prepared]
        theirs = [
            stack.enter_context(started(language.name, command, os.environ | language.variables))
            for language, command in zip(present, commands, strict=True)
        ]
        check(ours, theirs, arguments.workloads)
        for worker in ours:
            worker.ask(do="freeze")
        for worker, language in zip(theirs, present, strict=True):
            if language.warm_up:
                warm_up(worker, language.warm_up, arguments)
        measured = []
        for workload in arguments.workloads:
            print(f"measuring {workload.title}", file=sys.stderr)
            measured += measure(ours, theirs, workload, arguments)
        versions = {worker.name: worker.version for worker in ours}
        for worker, language in zip(theirs, present, strict=True):
            versions[worker.name] = f"{worker.version}, {language.toolchain_version()}"
    setup = report.BenchmarkSetup(
        command=shlex.join(["python", "benchmarks/other_languages.py", *sys.argv[1:]]),
        versions=versions,
        ours=[worker.name for worker in ours],
        samples=arguments.samples,
        milliseconds=round(arguments.seconds * 1000),
    )
    text = languages_report.render(setup, measured, skipped)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
