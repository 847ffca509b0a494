"""Removal of the topics and groups of a run."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

from .cluster import Address, Cluster
from .session import NotRun, Session
from .wire import CaseFailure, Deadline

_HAS_MEMBERS = "error code 68"  # NON_EMPTY_GROUP
_ALL_TOPICS = {"topics": None, "allowAutoTopicCreation": False}


def refresh(cluster: Cluster, timeout: float) -> dict[str, Any]:
    """Return the Metadata of all topics, and update the cluster. Raises CaseFailure and NotRun."""
    session = Session(cluster, "", Deadline(timeout, timeout))
    try:
        metadata = session.ask("Metadata", (1, 12), _ALL_TOPICS)
    finally:
        session.close()
    cluster.update(metadata)
    return metadata


def remove(cluster: Cluster, prefix: str, timeout: float, wait: float = 0) -> list[str]:
    """Delete topics and groups whose names begin with a prefix; return what remains, with the reasons.

    ``wait`` is the time in seconds in which members of groups may expire.
    """
    end = monotonic() + wait
    while True:
        addresses = cluster.brokers.values() if len(cluster.brokers) > 1 else [cluster.address]
        # Kafka cannot delete a share group whose topics are deleted.
        remains = [text for each in addresses for text in _groups(cluster, each, prefix, timeout)]
        remains += _topics(cluster, prefix, timeout)
        if monotonic() >= end or not any(each.endswith(_HAS_MEMBERS) for each in remains):
            return remains
        Deadline(wait, 1).sleep(1)


def _topics(cluster: Cluster, prefix: str, timeout: float) -> Iterator[str]:
    session = Session(cluster, "", Deadline(4 * timeout, timeout))
    try:
        names = [
            each["name"] for each in refresh(cluster, timeout)["topics"] if (each["name"] or "").startswith(prefix)
        ]
        if not names:
            return
        message = {"topicNames": names, "topics": [{"name": each} for each in names], "timeoutMs": 10_000}
        for each in session.ask("DeleteTopics", (1, 6), message)["responses"]:
            if each["errorCode"] not in (0, 3):
                yield f"topic {each['name']}: error code {each['errorCode']}"
    except (CaseFailure, NotRun) as error:
        yield f"topics: {error}"
    finally:
        session.close()


def _groups(cluster: Cluster, address: Address, prefix: str, timeout: float) -> Iterator[str]:
    session = Session(cluster, "", Deadline(4 * timeout, timeout))
    session.routes["group"] = address
    try:
        groups = [each["groupId"] for each in session.ask("ListGroups", (0, 5), {})["groups"]]
        names = [each for each in groups if each.startswith(prefix)]
        if not names:
            return
        try:
            results = session.ask("DeleteGroups", (0, 2), {"groupsNames": names})["results"]
        except NotRun:
            yield f"{len(names)} groups, such as {names[0]}: the broker does not announce DeleteGroups"
            return
        for each in results:
            if each["errorCode"] not in (0, 69):
                yield f"group {each['groupId']}: error code {each['errorCode']}"
    except CaseFailure as error:
        yield f"groups: {error}"
    except NotRun:
        return  # a broker without groups
    finally:
        session.close()
