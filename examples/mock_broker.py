"""In-memory broker with one partition per topic and one member per group: `python examples/mock_broker.py PORT`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol
from uuid import UUID, uuid4

import kafka_messages as k
from kafka_messages import Response
from kafka_messages.connection import (
    RemoteProtocolError,
    RequestReceived,
    ServerConnection,
    announce,
    error_response,
)
from kafka_messages.enums import ErrorCode, ListOffsetsTimestamp
from kafka_messages.protocol import ApiKey
from kafka_records import ChecksumError, MissingCodecError, RecordError, read_batches, with_base_offset, write_batch

SERVED = [
    *(ApiKey.API_VERSIONS, ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS),
    *(ApiKey.INIT_PRODUCER_ID, ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT),
    *(ApiKey.LEAVE_GROUP, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH),
]
ANNOUNCED = announce(SERVED)


class RequestError(Exception):
    """Error response to a request or to one of its partitions."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class Part(Protocol):
    """Part of a response with its own error code, such as a topic or a partition."""

    error_code: int


@contextmanager
def partial_failures(part: Part) -> Generator[None, None, None]:
    """Set the error code of ``part`` if the body fails, so that the other parts of the response are not affected."""
    try:
        yield
    except RequestError as error:
        part.error_code = error.code
    except ChecksumError:
        part.error_code = ErrorCode.CORRUPT_MESSAGE
    except MissingCodecError:
        part.error_code = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    except RecordError:
        part.error_code = ErrorCode.INVALID_RECORD


@dataclass
class Mock:
    """Base of mock brokers: receives requests, sends responses, and turns exceptions into error responses."""

    host: str
    port: int
    announced: k.ApiVersionsResponse = field(default_factory=lambda: ANNOUNCED)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one client until it disconnects."""
        connection = ServerConnection(self.announced, text="surrogateescape")
        try:
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, RequestReceived):
                        writer.write(connection.send(event, await self.response(event)))
                        await writer.drain()  # backpressure for clients that read slowly
        except RemoteProtocolError as error:
            print(error)
        except OSError:
            pass  # the client has disconnected
        finally:
            writer.close()

    async def response(self, received: RequestReceived) -> Response:
        try:
            return (await self.answer(received.message, received.version)).downgraded(received.response_version)
        except RequestError as error:
            return error_response(received.request, error.code)
        except Exception as error:  # a fault of the mock fails the request, not the connection
            print(f"{received}: {error!r}")
            return error_response(received.request, ErrorCode.UNKNOWN_SERVER_ERROR, repr(error))

    async def answer(self, request: k.Message, version: int) -> Response:
        if isinstance(request, k.ApiVersionsRequest):
            return self.announced
        raise RequestError(ErrorCode.INVALID_REQUEST)


MAX_FETCH_BYTES = 55 << 20
"""Maximum bytes of a response, the default of a broker's fetch.max.bytes."""


def converted(records: bytes, magic: int) -> bytes:
    """Return the records as a batch of another format, without data that this format does not support."""
    reader = read_batches(records)
    found = list(reader.records())
    if reader.incomplete:
        raise RequestError(ErrorCode.INVALID_RECORD)
    plain = [record._replace(offset=-1, headers=()) for record in found]
    return write_batch(plain, base_offset=found[0].offset, magic=magic) if found else b""


@dataclass
class Log:
    """Batches of a topic's only partition, each with the offset after the batch."""

    id: UUID = field(default_factory=uuid4)
    end: int = 0
    batches: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])

    def append(self, records: bytes) -> int:
        """Append a batch and return its offset. As in Kafka, a request must have exactly one batch, of format 2."""
        data = with_base_offset(records, self.end, leader_epoch=0)
        [batch] = read_batches(data)
        if batch.count != batch.last_offset_delta + 1 or batch.is_control:
            raise RequestError(ErrorCode.INVALID_RECORD)
        base, self.end = self.end, self.end + batch.count
        self.batches.append((self.end, data))
        return base

    def read(self, offset: int, most: int, is_first: bool) -> bytes:
        """Return the batches from an offset on, up to ``most`` bytes, or one larger batch if ``is_first``."""
        if not 0 <= offset <= self.end:
            raise RequestError(ErrorCode.OFFSET_OUT_OF_RANGE)
        found: list[bytes] = []
        for end, batch in self.batches:
            if end > offset:
                most -= len(batch)
                if most < 0 and (found or not is_first):
                    break
                found.append(batch)
        return b"".join(found)

    def offset(self, timestamp: int) -> int:
        if timestamp not in (ListOffsetsTimestamp.EARLIEST, ListOffsetsTimestamp.LATEST):
            raise RequestError(ErrorCode.INVALID_REQUEST)
        return 0 if timestamp == ListOffsetsTimestamp.EARLIEST else self.end


