"""Measure the CPU time that importing a message takes beyond ``python -c pass``.

python benchmarks/imports.py [--samples N] [--codecs kafka-messages,kio] [--output FILE]
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

import environments
from environments import Environment
from markdown import table
from rounds import rotated

BARE = "pass"

# Import, construct and encode, as codecs defer work to different points.
_OURS = (
    "import kafka_messages",
    "from kafka_messages import MetadataResponse; MetadataResponse()",
    "from kafka_messages import MetadataResponse; MetadataResponse().write(12)",
)
_KIO_EMPTY = (
    "import datetime; from kio.schema.metadata.v12 import MetadataResponse;"
    " message = MetadataResponse(throttle_time=datetime.timedelta(0), brokers=(), topics=())"
)
STATEMENTS = {
    "adapter_kafka_messages": _OURS,
    "adapter_kafka_messages_native": _OURS,
    "adapter_kafka_python": (
        "import kafka.protocol.metadata",
        "from kafka.protocol.metadata import MetadataResponse; MetadataResponse(version=12)",
        "from kafka.protocol.metadata import MetadataResponse; MetadataResponse(version=12).encode()",
    ),
    "adapter_kio": (
        "import kio.schema.metadata.v12",
        _KIO_EMPTY,
        f"{_KIO_EMPTY}; import io; from kio.serial import entity_writer;"
        " entity_writer(MetadataResponse)(io.BytesIO(), message)",
    ),
}
COLUMNS = ("import", "and instantiate", "and encode")


def cpu_milliseconds(environment: Environment, arguments: Sequence[str]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    command = [str(environment.python), *arguments]
    result = subprocess.run(command, env=environment.variables(), check=False, stdout=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    if result.returncode:
        raise SystemExit(f"{environment.codec.name}: {shlex.join(arguments)} failed")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def measure(prepared: Sequence[Environment], samples: int) -> dict[str, list[float]]:
    """Return milliseconds by codec and column: the median difference to a bare interpreter."""
    costs: dict[str, list[list[float]]] = {environment.codec.name: [] for environment in prepared}
    for turn in range(-1, samples):  # round -1 only warms the bytecode and file caches
        for environment in rotated(prepared, turn):
            # -P keeps the current folder off the import path.
            bare = cpu_milliseconds(environment, ["-P", "-c", BARE])
            statements = STATEMENTS[environment.codec.adapter]
            row = [cpu_milliseconds(environment, ["-P", "-c", statement]) - bare for statement in statements]
            if turn >= 0:
                costs[environment.codec.name].append(row)
    return {name: [median(column) for column in zip(*rows, strict=True)] for name, rows in costs.items()}


def render(command: str, samples: int, prepared: Sequence[Environment], costs: dict[str, list[float]]) -> str:
    rows = []
    for environment in prepared:
        requirement = environment.codec.requirement if environment.codec.is_peer else environment.codec.name
        rows.append([requirement, *(f"{cost:.1f}" for cost in costs[environment.codec.name])])
    lines = [
        f"`{command}`",
        "",
        f"CPU ms of fresh processes beyond `python -c {BARE}`, warm bytecode caches, median of {samples},"
        f" Python {sys.version.split()[0]}",
        "",
        *table(["MetadataResponse", *COLUMNS], rows),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    environments.add_arguments(parser)
    parser.add_argument("--samples", type=int, default=15, help="fresh processes per statement (default %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table there too")
    arguments = parser.parse_args()
    prepared = environments.prepare(arguments)
    costs = measure(prepared, arguments.samples)
    text = render(shlex.join(["python", "benchmarks/imports.py", *sys.argv[1:]]), arguments.samples, prepared, costs)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
