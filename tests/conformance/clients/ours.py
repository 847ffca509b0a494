"""A small client that passes all cases of the client mode, or breaks one rule: ``ours.py BREAK TASK ADDRESS``.

``BREAK`` is ``nothing``, or a name that is compared with ``self.breaks`` below.
"""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kafka_messages import (
    AddPartitionsToTxnRequest,
    ApiVersionsRequest,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    EndTxnRequest,
    FetchRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    ProduceRequest,
    RawTaggedField,
    Request,
    SyncGroupRequest,
)
from kafka_messages.connection import ClientConnection
from kafka_messages.protocol import (
    BrokerVersions,
    ErrorCode,
    api,
    decode_response,
    encode_request,
)
from kafka_records import Record, read_batches, write_batch
from kafka_records.crc import checksum

NAME = "conformance"


class FailedError(Exception):
    """The task cannot be done."""


class Connection:
    """Connection to one broker."""

    def __init__(self, client: Client, address: tuple[str, int]) -> None:
        self.client, self.breaks = client, client.breaks
        self.socket = socket.create_connection(address, 5)
        self.number, self.quiet_until = 0, 0.0
        self.state = ClientConnection()
        known = client.versions.get("all" if self.breaks == "one table for all brokers" else address)
        reuses = self.breaks in ("one table for all brokers", "table of an address is kept")
        self.state.versions = known if reuses and known else self.negotiated()
        client.versions.setdefault("all", self.state.versions)
        client.versions[address] = self.state.versions

    def negotiated(self) -> BrokerVersions:
        version, tries = 4, 2
        while True:
            software = "a/b" if self.breaks == "software name" else "conformance"
            request = ApiVersionsRequest(client_software_name=software, client_software_version="1.0")
            response = self.ask(request if version > 2 else ApiVersionsRequest(), version)
            tries -= 1
            if response.error_code == ErrorCode.NONE or self.breaks == "refusal is the table" or not tries:
                break
            if self.breaks != "same version again":
                named = [each.max_version for each in response.api_keys if each.api_key == ApiVersionsRequest.API_KEY]
                version = max(named, default=0)
        if self.breaks == "unknown APIs":
            for each in response.api_keys:
                api(each.api_key)
        return BrokerVersions.from_response(response)

    def ask(self, request: Request[Any], version: int | None = None) -> Any:
        if version is None:
            is_restricted = isinstance(request, ProduceRequest | EndTxnRequest)  # in transactions (KIP-890)
            versions = self.state.versions
            assert versions is not None
            version = self.state.best_version(request) if is_restricted else versions.highest_common(type(request))
            if self.breaks == "Fetch 12" and isinstance(request, FetchRequest):
                version = 12
            if self.breaks == "highest versions" and isinstance(request, ProduceRequest | EndTxnRequest):
                known = api(type(request))
                version = min(versions.versions[int(known.key)].highest, known.stable_versions.highest)
        time.sleep(max(0.0, self.quiet_until - time.monotonic()))
        self.number += self.breaks != "correlation id"
        self.socket.sendall(self.encoded(request.downgraded(version), version))
        found: Any = decode_response(self.receive(), api(type(request)), version).message
        if self.breaks == "unknown tags" and found.unknown_tagged_fields:
            raise FailedError("a section of tagged fields is not empty")
        if self.breaks != "throttle time":
            self.quiet_until = time.monotonic() + getattr(found, "throttle_time_ms", 0) / 1000
        return found

    def encoded(self, request: Request[Any], version: int) -> bytes:
        if isinstance(request, OffsetCommitRequest) and self.breaks == "order of tags":
            tags = (RawTaggedField(8, b"b"), RawTaggedField(9, b"a"))
            data = encode_request(replace(request, unknown_tagged_fields=tags), version, self.number, NAME)
            return data[:-6] + data[-3:] + data[-6:-3]
        data = encode_request(request, version, self.number, NAME)
        if isinstance(request, OffsetCommitRequest):
            if self.breaks == "long varint":  # of the last section of tagged fields
                data = data[:-1] + b"\x80\0"
            if self.breaks == "header version":
                data = data[:-1] + b"\0\0"
            data = (len(data) - 4).to_bytes(4, "big") + data[4:]
        return data

    def receive(self) -> bytes:
        size = int.from_bytes(self.read(4), "big")
        return self.read(size)

    def read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            if not (more := self.socket.recv(size - len(data))):
                raise ConnectionError("closed")
            data += more
        return data


