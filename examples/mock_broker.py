"""A broker in memory: `python examples/mock_broker.py PORT` has topics of one partition, and groups of one member."""

from __future__ import annotations

import asyncio
from uuid import NAMESPACE_URL, UUID, uuid5

import kafka_messages as k
from kafka_messages import Response
from kafka_messages.batches import read_headers, with_base_offset
from kafka_messages.connection import (
    RemoteProtocolError,
    RequestReceived,
    ServerConnection,
    announce,
    error_response,
)
from kafka_messages.protocol import ApiKey, ErrorCode

ANNOUNCED = announce(
    [
        *(ApiKey.API_VERSIONS, ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS),
        *(ApiKey.INIT_PRODUCER_ID, ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT),
        *(ApiKey.LEAVE_GROUP, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH),
    ]
)


class Broker:
    """Topics, each with the batches of its partition 0."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.logs: dict[str, list[tuple[int, bytes]]] = {}
        self.ends: dict[str, int] = {}
        self.names: dict[UUID, str] = {}
        self.committed: dict[tuple[str, str], int] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one client until it goes."""
        connection = ServerConnection(ANNOUNCED)
        try:
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, RequestReceived):
                        writer.write(connection.send(event, await self.answer(event)))
        except RemoteProtocolError as error:
            print(error)
        finally:
            writer.close()

    async def answer(self, received: RequestReceived) -> Response:
        match received.message:
            case k.ApiVersionsRequest():
                return ANNOUNCED
            case k.MetadataRequest(topics=topics):
                return self.metadata([topic.name or self.names[topic.topic_id] for topic in topics or ()])
            case k.ProduceRequest() as produce:
                return self.produce(produce)
            case k.FetchRequest() as fetch:
                await asyncio.sleep(min(fetch.max_wait_ms, 50) / 1000)
                return self.fetch(fetch)
            case k.ListOffsetsRequest() as offsets:
                return self.list_offsets(offsets)
            case k.InitProducerIdRequest():
                return k.InitProducerIdResponse(producer_id=1)
            case _:
                return self.answer_of_group(received)

    def metadata(self, names: list[str]) -> k.MetadataResponse:
        """Topics are made when they are asked for; none stands for all."""
        for name in names:
            self.logs.setdefault(name, [])
            self.names[uuid5(NAMESPACE_URL, name)] = name
        partition = k.MetadataResponse.MetadataResponsePartition(leader_id=0, replica_nodes=[0], isr_nodes=[0])
        broker = k.MetadataResponse.MetadataResponseBroker(node_id=0, host=self.host, port=self.port)
        return k.MetadataResponse(
            brokers=[broker],
            controller_id=0,
            topics=[
                k.MetadataResponse.MetadataResponseTopic(
                    name=name, topic_id=uuid5(NAMESPACE_URL, name), partitions=[partition]
                )
                for name in names or self.logs
            ],
        )

    def produce(self, request: k.ProduceRequest) -> k.ProduceResponse:
        kind = k.ProduceResponse.PartitionProduceResponse
        response = k.ProduceResponse()
        for topic in request.topic_data:
            name = topic.name or self.names[topic.topic_id]
            answers = [
                kind(index=each.index, base_offset=self.append(name, each.records or b""))
                for each in topic.partition_data
            ]
            told = k.ProduceResponse.TopicProduceResponse(
                name=topic.name, topic_id=topic.topic_id, partition_responses=answers
            )
            response.responses.append(told)
        return response

    def append(self, name: str, batch: bytes) -> int:
        """The offset that a batch is given."""
        base = self.ends.get(name, 0)
        stored = with_base_offset(batch, base, leader_epoch=0)
        [header] = read_headers(stored)
        self.logs[name].append((base, stored))
        self.ends[name] = header.last_offset + 1
        return base

    def fetch(self, request: k.FetchRequest) -> k.FetchResponse:
        kind = k.FetchResponse.PartitionData
        response = k.FetchResponse()
        for topic in request.topics:
            name = topic.topic or self.names[topic.topic_id]
            end = self.ends.get(name, 0)
            answers = [
                kind(
                    partition_index=each.partition,
                    high_watermark=end,
                    last_stable_offset=end,
                    records=self.records(name, each.fetch_offset),
                )
                for each in topic.partitions
            ]
            told = k.FetchResponse.FetchableTopicResponse(
                topic=topic.topic, topic_id=topic.topic_id, partitions=answers
            )
            response.responses.append(told)
        return response

    def records(self, name: str, offset: int) -> bytes:
        """The batch with this offset, and those behind it."""
        if offset >= self.ends.get(name, 0):
            return b""
        start = max(base for base, _ in self.logs[name] if base <= offset)
        return b"".join(data for base, data in self.logs[name] if base >= start)

    def list_offsets(self, request: k.ListOffsetsRequest) -> k.ListOffsetsResponse:
        kind = k.ListOffsetsResponse.ListOffsetsPartitionResponse
        response = k.ListOffsetsResponse()
        for topic in request.topics:
            ends = {-1: self.ends.get(topic.name, 0)}  # the timestamp -1 asks for the end, -2 for the beginning
            answers = [
                kind(partition_index=each.partition_index, timestamp=-1, offset=ends.get(each.timestamp, 0))
                for each in topic.partitions
            ]
            told = k.ListOffsetsResponse.ListOffsetsTopicResponse(name=topic.name, partitions=answers)
            response.topics.append(told)
        return response

    def answer_of_group(self, received: RequestReceived) -> Response:
        """Each group has one member, which leads it, and is given what it gives itself."""
        match received.message:
            case k.FindCoordinatorRequest(coordinator_keys=keys):
                if received.version < 4:
                    return k.FindCoordinatorResponse(node_id=0, host=self.host, port=self.port)
                coordinator = k.FindCoordinatorResponse.Coordinator
                found = [coordinator(key=key, node_id=0, host=self.host, port=self.port) for key in keys]
                return k.FindCoordinatorResponse(coordinators=found)
            case k.JoinGroupRequest() as join:
                [protocol, *_] = join.protocols
                member = k.JoinGroupResponse.JoinGroupResponseMember(member_id="m", metadata=protocol.metadata)
                return k.JoinGroupResponse(
                    generation_id=1,
                    protocol_type=join.protocol_type,
                    protocol_name=protocol.name,
                    leader="m",
                    member_id="m",
                    members=[member],
                )
            case k.SyncGroupRequest() as sync:
                return k.SyncGroupResponse(
                    protocol_type=sync.protocol_type,
                    protocol_name=sync.protocol_name,
                    assignment=b"".join(each.assignment for each in sync.assignments),
                )
            case k.HeartbeatRequest():
                return k.HeartbeatResponse()
            case k.LeaveGroupRequest():
                return k.LeaveGroupResponse()
            case k.OffsetCommitRequest() as commit:
                return self.commit(commit)
            case k.OffsetFetchRequest() as offsets:
                return self.offsets(offsets)
            case _:
                return error_response(received.request, ErrorCode.INVALID_REQUEST, "not served here")

    def commit(self, request: k.OffsetCommitRequest) -> k.OffsetCommitResponse:
        kind = k.OffsetCommitResponse.OffsetCommitResponsePartition
        response = k.OffsetCommitResponse()
        for topic in request.topics:
            name = topic.name or self.names[topic.topic_id]
            for partition in topic.partitions:
                self.committed[request.group_id, name] = partition.committed_offset
            told = k.OffsetCommitResponse.OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[kind(partition_index=each.partition_index) for each in topic.partitions],
            )
            response.topics.append(told)
        return response

    def offsets(self, request: k.OffsetFetchRequest) -> k.OffsetFetchResponse:
        response = k.OffsetFetchResponse()
        for topic in request.topics or ():
            offset = self.committed.get((request.group_id, topic.name), -1)
            old = k.OffsetFetchResponse.OffsetFetchResponsePartition
            partitions = [old(partition_index=each, committed_offset=offset) for each in topic.partition_indexes]
            told = k.OffsetFetchResponse.OffsetFetchResponseTopic(name=topic.name, partitions=partitions)
            response.topics.append(told)
        for group in request.groups:
            answer = k.OffsetFetchResponse.OffsetFetchResponseGroup(group_id=group.group_id)
            response.groups.append(answer)
            for asked in group.topics or ():
                name = asked.name or self.names[asked.topic_id]
                offset = self.committed.get((group.group_id, name), -1)
                new = k.OffsetFetchResponse.OffsetFetchResponsePartitions
                parts = [new(partition_index=each, committed_offset=offset) for each in asked.partition_indexes]
                answer.topics.append(
                    k.OffsetFetchResponse.OffsetFetchResponseTopics(
                        name=asked.name, topic_id=asked.topic_id, partitions=parts
                    )
                )
        return response


async def main(port: int) -> None:
    server = await asyncio.start_server(Broker("127.0.0.1", port).serve, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    import sys

    asyncio.run(main(int(sys.argv[1])))
