"""Captured traffic of Kafka's clients and a broker, compared with the broker's request log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from kafka_messages import Message, Response
from kafka_messages.json import to_json
from kafka_messages.protocol import DecodedRequest, DecodedResponse, FrameReader, decode_request, decode_response

from tests.support.cluster import COMMITTED, Cluster

EMPTY_RECORDS = {"ShareFetchResponse"}
"""Responses whose records the log omits; for others it has their size."""


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Return the committed files; tests/interop overrides this fixture with new ones."""
    return Cluster(COMMITTED)


def exchanges(cluster: Cluster) -> Iterator[tuple[str, DecodedRequest, bytes, DecodedResponse[Response], bytes]]:
    """Yield each request and response, decoded and as bytes, in order of each connection."""
    for path in sorted(cluster.traffic.glob("*.request.bin")):
        connection = path.name.split(".")[0]
        requests, responses = frames(path), frames(path.with_name(f"{connection}.response.bin"))
        assert len(requests) == len(responses)
        for sent, answered in zip(requests, responses, strict=True):
            request = decode_request(sent)
            header = request.header
            response = decode_response(answered, header.request_api_key, header.request_api_version)
            yield connection, request, sent, response, answered


def frames(path: Path) -> list[bytes]:
    reader = FrameReader()
    reader.feed(path.read_bytes())
    found = list(reader)
    assert reader.pending == 0
    return found


def test_decoded_messages_equal_kafkas_json(cluster: Cluster) -> None:
    left = dict(cluster.requests)
    kinds = set()
    for connection, request, _, response, _ in exchanges(cluster):
        header, version = request.header, request.header.request_api_version
        logged = left.pop((connection, header.correlation_id))
        assert (logged["requestApiKey"], logged["requestApiVersion"]) == (header.request_api_key, version)
        assert (logged["correlationId"], logged["clientId"]) == (response.header.correlation_id, header.client_id)
        pairs: list[tuple[Message, object]] = [
            (request.message, logged["request"]),
            (response.message, logged["response"]),
        ]
        for message, expected in pairs:
            form: Literal["empty", "size"] = "empty" if message.NAME in EMPTY_RECORDS else "size"
            assert to_json(message, version, records=form) == expected
            kinds.add((message.NAME, version))
    assert not left
    assert len(kinds) > 60


def test_messages_re_encode_to_kafkas_bytes(cluster: Cluster) -> None:
    for _, request, sent, response, answered in exchanges(cluster):
        assert request.encode(framed=False) == sent
        assert response.encode(framed=False) == answered
