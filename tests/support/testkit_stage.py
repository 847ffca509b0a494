"""Places where scenarios run: a mock cluster, or a proxy in front of a real broker."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from uuid import uuid4

from kafka_messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetFetchRequest,
    ProduceRequest,
    Request,
)
from kafka_messages.aio import connect
from kafka_messages_testkit import KafkaCluster, KafkaProxy
from kafka_records import Record, read_batches, write_batch

SECONDS = 10.0


class OnlyClusterError(Exception):
    """Raised for what a proxy cannot cause."""


class Stage:
    """A topic and a group of its own, rules, and what an administrator can do."""

    def __init__(self, kit: KafkaCluster | KafkaProxy, direct: str, partitions: int = 1) -> None:
        """``direct`` is the address of a broker behind the proxy, or of the cluster."""
        self.kit = kit
        self.servers = kit.bootstrap_servers
        self._direct = direct
        self.topic = f"topic-{uuid4()}"
        self.group = f"group-{uuid4()}"
        self.create_topic(partitions)

    @property
    def cluster(self) -> KafkaCluster:
        """The mock cluster. Raises OnlyClusterError."""
        if not isinstance(self.kit, KafkaCluster):
            raise OnlyClusterError
        return self.kit

    def on(self, cls: type[Request[Any]], **options: Any) -> Any:
        return self.kit.on(cls, **options)

    def create_topic(self, partitions: int = 1) -> None:
        kind = CreateTopicsRequest
        topic = kind.CreatableTopic(name=self.topic, num_partitions=partitions, replication_factor=1)
        [created] = self.ask(kind(topics=[topic], timeout_ms=5000)).topics
        assert created.error_code == 0, created

    def recreate_topic(self) -> None:
        """Delete the topic and create it again, with another topic id."""
        kind = DeleteTopicsRequest
        [deleted] = self.ask(kind(topics=[kind.DeleteTopicState(name=self.topic)], timeout_ms=5000)).responses
        assert deleted.error_code == 0, deleted
        self.create_topic()

    def produce(self, *values: str) -> None:
        """Append records to the first partition."""
        if isinstance(self.kit, KafkaCluster):
            for each in values:
                self.kit.produce(self.topic, each.encode(), partition=0)
            return
        data = write_batch([Record(value=each.encode(), timestamp=1_700_000_000_000) for each in values])
        kind = ProduceRequest
        partition = kind.PartitionProduceData(index=0, records=data)
        topic = kind.TopicProduceData(name=self.topic, partition_data=[partition])
        deadline = time.monotonic() + SECONDS
        while True:  # a new topic has no leader yet
            response = self.ask(kind(acks=-1, timeout_ms=5000, topic_data=[topic]), version=12)
            [answer] = response.responses[0].partition_responses
            if answer.error_code == 0:
                return
            assert time.monotonic() < deadline, answer

    def records(self) -> list[str]:
        """Return all values of the first partition, also of aborted transactions."""
        if isinstance(self.kit, KafkaCluster):
            return [(record.value or b"").decode() for record in self.kit.records(self.topic, 0)]
        kind = FetchRequest
        partition = kind.FetchPartition(partition=0, partition_max_bytes=1 << 20)
        request = kind(
            max_wait_ms=10, max_bytes=1 << 20, topics=[kind.FetchTopic(topic=self.topic, partitions=[partition])]
        )
        data = self.ask(request, version=12).responses[0].partitions[0].records or b""
        return [
            (record.value or b"").decode()
            for batch in read_batches(data)
            if not batch.is_control
            for record in batch.records()
        ]

    def committed(self) -> int:
        """Return the committed offset of the first partition; -1 for none."""
        if isinstance(self.kit, KafkaCluster):
            return self.kit.committed(self.group).get((self.topic, 0), -1)
        kind = OffsetFetchRequest
        topic = kind.OffsetFetchRequestTopics(name=self.topic, partition_indexes=[0])
        group = kind.OffsetFetchRequestGroup(group_id=self.group, topics=[topic])
        response = self.ask(kind(groups=[group], require_stable=False), version=8)
        offset: int = response.groups[0].topics[0].partitions[0].committed_offset
        return offset

    def members(self) -> list[str]:
        """Return the ids of members that joined the group, oldest first."""
        joined = [each.response for each in self.kit.exchanges(JoinGroupRequest) if each.request.group_id == self.group]
        return list(dict.fromkeys(each.member_id for each in joined if each is not None and not each.error_code))

    def expire(self) -> None:
        """Remove the last member of the group, as after its session timeout."""
        [*_, member] = self.members()
        kind = LeaveGroupRequest
        self.ask(kind(group_id=self.group, members=[kind.MemberIdentity(member_id=member)]))

    def ask(self, request: Any, version: int | None = None) -> Any:
        """Send a request of our own to a broker."""
        host, _, port = self._direct.split(",")[0].rpartition(":")

        async def run() -> Any:
            async with await connect(host, int(port)) as connection:
                return await connection.request(request, version, lossy=True)

        return asyncio.run(run())