@dataclass
class Topics(Mock):
    """Topics, created on first use."""

    logs: dict[str, Log] = field(default_factory=dict[str, Log])
    ids: count[int] = field(default_factory=lambda: count(1))

    async def answer(self, request: k.Message, version: int) -> Response:
        match request:
            case k.MetadataRequest():
                return self.metadata(request, version)
            case k.ProduceRequest():
                return self.produce(request, version)
            case k.FetchRequest():
                response = self.fetch(request, version)
                if not any(part.records for topic in response.responses for part in topic.partitions):
                    await asyncio.sleep(min(request.max_wait_ms, 50) / 1000)
                return response
            case k.ListOffsetsRequest():
                return self.list_offsets(request)
            case k.InitProducerIdRequest():
                return k.InitProducerIdResponse(producer_id=next(self.ids))
            case _:
                return await super().answer(request, version)

    def name(self, name: str | None, topic_id: UUID) -> str:
        """Return the name of a topic from its name or id, whichever the version has."""
        found = name or next((each for each, log in self.logs.items() if log.id == topic_id), None)
        if found is None:
            raise RequestError(ErrorCode.UNKNOWN_TOPIC_ID)
        return found

    def log(self, name: str | None, topic_id: UUID, partition: int) -> Log:
        log = self.logs.get(self.name(name, topic_id))
        if log is None or partition != 0:
            raise RequestError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return log

    def metadata(self, request: k.MetadataRequest, version: int) -> k.MetadataResponse:
        broker = k.MetadataResponse.MetadataResponseBroker(node_id=0, host=self.host, port=self.port)
        partition = k.MetadataResponse.MetadataResponsePartition(leader_id=0, replica_nodes=[0], isr_nodes=[0])
        response = k.MetadataResponse(brokers=[broker], controller_id=0)
        topics = list(request.topics or ())
        if request.topics is None or (version == 0 and not topics):  # all topics; version 0 has no null
            topics = [k.MetadataRequest.MetadataRequestTopic(name=name) for name in self.logs]
        for topic in topics:
            topic_response = k.MetadataResponse.MetadataResponseTopic(name=topic.name, topic_id=topic.topic_id)
            with partial_failures(topic_response):
                if topic.name and request.allow_auto_topic_creation:
                    self.logs.setdefault(topic.name, Log())
                topic_response.topic_id = self.log(topic.name, topic.topic_id, 0).id
                topic_response.name, topic_response.partitions = self.name(topic.name, topic.topic_id), [partition]
            response.topics.append(topic_response)
        return response

    def produce(self, request: k.ProduceRequest, version: int) -> k.ProduceResponse:
        kind = k.ProduceResponse.PartitionProduceResponse
        response = k.ProduceResponse()
        for topic in request.topic_data:
            topic_response = k.ProduceResponse.TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
            response.responses.append(topic_response)
            for each in topic.partition_data:
                part = kind(index=each.index, base_offset=-1)
                with partial_failures(part):
                    log, records = self.log(topic.name, topic.topic_id, each.index), each.records or b""
                    part.base_offset = log.append(records if version >= 3 else converted(records, 2))
                topic_response.partition_responses.append(part)
        return response

    def fetch(self, request: k.FetchRequest, version: int) -> k.FetchResponse:
        response = k.FetchResponse()
        left = most = min(request.max_bytes, MAX_FETCH_BYTES)
        for topic in request.topics:
            topic_response = k.FetchResponse.FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id)
            response.responses.append(topic_response)
            for each in topic.partitions:
                part = k.FetchResponse.PartitionData(partition_index=each.partition, high_watermark=-1, records=b"")
                with partial_failures(part):
                    log = self.log(topic.topic, topic.topic_id, each.partition)
                    found = log.read(each.fetch_offset, min(each.partition_max_bytes, left), left == most)
                    left -= len(found)
                    part.records = found if version >= 4 else converted(found, 1 if version >= 2 else 0)
                    part.high_watermark = part.last_stable_offset = log.end
                topic_response.partitions.append(part)
        return response

    def list_offsets(self, request: k.ListOffsetsRequest) -> k.ListOffsetsResponse:
        kind = k.ListOffsetsResponse.ListOffsetsPartitionResponse
        response = k.ListOffsetsResponse()
        for topic in request.topics:
            topic_response = k.ListOffsetsResponse.ListOffsetsTopicResponse(name=topic.name)
            response.topics.append(topic_response)
            for each in topic.partitions:
                part = kind(partition_index=each.partition_index)
                with partial_failures(part):
                    log = self.log(topic.name, UUID(int=0), each.partition_index)
                    part.offset = log.offset(each.timestamp)
                    part.old_style_offsets = [part.offset][: each.max_num_offsets]  # version 0 only
                topic_response.partitions.append(part)
        return response


