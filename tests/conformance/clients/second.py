"""A correct client that does the tasks in other ways than ``ours.py``: ``second.py TASK ADDRESS``.

It is a static member with two assignors, and with heartbeats beside its commits. It stamps the records of a retry again;
writes to two partitions in one request, without transaction.version 2 (KIP-890); adds partitions one by one, with the
highest version; and follows the leader that a Produce response names (KIP-951).
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from kafka_messages import (
    AddPartitionsToTxnRequest,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    EndTxnRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    InitProducerIdRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
    Request,
    SyncGroupRequest,
)
from kafka_messages.aio import BrokerConnection, connect
from kafka_messages.internal_topics import write_versioned
from kafka_messages.protocol import ErrorCode
from kafka_records import Record, read_batches, write_batch

NAME = "conformance"
RETRIABLE = (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


class FailedError(Exception):
    """The task cannot be done."""


class Client:
    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.bootstrap = host, int(port)
        self.connections: dict[tuple[str, Any], BrokerConnection] = {}
        self.quiet_until = 0.0
        self.topic_id: Any = None
        self.leaders: dict[int, tuple[str, int]] = {}
        self.coordinator: tuple[str, int] | None = None
        self.producer, self.sequences = (-1, -1), {0: 0, 1: 0}

    async def ask(self, role: str, address: tuple[str, int], request: Request[Any], most: int | None = None) -> Any:
        """Send a request on the connection of a role, at most at version ``most``."""
        key = role, address
        for _ in range(3):
            await asyncio.sleep(self.quiet_until - time.monotonic())
            if key not in self.connections:
                self.connections[key] = await connect(*address)
            connection = self.connections[key]
            version = min(self.highest(connection, request), most or 99)
            try:
                response: Any = await connection.request(request.downgraded(version), version)
            except ConnectionError:
                del self.connections[key]
                continue
            self.quiet_until = time.monotonic() + getattr(response, "throttle_time_ms", 0) / 1000
            return response
        raise FailedError("no connection")

    @staticmethod
    def highest(connection: BrokerConnection, request: Request[Any]) -> int:
        versions = connection.connection.versions
        assert versions is not None
        if isinstance(request, AddPartitionsToTxnRequest):  # also versions for brokers
            return versions.versions[request.API_KEY].highest
        return versions.highest_common(type(request))

    async def metadata(self) -> None:
        topic = MetadataRequest.MetadataRequestTopic(name=NAME)
        found = await self.ask("metadata", self.bootstrap, MetadataRequest(topics=[topic]))
        nodes = {each.node_id: (each.host, each.port) for each in found.brokers}
        self.topic_id = found.topics[0].topic_id
        self.leaders = {each.partition_index: nodes[each.leader_id] for each in found.topics[0].partitions}

    async def at_coordinator(self, kind: int, request: Request[Any], most: int | None = None) -> Any:
        """Send a request to the coordinator, and ask for another one after NOT_COORDINATOR."""
        for _ in range(20):
            if self.coordinator is None:
                wanted = FindCoordinatorRequest(key=NAME, key_type=kind, coordinator_keys=[NAME])
                found = await self.ask("metadata", self.bootstrap, wanted)
                found = found.coordinators[0] if found.coordinators else found
                self.coordinator = (found.host, found.port) if found.error_code == ErrorCode.NONE else None
                await asyncio.sleep(0.05 if self.coordinator is None else 0)
                continue
            response = await self.ask("coordinator", self.coordinator, request, most)
            code = code_of(response)
            if code == ErrorCode.NOT_COORDINATOR:
                self.coordinator = None
            elif code not in RETRIABLE:
                return response
            await asyncio.sleep(0.05)
        raise FailedError("no coordinator")

    # Producer

    async def write(self, values: dict[int, list[tuple[bytes | None, bytes | None]]], transaction: str | None) -> None:
        """Write a batch to each partition; repeat those that failed with new timestamps and the same sequences."""
        left = dict(values)
        for _ in range(20):
            leader = self.leaders[min(left)]
            now = time.time_ns() // 1_000_000
            parts = [
                ProduceRequest.PartitionProduceData(index=each, records=self.batch(each, left[each], now, transaction))
                for each in left
            ]
            topic = ProduceRequest.TopicProduceData(name=NAME, topic_id=self.topic_id, partition_data=parts)
            request = ProduceRequest(transactional_id=transaction, acks=-1, timeout_ms=5000, topic_data=[topic])
            response = await self.ask("leader", leader, request, 11 if transaction else None)
            for part in response.responses[0].partition_responses:
                if part.error_code == ErrorCode.NONE:
                    self.sequences[part.index] += len(left.pop(part.index))
                elif part.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                    nodes = {each.node_id: (each.host, each.port) for each in response.node_endpoints}
                    self.leaders[part.index] = nodes[part.current_leader.leader_id]
                elif part.error_code not in RETRIABLE:
                    raise FailedError(ErrorCode(part.error_code).name)
            if not left:
                return
            await asyncio.sleep(0.05)
        raise FailedError("not written")

    def batch(self, partition: int, values: Sequence[Any], now: int, transaction: str | None) -> bytes:
        id, epoch = self.producer
        return write_batch(
            [Record(timestamp=now, key=key, value=value) for key, value in values],
            compression="gzip",
            producer_id=id,
            producer_epoch=epoch,
            base_sequence=self.sequences[partition],
            is_transactional=transaction is not None,
        )

    async def produce(self) -> None:
        """Write as an idempotent producer."""
        await self.metadata()
        made = await self.ask("metadata", self.bootstrap, InitProducerIdRequest(transaction_timeout_ms=10_000))
        self.producer = made.producer_id, made.producer_epoch
        for key, value in ((b"k0", b"v0"), (b"k1", b"v1"), (b"k2", None), (b"k3", b""), (b"k4", b"v4")):
            await self.write({0: [(key, value)]}, None)

    async def do_transactions(self) -> None:
        await self.metadata()
        request = InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=10_000)
        made = await self.at_coordinator(1, request)
        self.producer = id, epoch = made.producer_id, made.producer_epoch
        kind = AddPartitionsToTxnRequest
        for _ in range(2):
            for partition in (0, 1):
                topics = [kind.AddPartitionsToTxnTopic(name=NAME, partitions=[partition])]
                one = kind.AddPartitionsToTxnTransaction(
                    transactional_id=NAME, producer_id=id, producer_epoch=epoch, topics=topics
                )
                added = await self.at_coordinator(1, kind(transactions=[one]))
                [part] = added.results_by_transaction[0].topic_results[0].results_by_partition
                if part.partition_error_code:
                    raise FailedError(ErrorCode(part.partition_error_code).name)
            for _ in range(3):
                await self.write({0: [(None, b"v")] * 2, 1: [(None, b"v")] * 2}, NAME)
            end = EndTxnRequest(transactional_id=NAME, producer_id=id, producer_epoch=epoch, committed=True)
            ended = await self.at_coordinator(1, end, 4)
            if ended.error_code != ErrorCode.NONE:
                raise FailedError(ErrorCode(ended.error_code).name)

    # Group

    async def read_in_group(self) -> None:
        """Read, and commit each Fetch response with records."""
        await self.metadata()
        member = await self.join()
        beating = asyncio.create_task(self.beat(member))
        offset, seen = await self.start(), 0
        while seen < 3:
            before = offset
            offset, more = await self.fetch(before)
            seen += more
            if offset > before and not await self.commit(member, offset):
                beating.cancel()
                member = await self.join()
                beating = asyncio.create_task(self.beat(member))
                await self.commit(member, offset)
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
        leaving = LeaveGroupRequest.MemberIdentity(member_id=member[0], group_instance_id=NAME)
        await self.at_coordinator(0, LeaveGroupRequest(group_id=NAME, members=[leaving]))

    async def consume(self) -> None:
        """Read without a group."""
        await self.metadata()
        offset, seen = await self.first(), 0
        while seen < 3:
            offset, more = await self.fetch(offset)
            seen += more

    async def fetch(self, offset: int) -> tuple[int, int]:
        """Return the next offset, and the number of records."""
        part = FetchRequest.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        topic = FetchRequest.FetchTopic(topic=NAME, topic_id=self.topic_id, partitions=[part])
        request = FetchRequest(max_wait_ms=300, min_bytes=1, session_epoch=0, topics=[topic])
        found = (await self.ask("leader", self.leaders[0], request)).responses[0].partitions[0]
        seen, end = 0, offset
        for batch in read_batches(found.records or b""):
            if not batch.is_control:
                seen += sum(record.offset >= offset for record in batch.records())
            end = batch.last_offset + 1
        return end, seen

    async def beat(self, member: tuple[str, int]) -> None:
        while True:
            await asyncio.sleep(0.5)
            request = HeartbeatRequest(
                group_id=NAME, generation_id=member[1], member_id=member[0], group_instance_id=NAME
            )
            await self.at_coordinator(0, request)

    async def start(self) -> int:
        """Return the committed offset, or the first one."""
        kind = OffsetFetchRequest
        topics = [kind.OffsetFetchRequestTopics(name=NAME, topic_id=self.topic_id, partition_indexes=[0])]
        old = kind.OffsetFetchRequestTopic(name=NAME, partition_indexes=[0])
        groups = [kind.OffsetFetchRequestGroup(group_id=NAME, topics=topics)]
        found = await self.at_coordinator(0, kind(group_id=NAME, topics=[old], groups=groups))
        committed = (found.groups[0] if found.groups else found).topics[0].partitions[0].committed_offset
        return int(committed) if committed >= 0 else await self.first()

    async def first(self) -> int:
        part = ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-2)
        topic = ListOffsetsRequest.ListOffsetsTopic(name=NAME, partitions=[part])
        response = await self.ask("leader", self.leaders[0], ListOffsetsRequest(topics=[topic]))
        return int(response.topics[0].partitions[0].offset)

    async def commit(self, member: tuple[str, int], offset: int) -> bool:
        """Commit an offset; return False for a member that the group has lost."""
        kind = OffsetCommitRequest
        part = kind.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        topic = kind.OffsetCommitRequestTopic(name=NAME, topic_id=self.topic_id, partitions=[part])
        id, generation = member
        request = kind(
            group_id=NAME,
            generation_id_or_member_epoch=generation,
            member_id=id,
            group_instance_id=NAME,
            topics=[topic],
        )
        code = code_of(await self.at_coordinator(0, request))
        if code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID):
            raise FailedError(ErrorCode(code).name)
        return code == ErrorCode.NONE

    async def join(self) -> tuple[str, int]:
        """Return member id and generation of a static member, which assigns the partition to itself."""
        kind = JoinGroupRequest
        metadata = write_versioned(ConsumerProtocolSubscription(topics=[NAME]), 1)
        protocols = [kind.JoinGroupRequestProtocol(name=name, metadata=metadata) for name in ("sticky", "roundrobin")]
        request = kind(
            group_id=NAME,
            session_timeout_ms=6000,
            rebalance_timeout_ms=6000,
            group_instance_id=NAME,
            protocol_type="consumer",
            protocols=protocols,
        )
        joined = await self.at_coordinator(0, request)
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:  # before static members (KIP-345)
            request.member_id = joined.member_id
            joined = await self.at_coordinator(0, request)
        if joined.error_code != ErrorCode.NONE:
            raise FailedError(ErrorCode(joined.error_code).name)
        part = ConsumerProtocolAssignment.TopicPartition(topic=NAME, partitions=[0])
        assignment = write_versioned(ConsumerProtocolAssignment(assigned_partitions=[part]), 1)
        given = SyncGroupRequest.SyncGroupRequestAssignment(member_id=joined.member_id, assignment=assignment)
        sync = SyncGroupRequest(
            group_id=NAME,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id=NAME,
            protocol_type="consumer",
            protocol_name=joined.protocol_name,
            assignments=[given],
        )
        await self.at_coordinator(0, sync)
        return joined.member_id, joined.generation_id


def code_of(response: Any) -> int:
    """Return the error code of a response, or of its first partition."""
    if topics := getattr(response, "topics", None):
        return int(getattr(topics[0].partitions[0], "error_code", 0))
    return int(getattr(response, "error_code", 0))


async def run(task: Callable[[], Awaitable[None]], client: Client) -> None:
    try:
        await task()
    finally:
        for each in client.connections.values():
            await each.close()


def main(arguments: Sequence[str], make: type[Client] = Client) -> int:
    task, address = arguments
    client = make(address)
    tasks = {
        "produce": client.produce,
        "consume": client.consume,
        "group": client.read_in_group,
        "transaction": client.do_transactions,
    }
    try:
        asyncio.run(run(tasks[task], client))
    except (FailedError, ConnectionError) as error:
        print(f"{task}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
