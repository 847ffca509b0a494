"""The client mode: runs a command against a scripted server, and lets a judge look at the bytes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from kafka_messages_testkit import Exchange, KafkaCluster
from kafka_records import RecordError

from . import client_judge, client_judge_groups, client_judge_records
from .client_case import ClientCase, Task
from .client_judge import Judge, Violation, is_of
from .client_log import NAME
from .client_process import TaskEnd, run_task
from .client_scripts import prepare
from .pipe import ProgramError
from .result import BY_SEVERITY, Report, Result, SentBytes

_JUDGES = (client_judge, client_judge_groups, client_judge_records)
_TASK = "TASK"
"""Group of the cases without a script. If one fails, other cases of its task fail only for bytes that are wrong."""
UNSUPPORTED = 77
"""Exit status of a command that lacks the task, as for skipped tests of Automake."""
_NEEDED: dict[Task, str] = {"produce": "Produce", "consume": "Fetch", "group": "OffsetCommit", "transaction": "EndTxn"}
"""A request without which a task cannot be done."""
_MOST_SHOWN = 5
_MOST_BYTES = 1 << 29  # of recorded exchanges; ``client_process`` limits those of requests


def run_client(command: Sequence[str], cases: Iterable[ClientCase], timeout: float, name: str = "") -> Report:
    """Run the command once for each case. Raises ProgramError if it cannot be started."""
    report, lacking = Report("client", name or Path(command[0]).name), dict[str, str]()
    for case in cases:
        ended, violations, exchanges = _run(command, case, timeout)
        is_lacking = ended.status == UNSUPPORTED
        if is_lacking and case.group == "FETCH":  # a group fetches too
            case = replace(case, task="group")
            ended, violations, exchanges = _run(command, case, timeout)
            is_lacking = not any(is_of(each, "Fetch") for each in exchanges)
        reason = lacking.get(case.task, "")
        if is_lacking:
            report.results.append(Result(case.id, "not run", ended.output or "the command lacks this task"))
        elif violations and reason and all(each.exchange is None for each in violations):
            report.results.append(Result(case.id, "not run", reason))
        elif violations:
            report.results.append(_failed(case, violations, exchanges, ended.stderr))
            if case.group == _TASK:
                lacking[case.task] = f"{case.id} failed"
        else:
            report.results.append(Result(case.id, "passed"))
    return report


class _RefusedRequests(logging.Handler):
    """Requests that the cluster could not read, which are not exchanges."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if len(self.messages) < _MOST_SHOWN:
            self.messages.append(record.getMessage())


def _run(command: Sequence[str], case: ClientCase, timeout: float) -> tuple[TaskEnd, list[Violation], list[Exchange]]:
    """Return the end of the command, and what is wrong; a violation without exchange is about missing requests."""
    topics, release = {NAME: case.partitions}, case.release or None
    cluster = KafkaCluster(case.brokers, topics=topics, release=release, max_exchange_bytes=_MOST_BYTES)
    log, refused = logging.getLogger("kafka_messages_testkit"), _RefusedRequests()
    log.addHandler(refused)
    try:
        with cluster:
            prepare(cluster, case)
            ended = asyncio.run(run_task(command, case.task, cluster, timeout))
    except ProgramError:
        raise
    except Exception as error:  # of a handler or rule of the cluster, which an unusual request caused
        ended = TaskEnd(None, "", f"the server failed: {type(error).__name__}: {error}")
    finally:
        log.removeHandler(refused)
    exchanges = cluster.exchanges()
    problems = [f"a request was refused: {text}" for text in refused.messages]
    return (
        ended,
        [*_judged(case, exchanges), *map(Violation, [*problems, *_end_problems(case, ended, exchanges)])],
        exchanges,
    )


def _judged(case: ClientCase, exchanges: Sequence[Exchange]) -> list[Violation]:
    judge: Judge = next(getattr(each, case.judge) for each in _JUDGES if hasattr(each, case.judge))
    found: list[Violation] = []
    try:
        found.extend(islice(judge(exchanges), _MOST_SHOWN))
    except RecordError as error:
        found.append(Violation(f"the records of a request cannot be read: {error}"))
    return found


def _end_problems(case: ClientCase, ended: TaskEnd, exchanges: Sequence[Exchange]) -> Iterator[str]:
    needed = _NEEDED[case.task]
    if ended.problem:
        yield ended.problem
    elif (ended.status == 0) != (case.ends == "success"):
        yield f"the command ended with status {ended.status}" + (f": {ended.output}" if ended.output else "")
    elif ended.status == 0 and needed not in {each.api.name for each in exchanges}:
        yield f"the command ended with status 0 without a {needed} request"


def _failed(case: ClientCase, violations: Sequence[Violation], exchanges: Sequence[Exchange], stderr: str) -> Result:
    """Return the result with the exchanges of the violations, or the last one."""
    shown = {id(each.exchange): each.exchange for each in violations if each.exchange is not None}
    sent = [SentBytes(each.request_data.hex(), each.response_data.hex()) for each in shown.values() or exchanges[-1:]]
    problems = "; ".join(dict.fromkeys(each.problem for each in violations))
    return Result(case.id, BY_SEVERITY[case.severity], problems, "", case.rule, case.source, sent, stderr)
