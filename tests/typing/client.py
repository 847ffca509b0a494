"""A typed client program for strict mypy and pyright, which `nox -s types` runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=true
from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar, assert_type
from uuid import UUID

from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DecodeError,
    FetchRequest,
    FetchResponse,
    Message,
    MessageClass,
    MetadataRequest,
    MetadataResponse,
    RawTaggedField,
    Request,
    Response,
    SaslHandshakeResponse,
    all_messages,
)
from kafka_messages.aio import RelayConnection, connect, relay, serve
from kafka_messages.connection import (
    ClientConnection,
    ClientEvent,
    EntityType,
    FromBroker,
    FromClient,
    Handlers,
    ProxyConnection,
    RequestForwarded,
    RequestReceived,
    ServerConnection,
    ServerEvent,
    announce,
    entities,
)
from kafka_messages.history import releases_with
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.messages.metadata_response import (
    MetadataResponsePartition,
    MetadataResponseTopic,
    MetadataResponseTopicCollection,
)
from kafka_messages.protocol import Api, ApiKey, BrokerVersions, DecodedRequest, Versions, api, decode_response
from kafka_records import CompressionName, Record, read_batches, write_batch
from kafka_records.segments import write_batches

R = TypeVar("R", bound=Response)
Send = Callable[[Request], bytes]


async def ask(request: Request[R], send: Send) -> R:
    """The response type follows from the request."""
    assert_type(request.response_class, type[R])
    return request.response_class.read(send(request), request.HIGHEST_SUPPORTED_VERSION)


def empty_response(request: Request) -> bytes:
    """Any request has a response class."""
    assert_type(request.response_class, type[Response])
    return request.response_class().write(request.HIGHEST_SUPPORTED_VERSION)


async def asked() -> int:
    metadata = await ask(MetadataRequest(), empty_response)
    assert_type(metadata, MetadataResponse)
    assert_type(MetadataRequest.response_class, type[MetadataResponse])
    versions = await ask(ApiVersionsRequest(), empty_response)
    assert_type(versions, ApiVersionsResponse)
    request: Request[MetadataResponse] = MetadataRequest()
    messages: list[Message] = [request, metadata, versions]
    kinds: list[type[Request]] = [MetadataRequest, ApiVersionsRequest]
    assert_type(kinds[0].response_class, type[Response])
    return len(messages) + len(kinds)


def tables() -> list[str]:
    """Message classes determine the types of an API; names and keys give general types."""
    assert_type(api(MetadataRequest), Api[MetadataResponse])
    assert_type(api(MetadataResponse), Api[MetadataResponse])
    assert_type(api("Metadata"), Api[Response])
    assert_type(api(3).request_class, type[Request])
    assert_type(api(MetadataRequest).response_class, type[MetadataResponse])
    assert_type(all_messages()[0].message_class, type[Message])
    return [each.name for each in all_messages() if each.kind == "header"]


def structs() -> MetadataResponse:
    """Structs are attributes of their message, as classes and as types."""
    assert_type(MetadataResponse.MetadataResponseTopic(), MetadataResponseTopic)
    found: list[MetadataResponse.MetadataResponseTopic] = []
    return MetadataResponse(topics=found)


def request_for(names: list[str]) -> bytes:
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False).write(12)


def leaders(data: bytes, topic_name: str) -> list[int]:
    try:
        response = MetadataResponse.read(data, 12)
    except DecodeError as error:
        raise SystemExit(f"at byte {error.offset}: {error}") from error
    assert_type(response, MetadataResponse)
    assert_type(response.topics, MetadataResponseTopicCollection)
    topic = response.topics.find(topic_name)
    if topic is None:
        return []
    assert_type(topic, MetadataResponseTopic)
    assert_type(topic.topic_id, UUID)
    assert_type(topic.name, str | None)
    assert_type(topic.partitions, list[MetadataResponsePartition])
    return [partition.leader_id for partition in topic.partitions]


def names(topics: list[MetadataResponseTopic]) -> list[str]:
    return [topic.name or "" for topic in topics]


def changed(topics: MetadataResponseTopicCollection) -> list[str]:
    """A keyed collection is a list of its elements."""
    assert_type(topics[0], MetadataResponseTopic)
    assert_type(topics[:1], list[MetadataResponseTopic])
    assert_type(topics.find_all("t"), list[MetadataResponseTopic])
    assert_type(topics.copy(), MetadataResponseTopicCollection)
    for topic in topics:
        assert_type(topic, MetadataResponseTopic)
    match topics:
        case [first, *_]:
            assert_type(first, MetadataResponseTopic)
        case _:
            return []
    topics.insert(0, MetadataResponseTopic(name="first"))
    topics.add(MetadataResponseTopic(name="last"))
    topics += [topics.pop()]
    topics.extend(MetadataResponseTopic(name=name) for name in "ab")
    topics[1:1] = topics[:1]
    topics.sort(key=lambda topic: topic.name or "")
    assert_type(topics, MetadataResponseTopicCollection)
    return names(topics)


def records(response: FetchResponse) -> list[bytes]:
    partitions = [partition for topic in response.responses for partition in topic.partitions]
    return [partition.records for partition in partitions if partition.records is not None]


def unknown_tags(messages: Iterable[Message]) -> list[int]:
    return [raw.tag for message in messages for raw in message.unknown_tagged_fields]


def events(client: ClientConnection, server: ServerConnection, proxy: ProxyConnection) -> int:
    """Events of a connection have named union types."""
    of_client, of_server = list(client.receive_data(b"")), list(server.receive_data(b""))
    assert_type(of_client, list[ClientEvent])
    assert_type(of_server, list[ServerEvent])
    requests, responses = list(proxy.receive_from_client(b"")), list(proxy.receive_from_broker(b""))
    assert_type(requests, list[FromClient])
    assert_type(responses, list[FromBroker])
    passing: list[FromClient | FromBroker] = [*requests, *responses]
    return sum(len(event.data) for event in passing) + len(of_client) + len(of_server)


async def handler(received: RequestReceived) -> Response | None:
    return None


async def hook(request: RequestForwarded, connection: RelayConnection) -> Response | bytes | None:
    return request.encode() if connection.broker == ("broker", 9092) else None


async def with_asyncio() -> None:
    """The response of a connection follows from the request."""
    async with (
        await serve(handler) as server,
        await relay([("127.0.0.1", server.port)], on_request=hook) as proxy,
        await connect("127.0.0.1", proxy.ports["127.0.0.1", server.port]) as broker,
    ):
        assert_type(await broker.request(MetadataRequest()), MetadataResponse)
        assert_type((await broker.send(FetchRequest(), 12, lossy=True)).response, FetchResponse)
    await serve(hook)  # type: ignore[arg-type]
    await relay([("127.0.0.1", 1)], on_request=handler)  # type: ignore[arg-type]


def compressed(compression: str) -> CompressionName:
    """Any str, such as that of a setting, can be a compression name; results have the names as literals."""
    write_batches([], compression=compression)
    batch = next(iter(read_batches(write_batch([Record(value=b"v")], compression=compression))))
    assert_type(batch.compression, CompressionName)
    return batch.compression


def topic_names(message: Message, wanted: EntityType = "topicName") -> list[str]:
    return [str(each.value) for each in entities(message, wanted)]


def version_tables(by_key: dict[ApiKey, Versions], by_name: dict[str, Versions], pairs: dict[str, int]) -> list[str]:
    """Tables by API accept any type of key, also as variables; responses of any API are responses."""
    found = [str(announce(versions=each).api_keys) for each in (by_key, by_name)]
    found += [str(BrokerVersions.of(each).versions) for each in (by_key, by_name)]
    found.append(
        str(BrokerVersions.of({ApiKey.FETCH: Versions(0, 4), "Metadata": Versions(0, 5), 1000: Versions(0, 1)}))
    )
    assert_type(decode_response(bytes(4), 12, 0).message, Response)
    return [*found, *releases_with(pairs), *releases_with(list(pairs.items())), *releases_with({"FetchRequest": 12})]


def newest(kind: MessageClass) -> int:
    """Any message class has versions."""
    return kind.HIGHEST_SUPPORTED_VERSION


HANDLERS = Handlers()
VERSIONED = Handlers[int]()


@HANDLERS.on(MetadataRequest)
def metadata(asked: MetadataRequest) -> MetadataResponse:
    return MetadataResponse(topics=[MetadataResponseTopic(name=each.name) for each in asked.topics or ()])


@VERSIONED.on(FetchRequest)
async def fetch(_: FetchRequest, version: int) -> FetchResponse:
    return FetchResponse(session_id=version)


def wrong_handlers() -> list[object]:
    """Invalid handlers that a type checker must reject."""

    def other_response(_: MetadataRequest) -> FetchResponse:
        return FetchResponse()

    def other_request(_: FetchRequest) -> MetadataResponse:
        return MetadataResponse()

    def more_arguments(_: MetadataRequest, version: int) -> MetadataResponse:
        return MetadataResponse(controller_id=version)

    async def other_response_later(_: MetadataRequest) -> FetchResponse:
        return FetchResponse()

    def any_message(_: Message) -> MetadataResponse:
        return MetadataResponse()

    kept: list[object] = [Handlers().on(MetadataRequest)(any_message)]
    kept.append(Handlers().on(MetadataRequest)(other_response))  # type: ignore[arg-type]
    kept.append(Handlers().on(MetadataRequest)(other_request))  # type: ignore[arg-type]
    kept.append(Handlers().on(MetadataRequest)(more_arguments))  # type: ignore[arg-type]
    kept.append(Handlers().on(MetadataRequest)(other_response_later))  # type: ignore[arg-type]
    kept.append(HANDLERS.answer(MetadataRequest(), 3))  # type: ignore[call-arg]
    return kept


def dispatched(received: RequestReceived, decoded: DecodedRequest, passing: RequestForwarded) -> list[Response]:
    """Messages of events are requests."""
    assert_type(received.message, Request)
    assert_type(decoded.message, Request)
    assert_type(passing.message, Request | None)
    answers = [HANDLERS.answer(received.message), HANDLERS.answer(decoded.message)]
    return answers if passing.message is None else [*answers, HANDLERS.answer(passing.message)]


async def dispatched_later(received: RequestReceived) -> Response:
    return await VERSIONED.answer_async(received.message, received.version)


def handled(request: Request) -> int:
    """The registry infers the response of each request."""
    assert_type(HANDLERS.answer(MetadataRequest()), MetadataResponse)
    assert_type(HANDLERS.answer(request), Response)
    assert_type(asyncio.run(VERSIONED.answer_async(FetchRequest(), 18)), FetchResponse)
    assert_type(metadata(MetadataRequest()), MetadataResponse)
    later = VERSIONED.find(FetchRequest)
    assert later is not None
    result = later(FetchRequest(), 18)
    assert_type(result, FetchResponse | Coroutine[Any, Any, FetchResponse])
    assert not isinstance(result, FetchResponse)
    return asyncio.run(result).session_id


def main() -> None:
    partition = MetadataResponsePartition(partition_index=0, leader_id=3, replica_nodes=(3, 4))
    response = MetadataResponse(topics=[MetadataResponseTopic(name="t", partitions=[partition])])
    assert leaders(response.write(12), "t") == [3]
    assert changed(response.topics) == ["a", "b", "first", "first", "last", "t"]
    assert MetadataRequest.read(request_for(["t"]), 12).topics == [MetadataRequestTopic(name="t")]
    message, end = ApiVersionsRequest.read_from(b"\x00\x01\x01\x00", 1, 3)
    assert_type(message, ApiVersionsRequest)
    assert_type(end, int)
    assert records(FetchResponse()) == []
    tagged = ApiVersionsRequest(unknown_tagged_fields=(RawTaggedField(9, b""),))
    assert asyncio.run(asked()) == 5
    assert tables() == ["RequestHeader", "ResponseHeader"]
    assert structs() == MetadataResponse()
    assert unknown_tags([tagged, SaslHandshakeResponse(), MetadataRequest()]) == [9]
    assert (compressed("gzip"), newest(MetadataRequest), handled(MetadataRequest())) == ("gzip", 13, 18)
    assert topic_names(MetadataRequest(topics=[MetadataRequestTopic(name="t")])) == ["t"]
    assert events(ClientConnection("typed"), ServerConnection(), ProxyConnection()) == 2


if __name__ == "__main__":
    main()
