"""A testee of the codec mode: a program that answers one JSON line with one JSON line."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from asyncio import StreamReader
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

PROTOCOL = 1
OPERATIONS = ("rewrite", "decode", "encode")
_IN_FLIGHT = 32
_MOST_LINE = 1 << 24  # bytes
_MOST_FAILURES = 20  # in a row, without an answer between them
_KEPT_OUTPUT = 1 << 14  # bytes of each end
_MOST_QUOTED = 200
_TELLING = re.compile(
    r"^[ |]*((?:panic|(?:PHP )?[Ff]atal error|Unhandled exception\.[^:\n]*|what\(\)|\S+:\d+:in [`'].*'"
    r"|[\w.$]*(?:Error|Exception)\b[^:\n]*):.*|[\w.]*(?:Error|Exception)$)"
    r"|^thread '.*panicked at (?:.*:\n)?(.*)|^Traceback .*\n(?: .*\n)+(\S.*)|^([\w.$]+: .*)\n +at ",
    re.MULTILINE,
)
"""Line that names an error: also in the tree of an ExceptionGroup, after Rust's place, before a stack of Node.js."""
_CHAINED = re.compile(r"^(?:During handling of the above|The above) exception\b.*", re.MULTILINE)
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


class ProgramError(Exception):
    """The testee cannot be started, or does not describe itself."""


class ProgramOutput:
    """Output of a program, without the middle of a long one."""

    def __init__(self) -> None:
        self._start, self._end, self._left_out = bytearray(), bytearray(), 0

    async def read(self, stream: StreamReader | None) -> None:
        while stream is not None and (data := await stream.read(1 << 16)):
            room = _KEPT_OUTPUT - len(self._start)
            self._start += data[:room]
            self._end += data[room:]
            self._left_out += max(len(self._end) - _KEPT_OUTPUT, 0)
            del self._end[:-_KEPT_OUTPUT]

    @property
    def text(self) -> str:
        middle = f"\n… {self._left_out:,} bytes left out …\n".encode() if self._left_out else b""
        return (self._start + middle + self._end).decode(errors="replace").strip()

    @property
    def quoted(self) -> str:
        """The first line that names an error, the last one of a chain; without one, the first and the last line."""
        lines = _COLOR.sub("", self.text).splitlines()
        if found := _TELLING.search(_CHAINED.split("\n".join(lines))[-1]):
            return found[found.lastindex or 0][:_MOST_QUOTED]
        return " … ".join(dict.fromkeys(line[:_MOST_QUOTED] for line in (*lines[:1], *lines[-1:])))


async def start(command: Sequence[str], **options: Any) -> Process:
    """Start a program whose output is read. Raises ProgramError."""
    try:
        return await asyncio.create_subprocess_exec(
            *command, stdout=PIPE, stderr=PIPE, start_new_session=True, **options
        )
    except OSError as error:
        raise ProgramError(f"cannot start {command[0]}: {error.strerror}") from None


