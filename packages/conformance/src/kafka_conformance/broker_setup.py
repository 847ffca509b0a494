"""What a case needs before its first step: topics, records, producers, groups, members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from .pattern import now, replaced
from .session import CaseSession, NotRun
from .wire import CaseFailure

_LOADING = (14, 15, 16)  # COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR
_NO_LEADER = (3, 5, 6, 9)  # UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER
_GROUP, _TRANSACTION = 0, 1
_MOST_IDS = 100


def prepare(session: CaseSession, words: str) -> None:
    """Do one step of a setup, such as ``topic 2`` or ``3 records``. Raises CaseFailure and NotRun."""
    first, *rest = words.split()
    try:
        _STEPS[rest[-1] if first.isdigit() else first](session, [first, *rest])
    except CaseFailure as error:
        raise type(error)(f"setup, {words}: {error}") from None


def _succeed(answer: Any) -> None:
    if answer["errorCode"]:
        raise CaseFailure(f"error code {answer['errorCode']}")


def _topic(session: CaseSession, words: list[str]) -> None:
    """Create a topic, and wait until its leader answers."""
    name, ask, cluster = session.variables["topic"], session.ask, session.cluster
    count = next((int(each) for each in words if each.isdigit()), 1)
    configs = [dict(zip(("name", "value"), each.split("=", 1), strict=True)) for each in words if "=" in each]
    topic = {"name": name, "numPartitions": count, "replicationFactor": 1, "configs": configs, "assignments": []}
    if len(cluster.brokers) > 1:  # all partitions on one broker
        node = min(cluster.brokers)
        placed = [{"partitionIndex": index, "brokerIds": [node]} for index in range(count)]
        topic |= {"numPartitions": -1, "replicationFactor": -1, "assignments": placed}
    (created,) = ask("CreateTopics", (0, 7), {"topics": [topic], "timeoutMs": 10_000, "validateOnly": False})["topics"]
    _succeed(created)
    metadata = {"topics": [{"name": name}], "allowAutoTopicCreation": False}
    answer = ask("Metadata", (0, 12), metadata, retry=_NO_LEADER)
    (found,) = answer["topics"]
    leader = found["partitions"][0]["leaderId"]
    host, port = next((each["host"], each["port"]) for each in answer["brokers"] if each["nodeId"] == leader)
    session.variables |= {"topicId": found.get("topicId"), "leaderId": leader, "leaderHost": host, "leaderPort": port}
    session.routes["leader"] = host, port
    parts = [{"partitionIndex": index, "timestamp": -1} for index in range(count)]
    _wait(session, "ListOffsets", {"replicaId": -1, "topics": [{"name": name, "partitions": parts}]}, _NO_LEADER)


def _wait(session: CaseSession, name: str, message: dict[str, Any], retry: Sequence[int]) -> None:
    """Wait until a request has no transient error; other errors are the concern of other cases."""
    with suppress(CaseFailure, NotRun):
        session.ask(name, (1, 7), message, retry)


def _records(session: CaseSession, words: list[str]) -> None:
    """Produce records k0/v0, k1/v1, … with timestamps ``$timestamp``, ``$timestamp+1``, …"""
    session.variables["timestamp"] = first = now() - 1000
    rows = [{"key": f"k{each}", "value": f"v{each}", "timestamp": first + each} for each in range(int(words[0]))]
    part = {"index": 0, "records": replaced({"records": rows}, {})}
    topic = {"name": session.variables["topic"], "partitionData": [part]}
    answer = session.ask("Produce", (3, 12), {"acks": -1, "timeoutMs": 10_000, "topicData": [topic]})
    _succeed(answer["responses"][0]["partitionResponses"][0])


def _producer(session: CaseSession, _: list[str], transactional_id: str | None = None) -> None:
    message = {"transactionalId": transactional_id, "transactionTimeoutMs": 60_000}
    answer = session.ask("InitProducerId", (0, 4), message, retry=_LOADING)
    _succeed(answer)
    session.variables |= {each: answer[each] for each in ("producerId", "producerEpoch")}


def _transactional(session: CaseSession, _: list[str]) -> None:
    _coordinator(session, "transactionalId", _TRANSACTION)
    _producer(session, [], session.variables["transactionalId"])


def _find(session: CaseSession, key: str, kind: int) -> dict[str, Any]:
    message = {"key": key, "keyType": kind, "coordinatorKeys": [key]}
    answer = session.ask("FindCoordinator", (0 if kind == _GROUP else 1, 6), message, retry=_LOADING)
    found: dict[str, Any] = answer["coordinators"][0] if "coordinators" in answer else answer
    _succeed(found)
    return found


def _coordinator(session: CaseSession, name: str, kind: int) -> dict[str, Any]:
    """Find the coordinator of the id in a variable, and an unused id with the same coordinator."""
    found = _find(session, session.variables[name], kind)
    session.routes["group" if kind == _GROUP else "transaction"] = found["host"], found["port"]
    others = (f"{session.variables['prefix']}-none{number}" for number in range(_MOST_IDS))
    is_single = len(session.cluster.brokers) < 2
    unknown = next(each for each in others if is_single or _find(session, each, kind)["nodeId"] == found["nodeId"])
    session.variables[f"unknown{name[0].upper()}{name[1:]}"] = unknown
    return found


def _group(session: CaseSession, _: list[str]) -> None:
    """Find the coordinator of the group, and wait until it answers."""
    found = _coordinator(session, "group", _GROUP)
    host, port = session.cluster.brokers.get(found["nodeId"], (found["host"], found["port"]))
    session.variables |= {"coordinatorId": found["nodeId"], "coordinatorHost": host, "coordinatorPort": port}
    _wait(session, "OffsetFetch", {"groupId": session.variables["group"], "topics": []}, _LOADING)


def _member(session: CaseSession, _: list[str]) -> None:
    """Join the group as its only member."""
    protocols = [{"name": "range", "metadata": "AAA="}]
    times = {"sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 10_000}
    group = {"groupId": session.variables["group"], "protocolType": "consumer"}
    message = {**group, **times, "memberId": "", "protocols": protocols}
    joined = session.ask("JoinGroup", (0, 9), message)
    if joined["errorCode"] == 79:  # MEMBER_ID_REQUIRED
        joined = session.ask("JoinGroup", (0, 9), {**message, "memberId": joined["memberId"]})
    _succeed(joined)
    member = {"generationId": joined["generationId"], "memberId": joined["memberId"]}
    assigned = {"protocolName": "range", "assignments": [{"memberId": joined["memberId"], "assignment": "AAEC"}]}
    _succeed(session.ask("SyncGroup", (0, 5), {**group, **member, **assigned}))
    session.variables |= {"memberId": joined["memberId"], "generation": joined["generationId"]}


_STEPS: dict[str, Callable[[CaseSession, list[str]], None]] = {
    "topic": _topic,
    "records": _records,
    "producer": _producer,
    "transactional": _transactional,
    "group": _group,
    "member": _member,
}
