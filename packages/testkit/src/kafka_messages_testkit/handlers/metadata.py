"""Metadata, DescribeTopicPartitions and DescribeCluster."""

from __future__ import annotations

from typing import Any, TypeAlias

from kafka_messages import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
    MetadataResponse,
    Response,
)
from kafka_messages.enums import AclOperation, EndpointType
from kafka_messages.protocol import ErrorCode

from ..state.cluster import HOST, Context
from ..state.errors import RequestError, failures
from ..state.log import Log
from ..state.topics import INTERNAL, ZERO, Topic, check_name

_MAX_PARTITIONS = 2000  # default of max.request.partition.size.limit
_Topic: TypeAlias = MetadataResponse.MetadataResponseTopic
_DescribedTopic: TypeAlias = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic


def _bits(*operations: AclOperation) -> int:
    return sum(1 << operation for operation in operations)


_SHARED = _bits(
    AclOperation.CREATE,
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
)
_ON_TOPIC = _SHARED | _bits(AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE)
_ON_CLUSTER = _SHARED | _bits(AclOperation.CLUSTER_ACTION, AclOperation.IDEMPOTENT_WRITE)
_NO_OPERATIONS = -(1 << 31)


async def metadata(context: Context, request: MetadataRequest) -> Response:
    """Answer as ``KafkaApis.handleTopicMetadataRequest``. Unknown topics are never created."""
    cluster, wanted = context.cluster, request.topics
    if wanted is None or (context.version == 0 and not wanted):
        topics = [_described(context, topic) for topic in cluster.topics.by_name.values()]
    elif context.version < 12 and any(each.name is None or each.topic_id != ZERO for each in wanted):
        raise RequestError(ErrorCode.INVALID_REQUEST)
    else:
        topics = []
        with_id = [each for each in wanted if each.topic_id != ZERO]  # names are ignored then
        for name, id in dict.fromkeys((each.name or "", each.topic_id) for each in with_id or wanted):
            part = _Topic(name=name if id == ZERO else None, topic_id=id)
            with failures(part):
                part = _described(context, _known(context, name, id))
            topics.append(part)
    if request.include_topic_authorized_operations:
        for topic in topics:
            if topic.name is not None:
                topic.topic_authorized_operations = _ON_TOPIC
    kind = MetadataResponse.MetadataResponseBroker
    return MetadataResponse(
        brokers=[kind(node_id=node.id, host=HOST, port=node.port) for node in cluster.running],
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        topics=topics,
        cluster_authorized_operations=_ON_CLUSTER if request.include_cluster_authorized_operations else _NO_OPERATIONS,
    )


def _known(context: Context, name: str, id: Any = ZERO) -> Topic:
    if id == ZERO and name not in context.cluster.topics.by_name:
        check_name(name)
    return context.cluster.topics.find(name, id)


def _described(context: Context, topic: Topic) -> _Topic:
    made = _Topic(name=topic.name, topic_id=topic.id, is_internal=topic.name in INTERNAL)
    for log in topic.partitions:
        part = _with_leader(context, MetadataResponse.MetadataResponsePartition(partition_index=log.index), log)
        if part.leader_id < 0:
            part.error_code = ErrorCode.LEADER_NOT_AVAILABLE
        made.partitions.append(part)
    return made


def _with_leader(context: Context, part: Any, log: Log) -> Any:
    part.leader_id, part.leader_epoch = log.leader, log.leader_epoch
    part.replica_nodes, part.isr_nodes = [log.leader], [log.leader]
    if not context.cluster.nodes[log.leader].is_running:
        part.leader_id, part.offline_replicas = -1, [log.leader]
    return part


async def describe_topic_partitions(context: Context, request: DescribeTopicPartitionsRequest) -> Response:
    """Answer as ``DescribeTopicPartitionsRequestHandler`` (KIP-966)."""
    known, cursor = context.cluster.topics.by_name, request.cursor
    first, start = (cursor.topic_name, cursor.partition_index) if cursor else ("", 0)
    names = sorted({each.name for each in request.topics} or known)
    if start < 0 or (cursor and request.topics and first not in names):
        raise RequestError(ErrorCode.INVALID_REQUEST)
    response = DescribeTopicPartitionsResponse()
    left = max(min(_MAX_PARTITIONS, request.response_partition_limit), 1)
    for name in (each for each in names if each >= first):
        if left == 0:
            response.next_cursor = DescribeTopicPartitionsResponse.Cursor(topic_name=name, partition_index=0)
            break
        made = _DescribedTopic(name=name, topic_authorized_operations=_ON_TOPIC)
        response.topics.append(made)
        with failures(made):
            topic = _known(context, name)
            made.topic_id, made.is_internal = topic.id, name in INTERNAL
            logs = topic.partitions[start if name == first else 0 :]
            for log in logs[:left]:
                part = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition(
                    partition_index=log.index, eligible_leader_replicas=[], last_known_elr=[]
                )
                made.partitions.append(_with_leader(context, part, log))
            if len(logs) > left:
                response.next_cursor = DescribeTopicPartitionsResponse.Cursor(
                    topic_name=name, partition_index=logs[left].index
                )
                break
            left -= len(logs)
    return response


async def describe_cluster(context: Context, request: DescribeClusterRequest) -> Response:
    """Answer as ``AuthHelper.computeDescribeClusterResponse`` of a broker (KIP-700, KIP-919, KIP-1073)."""
    if request.endpoint_type != EndpointType.BROKER:
        is_known = request.endpoint_type == EndpointType.CONTROLLER
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE if is_known else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        raise RequestError(code, f"This is a broker; endpoint type {request.endpoint_type} was requested.")
    cluster, kind = context.cluster, DescribeClusterResponse.DescribeClusterBroker
    return DescribeClusterResponse(
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        endpoint_type=request.endpoint_type,
        brokers=[
            kind(broker_id=node.id, host=HOST, port=node.port, is_fenced=not node.is_running)
            for node in cluster.nodes.values()
            if node.is_running or request.include_fenced_brokers
        ],
        cluster_authorized_operations=_ON_CLUSTER if request.include_cluster_authorized_operations else _NO_OPERATIONS,
    )
