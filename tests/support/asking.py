"""Requests to the guide's mock broker without a socket, and what a client reads from its responses."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from kafka_messages import FetchRequest, ListOffsetsRequest, Message, MetadataRequest, ProduceRequest, Request
from kafka_messages.connection import ClientConnection, RequestReceived, ServerConnection, errors
from kafka_messages.protocol import BrokerVersions
from kafka_records import Record, write_batch
from kafka_records.crc import checksum

UNKNOWN = UUID(int=7)
BATCH = write_batch([Record(value=b"v", timestamp=1)] * 2)


def summed(attributes: int, delta: int) -> bytes:
    """Return the batch with other attributes and last offset delta, and a correct checksum."""
    covered = attributes.to_bytes(2, "big") + delta.to_bytes(4, "big") + BATCH[27:]
    return BATCH[:17] + checksum()(covered).to_bytes(4, "big") + covered


# Records that a broker rejects, with Kafka's error code, except those in ``OTHERWISE``.
REFUSED = {
    "two": (BATCH + BATCH, "INVALID_RECORD"),
    "none": (b"", "INVALID_RECORD"),
    "null": (None, "INVALID_RECORD"),
    "no batch": (b"nonsense", "INVALID_RECORD"),
    "cut": (BATCH[:-1], "INVALID_RECORD"),
    "more behind": (BATCH + b"\0", "INVALID_RECORD"),
    "of format 1": (write_batch([Record(value=b"v")], magic=1), "INVALID_RECORD"),
    "another checksum": (BATCH[:-1] + b"\1", "CORRUPT_MESSAGE"),
    "a last offset that is too high": (summed(0, 2), "INVALID_RECORD"),
    "one that is too low": (summed(0, 0), "INVALID_RECORD"),
    "a negative one": (summed(0, 0xFFFFFFFF), "INVALID_RECORD"),
    "an unknown compression": (summed(5, 1), "INVALID_RECORD"),
    "a control batch": (summed(1 << 5, 1), "INVALID_RECORD"),
}
# Responses of a real broker where the mock is stricter or simpler.
OTHERWISE = {"null": None, "more behind": "NONE", "an unknown compression": "UNKNOWN_SERVER_ERROR"}


def ask(broker: Any, *requests: Request[Any], version: int | None = None) -> list[Any]:
    """Return the responses of the broker over one connection, as a client reads them."""
    client = ClientConnection("\udce9", versions=BrokerVersions.from_response(broker.announced), text="surrogateescape")
    server = ServerConnection(broker.announced, text="surrogateescape")
    sent: list[Any] = [client.send(request, version) for request in requests]

    async def answered() -> None:
        for each in sent:
            for event in server.receive_data(each.data):
                assert isinstance(event, RequestReceived)
                list(client.receive_data(server.send(event, await broker.response(event))))

    asyncio.run(answered())
    return [each.response for each in sent]


def error_codes(response: Message) -> list[tuple[str, str]]:
    """Return the errors in a response with their paths."""
    return [(error.path, error.code.name) for error in errors(response)]


def topics(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in names])


def produce(
    records: bytes | None, *, name: str = "t", topic_id: UUID = UNKNOWN, indexes: tuple[int, ...] = (0,)
) -> ProduceRequest:
    parts = [ProduceRequest.PartitionProduceData(index=index, records=records) for index in indexes]
    data = ProduceRequest.TopicProduceData(name=name, topic_id=topic_id, partition_data=parts)
    return ProduceRequest(acks=-1, topic_data=[data])


def fetch(
    offset: int,
    *,
    name: str = "t",
    topic_id: UUID = UNKNOWN,
    most: int = 1,
    indexes: tuple[int, ...] = (0,),
    max_bytes: int = 1 << 20,
) -> FetchRequest:
    kind = FetchRequest.FetchPartition
    parts = [kind(partition=index, fetch_offset=offset, partition_max_bytes=most) for index in indexes]
    topic = FetchRequest.FetchTopic(topic=name, topic_id=topic_id, partitions=parts)
    return FetchRequest(topics=[topic], max_bytes=max_bytes)


def list_offsets(*timestamps: int, name: str = "t", max_num_offsets: int = 1) -> ListOffsetsRequest:
    """Return a ListOffsets request with one timestamp per partition 0, 1 and so on."""
    kind = ListOffsetsRequest.ListOffsetsPartition
    parts = [
        kind(partition_index=index, timestamp=timestamp, max_num_offsets=max_num_offsets)
        for index, timestamp in enumerate(timestamps)
    ]
    return ListOffsetsRequest(topics=[ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=parts)])
