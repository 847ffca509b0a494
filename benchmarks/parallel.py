"""Compare two sub-interpreters (PEP 684) or two threads with two processes that do the same work.

    python benchmarks/parallel.py [--only messages,records,columns,encoded columns,segments] [--rounds N] [--seconds N]

Messages and records are decoded as objects, in sub-interpreters of CPython 3.12 or newer. Columns and segments are read in
threads. Run it with a Python in which kafka-messages, kafka-records and kafka-messages-native are installed, for columns
and segments with their extra arrow. It needs two idle cores.
"""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from statistics import median
from subprocess import PIPE
from time import perf_counter
from typing import Any

from markdown import number, table
from rounds import in_turns

MESSAGES = """
from adapter_kafka_messages_native import prepare
from workloads import WORKLOADS
case = prepare(WORKLOADS["W1"])
names = dict(case.names, message=case.message)
exec(case.encode, names)
statement = compile(case.decode, "decode", "exec")
def run(loops):
    for _ in range(loops):
        exec(statement, names)
"""
RECORDS = """
from kafka_records import Record, read_batches, write_batch
data = write_batch([Record(key=b"key", value=bytes(100)) for _ in range(1000)])
def run(loops):
    for _ in range(loops):
        for batch in read_batches(data):
            for record in batch.records():
                pass
"""
COLUMNS = """
from columns import inputs
from kafka_messages import arrow
import pyarrow as pa
given = next(each for each in inputs(["{name}"]) if len(each.rows) == {rows})
array = pa.array(given.rows)
columns = arrow.decode(array, given.message, given.version)
def run(loops):
    for _ in range(loops):
        arrow.{operation}, given.message, given.version)
"""
# A real file, because a read of io.BytesIO holds the GIL.
SEGMENTS = """
from pathlib import Path
from tempfile import TemporaryDirectory
from kafka_records.segments import read_segments
from segment_files import Shape, write_segment
folder = TemporaryDirectory()
path = Path(folder.name, "0.log")
write_segment(path, Shape({shape}), size=1 << 25)
def run(loops):
    for _ in range(loops):
        for batch in read_segments(path):
            pass
"""
ARRAYS = (("W1", 100), ("W1", 5000), ("W5", 500), ("OffsetCommitValue", 1000), ("OffsetCommitValue", 1_000_000))
SHAPES = (
    "200, 64",
    "5000, 64",
    "32, 1024",
    "500, 1024",
    *(f"{count}, 64, {codec!r}" for codec in ("gzip", "snappy", "lz4", "zstd") for count in (200, 5000)),
)


def columns(operation: str) -> dict[str, str]:
    cases = {f"{rows:,} of {name}": (name, rows) for name, rows in ARRAYS}
    return {title: COLUMNS.format(name=name, rows=rows, operation=operation) for title, (name, rows) in cases.items()}


# Programs that define run(loops), by kind and case.
WORK = {
    "messages": {"W1": MESSAGES},
    "records": {"1,000 of 100 B": RECORDS},
    "columns": columns("decode(array"),
    "encoded columns": columns("encode(columns"),
    "segments": {shape: SEGMENTS.format(shape=shape) for shape in SHAPES},
}
INTERPRETED = ("messages", "records")
HEAD = ("work", "input", "compared", "two processes", "two of these", "ratio")
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


@contextmanager
def thread(work: str) -> Iterator[Run]:
    """Yield a function that runs loops in the calling thread, with data of its own."""
    names: dict[str, Any] = {}
    exec(work, names)
    yield names["run"]


def seconds(pool: ThreadPoolExecutor, pair: tuple[Run, Run], loops: int) -> float:
    begin = perf_counter()
    for done in [pool.submit(run, loops) for run in pair]:
        done.result()
    return perf_counter() - begin


def measure(kind: str, work: str, rounds: int, length: float) -> list[str]:
    """Return the cells of a row: the throughput of both, in loops per second, and the median ratio of the rounds."""
    other = interpreter if kind in INTERPRETED else thread
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        pairs = {way: (stack.enter_context(way(work)), stack.enter_context(way(work))) for way in (process, other)}
        subjects = {way.__name__: partial(seconds, pool, pair) for way, pair in pairs.items()}
        times = in_turns(subjects, rounds, length)
    ratios = [one / two for one, two in zip(times["process"], times[other.__name__], strict=True)]
    return [other.__name__ + "s", *(number(2 / median(each)) for each in times.values()), f"{median(ratios):.2f}"]


def chosen(text: str) -> list[str]:
    kinds = text.split(",")
    if unknown := [kind for kind in kinds if kind not in WORK]:
        raise ArgumentTypeError(f"expected some of {','.join(WORK)}, got {','.join(unknown)}")
    return kinds


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", type=chosen, default=list(WORK), metavar="KINDS", help=f"some of {','.join(WORK)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a sample (default %(default)s)")
    arguments = parser.parse_args()
    print(f"Loops per second, medians of {arguments.rounds} rounds, Python {sys.version.split()[0]}\n")
    for line in table(HEAD, rows(arguments.only, arguments.rounds, arguments.seconds), texts=3):
        print(line, flush=True)


def rows(kinds: list[str], rounds: int, length: float) -> Iterator[list[str]]:
    for kind in kinds:
        if kind in INTERPRETED and sys.version_info < (3, 12):
            print(f"{kind}: sub-interpreters need Python 3.12 or newer", file=sys.stderr)
            continue
        for case, work in WORK[kind].items():
            yield [kind, case, *measure(kind, work, rounds, length)]


if __name__ == "__main__":
    main()
