"""The command of a client: started for one task, with limits for its time, output and requests."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from kafka_messages_testkit import KafkaCluster

from .pipe import ProgramError

_KEPT_OUTPUT = 2000  # bytes
_MOST_REQUESTS = 20_000
_MOST_BYTES = 1 << 26  # of all requests
_INTERVAL = 0.2  # seconds between two looks at the requests


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """End of a command."""

    status: int | None
    """Exit status; None if the command was killed."""
    output: str
    """Last line of its output."""
    problem: str = ""
    """Why the command was killed."""


async def run_task(command: Sequence[str], task: str, cluster: KafkaCluster, timeout: float) -> TaskEnd:
    """Run the command with a task and the address of the first broker. Raises ProgramError if it cannot be started."""
    address = cluster.bootstrap_servers.split(",")[0]
    try:
        process = await asyncio.create_subprocess_exec(
            *command, task, address, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True
        )
    except OSError as error:
        raise ProgramError(f"cannot start {command[0]}: {error.strerror}") from None
    output = bytearray()
    reader = asyncio.create_task(_keep(process, output))
    try:
        problem = await _until_end(process, cluster, timeout)
    finally:
        with suppress(ProcessLookupError, PermissionError):  # with the programs that it started
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        await process.wait()
        await asyncio.wait([reader], timeout=1)
        reader.cancel()
    lines = output.decode(errors="replace").strip().splitlines()
    return TaskEnd(None if problem else process.returncode, lines[-1][:200] if lines else "", problem)


async def _keep(process: Process, output: bytearray) -> None:
    assert process.stdout is not None
    while data := await process.stdout.read(1 << 16):
        output += data
        del output[:-_KEPT_OUTPUT]


async def _until_end(process: Process, cluster: KafkaCluster, timeout: float) -> str:
    """Return why the command must be killed; empty if it has ended."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while loop.time() < deadline:
        with suppress(TimeoutError):
            async with asyncio.timeout(_INTERVAL):
                await process.wait()
                return ""
        exchanges = cluster.exchanges()
        if len(exchanges) > _MOST_REQUESTS or sum(len(each.request_data) for each in exchanges) > _MOST_BYTES:
            return f"the command sent more than {_MOST_REQUESTS:,} requests or {_MOST_BYTES:,} bytes"
    return f"the command did not end within {timeout:g} s"