class Client:
    """Producer and consumer of one topic."""

    def __init__(self, breaks: str, address: str) -> None:
        self.breaks = breaks
        host, _, port = address.rpartition(":")
        self.bootstrap = host, int(port)
        self.versions: dict[Any, Any] = {}
        self.connections: dict[tuple[str, int], Connection] = {}
        self.nodes: dict[int, tuple[str, int]] = {}
        self.leaders: dict[int, int] = {}
        self.topic_id: Any = None
        self.producer = (-1, -1)
        self.transaction: str | None = None
        self.sequences: dict[int, int] = {}
        self.coordinator = self.bootstrap
        self.group: Request[Any] | None = None

    def at(self, address: tuple[str, int]) -> Connection:
        if address not in self.connections:
            self.connections[address] = Connection(self, address)
        return self.connections[address]

    def metadata(self) -> None:
        topic = MetadataRequest.MetadataRequestTopic(name=NAME)
        found = self.at(self.bootstrap).ask(MetadataRequest(topics=[topic], allow_auto_topic_creation=False))
        self.nodes = {each.node_id: (each.host, each.port) for each in found.brokers}
        self.topic_id = found.topics[0].topic_id
        self.leaders = {each.partition_index: each.leader_id for each in found.topics[0].partitions}

    def leader(self, partition: int) -> Connection:
        if not self.leaders:
            self.metadata()
        return self.at(self.nodes[self.leaders[partition]])

    # Producer

    def write(self, partition: int, records: list[Record]) -> None:
        """Write a batch; repeat it after retriable errors."""
        sequence = self.sequences.get(partition, 0)
        data = self.batch(records, sequence)
        if self.breaks != "sequences of batches":
            self.sequences[partition] = sequence + len(records)
        else:
            self.sequences[partition] = sequence + 1
        for _ in range(6):
            kind = ProduceRequest
            part = kind.PartitionProduceData(index=partition, records=data)
            topic = kind.TopicProduceData(name=NAME, topic_id=self.topic_id, partition_data=[part])
            request = kind(transactional_id=self.transaction, acks=-1, timeout_ms=5000, topic_data=[topic])
            code = self.leader(partition).ask(request).responses[0].partition_responses[0].error_code
            if code == ErrorCode.NONE:
                return
            if code == ErrorCode.NOT_ENOUGH_REPLICAS:
                if self.breaks == "another sequence for a retry":
                    data = self.batch(records, sequence + len(records))
            elif code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                if self.breaks != "old leader":
                    self.leaders = {}
            else:
                raise FailedError(ErrorCode(code).name)
            time.sleep(0.05)
        raise FailedError("no more attempts")

    def batch(self, records: list[Record], sequence: int) -> bytes:
        id, epoch = self.producer
        data = write_batch(
            records,
            producer_id=id,
            producer_epoch=epoch,
            base_sequence=sequence if id >= 0 else -1,
            is_transactional=self.transaction is not None and self.breaks != "transactional bit",
        )
        if self.breaks == "last offset delta":
            covered = data[21:23] + b"\0\0\0\1" + data[27:]
            data = data[:17] + checksum()(covered).to_bytes(4, "big") + covered
        return data[:-1] + b"\1" if self.breaks == "checksum" else data

    def produce(self) -> None:
        values: list[bytes | None] = [b"v0", b"v1", None, b"", b"v4"]
        if self.breaks == "null is empty":
            values[2] = b""
        self.metadata()
        for number, value in enumerate(values):
            self.write(0, [Record(key=f"k{number}".encode(), value=value, timestamp=1_700_000_000_000)])

    def do_transactions(self) -> None:
        """Write three batches of two records to each of two partitions, in each of two transactions."""
        self.metadata()
        self.transaction = NAME
        self.find_coordinator(1)
        coordinator = self.at(self.coordinator)
        made = coordinator.ask(InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=10_000))
        self.producer = made.producer_id, made.producer_epoch
        if self.breaks == "other producer id":
            self.producer = made.producer_id + 1, made.producer_epoch
        for _ in range(2):
            implicit = "transaction.version" in coordinator.state.versions.finalized_features  # type: ignore[union-attr]  # after negotiation
            if not implicit and self.breaks != "partitions are not added":
                self.add_partitions(coordinator)
            for number in range(6):
                self.write(number % 2, [Record(value=b"v", timestamp=1_700_000_000_000)] * 2)
            id, epoch = self.producer
            ended = coordinator.ask(
                EndTxnRequest(transactional_id=NAME, producer_id=id, producer_epoch=epoch, committed=True)
            )
            if ended.error_code != ErrorCode.NONE:
                raise FailedError(ErrorCode(ended.error_code).name)
            if ended.producer_id >= 0:  # version 5 (KIP-890)
                self.producer = ended.producer_id, ended.producer_epoch
                self.sequences.clear()

    def add_partitions(self, coordinator: Connection) -> None:
        topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=NAME, partitions=[0, 1])
        id, epoch = self.producer
        for _ in range(3):
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=NAME,
                v3_and_below_producer_id=id,
                v3_and_below_producer_epoch=epoch,
                v3_and_below_topics=[topic],
            )
            highest = coordinator.state.versions.versions[24].highest  # type: ignore[union-attr]  # after negotiation
            if self.breaks == "versions of brokers":
                one = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction(
                    transactional_id=NAME, producer_id=id, producer_epoch=epoch, topics=[topic]
                )
                response = coordinator.ask(AddPartitionsToTxnRequest(transactions=[one]), highest)
                parts = response.results_by_transaction[0].topic_results[0].results_by_partition
            else:
                response = coordinator.ask(request, min(highest, 3))
                parts = response.results_by_topic_v3_and_below[0].results_by_partition
            code = next((each.partition_error_code for each in parts if each.partition_error_code), 0)
            if code == ErrorCode.NONE:
                return
            if code == ErrorCode.PRODUCER_FENCED and self.breaks != "fencing":
                raise FailedError("PRODUCER_FENCED")
        raise FailedError("fenced three times")

    # Consumer

    def read(self, count: int = 3) -> int:
        """Read records of partition 0; return the next offset."""
        self.metadata()
        offset, seen = self.first_offset(), 0
        while seen < count:
            kind = FetchRequest
            part = kind.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
            topic = kind.FetchTopic(topic=NAME, topic_id=self.topic_id, partitions=[part])
            request = kind(max_wait_ms=500, min_bytes=1, session_epoch=-1, topics=[topic])
            try:
                response = self.leader(0).ask(request)
            except ConnectionError:
                self.connections.pop(self.nodes[self.leaders[0]])
                continue
            found = response.responses[0].partitions[0]
            if found.records is None and self.breaks == "null records":
                raise FailedError("null records")
            offset, more = self.after(offset, found.records or b"")
            seen += more
        return offset

    def after(self, offset: int, data: bytes) -> tuple[int, int]:
        """Return the next offset, and the number of records."""
        seen = 0
        if self.breaks == "partial batch" and (rest := len(data) - sum(batch.size for batch in read_batches(data))):
            raise FailedError(f"{rest} bytes are left")
        for batch in read_batches(data):
            if self.breaks == "legacy format" and batch.magic < 2:
                raise FailedError("format 1")
            numbers = [record.offset for record in batch.records() if record.offset >= offset]
            if not batch.is_control or self.breaks == "control batch":
                seen += len(numbers)
            if self.breaks == "empty batch":
                offset = batch.last_offset + 1 if numbers else offset
            elif self.breaks == "compacted tail":
                offset = numbers[-1] + 1 if numbers else batch.last_offset + 1
            else:
                offset = batch.last_offset + 1
        return offset, seen

    def first_offset(self) -> int:
        if self.breaks == "first offset":
            raise FailedError("no first offset")
        kind = ListOffsetsRequest
        topic = kind.ListOffsetsTopic(
            name=NAME, partitions=[kind.ListOffsetsPartition(partition_index=0, timestamp=-2)]
        )
        response = self.leader(0).ask(kind(topics=[topic]))
        return int(response.topics[0].partitions[0].offset)

    # Group

    def find_coordinator(self, kind: int) -> None:
        if self.breaks == "coordinator":
            self.coordinator = self.bootstrap
            return
        request = FindCoordinatorRequest(key=NAME, key_type=kind, coordinator_keys=[NAME])
        found = self.at(self.bootstrap).ask(request)
        found = found.coordinators[0] if found.coordinators else found
        self.coordinator = found.host, found.port

    def read_in_group(self) -> None:
        self.metadata()
        self.find_coordinator(0)
        member, generation = self.join("")
        offset = self.read()
        offset -= self.breaks == "last offset"
        for _ in range(6):
            kind = OffsetCommitRequest
            part = kind.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
            topic = kind.OffsetCommitRequestTopic(name=NAME, topic_id=self.topic_id, partitions=[part])
            request = kind(group_id=NAME, generation_id_or_member_epoch=generation, member_id=member, topics=[topic])
            code = self.at(self.coordinator).ask(request).topics[0].partitions[0].error_code
            if code == ErrorCode.NONE:
                break
            if code == ErrorCode.NOT_COORDINATOR:
                if self.breaks != "old coordinator":
                    self.find_coordinator(0)
            elif code == ErrorCode.UNKNOWN_MEMBER_ID and self.breaks != "unknown member":
                member, generation = self.join("")
            elif code != ErrorCode.UNKNOWN_MEMBER_ID:
                raise FailedError(ErrorCode(code).name)
        else:
            raise FailedError("not committed")
        leaving = LeaveGroupRequest.MemberIdentity(member_id=member)
        self.at(self.coordinator).ask(LeaveGroupRequest(group_id=NAME, member_id=member, members=[leaving]))

    def join(self, member: str) -> tuple[str, int]:
        kind, subscription = JoinGroupRequest, ConsumerProtocolSubscription(topics=[NAME]).write(0)
        protocol = kind.JoinGroupRequestProtocol(name="range", metadata=b"\0\0" + subscription)
        for _ in range(3):
            request = kind(
                group_id=NAME,
                session_timeout_ms=6000,
                rebalance_timeout_ms=6000,
                member_id=member,
                protocol_type="consumer",
                protocols=[protocol],
            )
            joined = self.at(self.coordinator).ask(request)
            if joined.error_code == ErrorCode.NONE:
                break
            if joined.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                raise FailedError(ErrorCode(joined.error_code).name)
            member = "" if self.breaks == "member id" else joined.member_id
        else:
            raise FailedError("not joined")
        parts = ConsumerProtocolAssignment.TopicPartition(topic=NAME, partitions=[0])
        assignment = b"\0\0" + ConsumerProtocolAssignment(assigned_partitions=[parts]).write(0)
        given = SyncGroupRequest.SyncGroupRequestAssignment(member_id=joined.member_id, assignment=assignment)
        self.at(self.coordinator).ask(
            SyncGroupRequest(
                group_id=NAME,
                generation_id=joined.generation_id,
                member_id=joined.member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=[given],
            )
        )
        return joined.member_id, joined.generation_id


def main(arguments: Sequence[str]) -> int:
    breaks, task, address = arguments
    client = Client(breaks, address)
    tasks: dict[str, Callable[[], object]] = {
        "produce": client.produce,
        "consume": client.read,
        "group": client.read_in_group,
        "transaction": client.do_transactions,
    }
    try:
        tasks[task]()
    except (FailedError, ConnectionError) as error:
        print(f"{task}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
