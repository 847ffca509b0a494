"""A testee of the codec mode: a program that answers one JSON line with one JSON line."""

from __future__ import annotations

import asyncio
import json
import os
import signal
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
_KEPT_ERRORS = 2000  # bytes


class ProgramError(Exception):
    """The testee cannot be started, or does not describe itself."""


@dataclass(frozen=True, slots=True)
class TesteeAnswer:
    """Answer to a request; ``problem`` is set if there is none, or an invalid one."""

    fields: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    is_sent: bool = True


class Testee:
    """Runs the program, and starts it again after it has crashed or hung."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self.name = ""
        self.operations: tuple[str, ...] = ()
        self._command, self._timeout = command, timeout
        self._process: Process | None = None
        self._errors = b""
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
            return TesteeAnswer(problem=await self._ended())
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
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=_MOST_LINE, start_new_session=True
                )
            except OSError as error:
                raise ProgramError(f"cannot start {self._command[0]}: {error.strerror}") from None
            self._errors = b""
            self._tasks = [asyncio.create_task(self._keep_errors(self._process))]
        return self._process

    async def _keep_errors(self, process: Process) -> None:
        assert process.stderr is not None
        while data := await process.stderr.read(1 << 16):
            self._errors = (self._errors + data)[-_KEPT_ERRORS:]

    async def _ended(self) -> str:
        assert self._process is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await asyncio.gather(self._process.wait(), *self._tasks)
        status = self._process.returncode
        ended = "closed its output" if status is None else f"ended with status {status}"
        lines = self._errors.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if any(each.startswith("Traceback") for each in lines) else next(iter(lines), "")
        return f"the testee {ended}" + (f": {reason}" if reason else "")

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
        with suppress(ProcessLookupError, PermissionError):  # with the programs that it started
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        with suppress(TimeoutError):  # a program that it started in another session may keep the pipe open
            async with asyncio.timeout(2):
                while await process.stdout.read(1 << 16):  # asyncio waits for the end of the pipes
                    pass
                await process.wait()
        for task in self._tasks:
            task.cancel()