def kill(process: Process) -> None:
    """Kill a program, with those that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()


@dataclass(frozen=True, slots=True)
class TesteeAnswer:
    """Answer to a request; ``problem`` is set if there is none, or an invalid one."""

    fields: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    is_sent: bool = True
    stderr: str = ""
    """Standard error of a program that has ended."""


class Testee:
    """Runs the program, and starts it again after it has crashed or hung."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self.name = ""
        self.operations: tuple[str, ...] = ()
        self._command, self._timeout = command, timeout
        self._process: Process | None = None
        self._errors = ProgramOutput()
        self._tasks: list[asyncio.Task[None]] = []

    async def describe(self) -> None:
        """Ask for name and operations. Raises ProgramError."""
        answer = await self._one({"id": 0, "op": "describe", "protocol": PROTOCOL})
        name, operations = answer.fields.get("name"), answer.fields.get("operations")
        if answer.problem:
            raise ProgramError(f"the testee did not describe itself: {answer.problem}")
        if not (
            isinstance(name, str) and isinstance(operations, list) and all(map(OPERATIONS.__contains__, operations))
        ):
            raise ProgramError(
                'the answer to "describe" needs "name" and "operations" of '
                f"{', '.join(OPERATIONS)}, not {json.dumps(answer.fields)[:200]}"
            )
        if "rewrite" not in operations:
            raise ProgramError(
                'the operation "rewrite" is mandatory; the testee has ' + (", ".join(operations) or "none")
            )
        self.name, self.operations = name, tuple(each for each in OPERATIONS if each in operations)

    async def _one(self, request: dict[str, Any]) -> TesteeAnswer:
        async for answer in self.ask([request]):
            return answer
        raise AssertionError

    async def ask(self, requests: Iterable[dict[str, Any]]) -> AsyncIterator[TesteeAnswer]:
        """Yield an answer for each request, in order. Each request has an ``id`` of its own."""
        left, again, waiting = iter(requests), deque[dict[str, Any]](), deque[dict[str, Any]]()
        failures = 0
        while True:
            while len(waiting) < _IN_FLIGHT and (request := again.popleft() if again else next(left, None)):
                waiting.append(request)
                await self._send(request)
            if not waiting:
                return
            answer = await self._receive(waiting.popleft())
            yield answer
            failures = failures + 1 if answer.problem else 0
            if failures:
                await self.close()
                again.extendleft(reversed(waiting))
                waiting.clear()
            if failures == _MOST_FAILURES:
                for _ in [*again, *left]:
                    problem = f"not sent, as the testee failed {failures} times in a row"
                    yield TesteeAnswer(problem=problem, is_sent=False)
                return

    async def _send(self, request: dict[str, Any]) -> None:
        """Write without waiting: few requests are in flight, and ``_receive`` notices a program that does not read."""
        with suppress(OSError):  # it has ended; _receive says so
            stdin = (await self._started()).stdin
            assert stdin is not None
            if not stdin.is_closing():
                stdin.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")

    async def _receive(self, request: dict[str, Any]) -> TesteeAnswer:
        try:
            stdout = (await self._started()).stdout
            assert stdout is not None
            async with asyncio.timeout(self._timeout):
                line = await stdout.readline()
        except TimeoutError:
            return TesteeAnswer(problem=f"no answer within {self._timeout:g} s")
        except ValueError:
            return TesteeAnswer(problem=f"a line of more than {_MOST_LINE:,} bytes")
        if not line.endswith(b"\n"):
            return TesteeAnswer(problem=await self._ended(), stderr=self._errors.text)
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return TesteeAnswer(problem=f"the answer is not JSON: {line[:100].decode(errors='replace').rstrip()!r}")
        if not isinstance(fields, dict) or fields.get("id") != request["id"]:
            return TesteeAnswer(
                problem=f'the answer does not have "id": {request["id"]}: {line[:100].decode(errors="replace")!r}'
            )
        return TesteeAnswer(fields)

    async def _started(self) -> Process:
        if self._process is None:
            self._process = await start(self._command, stdin=PIPE, limit=_MOST_LINE)
            self._errors = ProgramOutput()
            self._tasks = [asyncio.create_task(self._errors.read(self._process.stderr))]
        return self._process

    async def _ended(self) -> str:
        assert self._process is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await asyncio.gather(self._process.wait(), *self._tasks)
        status = self._process.returncode
        ended = "closed its output" if status is None else f"ended with status {status}"
        return f"the testee {ended}" + (f": {reason}" if (reason := self._errors.quoted) else "")

    async def close(self) -> None:
        """Kill the program, unless it ends at the end of its input."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await process.wait()
        kill(process)
        with suppress(TimeoutError):  # a program that it started in another session may keep the pipe open
            async with asyncio.timeout(2):
                while await process.stdout.read(1 << 16):  # asyncio waits for the end of the pipes
                    pass
                await process.wait()
        for task in self._tasks:
            task.cancel()
