"""Search for a leader in the client of the guide."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from kafka_messages import ApiVersionsRequest, MetadataResponse, Response
from kafka_messages.aio import connect, serve
from kafka_messages.connection import RequestReceived, announce
from kafka_messages.enums import ErrorCode

from tests.support.loops import run
from tests.support.programs import program

guide = program("client")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guide, "PAUSE_SECONDS", 0)


def find_leader_with(*codes: ErrorCode) -> tuple[Any, int]:
    times = 0

    async def answer(received: RequestReceived) -> Response | None:
        nonlocal times
        if isinstance(received.message, ApiVersionsRequest):
            return announce()
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

    async def talk() -> Any:
        async with await serve(answer) as server, await connect("127.0.0.1", server.port) as broker:
            try:
                return await guide.find_leader(broker, "t")
            except LookupError as error:
                return str(error)

    return run(talk()), times


def test_find_leader_retries_for_a_new_topic() -> None:
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
def test_find_leader_fails_without_a_leader(code: ErrorCode, path: str, times: int) -> None:
    assert find_leader_with(code) == (f"partition 0 of 't' has no leader: {path} is {code.name}", times)
