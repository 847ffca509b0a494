"""A Kafka client: `python examples/client.py HOST PORT TOPIC` writes a record to a topic, and reads what is there."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from kafka_messages import ApiVersionsRequest, FetchRequest, MetadataRequest, ProduceRequest, Request, Response
from kafka_messages.batches import Record, read_batches, write_batch
from kafka_messages.connection import (
    ClientConnection,
    ConnectionClosed,
    ResponseReceived,
    SendAgain,
    errors,
    expects_response,
)

R = TypeVar("R", bound=Response)


class Client:
    """A connection to one broker; any number of tasks may ask at once."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.connection = ClientConnection("guide")
        self.waiting: dict[int, asyncio.Future[None]] = {}
        self.failure: BaseException | None = None
        self.receiver = asyncio.create_task(self.receive())

    @classmethod
    async def connect(cls, host: str, port: int) -> Client:
        client = cls(*await asyncio.open_connection(host, port))
        await client.ask(ApiVersionsRequest(client_software_name="guide", client_software_version="1"))
        return client

    async def ask(self, request: Request[R], version: int | None = None) -> R:
        """The response. Raises ConnectionError if the connection ends before it comes, ValueError if it never comes."""
        if not expects_response(request):
            raise ValueError(f"{request.NAME} with acks=0 has no response")
        if self.failure is None:
            sent = self.connection.send(request, version)  # without a version at the highest that both have
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
                    if isinstance(event, SendAgain):  # the broker has no such version of ApiVersions
                        self.writer.write(event.data)
                    elif isinstance(event, ResponseReceived):
                        self.wake(self.waiting.pop(event.sent.correlation_id))
                    elif isinstance(event, ConnectionClosed):
                        raise ConnectionError("the broker has closed the connection")
        except BaseException as error:  # whatever it is: nobody reads any more
            self.failure = error
            for answered in self.waiting.values():
                self.wake(answered)
            self.writer.close()

    def wake(self, answered: asyncio.Future[None]) -> None:
        if not answered.done():  # who asked may have stopped waiting, after a timeout
            answered.set_result(None)


async def main(host: str, port: int, name: str) -> None:
    client = await Client.connect(host, port)
    metadata = await client.ask(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=name)]))
    [topic] = metadata.topics
    leaders = {partition.partition_index: partition.leader_id for partition in topic.partitions}
    broker = metadata.brokers.find(leaders[0])
    assert broker is not None, f"partition 0 has no leader: {list(errors(metadata))}"
    leader = await Client.connect(broker.host, broker.port)

    records = write_batch([Record(value=b"hello", timestamp=1_700_000_000_000)])
    part = ProduceRequest.PartitionProduceData(index=0, records=records)
    # A version has the name or the id of a topic, and leaves the other out.
    data = ProduceRequest.TopicProduceData(name=name, topic_id=topic.topic_id, partition_data=[part])
    produced = await leader.ask(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data]))
    print("errors:", list(errors(produced)))

    wanted = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    asked = FetchRequest.FetchTopic(topic=name, topic_id=topic.topic_id, partitions=[wanted])
    fetched = await leader.ask(FetchRequest(max_wait_ms=500, max_bytes=1 << 20, topics=[asked]))
    for answer in fetched.responses:
        for partition in answer.partitions:
            for record in read_batches(partition.records or b"").records():
                print(record.offset, record.value)
    for each in (client, leader):
        each.writer.close()


if __name__ == "__main__":
    import sys

    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
