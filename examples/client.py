"""Write a record to a topic and read the topic: `python examples/client.py HOST PORT TOPIC`."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TypeVar
from uuid import UUID

from kafka_messages import ApiVersionsRequest, FetchRequest, MetadataRequest, ProduceRequest, Request, Response
from kafka_messages.connection import (
    ClientConnection,
    ConnectionClosed,
    ResponseReceived,
    VersionFallback,
    errors,
    expects_response,
)
from kafka_messages.errors import KafkaMessageError
from kafka_records import Record, RecordError, read_batches, write_batch

R = TypeVar("R", bound=Response)
TRIES, PAUSE_SECONDS = 50, 0.2


class Client:
    """Connection to one broker, shared by any number of tasks."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.connection = ClientConnection("guide")
        self.waiting: dict[int, asyncio.Future[None]] = {}
        self.failure: BaseException | None = None
        self.receiver = asyncio.create_task(self.receive())

    @classmethod
    async def connect(cls, host: str, port: int) -> Client:
        client = cls(*await asyncio.open_connection(host, port))
        try:
            await client.ask(ApiVersionsRequest(client_software_name="guide", client_software_version="1"))
        except BaseException:  # includes timeouts
            client.close()
            raise
        return client

    def close(self) -> None:
        self.writer.close()

    async def ask(self, request: Request[R], version: int | None = None) -> R:
        """Return the response. Raises ConnectionError if the connection ends first, ValueError if no response is sent."""
        if not expects_response(request):
            raise ValueError(f"{request.NAME} with acks=0 has no response")
        if self.failure is None:
            sent = self.connection.send(request, version)  # by default the highest without losses
            answered = self.waiting[sent.correlation_id] = asyncio.get_running_loop().create_future()
            self.writer.write(sent.data)
            await answered
            if sent.is_answered:
                return sent.response
        raise ConnectionError("the connection has ended") from self.failure

    async def receive(self) -> None:
        try:
            while True:
                for event in self.connection.receive_data(await self.reader.read(65536)):
                    if isinstance(event, VersionFallback):  # the broker lacks this version of ApiVersions
                        self.writer.write(event.data)
                    elif isinstance(event, ResponseReceived):
                        self.wake(self.waiting.pop(event.sent.correlation_id))
                    elif isinstance(event, ConnectionClosed):
                        raise ConnectionError("the broker has closed the connection")
        except BaseException as error:  # any error ends the reader
            self.failure = error
            for answered in self.waiting.values():
                self.wake(answered)
            self.close()

    def wake(self, answered: asyncio.Future[None]) -> None:
        if not answered.done():  # the waiting task may have timed out
            answered.set_result(None)


async def find_leader(client: Client, name: str) -> tuple[UUID, str, int]:
    """Return a topic's id, and host and port of the leader of partition 0. Raises LookupError without a leader."""
    reason = ""
    for _ in range(TRIES):
        metadata = await client.ask(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=name)]))
        [topic] = metadata.topics
        leaders = {partition.partition_index: partition.leader_id for partition in topic.partitions}
        broker = metadata.brokers.find(leaders.get(0, -1))
        if broker is not None:
            return topic.topic_id, broker.host, broker.port
        reason = ", ".join(f"{error.path} is {error.code.name}" for error in errors(metadata))
        if not all(error.code.is_retriable for error in errors(metadata)):
            break
        await asyncio.sleep(PAUSE_SECONDS)
    raise LookupError(f"partition 0 of {name!r} has no leader: {reason or 'no error'}")


async def write_and_read(leader: Client, name: str, topic_id: UUID) -> None:
    """Write a record to partition 0 and print all its records."""
    records = write_batch([Record(value=b"hello", timestamp=1_700_000_000_000)])
    part = ProduceRequest.PartitionProduceData(index=0, records=records)
    # Each version has either the name or the id of a topic; the other is not sent.
    data = ProduceRequest.TopicProduceData(name=name, topic_id=topic_id, partition_data=[part])
    produced = await leader.ask(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data]))
    print("errors:", list(errors(produced)))

    wanted = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    fetch_topic = FetchRequest.FetchTopic(topic=name, topic_id=topic_id, partitions=[wanted])
    fetched = await leader.ask(FetchRequest(max_wait_ms=500, max_bytes=1 << 20, topics=[fetch_topic]))
    for answer in fetched.responses:
        for partition in answer.partitions:
            for record in read_batches(partition.records or b"").records():
                print(record.offset, record.value)


async def main(host: str, port: int, name: str) -> None:
    with closing(await Client.connect(host, port)) as client:
        topic_id, its_host, its_port = await find_leader(client, name)
    with closing(await Client.connect(its_host, its_port)) as leader:
        await write_and_read(leader, name, topic_id)


if __name__ == "__main__":
    import sys

    try:
        asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
    except (OSError, LookupError, KafkaMessageError, RecordError) as error:
        sys.exit(f"{sys.argv[1]} port {sys.argv[2]}: {error}")
