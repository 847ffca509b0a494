"""Write a record to a topic and read the topic: `python examples/client.py HOST PORT TOPIC`."""

from __future__ import annotations

import asyncio
from uuid import UUID

from kafka_messages import FetchRequest, MetadataRequest, ProduceRequest
from kafka_messages.aio import BrokerConnection, connect
from kafka_messages.connection import errors
from kafka_messages.errors import KafkaMessageError
from kafka_records import Record, RecordError, read_batches, write_batch

TRIES, PAUSE_SECONDS = 50, 0.2


async def find_leader(broker: BrokerConnection, name: str) -> tuple[UUID, str, int]:
    """Return a topic's id, and host and port of the leader of partition 0. Raises LookupError without a leader."""
    reason = ""
    for _ in range(TRIES):
        metadata = await broker.request(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=name)]))
        [topic] = metadata.topics
        leaders = {partition.partition_index: partition.leader_id for partition in topic.partitions}
        leader = metadata.brokers.find(leaders.get(0, -1))
        if leader is not None:
            return topic.topic_id, leader.host, leader.port
        reason = ", ".join(f"{error.path} is {error.code.name}" for error in errors(metadata))
        if not all(error.code.is_retriable for error in errors(metadata)):
            break
        await asyncio.sleep(PAUSE_SECONDS)
    raise LookupError(f"partition 0 of {name!r} has no leader: {reason or 'no error'}")


async def write_and_read(leader: BrokerConnection, name: str, topic_id: UUID) -> None:
    """Write a record to partition 0 and print all its records."""
    records = write_batch([Record(value=b"hello", timestamp=1_700_000_000_000)])
    part = ProduceRequest.PartitionProduceData(index=0, records=records)
    # Each version has either the name or the id of a topic; the other is not sent.
    data = ProduceRequest.TopicProduceData(name=name, topic_id=topic_id, partition_data=[part])
    produced = await leader.request(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data]))
    print("errors:", list(errors(produced)))

    wanted = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    fetch_topic = FetchRequest.FetchTopic(topic=name, topic_id=topic_id, partitions=[wanted])
    fetched = await leader.request(FetchRequest(max_wait_ms=500, max_bytes=1 << 20, topics=[fetch_topic]))
    for answer in fetched.responses:
        for partition in answer.partitions:
            for record in read_batches(partition.records or b"").records():
                print(record.offset, record.value)


async def main(host: str, port: int, name: str) -> None:
    async with await connect(host, port) as broker:
        topic_id, its_host, its_port = await find_leader(broker, name)
    async with await connect(its_host, its_port) as leader:
        await write_and_read(leader, name, topic_id)


if __name__ == "__main__":
    import sys

    try:
        asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
    except (OSError, LookupError, KafkaMessageError, RecordError) as error:
        sys.exit(f"{sys.argv[1]} port {sys.argv[2]}: {error}")
