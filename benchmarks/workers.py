"""Processes of the workers, as seen by the driver."""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from workloads import Workload


@dataclass(frozen=True)
class Written:
    data: bytes
    again: bytes
    operations: Sequence[str]


class Worker:
    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self.name = name
        self.pid = process.pid
        self._process = process
        self.version = str(self.ask(do="hello")["version"])

    def ask(self, **request: object) -> dict[str, object]:
        """Send a request and return its answer; exit with the worker's error."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # there is no answer either
        line = self._process.stdout.readline()
        shown = {name: value for name, value in request.items() if name != "data"}
        if not line:
            raise SystemExit(f"the {self.name} worker ended with status {self._process.wait()} on {shown}")
        answer: dict[str, object] = json.loads(line)
        if "error" in answer:
            raise SystemExit(f"{self.name} failed on {shown}:\n{answer['error']}")
        return answer

    def load(self, workload: Workload) -> Written:
        answer = self.ask(do="load", workload=workload.key)
        return Written(_bytes(answer["data"]), _bytes(answer["again"]), _texts(answer["operations"]))

    def load_bytes(self, workload: Workload, data: bytes) -> Written:
        message = {"message": workload.message, "version": workload.version, "data": b64encode(data).decode()}
        answer = self.ask(do="load", workload=workload.key, **message)
        return Written(data, _bytes(answer["again"]), _texts(answer["operations"]))

    def time(self, workload: Workload, operation: str, loops: int) -> float:
        return float(str(self.ask(do="time", workload=workload.key, operation=operation, loops=loops)["seconds"]))


def _bytes(value: object) -> bytes:
    return b64decode(str(value))


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(each) for each in value]


@contextmanager
def started(name: str, command: Sequence[str], variables: Mapping[str, str]) -> Iterator[Worker]:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=variables
    ) as process:
        try:
            yield Worker(name, process)
        finally:
            assert process.stdin
            process.stdin.close()
            process.terminate()


def disagreements(workload: Workload, written: Mapping[str, Written]) -> list[str]:
    reference_name, reference = next(iter(written.items()))
    problems = []
    for name, each in written.items():
        if len(each.data) != workload.size:
            problems.append(f"{workload.title}: {name} writes {len(each.data)} bytes instead of {workload.size}")
        if each.data != reference.data:
            offset = difference(each.data, reference.data)
            problems.append(f"{workload.title}: {name} and {reference_name} differ from offset {offset}")
        if each.again != each.data:
            offset = difference(each.again, each.data)
            problems.append(f"{workload.title}: {name} writes other bytes after decoding, from offset {offset}")
    return problems


def difference(left: bytes, right: bytes) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((offset for offset, (one, other) in pairs if one != other), min(len(left), len(right)))
