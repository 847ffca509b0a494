"""The programs at the start of the guides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import FetchRequest, MetadataRequest, MetadataResponse, ProduceRequest
from kafka_messages.aio import connect
from kafka_messages.connection import RequestReceived, ServerConnection, announce, endpoints, errors
from kafka_messages.enums import ErrorCode
from kafka_messages.protocol import ApiKey
from kafka_messages.schema import fields_of
from kafka_messages_testkit import KafkaCluster
from kafka_records import Record, write_batch

from tests.support.programs import program

client, mock, proxy = program("first_client"), program("first_mock_broker"), program("first_proxy")
careful_client = program("client")
HOST = "127.0.0.1"
SECONDS = 20
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(autouse=True)
def no_offsets() -> None:
    mock.ENDS.clear()


@asynccontextmanager
async def start_server(make: Callable[[int], Serve]) -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await make(port)(reader, writer)

    async with await asyncio.start_server(serve, HOST, 0) as server:
        port: int = server.sockets[0].getsockname()[1]
        yield port


def start_proxy(broker: int) -> AbstractAsyncContextManager[int]:
    return start_server(lambda port: proxy.Proxy(port, HOST, broker).serve)


@contextmanager
def run_cluster(release: str | None = None) -> Iterator[int]:
    with KafkaCluster(topics={"greetings": 1}, release=release) as cluster:
        yield int(cluster.bootstrap_servers.rpartition(":")[2])


def run(talk: Awaitable[None]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(talk, SECONDS)

    asyncio.run(bounded())


def test_client_through_proxy_prints_forwarded_responses(capsys: pytest.CaptureFixture[str]) -> None:
    async def talk(broker: int) -> None:
        async with start_proxy(broker) as port:
            await client.main(HOST, port, "greetings")

    with run_cluster() as broker:
        run(talk(broker))
    assert capsys.readouterr().out.splitlines() == [
        *("ApiVersionsResponse 5", "MetadataResponse 13"),
        "greetings has the partitions [0]",
        *("ProduceResponse 13", "FetchResponse 18"),
        "0 b'hello'",
    ]


def test_proxy_rewrites_broker_addresses_to_its_own() -> None:
    ports: list[int] = []

    async def talk(broker: int) -> None:
        async with start_proxy(broker) as port, await connect(HOST, port) as asking:
            response = await asking.request(MetadataRequest(topics=None))
            ports.extend((port, *(each.port for each in endpoints(response))))

    with run_cluster() as broker:
        run(talk(broker))
    assert ports == [ports[0]] * 2


def test_proxy_prints_error_codes(capsys: pytest.CaptureFixture[str]) -> None:
    async def talk(broker: int) -> None:
        async with start_proxy(broker) as port, await connect(HOST, port) as asking:
            partitions = [FetchRequest.FetchPartition(partition=each) for each in (0, 7)]
            await asking.request(FetchRequest(topics=[FetchRequest.FetchTopic(topic="t", partitions=partitions)]), 12)

    with run_cluster() as broker:
        run(talk(broker))
    line = "FetchResponse 12 UNKNOWN_TOPIC_OR_PARTITION UNKNOWN_TOPIC_OR_PARTITION"
    assert capsys.readouterr().out.splitlines() == ["ApiVersionsResponse 5", line]


def test_garbage_closes_the_proxied_connection(caplog: pytest.LogCaptureFixture) -> None:
    ended: list[bytes] = []

    async def talk() -> None:
        gone = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            ended.append(await reader.read())
            writer.close()
            gone.set()

        async with start_server(lambda _: serve) as broker, start_proxy(broker) as port:
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(b"\0\0\0\1x")
            ended.append(await reader.read())
            writer.close()
            await gone.wait()

    run(talk())
    assert ended == [b"", b""]
    assert "invalid request header at offset 0: " in caplog.text


def produce(records: bytes, *, name: str = "t") -> ProduceRequest:
    part = ProduceRequest.PartitionProduceData(records=records)
    return ProduceRequest(acks=-1, topic_data=[ProduceRequest.TopicProduceData(name=name, partition_data=[part])])


def test_mock_prints_produced_records(capsys: pytest.CaptureFixture[str]) -> None:
    batches = [
        write_batch([Record(key=b"k", value=b"a"), Record(value=None)]),
        write_batch([Record(value=b"b")], compression="gzip"),
        write_batch([Record(value=b"old")], magic=1),
    ]
    offsets: list[int] = []

    async def talk() -> None:
        async with start_server(lambda _: mock.serve) as port, await connect(HOST, port) as asking:
            assert await careful_client.find_leader(asking, "t") == (UUID(int=0), HOST, port)
            for name, batch, version in (
                ("t", batches[0], None),
                ("t", batches[1], 3),
                ("u", batches[1], 8),
                ("u", batches[2], 2),
            ):
                produced = await asking.request(produce(batch, name=name), version)
                [topic] = produced.responses
                assert (topic.name, [part.index for part in topic.partition_responses]) == (name, [0])
                assert not list(errors(produced))
                offsets.extend(part.base_offset for part in topic.partition_responses)

    run(talk())
    assert offsets == [0, 2, 0, 1]
    assert capsys.readouterr().out == "t 0 b'k' b'a'\nt 1 None None\nt 2 None b'b'\nu 0 None b'b'\nu 1 None b'old'\n"


def test_damaged_batch_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    async def talk() -> None:
        async with start_server(lambda _: mock.serve) as port, await connect(HOST, port) as asking:
            with pytest.raises(ConnectionError, match=r"has ended: the broker has closed it$"):
                await asking.request(produce(write_batch([Record(value=b"a")])[:-1] + b"\1"))

    run(talk())
    assert "ChecksumError" in caplog.text


def test_mock_supports_produce_up_to_the_last_version_with_topic_names() -> None:
    [highest] = [each.max_version for each in mock.SERVED.api_keys if each.api_key == ApiKey.PRODUCE]
    name = fields_of(ProduceRequest.TopicProduceData)[0]
    assert (name.name, name.versions.highest) == ("name", highest)


def serve_responses(*responses: Any) -> Callable[[int], Serve]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ServerConnection()
        left = list(responses)
        while left:
            for event in connection.receive_data(await reader.read(65536)):
                assert isinstance(event, RequestReceived)
                writer.write(connection.send(event, left.pop(0).downgraded(event.response_version)))
        await reader.read(65536)
        writer.close()

    return lambda _: serve


LEADERLESS = MetadataResponse(
    topics=[MetadataResponse.MetadataResponseTopic(error_code=ErrorCode.LEADER_NOT_AVAILABLE)]
)


@pytest.mark.parametrize(
    ("responses", "error", "expected"),
    [
        ([], ConnectionError, "ApiVersionsRequest: the broker has closed the connection"),
        ([announce()], ConnectionError, "MetadataRequest: the broker has closed the connection"),
        ([announce(), LEADERLESS], RuntimeError, "MetadataRequest: topics[0].error_code is LEADER_NOT_AVAILABLE"),
    ],
)
def test_client_raises_on_close_or_error_code(responses: list[Any], error: type[Exception], expected: str) -> None:
    async def talk() -> None:
        async with start_server(serve_responses(*responses)) as port:
            await client.main(HOST, port, "t")

    with pytest.raises((ConnectionError, RuntimeError)) as raised:
        run(talk())
    assert (type(raised.value), str(raised.value)) == (error, expected)


def test_client_works_with_a_kafka_2_4_broker(capsys: pytest.CaptureFixture[str]) -> None:
    with run_cluster("2.4") as broker:
        run(client.main(HOST, broker, "greetings"))
    assert capsys.readouterr().out == "greetings has the partitions [0]\n0 b'hello'\n"
