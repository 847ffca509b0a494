"""Write a record to a topic and read it: `python examples/first_client.py HOST PORT TOPIC`."""

import asyncio
import sys
from typing import TypeVar

from kafka_messages import ApiVersionsRequest, FetchRequest, MetadataRequest, ProduceRequest, Request, Response
from kafka_messages.connection import ClientConnection, VersionFallback, errors
from kafka_messages.errors import KafkaMessageError
from kafka_records import Record, RecordError, read_batches, write_batch

R = TypeVar("R", bound=Response)


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer, self.connection = reader, writer, ClientConnection("first")

    async def ask(self, request: Request[R]) -> R:
        sent = self.connection.send(request)  # at the highest version without losses
        self.writer.write(sent.data)
        while not sent.is_answered:
            if not (data := await self.reader.read(65536)):
                raise ConnectionError(f"{request.NAME}: the broker has closed the connection")
            for event in self.connection.receive_data(data):
                if isinstance(event, VersionFallback):  # the broker is older than this package
                    self.writer.write(event.data)
        for error in errors(sent.response):
            raise RuntimeError(f"{request.NAME}: {error.path} is {error.code.name}")
        return sent.response


async def main(host: str, port: int, name: str) -> None:
    client = Client(*await asyncio.open_connection(host, port))
    await client.ask(ApiVersionsRequest(client_software_name="first", client_software_version="1"))
    metadata = await client.ask(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=name)]))
    [topic] = metadata.topics
    print(topic.name, "has the partitions", [each.partition_index for each in topic.partitions])
    part = ProduceRequest.PartitionProduceData(index=0, records=write_batch([Record(value=b"hello")]))
    data = ProduceRequest.TopicProduceData(name=name, topic_id=topic.topic_id, partition_data=[part])
    produced = await client.ask(ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data]))
    offset = produced.responses[0].partition_responses[0].base_offset
    wanted = FetchRequest.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    fetch_topic = FetchRequest.FetchTopic(topic=name, topic_id=topic.topic_id, partitions=[wanted])
    fetched = await client.ask(FetchRequest(max_wait_ms=500, topics=[fetch_topic]))
    for record in read_batches(fetched.responses[0].partitions[0].records or b"").records():
        print(record.offset, record.value)


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
    except (OSError, RuntimeError, KafkaMessageError, RecordError) as error:
        sys.exit(f"{sys.argv[1]} port {sys.argv[2]}: {error}")
