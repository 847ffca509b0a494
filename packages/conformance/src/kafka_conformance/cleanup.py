"""Removal of the topics and groups of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic, sleep

from .cluster import Address, Cluster
from .session import CaseSession, NotRun
from .wire import Deadline

_HAS_MEMBERS = "error code 68"  # NON_EMPTY_GROUP
_UNKNOWN = (0, 3, 69)  # NONE, UNKNOWN_TOPIC_OR_PARTITION, GROUP_ID_NOT_FOUND


def refresh(session: CaseSession) -> list[str]:
    """Return the names of all topics, and update the cluster. Raises CaseFailure and NotRun."""
    metadata = session.ask("Metadata", (1, 12), {"topics": None, "allowAutoTopicCreation": False})
    session.cluster.update(metadata)
    return [each["name"] or "" for each in metadata["topics"]]


def remove(cluster: Cluster, prefix: str, timeout: float, wait: float = 0) -> list[str]:
    """Delete topics and groups whose names begin with a prefix; return what remains, with the reasons.

    ``wait`` is the time in seconds in which members of groups may expire.
    """
    end = monotonic() + wait
    while True:
        addresses = cluster.brokers.values() if len(cluster.brokers) > 1 else [cluster.address]
        # Groups first: Kafka cannot delete a share group whose topics are deleted.
        steps: list[tuple[Callable[[CaseSession, str], Iterator[str]], Address]] = [
            (_groups, each) for each in addresses
        ]
        remains: list[str] = []
        for step, address in [*steps, (_topics, cluster.address)]:
            session = CaseSession(cluster, "", Deadline(4 * timeout, timeout))
            session.routes["group"] = address
            try:
                remains += step(session, prefix)
            except NotRun:
                pass  # a broker without topics or groups
            except Exception as error:  # nothing that a broker answers may stop the removal of the rest
                remains.append(f"{step.__name__[1:]}: {error}")
            finally:
                session.close()
        if monotonic() >= end or not any(each.endswith(_HAS_MEMBERS) for each in remains):
            return remains
        sleep(1)


def _topics(session: CaseSession, prefix: str) -> Iterator[str]:
    names = [each for each in refresh(session) if each.startswith(prefix)]
    if names:
        message = {"topicNames": names, "topics": [{"name": each} for each in names], "timeoutMs": 10_000}
        for each in session.ask("DeleteTopics", (1, 6), message)["responses"]:
            if each["errorCode"] not in _UNKNOWN:
                yield f"topic {each['name']}: error code {each['errorCode']}"


def _groups(session: CaseSession, prefix: str) -> Iterator[str]:
    groups = session.ask("ListGroups", (0, 5), {})["groups"]
    names = [each["groupId"] for each in groups if each["groupId"].startswith(prefix)]
    try:
        results = session.ask("DeleteGroups", (0, 2), {"groupsNames": names})["results"] if names else []
    except NotRun:
        results = []
        yield f"{len(names)} groups, such as {names[0]}: the broker does not announce DeleteGroups"
    for each in results:
        if each["errorCode"] not in _UNKNOWN:
            yield f"group {each['groupId']}: error code {each['errorCode']}"
