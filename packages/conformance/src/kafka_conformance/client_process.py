"""The command of a client: started for one task, with limits for its time, output and requests."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from kafka_messages_testkit import KafkaCluster

from .pipe import ProgramOutput, kill, start

_MOST_REQUESTS = 20_000
_MOST_BYTES = 1 << 26  # of all requests
_INTERVAL = 0.2  # seconds between two looks at the requests


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """End of a command."""

    status: int | None
    """Exit status; None if the command was killed."""
    output: str
    """The telling part of its standard error, or of its output without one."""
    problem: str = ""
    """Why the command was killed."""
    stderr: str = ""


async def run_task(command: Sequence[str], task: str, cluster: KafkaCluster, timeout: float) -> TaskEnd:
    """Run the command with a task and the address of the first broker. Raises ProgramError if it cannot be started."""
    address = cluster.bootstrap_servers.split(",")[0]
    process = await start([*command, task, address], stdin=DEVNULL)
    output, errors = ProgramOutput(), ProgramOutput()
    readers = [asyncio.create_task(output.read(process.stdout)), asyncio.create_task(errors.read(process.stderr))]
    try:
        problem = await _until_end(process, cluster, timeout)
    finally:
        kill(process)
        await process.wait()
        await asyncio.wait(readers, timeout=1)
        for reader in readers:
            reader.cancel()
    return TaskEnd(None if problem else process.returncode, errors.quoted or output.quoted, problem, errors.text)


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
