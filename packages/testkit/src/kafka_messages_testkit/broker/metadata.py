"""Metadata and topics: ApiVersions, Metadata, CreateTopics, DeleteTopics, DescribeTopicPartitions, DescribeCluster."""

from __future__ import annotations

from typing import Any

from kafka_messages import MetadataRequest, MetadataResponse, Request, Response
from kafka_messages.protocol import ErrorCode

from .cluster import HOST, Context, Handler
from .errors import failures
from .topics import INTERNAL, Topic


async def metadata(context: Context, request: MetadataRequest) -> Response:
    """Answer as ``KafkaApis.handleTopicMetadataRequest``. Unknown topics are never created."""
    cluster = context.cluster
    kind = MetadataResponse
    wanted = request.topics
    if wanted is None or (context.version == 0 and not wanted):
        topics = [_described(context, topic) for topic in cluster.topics.by_name.values()]
    else:
        topics = []
        for each in wanted:
            part = kind.MetadataResponseTopic(name=each.name, topic_id=each.topic_id)
            with failures(part):
                part = _described(context, cluster.topics.find(each.name, each.topic_id))
            topics.append(part)
    brokers = [kind.MetadataResponseBroker(node_id=node.id, host=HOST, port=node.port) for node in cluster.running]
    return kind(brokers=brokers, cluster_id=cluster.cluster_id, controller_id=cluster.controller_id, topics=topics)


def _described(context: Context, topic: Topic) -> MetadataResponse.MetadataResponseTopic:
    kind, running = MetadataResponse.MetadataResponsePartition, {node.id for node in context.cluster.running}
    partitions = []
    for log in topic.partitions:
        part = kind(
            partition_index=log.index,
            leader_id=log.leader if log.leader in running else -1,
            leader_epoch=log.leader_epoch,
            replica_nodes=[log.leader],
            isr_nodes=[log.leader],
        )
        if log.leader not in running:
            part.error_code, part.offline_replicas = ErrorCode.LEADER_NOT_AVAILABLE, [log.leader]
        partitions.append(part)
    return MetadataResponse.MetadataResponseTopic(
        name=topic.name, topic_id=topic.id, is_internal=topic.name in INTERNAL, partitions=partitions
    )


HANDLERS: dict[type[Request[Any]], Handler] = {MetadataRequest: metadata}
