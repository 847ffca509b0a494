"""The client mode: runs a command against a scripted server, and lets a judge look at the bytes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from types import ModuleType
from typing import Any

from kafka_messages_testkit import Exchange, KafkaCluster
from kafka_records import RecordError

from . import client_judge, client_judge_groups, client_judge_records, client_log, client_server
from .client_case import ClientCase
from .client_judge import Violation
from .client_log import NAME, replay
from .pipe import TesteeError
from .result import BY_SEVERITY, Report, Result, Sent

_JUDGES = (client_judge, client_judge_records, client_judge_groups)
_SCRIPTS = (client_server, client_log)
UNSUPPORTED = 77
"""Exit status of a command that lacks the task, as for skipped tests of Automake."""
_KEPT_OUTPUT = 2000  # bytes
_MOST_REQUESTS = 20_000
_MOST_BYTES = 1 << 26  # of all requests
_MOST_SHOWN = 5
_INTERVAL = 0.2  # seconds between two looks at the requests


def run_client(command: Sequence[str], cases: Iterable[ClientCase], timeout: float, name: str = "") -> Report:
    """Run the command once for each case. Raises TesteeError if it cannot be started."""
    results = [_result(case, *asyncio.run(_run(command, case, timeout))) for case in cases]
    return Report("client", name or " ".join(command), results)


class _Refused(logging.Handler):
    """Requests that the cluster could not read, which are not exchanges."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if len(self.messages) < _MOST_SHOWN:
            self.messages.append(record.getMessage())


async def _run(command: Sequence[str], case: ClientCase, timeout: float) -> tuple[list[Violation], str]:
    """Return the violations, and why the case was not run."""
    cluster = KafkaCluster(case.brokers, topics={NAME: case.partitions}, release=case.announces or None)
    log, refused = logging.getLogger("kafka_messages_testkit"), _Refused()
    log.addHandler(refused)
    try:
        with cluster:
            if case.log:
                replay(cluster, case.log)
            if case.server:
                _named(_SCRIPTS, case.server)(cluster)
            status, output, problem = await _command(command, case, cluster, timeout)
        failure = ""
    except TesteeError:
        raise
    except Exception as error:  # of a handler of the cluster, which an unusual request caused
        status, output, problem, failure = None, "", "", f"the server failed: {type(error).__name__}: {error}"
    finally:
        log.removeHandler(refused)
    if status == UNSUPPORTED:
        return [], output or "the command lacks this task"
    exchanges = cluster.exchanges()
    violations = _judged(case.judge, exchanges)
    problems = [failure, *(f"a request was refused: {text}" for text in refused.messages), problem]
    if status is not None and (status == 0) != (case.ends == "success"):
        problems.append(f"the command ended with status {status}" + (f": {output}" if status and output else ""))
    found = [*violations, *(Violation(each) for each in problems if each)]
    return [_with_last(each, exchanges) for each in found], ""


def _named(modules: Sequence[ModuleType], name: str) -> Any:
    return next(getattr(each, name) for each in modules if hasattr(each, name))


def _judged(judge: str, exchanges: Sequence[Exchange]) -> list[Violation]:
    found: list[Violation] = []
    try:
        found.extend(islice(_named(_JUDGES, judge)(exchanges), _MOST_SHOWN))
    except RecordError as error:
        found.append(Violation(f"the records of a request cannot be read: {error}"))
    return found


def _with_last(violation: Violation, exchanges: Sequence[Exchange]) -> Violation:
    last = violation.exchange or next(reversed(exchanges), None)
    return Violation(violation.problem, last)


def _result(case: ClientCase, violations: Sequence[Violation], reason: str) -> Result:
    if reason:
        return Result(case.id, "not run", reason)
    if not violations:
        return Result(case.id, "passed")
    shown = {id(each.exchange): each.exchange for each in violations if each.exchange is not None}
    sent = [Sent(each.request_data.hex(), each.response_data.hex()) for each in shown.values()]
    problems = "; ".join(dict.fromkeys(each.problem for each in violations))
    return Result(case.id, BY_SEVERITY[case.severity], problems, "", case.rule, case.source, sent)


async def _command(
    command: Sequence[str], case: ClientCase, cluster: KafkaCluster, timeout: float
) -> tuple[int | None, str, str]:
    """Return exit status and last line of output, or the reason why the command was killed."""
    address = cluster.bootstrap_servers.split(",")[0]
    try:
        process = await asyncio.create_subprocess_exec(
            *command, case.task, address, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True
        )
    except OSError as error:
        raise TesteeError(f"cannot start {command[0]}: {error.strerror}") from None
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
    return None if problem else process.returncode, lines[-1][:200] if lines else "", problem


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
