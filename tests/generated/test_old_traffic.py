"""Traffic of a broker and a client of Kafka 2.8.2."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest
from kafka_messages import ApiVersionsResponse
from kafka_messages.connection import ProxyConnection, RequestForwarded, ResponseForwarded, announce
from kafka_messages.protocol import ApiKey, DecodedRequest, api, decode_request, decode_response, frame

TRAFFIC = Path(__file__).with_name("data") / "kafka-2.8.2.txt.gz"
"""Connection, request and response by line (``python -m tests.interop.old``); the first connection sends all."""


@cache
def exchanges() -> list[tuple[int, bytes, bytes]]:
    lines = gzip.decompress(TRAFFIC.read_bytes()).decode().splitlines()
    found = (line.split(" ") for line in lines)
    return [(int(number), bytes.fromhex(sent), bytes.fromhex(answered)) for number, sent, answered in found]


def requests() -> Iterator[DecodedRequest]:
    return (decode_request(sent) for number, sent, _ in exchanges() if number == 0)


def test_old_traffic_re_encodes_to_the_same_bytes() -> None:
    for _, sent, answered in exchanges():
        request = decode_request(sent)
        response = decode_response(answered, request.api.key, request.version)
        assert request.encode(framed=False) == sent
        assert response.encode(framed=False) == answered, (request.api, request.version)


def announced_versions() -> set[tuple[int, int]]:
    for number, sent, answered in exchanges():
        request = decode_request(sent)
        if number == 0 and (request.api.key, request.version) == (ApiKey.API_VERSIONS, 3):
            return api_versions_in(decode_response(answered, ApiVersionsResponse, 3).message)
    raise AssertionError("it was not asked")


def api_versions_in(response: ApiVersionsResponse) -> set[tuple[int, int]]:
    return {(each.api_key, v) for each in response.api_keys for v in range(each.min_version, each.max_version + 1)}


def test_traffic_covers_every_announced_api_version() -> None:
    asked = {(int(request.api.key), request.version) for request in requests()}
    assert asked == announced_versions()
    older = {(key, version) for key, version in asked if version not in api(key).supported_versions}
    assert len(older) >= 50
    gone = {ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA, ApiKey.CONTROLLED_SHUTDOWN}
    assert gone <= {key for key, _ in older}
    assert (ApiKey.FETCH, 0) in older


def test_announce_for_old_release_equals_its_broker() -> None:
    assert api_versions_in(announce(release="2.8.2")) == announced_versions()


@pytest.mark.parametrize("number", sorted({number for number, _, _ in exchanges()}))
def test_proxy_forwards_old_traffic_unchanged(number: int) -> None:
    proxy, count = ProxyConnection(), 0
    for _, pairs in groupby((each for each in exchanges() if each[0] == number), lambda each: each[0]):
        for _, sent, answered in pairs:
            (request,) = proxy.receive_from_client(frame(sent))
            assert isinstance(request, RequestForwarded)
            assert request.error is None
            assert request.encode() == request.data == frame(sent)
            (response,) = proxy.receive_from_broker(frame(answered))
            assert isinstance(response, ResponseForwarded)
            assert response.error is None
            assert response.encode() == response.data == frame(answered)
            count += 1
    assert count > 0
    assert proxy.unanswered == ()
