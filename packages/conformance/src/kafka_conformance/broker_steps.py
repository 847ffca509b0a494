"""One case against a broker: setup, steps, cleanup."""

from __future__ import annotations

from contextlib import suppress

from .broker_case import BrokerCase, CaseStep
from .broker_setup import prepare
from .cluster import Cluster
from .pattern import mismatch, value_at
from .result import BY_SEVERITY, Result
from .session import BrokerAnswer, CaseSession, NotRun
from .wire import CaseFailure, ConnectionEnded, Deadline, NoResponse

_STEPS_OF_TIME = 4  # a case may take as long as this number of steps without response


def run_case(case: BrokerCase, cluster: Cluster, prefix: str, timeout: float) -> tuple[Result, bool]:
    """Return the result, and whether the broker did not respond at all."""
    session = CaseSession(cluster, prefix, Deadline(_STEPS_OF_TIME * timeout, timeout))
    problem, silent = "", False
    try:
        _check_applies(case, session)
        for words in case.setup:
            prepare(session, words)
        if not session.foreign:
            session.sent.clear()
        for number, step in enumerate(case.steps, 1):
            _run(session, step, f"step {number}" if len(case.steps) > 1 else "")
        if extra := session.unread():
            problem = f"{len(extra)} bytes arrived that no request asked for: {extra[:32].hex()}"
    except NotRun as reason:
        if not session.foreign:
            return Result(case.id, "not run", str(reason)), False
    except CaseFailure as error:
        problem, silent = str(error), isinstance(error, NoResponse) and not session.is_answered
    except (KeyError, IndexError, TypeError, ValueError, StopIteration) as error:
        problem = f"the response lacks what the next step needs: {type(error).__name__}: {error}"
    finally:
        session.deadline = Deadline(timeout, timeout)
        for step in case.cleanup:
            with suppress(CaseFailure, NotRun, KeyError):
                _run(session, step, "")
        session.close()
    return _result(case, session, problem), silent


def _check_applies(case: BrokerCase, session: CaseSession) -> None:
    """Raise NotRun if the broker lacks what the case needs."""
    if case.missing:
        raise NotRun(case.missing)
    for step in case.steps:
        if step.send is not None and step.send.raw is None:
            session.version(step.send.api, step.send.version)
    for name, level in case.features.items():
        if (found := session.cluster.features.get(name, 0)) < level:
            raise NotRun(f"needs the feature {name} at level {level}; finalized: {found}")


def _result(case: BrokerCase, session: CaseSession, problem: str) -> Result:
    if session.foreign:
        foreign = "; ".join(dict.fromkeys(session.foreign))
        return Result(case.id, "failed", foreign, "", case.rule, case.source, session.sent)
    if not problem:
        return Result(case.id, "passed")
    return Result(case.id, BY_SEVERITY[case.severity], problem, case.note, case.rule, case.source, session.sent)


def _run(session: CaseSession, step: CaseStep, where: str) -> None:
    try:
        _step(session, step)
    except CaseFailure as error:
        api = step.send.api if step.send is not None else ""
        place = ", ".join(filter(None, (where, api)))
        raise type(error)(f"{place}: {error}" if place else str(error)) from None


def _step(session: CaseSession, step: CaseStep) -> None:
    if step.wait:
        session.deadline.sleep(step.wait / 1000)
    if step.expect not in (None, "closed", "nothing"):
        # Without a request, the step reads the response to an earlier one.
        _compare(session, step, session.receive() if step.send is None else session.answer(step.send, step.retry))
    elif step.send is not None:
        session.send(step.send)
        if step.expect == "closed":
            with suppress(ConnectionEnded):
                session.expect_end(step.send.connection)


def _compare(session: CaseSession, step: CaseStep, answer: BrokerAnswer) -> None:
    content = answer.json
    if problem := mismatch(step.expect, content, session.variables):
        raise CaseFailure(problem)
    if step.errors is not None and (wrong := answer.codes.difference(step.errors)):
        expected = " or ".join(map(str, step.errors))
        raise CaseFailure(f"error code {', '.join(map(str, sorted(wrong)))}, expected {expected}")
    for variable, path in step.save.items():
        session.variables[variable.removeprefix("$")] = value_at(content, path)
