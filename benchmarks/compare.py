"""Compare the encoding and decoding speed of our package with its peers, side by side in one run.

    python benchmarks/compare.py [--quick] [--workloads W1,W6] [--codecs kafka-messages,kio] [--output FILE]

Every codec runs in its own process and environment. First all of them must write the same bytes for every workload, and
write them again after decoding. Then samples are taken in turns, the order rotating from round to round, so that
whatever else the machine does meets every codec alike; ratios are taken within a round before their median is.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import environments
import report
from codec import OPERATIONS, Operation
from environments import Environment
from rounds import rotated
from workloads import WORKLOADS, Workload

WORKER = Path(__file__).resolve().with_name("peer_worker.py")


class Process:
    """The driver's end of one worker."""

    def __init__(self, environment: Environment, process: subprocess.Popen[str]) -> None:
        self.codec = environment.codec
        self._process = process
        hello = self.ask(do="hello")
        self.python, self.version = str(hello["python"]), str(hello["version"])

    def ask(self, **request: object) -> dict[str, object]:
        """Send one request and wait for its answer; a failed request ends the run with the worker's traceback."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # there is no answer either
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the {self.codec.name} worker ended with status {self._process.wait()} on {request}")
        answer: dict[str, object] = json.loads(line)
        if "error" in answer:
            raise SystemExit(f"{self.codec.name} failed on {request}:\n{answer['error']}")
        return answer

    def load(self, workload: Workload) -> tuple[bytes, bytes]:
        """Build a workload's message: what the codec writes, and what it writes after decoding that."""
        answer = self.ask(do="load", workload=workload.key)
        return b64decode(str(answer["data"])), b64decode(str(answer["again"]))

    def calibrate(self, workload: Workload, operation: Operation, seconds: float) -> int:
        """How many repetitions make a sample of that length."""
        return int(str(self.ask(do="calibrate", workload=workload.key, operation=operation, seconds=seconds)["loops"]))

    def time(self, workload: Workload, operation: Operation, loops: int) -> float:
        """CPU seconds per message of one sample."""
        return float(str(self.ask(do="time", workload=workload.key, operation=operation, loops=loops)["seconds"]))


@contextmanager
def started(environment: Environment) -> Iterator[Process]:
    """A running worker, ended on the way out."""
    with subprocess.Popen(
        [str(environment.python), str(WORKER), environment.codec.adapter],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment.variables(),
    ) as process:
        try:
            yield Process(environment, process)
        finally:
            assert process.stdin
            process.stdin.close()
            process.terminate()


def disagreements(workload: Workload, written: dict[str, tuple[bytes, bytes]]) -> list[str]:
    """What is wrong with the codecs' bytes for one workload, in words; nothing when they may be measured."""
    reference_name, (reference, _) = next(iter(written.items()))
    problems = []
    for name, (data, again) in written.items():
        if len(data) != workload.size:
            problems.append(f"{workload.title}: {name} writes {len(data)} bytes instead of {workload.size}")
        if data != reference:
            problems.append(
                f"{workload.title}: {name} and {reference_name} differ from offset {difference(data, reference)}"
            )
        if again != data:
            problems.append(
                f"{workload.title}: {name} writes other bytes after decoding, from offset {difference(again, data)}"
            )
    return problems


def difference(left: bytes, right: bytes) -> int:
    """The first offset at which two byte strings differ."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((offset for offset, (one, other) in pairs if one != other), min(len(left), len(right)))


def check(processes: Sequence[Process], workloads: Sequence[Workload]) -> None:
    """Load all workloads everywhere; end the run unless all codecs agree on all bytes."""
    problems: list[str] = []
    for workload in workloads:
        problems += disagreements(workload, {process.codec.name: process.load(workload) for process in processes})
    if problems:
        raise SystemExit("\n".join(problems))


def measure(
    processes: Sequence[Process], workload: Workload, operation: Operation, samples: int, seconds: float
) -> report.Measurement:
    """Take samples in turns. Returns seconds per message, one list per codec with one entry per round."""
    loops = {process.codec.name: process.calibrate(workload, operation, seconds) for process in processes}
    times: dict[str, list[float]] = {process.codec.name: [] for process in processes}
    for turn in range(samples):
        for process in rotated(processes, turn):
            times[process.codec.name].append(process.time(workload, operation, loops[process.codec.name]))
    return report.Measurement(workload, operation, times)


def parse(argv: Sequence[str] | None = None) -> Namespace:
    """The command line."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    environments.add_arguments(parser)
    parser.add_argument(
        "--workloads", type=environments.names, default=list(WORKLOADS), metavar="KEYS", help="such as W1,W6"
    )
    parser.add_argument("--samples", type=int, help="rounds per workload and operation (default 21, quick 5)")
    parser.add_argument("--quick", action="store_true", help="short run: 10 ms samples instead of 40 ms, and fewer")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there too")
    arguments = parser.parse_args(argv)
    arguments.samples = arguments.samples or (5 if arguments.quick else 21)
    if unknown := [key for key in arguments.workloads if key not in WORKLOADS]:
        parser.error(f"unknown workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    return arguments


def main() -> None:
    """Prepare, check, measure, report."""
    arguments = parse()
    seconds = 0.010 if arguments.quick else 0.040
    workloads = [WORKLOADS[key] for key in arguments.workloads]
    prepared = environments.prepare(arguments)
    with ExitStack() as stack:
        processes = [stack.enter_context(started(environment)) for environment in prepared]
        check(processes, workloads)
        for process in processes:
            process.ask(do="freeze")
        measurements = []
        for workload in workloads:
            print(f"measuring {workload.title}", file=sys.stderr)
            measurements += [measure(processes, workload, each, arguments.samples, seconds) for each in OPERATIONS]
        facts = report.Facts(
            command=shlex.join(["python", "benchmarks/compare.py", *sys.argv[1:]]),
            versions={process.codec.name: f"{process.version} on {process.python}" for process in processes},
            peers=[process.codec.name for process in processes if process.codec.is_peer],
            samples=arguments.samples,
            milliseconds=round(seconds * 1000),
        )
    text = report.render(facts, measurements)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
