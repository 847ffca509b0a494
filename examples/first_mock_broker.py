"""Mock broker that prints the records it receives: `python examples/first_mock_broker.py PORT`."""

import asyncio
import sys
from collections import Counter
from contextlib import closing

import kafka_messages as k
from kafka_messages.connection import RequestReceived, ServerConnection, announce
from kafka_messages.protocol import ApiKey
from kafka_records import read_batches

SERVED = announce([ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.INIT_PRODUCER_ID], release="4.0")  # 4.1 has topic ids
ENDS = Counter[str]()  # next offset by topic


def answer(request: k.Message, host: str, port: int) -> k.Response:
    if isinstance(request, k.MetadataRequest):
        kind = k.MetadataResponse
        partition = kind.MetadataResponsePartition(partition_index=0, leader_id=0, replica_nodes=[0], isr_nodes=[0])
        topics = [kind.MetadataResponseTopic(name=each.name, partitions=[partition]) for each in request.topics or ()]
        return kind(brokers=[kind.MetadataResponseBroker(node_id=0, host=host, port=port)], topics=topics)
    if isinstance(request, k.ProduceRequest):
        response = k.ProduceResponse()
        for topic in request.topic_data:
            [part] = topic.partition_data
            written = response.PartitionProduceResponse(index=part.index, base_offset=ENDS[topic.name])
            response.responses.append(response.TopicProduceResponse(name=topic.name, partition_responses=[written]))
            for record in read_batches(part.records or b"").records():
                print(topic.name, ENDS[topic.name], record.key, record.value, flush=True)
                ENDS[topic.name] += 1
        return response
    return k.InitProducerIdResponse(producer_id=1) if isinstance(request, k.InitProducerIdRequest) else SERVED


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    connection = ServerConnection(SERVED)
    with closing(writer):
        while data := await reader.read(65536):
            for event in connection.receive_data(data):
                if isinstance(event, RequestReceived):
                    writer.write(connection.send(event, answer(event.message, *writer.get_extra_info("sockname"))))


async def main(port: int) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    print(f"listening at 127.0.0.1:{port}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main(int(sys.argv[1])))
    except (OSError, KeyboardInterrupt) as error:
        sys.exit(str(error) or 0)
