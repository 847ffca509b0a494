"""Measure the CPU time that the command ``kafka-messages`` takes beyond a bare Python process.

    python benchmarks/command.py [--samples N] [--package PATH] [--output FILE]

Exits with status 1 if a case exceeds its limit in ``CASES``.
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import environments
from environments import OURS, Environment
from imports import BARE, cpu_milliseconds
from markdown import table
from rounds import rotated

_IMPORT = "from kafka_messages import ApiVersionsRequest; ApiVersionsRequest()"
_EXPLAIN = ("explain", "ApiVersionsRequest", "3", "056a61766106342e342e3000")
_TOOLS = Path(__file__).resolve().parent.parent / "packages" / "tools" / "src"
# Script equivalent to the installed command.
_SCRIPT = (
    f"import sys; sys.path.insert(0, {str(_TOOLS)!r}); from kafka_messages_tools.command import main; sys.exit(main())"
)


@dataclass(frozen=True)
class Case:
    name: str
    arguments: tuple[str, ...]
    beyond: str = ""
    limit: float | None = None


def _program(*words: str) -> tuple[str, ...]:
    return ("-P", "-c", _SCRIPT, *words)


CASES = (
    Case("", ("-P", "-c", BARE)),
    Case("import of one message", ("-P", "-c", _IMPORT)),
    Case("--version", _program("--version"), "", 15),
    Case("list", _program("list"), "", 45),
    Case("list --json", _program("list", "--json"), "", 45),
    Case("explain", _program(*_EXPLAIN), "import of one message", 25),
    Case("explain --json", _program(*_EXPLAIN, "--json"), "import of one message", 25),
    Case("--help", _program("--help"), "", 15),
)


def measure(environment: Environment, samples: int) -> dict[str, float]:
    found: dict[str, list[float]] = {case.name: [] for case in CASES}
    for turn in range(-1, samples):  # round -1 only warms the bytecode and file caches
        times = {case.name: cpu_milliseconds(environment, case.arguments) for case in rotated(CASES, turn)}
        for case in CASES if turn >= 0 else ():
            found[case.name].append(times[case.name] - times[case.beyond])
    return {name: median(each) for name, each in found.items()}


def render(command: str, samples: int, costs: dict[str, float]) -> str:
    rows = [
        [
            case.name,
            case.beyond or "bare Python",
            f"{costs[case.name]:.1f}",
            "" if case.limit is None else f"{case.limit:g}",
        ]
        for case in CASES
        if case.name
    ]
    lines = [
        f"`{command}`",
        "",
        f"CPU ms of fresh processes, warm bytecode caches, median of {samples}, Python {sys.version.split()[0]}",
        "",
        *table(["command", "beyond", "CPU ms", "limit"], rows, texts=2),
    ]
    return "\n".join(lines)


def passed(costs: dict[str, float]) -> list[str]:
    return [case.name for case in CASES if case.limit is not None and costs[case.name] > case.limit]


def _environment(arguments: Namespace) -> Environment:
    arguments.codecs = [OURS]
    (environment,) = environments.prepare(arguments)
    return environment


def main(words: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    environments.add_arguments(parser)
    parser.add_argument("--samples", type=int, default=31, help="fresh processes per case (default %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table there too")
    arguments = parser.parse_args(words)
    costs = measure(_environment(arguments), arguments.samples)
    text = render(shlex.join(["python", "benchmarks/command.py", *sys.argv[1:]]), arguments.samples, costs)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")
    if missed := passed(costs):
        print(f"over its limit: {', '.join(missed)}", file=sys.stderr)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
