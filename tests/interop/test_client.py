"""A client with asyncio sends every announced API at every version to a live broker."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from kafka_messages import ApiVersionsRequest, MetadataRequest, Response
from kafka_messages.aio import connect
from kafka_messages.connection import errors
from kafka_messages.protocol import Api, ApiKey, FrameReader, api, encode_response

from tests.interop.broker import Broker, free_ports
from tests.interop.everything import NAME, request
from tests.interop.guide import looping
from tests.interop.tap import tapped
from tests.support.programs import program

SECONDS = 300
ANSWER_SECONDS = 60
FICTION = {(ApiKey.PRODUCE, version) for version in range(3)}
"""Versions that brokers since Kafka 4.0 announce but reject; old clients need them to detect compression support."""


async def topic_id(port: int) -> UUID:
    """Create a topic by requesting its metadata; return its id."""
    async with await connect("localhost", port) as broker:
        while True:
            metadata = await broker.request(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=NAME)]))
            if not any(errors(metadata)):
                return next(iter(metadata.topics)).topic_id
            await asyncio.sleep(0.2)


async def ask_all(port: int, topic: UUID) -> list[tuple[Api, int, Response]]:
    """Return every API and version that the broker announces, with the response."""
    client = await connect("localhost", port, request_timeout=ANSWER_SECONDS)
    announced = await client.request(ApiVersionsRequest(client_software_name=NAME, client_software_version="1"))
    found: list[tuple[Api, int, Response]] = []
    for each in announced.api_keys:
        of = api(each.api_key)
        for version in range(each.min_version, each.max_version + 1):
            if (of.key, version) not in FICTION:
                asked = request(of, topic).downgraded(version)
                try:
                    response = await client.request(asked, version)
                except (ConnectionError, TimeoutError) as error:
                    error.add_note(f"{of} version {version}")
                    raise
                found.append((of, version, response))
    await client.close()
    return found


def test_responses_of_every_announced_api_version_are_decoded(quiet_broker: Broker, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with tapped(port, quiet_broker.port, tmp_path), looping() as loop:
        topic = loop.run(lambda: topic_id(quiet_broker.port))
        found = loop.run(lambda: ask_all(port, topic), SECONDS)
    (path,) = tmp_path.glob("*.response.bin")
    reader = FrameReader()
    reader.feed(path.read_bytes())
    _, _, *frames = reader  # the first two are ApiVersions and Metadata
    for number, (frame, (of, version, response)) in enumerate(zip(frames, found, strict=True), 2):
        assert type(response) is of.response_class
        assert encode_response(response, version, number)[4:] == frame, (of, version)
    assert len(found) > 250
    succeeded = {of.key for of, _, response in found if not any(errors(response))}
    assert {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.METADATA, ApiKey.LIST_GROUPS, ApiKey.DESCRIBE_ACLS} <= succeeded


def test_client_creates_a_topic_and_reads_its_records(quiet_broker: Broker, capfd: pytest.CaptureFixture[str]) -> None:
    with looping() as loop:
        for number in range(3):
            loop.run(partial(program("client").main, "localhost", quiet_broker.port, f"new-{number}"))
    assert capfd.readouterr().out == "errors: []\n0 b'hello'\n" * 3
