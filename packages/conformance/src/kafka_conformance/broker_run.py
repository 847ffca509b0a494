"""The broker mode: runs the cases, and removes what they created."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from time import sleep
from uuid import uuid4

from .broker_case import ACCESS, Access, BrokerCase
from .broker_steps import run_case
from .cleanup import refresh, remove
from .cluster import Address, Cluster, discover
from .result import Report, Result
from .session import CaseSession, NotRun
from .wire import CaseFailure, Deadline

_MOST_SILENT = 20  # cases in a row without any response
_BETWEEN_REMOVALS = 20  # cases
_IN_FLIGHT_SECONDS = 1  # after which a topic of an interrupted request is visible
# Time to write the markers of the last transaction. Kafka keeps the offsets of a group deleted before.
_MARKER_SECONDS = 0.3
_EXPIRY_SECONDS = 50  # longest session timeout of a member that a failed case leaves behind


def run_broker(
    address: Address,
    cases: Iterable[BrokerCase],
    *,
    access: Access = "own",
    expected: Collection[Address] = (),
    timeout: float = 10,
    prefix: str = "",
    name: str = "",
) -> Report:
    """Run the cases up to a class, and remove their topics and groups, also after Ctrl-C. Raises BrokerError.

    Responses may have the ``expected`` addresses, or any if it is empty. ``timeout`` is for one response, in seconds.
    Topics, groups and transactional ids begin with ``prefix``, or random text. ``name`` is that of the broker in reports.
    """
    report = Report("broker", name or f"{address[0]}:{address[1]}")
    prefix = prefix or f"conformance-{uuid4().hex[:8]}"
    cluster = discover(address, expected, timeout)
    session = CaseSession(cluster, "", Deadline(timeout, timeout))
    try:
        refresh(session)
    except (CaseFailure, NotRun) as error:
        report.notes.append(f"the brokers are unknown: Metadata: {error}")
    finally:
        session.close()
    before, allowed = set(cluster.internal_topics), ACCESS[: ACCESS.index(access) + 1]
    silent, changed = 0, False
    try:
        for number, case in enumerate(cases, 1):
            if case.access not in allowed:
                reason = f"the class of its requests is {case.access}"
                report.results.append(Result(case.id, "not run", reason))
            elif silent == _MOST_SILENT:
                reason = f"the broker did not respond in {silent} cases in a row"
                report.results.append(Result(case.id, "not run", reason))
            else:
                result, is_silent = run_case(case, cluster, f"{prefix}-{number}", timeout)
                report.results.append(result)
                silent = silent + 1 if is_silent else 0
                changed |= case.access != "read" and result.outcome != "not run"
            if changed and number % _BETWEEN_REMOVALS == 0:
                sleep(_MARKER_SECONDS)
                remove(cluster, f"{prefix}-", timeout)
    except KeyboardInterrupt:
        sleep(_IN_FLIGHT_SECONDS)
        changed = access != "read"
        raise
    finally:
        if changed:
            sleep(_MARKER_SECONDS)
            remains = remove(cluster, f"{prefix}-", timeout, 0 if silent == _MOST_SILENT else _EXPIRY_SECONDS)
            report.notes += _notes(prefix, remains, cluster, before)
        if cluster.foreign:
            problem = "; ".join(dict.fromkeys(cluster.foreign))
            report.results.append(Result("METADATA.addresses-are-expected", "failed", problem))
    return report


def _notes(prefix: str, remains: list[str], cluster: Cluster, before: set[str]) -> list[str]:
    """Return what a run leaves behind."""
    notes = [f"not removed: {each}" for each in remains]
    if created := cluster.internal_topics - before:
        notes.append(f"the broker created internal topics: {', '.join(sorted(created))}")
    return [
        *notes,
        f"transactional ids with the prefix {prefix}- and producer ids cannot be deleted; the broker expires them",
    ]
