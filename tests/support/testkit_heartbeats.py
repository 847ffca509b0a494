"""Members of consumer groups (KIP-848) that a test drives heartbeat by heartbeat."""

from __future__ import annotations

from typing import Any, TypeAlias
from uuid import UUID

from kafka_messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, MetadataRequest
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster

from tests.support.testkit_broker import asked

GROUP = "billing"
INTERVAL_MS = 100
REBALANCE_MS = 60_000
Partitions: TypeAlias = dict[UUID, list[int]]


def topic_id(cluster: KafkaCluster, name: str) -> UUID:
    kind = MetadataRequest.MetadataRequestTopic
    [response] = asked(cluster.bootstrap_servers, MetadataRequest(topics=[kind(name=name)]))
    found: UUID = response.topics[0].topic_id
    return found


def topic_partitions(kind: Any, partitions: Partitions) -> list[Any]:
    return [kind(topic_id=topic, partitions=indexes) for topic, indexes in partitions.items()]


def accepted(member: str, epoch: int, partitions: Partitions | None = None) -> ConsumerGroupHeartbeatResponse:
    """Return the response to a member with the partitions of a changed assignment."""
    kind = ConsumerGroupHeartbeatResponse
    response = kind(member_id=member, member_epoch=epoch, heartbeat_interval_ms=INTERVAL_MS)
    if partitions is not None:
        response.assignment = kind.Assignment(topic_partitions=topic_partitions(kind.TopicPartitions, partitions))
    return response


def left(member: str, epoch: int = -1) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(member_id=member, member_epoch=epoch)


def refused(code: ErrorCode, message: str) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code, error_message=message)


class Heartbeats:
    """Sends heartbeats of any member to a cluster."""

    def __init__(self, cluster: KafkaCluster, group: str = GROUP) -> None:
        self.cluster, self.group = cluster, group

    def send(
        self, member: str, epoch: int, owned: Partitions | None = None, version: int | None = None, **fields: Any
    ) -> ConsumerGroupHeartbeatResponse:
        request = ConsumerGroupHeartbeatRequest(group_id=self.group, member_id=member, member_epoch=epoch, **fields)
        if owned is not None:
            request.topic_partitions = topic_partitions(ConsumerGroupHeartbeatRequest.TopicPartitions, owned)
        [response] = asked(self.cluster.bootstrap_servers, request, version=version)
        found: ConsumerGroupHeartbeatResponse = response
        return found

    def join(self, member: str, *topics: str, **fields: Any) -> ConsumerGroupHeartbeatResponse:
        """Join with a subscription, by default of the topic ``orders``."""
        names = None if "subscribed_topic_regex" in fields else list(topics or ("orders",))
        all_fields = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": names} | fields
        return self.send(member, 0, {}, **all_fields)
