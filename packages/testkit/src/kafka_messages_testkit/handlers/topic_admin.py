"""CreateTopics and DeleteTopics."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

from kafka_messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    Response,
)
from kafka_messages.protocol import ErrorCode

from ..state.cluster import ClusterState, Context
from ..state.errors import RequestError
from ..state.topics import ZERO

_MOST_PARTITIONS = 10_000
_Created: TypeAlias = CreateTopicsResponse.CreatableTopicResult
_Deleted: TypeAlias = DeleteTopicsResponse.DeletableTopicResult


async def create_topics(context: Context, request: CreateTopicsRequest) -> Response:
    """Answer as ``ReplicationControlManager.createTopics``, at any broker. Configs are ignored."""
    response, counts = CreateTopicsResponse(), Counter(topic.name for topic in request.topics)
    if sum(len(topic.assignments) or max(topic.num_partitions, 0) for topic in request.topics) > _MOST_PARTITIONS:
        raise RequestError(ErrorCode.POLICY_VIOLATION, f"A request can create at most {_MOST_PARTITIONS} partitions.")
    by_name = {topic.name: topic for topic in request.topics}
    for name, topic in by_name.items():
        made = _Created(name=name, error_message=None)
        response.topics.append(made)
        try:
            if counts[name] > 1:
                raise RequestError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            _create(context.cluster, topic, made, request)
        except RequestError as error:
            made.error_code, made.error_message = error.code, error.message
    return response


def _create(cluster: ClusterState, topic: Any, made: _Created, request: CreateTopicsRequest) -> None:
    cluster.topics.check(topic.name, 1)
    leaders = _assigned(cluster, topic)
    partitions = len(leaders) or (1 if topic.num_partitions == -1 else topic.num_partitions)
    replicas = 1 if topic.replication_factor == -1 else topic.replication_factor
    if not 1 <= replicas <= len(cluster.nodes):
        text = f"The replication factor must be from 1 to {len(cluster.nodes)}, the number of brokers, or -1."
        raise RequestError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
    cluster.topics.check(topic.name, partitions)
    made.num_partitions, made.replication_factor = partitions, 1
    if not request.validate_only:
        created = (
            cluster.topics.create(topic.name, leaders) if leaders else cluster.create_topic(topic.name, partitions)
        )
        made.topic_id = created.id


def _assigned(cluster: ClusterState, topic: Any) -> list[int]:
    """Return the first replica of each partition of a manual assignment."""
    if not topic.assignments:
        return []
    if topic.replication_factor != -1 or topic.num_partitions != -1:
        text = "With a manual assignment, the numbers of partitions and replicas must be -1."
        raise RequestError(ErrorCode.INVALID_REQUEST, text)
    replicas = {each.partition_index: each.broker_ids for each in topic.assignments}
    is_valid = sorted(replicas) == list(range(len(topic.assignments))) and all(
        ids and len(set(ids)) == len(ids) and set(ids) <= cluster.nodes.keys() for ids in replicas.values()
    )
    if not is_valid:
        text = "An assignment needs the partitions from 0 on, each with different brokers of the cluster."
        raise RequestError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    return [replicas[index][0] for index in range(len(replicas))]


async def delete_topics(context: Context, request: DeleteTopicsRequest) -> Response:
    """Answer as ``ControllerApis.deleteTopics``, at any broker."""
    topics = context.cluster.topics
    wanted = [(name, ZERO) for name in request.topic_names] + [(each.name, each.topic_id) for each in request.topics]
    response = DeleteTopicsResponse()
    for (name, id), count in Counter(wanted).items():
        made = _Deleted(name=name, topic_id=id)
        response.responses.append(made)
        try:
            if count > 1 or (name is None) == (id == ZERO):
                text = "Each topic needs either a name or an id, and may be named once."
                raise RequestError(ErrorCode.INVALID_REQUEST, text)
            topic = topics.find(name, id)
            made.name, made.topic_id = topic.name, topic.id
            topics.delete(topic)
            context.cluster.offsets.forget_topic(topic.name)
        except RequestError as error:
            made.error_code, made.error_message = error.code, error.message or "This topic does not exist."
    return response
