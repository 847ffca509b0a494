"""Each broken broker fails the cases that are named for its bug; with them, each case written by hand is proven."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from kafka_conformance.broker_case import BrokerCase, broker_cases
from kafka_conformance.broker_run import run_broker
from kafka_conformance.case import selected
from kafka_messages import FetchRequest, FetchResponse

from tests.conformance.brokers import AS_IT_IS, BUGS, BrokerBug
from tests.conformance.brokers.bug import sets

CASES = list(broker_cases())
GENERATED = {case.id for case in CASES if re.search(r"\.answers(-\d+)?$", case.id)}
REPORTED = [name for name, bug in BUGS.items() if bug.report]
OTHERS = [name for name in BUGS if name not in REPORTED]
SECONDS, SHORT = 30, 1  # for a response, and for one that may never come
NO_BUG = "none"


def found(bug: BrokerBug, cases: Iterable[BrokerCase], timeout: float = SECONDS) -> dict[str, str]:
    """Return the problems of the cases that do not pass, also those that are only a warning or a quirk."""
    with bug.serve() as (address, expected):
        report = run_broker(address, cases, expected=expected, timeout=timeout)
    return {each.id: each.problem for each in report.results if each.outcome not in ("passed", "not run")}


def default_run(bug: BrokerBug) -> dict[str, str]:
    """Return the problems of all cases, apart from those that the unmodified cluster has.

    Other cases than those of the bug must fail twice, since a busy machine may exceed the timeouts of members.
    """
    named = selected(CASES, bug.ids) if bug.ids else []
    more = found(bug, [case for case in CASES if case not in named])
    if more and bug.ids:
        more = found(bug, [case for case in CASES if case.id in more.keys() - AS_IT_IS])
    return found(bug, named, SHORT) | more


def default_runs(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the problems by bug. The runs are concurrent, since they wait most of the time."""
    bugs = [BUGS.get(name, BrokerBug(())) for name in names]
    with ThreadPoolExecutor(4) as pool:
        return dict(zip(names, pool.map(default_run, bugs), strict=True))


@pytest.fixture(scope="module")
def reported() -> dict[str, dict[str, str]]:
    return default_runs([NO_BUG, *REPORTED])


@pytest.fixture(scope="module")
def others() -> dict[str, dict[str, str]]:
    return default_runs(OTHERS)


def test_the_cluster_as_it_is(reported: dict[str, dict[str, str]]) -> None:
    assert sorted(reported[NO_BUG]) == sorted(AS_IT_IS)


@pytest.mark.parametrize("name", REPORTED)
def test_a_reported_bug_is_found_by_its_cases_only(reported: dict[str, dict[str, str]], name: str) -> None:
    problems = reported[name]
    assert sorted(problems) == sorted(BUGS[name].ids), problems


@pytest.mark.nightly
@pytest.mark.parametrize("name", OTHERS)
def test_a_bug_is_found_by_its_cases_only(others: dict[str, dict[str, str]], name: str) -> None:
    problems = others[name]
    assert sorted(problems) == sorted(BUGS[name].ids), problems


@pytest.mark.parametrize("name", OTHERS)
def test_a_bug_is_found_by_its_cases(name: str) -> None:
    bug = BUGS[name]
    problems = found(bug, selected(CASES, bug.ids), SHORT)
    assert sorted(problems) == sorted(bug.ids)
    assert [text for text in problems.values() if text.startswith("setup")] == []


def test_each_case_written_by_hand_is_proven() -> None:
    """A testee fails it and passes all generated cases."""
    proven = {id for bug in BUGS.values() for id in bug.ids} | set(AS_IT_IS)
    assert proven & GENERATED == set()
    assert proven == {case.id for case in CASES} - GENERATED
    assert len(proven) == 142


@pytest.mark.parametrize(("records", "problem"), [(None, ': expected "", got null'), (b"", "")])
def test_null_records_of_a_server_error_are_found(records: bytes | None, problem: str) -> None:
    """The cluster does not check the isolation level, so it needs a rule that does."""

    def refuse(request: FetchRequest, response: FetchResponse) -> None:
        if request.isolation_level not in (0, 1):
            sets(error_code={0: -1}, records=lambda old: records)(response.responses)

    id = "FETCH.records-not-null-on-a-server-error"
    problems = found(BrokerBug((), ((FetchResponse, refuse),)), selected(CASES, [id]))
    place = "step 2, Fetch: responses[0].partitions[0].records"
    assert problems == ({id: f"{place}{problem}"} if problem else {})
