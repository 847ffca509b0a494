"""Compare two sub-interpreters (PEP 684) with two processes that decode messages and records, on CPython 3.12 or newer.

    python benchmarks/parallel.py [--rounds N] [--seconds N]

Run it with a Python in which kafka-messages, kafka-records and kafka-messages-native are installed. It needs two idle cores.
"""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from statistics import median
from subprocess import PIPE
from time import perf_counter

from markdown import table
from rounds import in_turns

# Defines run(loops), one for each kind of data.
WORK = {
    "messages": """
from adapter_kafka_messages_native import prepare
from workloads import WORKLOADS
case = prepare(WORKLOADS["W1"])
names = dict(case.names, message=case.message)
exec(case.encode, names)
statement = compile(case.decode, "decode", "exec")
def run(loops):
    for _ in range(loops):
        exec(statement, names)
""",
    "records": """
from kafka_records import Record, read_batches, write_batch
data = write_batch([Record(key=b"key", value=bytes(100)) for _ in range(1000)])
def run(loops):
    for _ in range(loops):
        for batch in read_batches(data):
            for record in batch.records():
                pass
""",
}
PATH = f"import sys; sys.path[:] = {sys.path!r}"
Run = Callable[[int], object]


@contextmanager
def process(work: str) -> Iterator[Run]:
    """Start a process and yield a function that runs loops there."""
    program = f"{PATH}\n{work}\nfor line in sys.stdin:\n    run(int(line))\n    print(flush=True)"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, bufsize=1) as started:
        source, target = started.stdout, started.stdin
        assert source
        assert target

        def run(loops: int) -> None:
            target.write(f"{loops}\n")
            if not source.readline():
                raise SystemExit(f"a process ended with status {started.wait()}")

        yield run
        target.close()


@contextmanager
def interpreter(work: str) -> Iterator[Run]:
    """Create an interpreter with a lock of its own and yield a function that runs loops there."""
    is_first = sys.version_info < (3, 13)
    low_level = import_module("_xxsubinterpreters" if is_first else "_interpreters")
    created = low_level.create() if is_first else low_level.create("isolated")

    def execute(code: str) -> None:
        if failed := low_level.run_string(created, code):
            raise SystemExit(failed.formatted)

    execute(f"{PATH}\n{work}")
    yield lambda loops: execute(f"run({loops})")
    low_level.destroy(created)


def seconds(pool: ThreadPoolExecutor, pair: tuple[Run, Run], loops: int) -> float:
    begin = perf_counter()
    for done in [pool.submit(run, loops) for run in pair]:
        done.result()
    return perf_counter() - begin


def measure(work: str, rounds: int, length: float) -> list[str]:
    """Return a row: the throughput of both, in loops per second, and the median ratio of the rounds."""
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        pairs = {
            kind.__name__: (stack.enter_context(kind(work)), stack.enter_context(kind(work)))
            for kind in (process, interpreter)
        }
        times = in_turns({name: partial(seconds, pool, pair) for name, pair in pairs.items()}, rounds, length)
    ratios = [one / other for one, other in zip(times["process"], times["interpreter"], strict=True)]
    return [*(f"{2 / median(times[name]):,.0f}" for name in pairs), f"{median(ratios):.2f}"]


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a sample (default %(default)s)")
    arguments = parser.parse_args()
    rows = [[name, *measure(work, arguments.rounds, arguments.seconds)] for name, work in WORK.items()]
    print(f"Loops per second, medians of {arguments.rounds} rounds, Python {sys.version.split()[0]}\n")
    print("\n".join(table(["decoded", "two processes", "two interpreters", "ratio"], rows)))


if __name__ == "__main__":
    main()
