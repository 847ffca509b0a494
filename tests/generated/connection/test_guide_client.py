"""Failures that the client of the guide handles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import ListGroupsRequest, ListGroupsResponse, MetadataRequest, MetadataResponse, ProduceRequest
from kafka_messages.connection import RemoteProtocolError, RequestReceived, ServerConnection, announce
from kafka_messages.enums import ErrorCode

from tests.support.programs import program

guide = program("client")
SECONDS = 20
Answer = Callable[[RequestReceived], Awaitable[Any]]


class HangUp(Exception):
    pass


def run_with_client(answer: Answer, ask: Callable[[Any], Awaitable[None]]) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ServerConnection()
        try:
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    assert isinstance(event, RequestReceived)
                    is_first = event.api.name == "ApiVersions"
                    writer.write(connection.send(event, announce() if is_first else await answer(event)))
        except HangUp as last:
            writer.writelines(last.args)
        finally:
            writer.close()

    async def run() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            client = await guide.Client.connect(*server.sockets[0].getsockname())
            await ask(client)
            client.writer.close()
            await client.receiver

    asyncio.run(asyncio.wait_for(run(), SECONDS))


def test_late_response_after_a_timeout_is_discarded() -> None:
    gave_up = asyncio.Event()

    async def answer(received: RequestReceived) -> Any:
        if isinstance(received.message, MetadataRequest):
            await gave_up.wait()
            return MetadataResponse()
        return ListGroupsResponse(groups=[ListGroupsResponse.ListedGroup(group_id="g")])

    async def ask(client: Any) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.ask(MetadataRequest()), 0.05)
        gave_up.set()
        response = await client.ask(ListGroupsRequest())
        assert [group.group_id for group in response.groups] == ["g"]

    run_with_client(answer, ask)


@pytest.mark.parametrize(
    ("last", "cause", "text"),
    [
        (b"", ConnectionError, "the broker has closed the connection"),
        (
            b"\0\0",
            RemoteProtocolError,
            "the peer closed the connection inside the frame at offset {offset}, after 2 bytes",
        ),
        (
            b"\0\0\0\4\0\0\0\x63",
            RemoteProtocolError,
            "expected the response to MetadataRequest v13 with correlation id 1, got correlation id 99 at offset {offset}",
        ),
    ],
)
def test_lost_connection_fails_pending_and_later_requests(last: bytes, cause: type[Exception], text: str) -> None:
    async def answer(_: RequestReceived) -> Any:
        raise HangUp(last)

    async def ask(client: Any) -> None:
        requests = [client.ask(MetadataRequest()) for _ in range(2)]
        failures = await asyncio.gather(*requests, return_exceptions=True)
        for failure in [*failures, *await asyncio.gather(client.ask(MetadataRequest()), return_exceptions=True)]:
            assert type(failure) is ConnectionError
            assert str(failure) == "the connection has ended"
            assert type(failure.__cause__) is cause
            offset = getattr(failure.__cause__, "offset", None)
            assert str(failure.__cause__) == text.format(offset=offset)

    run_with_client(answer, ask)


def test_produce_without_acks_is_rejected() -> None:
    async def answer(_: RequestReceived) -> Any:
        raise AssertionError("nothing was to be sent")

    async def ask(client: Any) -> None:
        with pytest.raises(ValueError, match=r"^ProduceRequest with acks=0 has no response$"):
            await client.ask(ProduceRequest(acks=0))

    run_with_client(answer, ask)


def test_failed_connect_closes_the_socket() -> None:
    ends: list[bytes] = []

    async def run() -> None:
        ended = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            ends.append(await reader.read())
            writer.close()
            ended.set()

        async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(guide.Client.connect(*server.sockets[0].getsockname()), 0.1)
            await ended.wait()

    asyncio.run(asyncio.wait_for(run(), SECONDS))
    assert len(ends) == 1


def find_leader_with(*codes: ErrorCode) -> tuple[Any, int]:
    times = 0

    async def answer(_: RequestReceived) -> Any:
        nonlocal times
        code = codes[min(times, len(codes) - 1)]
        times += 1
        kind, part = MetadataResponse, MetadataResponse.MetadataResponsePartition
        parts = (
            [part(error_code=code, leader_id=-1 if code else 0)] if code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else []
        )
        topic = kind.MetadataResponseTopic(name="t", topic_id=UUID(int=7), partitions=parts)
        if not parts:
            topic.error_code = code
        broker = kind.MetadataResponseBroker(node_id=0, host="leader", port=9092)
        return kind(brokers=[broker], topics=[topic])

    found: list[Any] = []

    async def ask(client: Any) -> None:
        try:
            found.append(await guide.find_leader(client, "t"))
        except LookupError as error:
            found.append(str(error))

    run_with_client(answer, ask)
    return found[0], times


def test_find_leader_retries_for_a_new_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guide, "PAUSE_SECONDS", 0)
    codes = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.NONE)
    assert find_leader_with(*codes) == ((UUID(int=7), "leader", 9092), 3)


@pytest.mark.parametrize(
    ("code", "path", "times"),
    [
        (ErrorCode.LEADER_NOT_AVAILABLE, "topics[0].partitions[0].error_code", 50),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "topics[0].error_code", 50),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, "topics[0].partitions[0].error_code", 1),
    ],
)
def test_find_leader_fails_without_a_leader(
    code: ErrorCode, path: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "PAUSE_SECONDS", 0)
    assert find_leader_with(code) == (f"partition 0 of 't' has no leader: {path} is {code.name}", times)