MAX_SESSION_MS = 1_800_000
"""Default of a broker's group.max.session.timeout.ms."""


@dataclass
class Member:
    """Member of a group, until it leaves or its session times out."""

    id: str
    session_seconds: float
    last_seen: float = field(default_factory=time.monotonic)


@dataclass
class Broker(Topics):
    """Topics, and groups of one member. The member is the leader and assigns the partitions to itself."""

    members: dict[str, Member] = field(default_factory=dict[str, Member])
    committed: dict[str, dict[str, dict[int, int]]] = field(default_factory=dict[str, dict[str, dict[int, int]]])

    async def answer(self, request: k.Message, version: int) -> Response:
        match request:
            case k.FindCoordinatorRequest():
                kind = k.FindCoordinatorResponse.Coordinator
                found = [kind(key=key, node_id=0, host=self.host, port=self.port) for key in request.coordinator_keys]
                return k.FindCoordinatorResponse(node_id=0, host=self.host, port=self.port, coordinators=found)
            case k.JoinGroupRequest():
                return self.join(request)
            case k.SyncGroupRequest(protocol_type=kind_of_group, protocol_name=name):
                self.heartbeat(request.group_id, request.member_id)
                given = b"".join(each.assignment for each in request.assignments)
                return k.SyncGroupResponse(protocol_type=kind_of_group, protocol_name=name, assignment=given)
            case k.HeartbeatRequest():
                self.heartbeat(request.group_id, request.member_id)
                return k.HeartbeatResponse()
            case k.LeaveGroupRequest(members=members):
                self.heartbeat(request.group_id, members[0].member_id if members else request.member_id)
                del self.members[request.group_id]
                left = [k.LeaveGroupResponse.MemberResponse(member_id=each.member_id) for each in members]
                return k.LeaveGroupResponse(members=left)
            case k.OffsetCommitRequest():
                return self.commit(request)
            case k.OffsetFetchRequest():
                return self.offsets(request, version)
            case _:
                return await super().answer(request, version)

    def heartbeat(self, group_id: str, member_id: str) -> None:
        """Record a heartbeat of a member."""
        member = self.members.get(group_id)
        if member is None or member.id != member_id:
            raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID)
        member.last_seen = time.monotonic()

    def join(self, request: k.JoinGroupRequest) -> k.JoinGroupResponse:
        if not request.protocols:
            raise RequestError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if not 0 < request.session_timeout_ms <= MAX_SESSION_MS:
            raise RequestError(ErrorCode.INVALID_SESSION_TIMEOUT)
        if not request.member_id:
            before, now = self.members.get(request.group_id), time.monotonic()
            if before is not None and now < before.last_seen + before.session_seconds:
                raise RequestError(ErrorCode.GROUP_MAX_SIZE_REACHED)
            self.members[request.group_id] = Member(str(uuid4()), request.session_timeout_ms / 1000)
        member_id = request.member_id or self.members[request.group_id].id
        self.heartbeat(request.group_id, member_id)
        [protocol, *_] = request.protocols
        joined = k.JoinGroupResponse.JoinGroupResponseMember(member_id=member_id, metadata=protocol.metadata)
        return k.JoinGroupResponse(
            generation_id=next(self.ids),
            protocol_type=request.protocol_type,
            protocol_name=protocol.name,
            leader=member_id,
            member_id=member_id,
            members=[joined],
        )

    def commit(self, request: k.OffsetCommitRequest) -> k.OffsetCommitResponse:
        if request.member_id:
            self.heartbeat(request.group_id, request.member_id)
        kind = k.OffsetCommitResponse.OffsetCommitResponsePartition
        response = k.OffsetCommitResponse()
        for topic in request.topics:
            topic_response = k.OffsetCommitResponse.OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id)
            response.topics.append(topic_response)
            for each in topic.partitions:
                part = kind(partition_index=each.partition_index)
                with partial_failures(part):
                    self.log(topic.name, topic.topic_id, each.partition_index)
                    name = self.name(topic.name, topic.topic_id)
                    offsets = self.committed.setdefault(request.group_id, {}).setdefault(name, {})
                    offsets[each.partition_index] = each.committed_offset
                topic_response.partitions.append(part)
        return response

    def offsets(self, request: k.OffsetFetchRequest, version: int) -> k.OffsetFetchResponse:
        request_type, kind = k.OffsetFetchRequest, k.OffsetFetchResponse
        if version >= 8:
            return kind(groups=[self.group_offsets(group) for group in request.groups])
        topics = None  # older versions have a single group
        if request.topics is not None:
            named = ((each.name, each.partition_indexes) for each in request.topics)
            topics = [request_type.OffsetFetchRequestTopics(name=name, partition_indexes=at) for name, at in named]
        group = self.group_offsets(request_type.OffsetFetchRequestGroup(group_id=request.group_id, topics=topics))
        response = kind()
        for topic in group.topics:
            entry = kind.OffsetFetchResponseTopic(name=topic.name)
            response.topics.append(entry)
            for part in topic.partitions:
                at, offset = part.partition_index, part.committed_offset
                entry.partitions.append(kind.OffsetFetchResponsePartition(partition_index=at, committed_offset=offset))
        return response

    def group_offsets(
        self, group: k.OffsetFetchRequest.OffsetFetchRequestGroup
    ) -> k.OffsetFetchResponse.OffsetFetchResponseGroup:
        """Return the committed offsets of a group, -1 for partitions without one; null topics request all."""
        group_response = k.OffsetFetchResponse.OffsetFetchResponseGroup(group_id=group.group_id)
        committed, topics = self.committed.get(group.group_id, {}), group.topics
        if topics is None:
            kind = k.OffsetFetchRequest.OffsetFetchRequestTopics
            of = [(name, self.logs[name].id, list(found)) for name, found in committed.items()]
            topics = [kind(name=name, topic_id=id, partition_indexes=at) for name, id, at in of]
        for topic in topics:
            found = k.OffsetFetchResponse.OffsetFetchResponseTopics(name=topic.name, topic_id=topic.topic_id)
            group_response.topics.append(found)
            for at in topic.partition_indexes:
                part = k.OffsetFetchResponse.OffsetFetchResponsePartitions(partition_index=at, committed_offset=-1)
                with partial_failures(part):
                    part.committed_offset = committed.get(self.name(topic.name, topic.topic_id), {}).get(at, -1)
                found.partitions.append(part)
        return group_response


async def main(port: int) -> None:
    server = await asyncio.start_server(Broker("127.0.0.1", port).serve, "127.0.0.1", port)
    print(f"listening at 127.0.0.1:{port}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    import sys

    try:
        asyncio.run(main(int(sys.argv[1])))
    except (OSError, KeyboardInterrupt) as error:
        sys.exit(str(error) or 0)
