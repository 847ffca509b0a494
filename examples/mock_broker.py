"""A broker in memory: `python examples/mock_broker.py PORT` has topics of one partition, and groups of one member."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from itertools import count
from uuid import UUID, uuid4

import kafka_messages as k
from kafka_messages import DecodeError, Response
from kafka_messages.batches import read_headers, with_base_offset
from kafka_messages.connection import (
    RemoteProtocolError,
    RequestReceived,
    ServerConnection,
    announce,
    error_response,
)
from kafka_messages.enums import ErrorCode, ListOffsetsTimestamp
from kafka_messages.protocol import ApiKey

ANNOUNCED = announce(
    [
        *(ApiKey.API_VERSIONS, ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS),
        *(ApiKey.INIT_PRODUCER_ID, ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT),
        *(ApiKey.LEAVE_GROUP, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH),
    ]
)


class Refused(Exception):
    """A request that is answered with nothing but an error."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


@dataclass
class Mock:
    """What all mocks have in common: requests in, responses out, an error for what cannot be answered."""

    host: str
    port: int
    announced: k.ApiVersionsResponse = field(default_factory=lambda: ANNOUNCED)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one client until it goes."""
        connection = ServerConnection(self.announced, text="surrogateescape")
        try:
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, RequestReceived):
                        response = await self.response(event)
                        writer.write(connection.send(event, response.fitted(event.response_version)))
                await writer.drain()
        except RemoteProtocolError as error:
            print(error)
        except ConnectionError:
            pass  # the client has gone
        finally:
            writer.close()

    async def response(self, received: RequestReceived) -> Response:
        try:
            return await self.answer(received.message, received.version)
        except Refused as refused:
            return error_response(received.request, refused.code)
        except Exception as error:  # a fault of the mock costs a request, not the connection
            print(f"{received}: {error!r}")
            return error_response(received.request, ErrorCode.UNKNOWN_SERVER_ERROR, repr(error))

    async def answer(self, asked: k.Message, version: int) -> Response:
        if isinstance(asked, k.ApiVersionsRequest):
            return self.announced
        raise Refused(ErrorCode.INVALID_REQUEST)


@dataclass
class Log:
    """A topic: the batches of its only partition, each with the offset behind it."""

    id: UUID = field(default_factory=uuid4)
    end: int = 0
    batches: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])

    def append(self, records: bytes) -> int:
        """The offset that a batch is given. As in Kafka, a request has one batch of format 2 for a partition."""
        try:
            batch = with_base_offset(records, self.end, leader_epoch=0)
        except DecodeError:
            raise Refused(ErrorCode.INVALID_RECORD) from None
        [header] = read_headers(batch)
        base, self.end = self.end, header.last_offset + 1
        self.batches.append((self.end, batch))
        return base

    def read(self, offset: int, most: int) -> bytes:
        """The batch with this offset and those behind it: no more bytes than are wanted, but one batch at least."""
        found = b""
        for end, batch in self.batches:
            if end > offset:
                if found and len(found) + len(batch) > most:
                    break
                found += batch
        return found

    def offset(self, timestamp: int) -> int:
        if timestamp not in (ListOffsetsTimestamp.EARLIEST, ListOffsetsTimestamp.LATEST):
            raise Refused(ErrorCode.INVALID_REQUEST)
        return 0 if timestamp == ListOffsetsTimestamp.EARLIEST else self.end


@dataclass
class Topics(Mock):
    """Topics, which are made when a client asks for them."""

    logs: dict[str, Log] = field(default_factory=dict[str, Log])
    ids: count[int] = field(default_factory=lambda: count(1))

    async def answer(self, asked: k.Message, version: int) -> Response:
        match asked:
            case k.MetadataRequest():
                return self.metadata(asked, version)
            case k.ProduceRequest():
                return self.produce(asked)
            case k.FetchRequest():
                response = self.fetch(asked)
                if not any(part.records for topic in response.responses for part in topic.partitions):
                    await asyncio.sleep(min(asked.max_wait_ms, 50) / 1000)
                return response
            case k.ListOffsetsRequest():
                return self.list_offsets(asked)
            case k.InitProducerIdRequest():
                return k.InitProducerIdResponse(producer_id=next(self.ids))
            case _:
                return await super().answer(asked, version)

    def name(self, name: str | None, topic_id: UUID) -> str:
        """The name of a topic; versions have it, or the id."""
        if name is None or name == "":
            name = next((name for name, log in self.logs.items() if log.id == topic_id), None)
        if name is None:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_ID)
        return name

    def log(self, name: str, partition: int) -> Log:
        if name not in self.logs or partition != 0:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return self.logs[name]

    def metadata(self, asked: k.MetadataRequest, version: int) -> k.MetadataResponse:
        broker = k.MetadataResponse.MetadataResponseBroker(node_id=0, host=self.host, port=self.port)
        partition = k.MetadataResponse.MetadataResponsePartition(leader_id=0, replica_nodes=[0], isr_nodes=[0])
        response = k.MetadataResponse(brokers=[broker], controller_id=0)
        names = [self.name(topic.name, topic.topic_id) for topic in asked.topics or ()]
        if asked.topics is None or (version == 0 and not names):  # all of them; version 0 has no null
            names = list(self.logs)
        for name in names:
            if asked.allow_auto_topic_creation:
                self.logs.setdefault(name, Log())
            topic_id = self.log(name, 0).id
            response.topics.append(
                k.MetadataResponse.MetadataResponseTopic(name=name, topic_id=topic_id, partitions=[partition])
            )
        return response

    def produce(self, asked: k.ProduceRequest) -> k.ProduceResponse:
        kind = k.ProduceResponse.PartitionProduceResponse
        response = k.ProduceResponse()
        for topic in asked.topic_data:
            name = self.name(topic.name, topic.topic_id)
            told = k.ProduceResponse.TopicProduceResponse(name=name, topic_id=topic.topic_id)
            response.responses.append(told)
            for each in topic.partition_data:
                offset = self.log(name, each.index).append(each.records or b"")
                told.partition_responses.append(kind(index=each.index, base_offset=offset))
        return response

    def fetch(self, asked: k.FetchRequest) -> k.FetchResponse:
        response = k.FetchResponse()
        for topic in asked.topics:
            name = self.name(topic.topic, topic.topic_id)
            told = k.FetchResponse.FetchableTopicResponse(topic=name, topic_id=topic.topic_id)
            response.responses.append(told)
            for each in topic.partitions:
                log = self.log(name, each.partition)
                part = k.FetchResponse.PartitionData(partition_index=each.partition, high_watermark=log.end)
                part.last_stable_offset, part.records = log.end, log.read(each.fetch_offset, each.partition_max_bytes)
                if not 0 <= each.fetch_offset <= log.end:
                    part.error_code = ErrorCode.OFFSET_OUT_OF_RANGE
                told.partitions.append(part)
        return response

    def list_offsets(self, asked: k.ListOffsetsRequest) -> k.ListOffsetsResponse:
        kind = k.ListOffsetsResponse.ListOffsetsPartitionResponse
        response = k.ListOffsetsResponse()
        for topic in asked.topics:
            told = k.ListOffsetsResponse.ListOffsetsTopicResponse(name=topic.name)
            response.topics.append(told)
            for each in topic.partitions:
                offset = self.log(topic.name, each.partition_index).offset(each.timestamp)
                told.partitions.append(kind(partition_index=each.partition_index, offset=offset))
        return response


@dataclass
class Member:
    """The member of a group, until it leaves or is not heard of for the time of its session."""

    id: str
    session_seconds: float
    heard_at: float = field(default_factory=time.monotonic)


@dataclass
class Broker(Topics):
    """Groups too: each has one member, which leads it, and is given what it gives itself."""

    members: dict[str, Member] = field(default_factory=dict[str, Member])
    committed: dict[str, dict[str, dict[int, int]]] = field(default_factory=dict[str, dict[str, dict[int, int]]])

    async def answer(self, asked: k.Message, version: int) -> Response:
        match asked:
            case k.FindCoordinatorRequest():
                kind = k.FindCoordinatorResponse.Coordinator
                found = [kind(key=key, node_id=0, host=self.host, port=self.port) for key in asked.coordinator_keys]
                return k.FindCoordinatorResponse(node_id=0, host=self.host, port=self.port, coordinators=found)
            case k.JoinGroupRequest():
                return self.join(asked)
            case k.SyncGroupRequest(protocol_type=kind_of_group, protocol_name=name):
                self.heard(asked.group_id, asked.member_id)
                given = b"".join(each.assignment for each in asked.assignments)
                return k.SyncGroupResponse(protocol_type=kind_of_group, protocol_name=name, assignment=given)
            case k.HeartbeatRequest():
                self.heard(asked.group_id, asked.member_id)
                return k.HeartbeatResponse()
            case k.LeaveGroupRequest(members=members):
                self.heard(asked.group_id, members[0].member_id if members else asked.member_id)
                del self.members[asked.group_id]
                left = [k.LeaveGroupResponse.MemberResponse(member_id=each.member_id) for each in members]
                return k.LeaveGroupResponse(members=left)
            case k.OffsetCommitRequest():
                return self.commit(asked)
            case k.OffsetFetchRequest():
                return self.offsets(asked)
            case _:
                return await super().answer(asked, version)

    def heard(self, group_id: str, member_id: str) -> None:
        """A member says that it is there."""
        member = self.members.get(group_id)
        if member is None or member.id != member_id:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID)
        member.heard_at = time.monotonic()

    def join(self, asked: k.JoinGroupRequest) -> k.JoinGroupResponse:
        if not asked.member_id:
            before, now = self.members.get(asked.group_id), time.monotonic()
            if before is not None and now < before.heard_at + before.session_seconds:
                raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED)
            self.members[asked.group_id] = Member(str(uuid4()), asked.session_timeout_ms / 1000)
        member_id = asked.member_id or self.members[asked.group_id].id
        self.heard(asked.group_id, member_id)
        [protocol, *_] = asked.protocols
        joined = k.JoinGroupResponse.JoinGroupResponseMember(member_id=member_id, metadata=protocol.metadata)
        return k.JoinGroupResponse(
            generation_id=next(self.ids),
            protocol_type=asked.protocol_type,
            protocol_name=protocol.name,
            leader=member_id,
            member_id=member_id,
            members=[joined],
        )

    def commit(self, asked: k.OffsetCommitRequest) -> k.OffsetCommitResponse:
        if asked.member_id:
            self.heard(asked.group_id, asked.member_id)
        kind = k.OffsetCommitResponse.OffsetCommitResponsePartition
        response = k.OffsetCommitResponse()
        for topic in asked.topics:
            name = self.name(topic.name, topic.topic_id)
            told = k.OffsetCommitResponse.OffsetCommitResponseTopic(name=name, topic_id=topic.topic_id)
            response.topics.append(told)
            for each in topic.partitions:
                self.log(name, each.partition_index)
                offsets = self.committed.setdefault(asked.group_id, {}).setdefault(name, {})
                offsets[each.partition_index] = each.committed_offset
                told.partitions.append(kind(partition_index=each.partition_index))
        return response

    def offsets(self, asked: k.OffsetFetchRequest) -> k.OffsetFetchResponse:
        kind = k.OffsetFetchResponse
        response = kind()
        one = None if asked.topics is None else {each.name: each.partition_indexes for each in asked.topics}
        for name, found in self.found(asked.group_id, one).items():  # of one group, before version 8
            old = [kind.OffsetFetchResponsePartition(partition_index=at, committed_offset=found[at]) for at in found]
            response.topics.append(kind.OffsetFetchResponseTopic(name=name, partitions=old))
        for group in asked.groups:
            told = kind.OffsetFetchResponseGroup(group_id=group.group_id)
            response.groups.append(told)
            wanted = (
                None
                if group.topics is None
                else {self.name(t.name, t.topic_id): t.partition_indexes for t in group.topics}
            )
            for name, found in self.found(group.group_id, wanted).items():
                new = [
                    kind.OffsetFetchResponsePartitions(partition_index=at, committed_offset=found[at]) for at in found
                ]
                topic_id = self.logs[name].id if name in self.logs else UUID(int=0)
                told.topics.append(kind.OffsetFetchResponseTopics(name=name, topic_id=topic_id, partitions=new))
        return response

    def found(self, group_id: str, wanted: dict[str, list[int]] | None) -> dict[str, dict[int, int]]:
        """What a group has committed, by topic and partition, -1 where nothing is; null asks for all."""
        offsets = self.committed.get(group_id, {})
        if wanted is None:
            return offsets
        return {name: {at: offsets.get(name, {}).get(at, -1) for at in wanted[name]} for name in wanted}


async def main(port: int) -> None:
    server = await asyncio.start_server(Broker("127.0.0.1", port).serve, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    import sys

    asyncio.run(main(int(sys.argv[1])))
