"""Version negotiation from a broker's ApiVersions response."""

from __future__ import annotations

import pytest
from kafka_messages import ApiVersionsResponse, MetadataRequest, MetadataResponse, UnsupportedVersionError
from kafka_messages.messages.api_versions_response import (
    ApiVersion,
    ApiVersionCollection,
    FinalizedFeatureKey,
    FinalizedFeatureKeyCollection,
    SupportedFeatureKey,
    SupportedFeatureKeyCollection,
)
from kafka_messages.protocol import ApiKey, BrokerVersions, UnknownApiError, Versions, api, negotiate

from tests.support.kafka_protocol import FEATURES_BODY, FETCH, FETCH_VERSIONS, KNOWN_KEYS, kafka_api


def api_versions_response(*ranges: tuple[int, int, int]) -> ApiVersionsResponse:
    """Return a response with these entries: API key, lowest and highest version."""
    entries = [ApiVersion(api_key=key, min_version=low, max_version=high) for key, low, high in ranges]
    return ApiVersionsResponse(api_keys=ApiVersionCollection(entries))


@pytest.mark.parametrize(("low", "high", "expected"), [(0, 99, 13), (0, 7, 7), (13, 20, 13), (0, 0, 0), (12, 12, 12)])
def test_highest_common_version_is_negotiated(low: int, high: int, expected: int) -> None:
    response = api_versions_response((3, low, high))
    for which in (3, ApiKey.METADATA, MetadataRequest, MetadataResponse, api(3)):
        assert negotiate(response, which) == expected
        assert BrokerVersions.from_response(response).highest_common(which) == expected


def test_unstable_latest_version_is_opt_in() -> None:
    row = kafka_api("INIT_PRODUCER_ID")
    assert row["latestVersionUnstable"]
    broker = BrokerVersions.from_response(api_versions_response((22, 0, row["latestVersion"])))
    assert broker.highest_common(ApiKey.INIT_PRODUCER_ID) == row["latestStableVersion"]
    assert broker.highest_common(ApiKey.INIT_PRODUCER_ID, allow_unstable=True) == row["latestVersion"]
    assert negotiate(api_versions_response((22, 6, 6)), ApiKey.INIT_PRODUCER_ID, allow_unstable=True) == 6


@pytest.mark.parametrize(
    ("response", "key", "text"),
    [
        (
            api_versions_response((1, 0, 3)),
            1,
            f"Fetch: no common version: the broker supports versions 0 to 3, this package supports {FETCH_VERSIONS}",
        ),
        (
            api_versions_response((1, FETCH.highest + 1, FETCH.highest + 1)),
            1,
            f"Fetch: no common version: the broker supports version {FETCH.highest + 1}, "
            f"this package supports {FETCH_VERSIONS}",
        ),
        (
            api_versions_response((3, 0, 9)),
            1,
            f"Fetch: no common version: the broker does not support this API, this package supports {FETCH_VERSIONS}",
        ),
        (
            api_versions_response((22, 6, 6)),
            22,
            "InitProducerId: no common version: the broker supports version 6, this package supports versions 0 to 5"
            " (and version 6, which is unstable)",
        ),
        (
            api_versions_response((4, 0, 7)),
            4,
            "LeaderAndIsr: no common version: the broker supports versions 0 to 7, "
            "this package supports none since the API was removed",
        ),
        (
            api_versions_response((3, 9, 5)),
            3,
            "Metadata: no common version: the broker supports no version, this package supports versions 0 to 13",
        ),
    ],
)
def test_no_common_version_raises(response: ApiVersionsResponse, key: int, text: str) -> None:
    with pytest.raises(UnsupportedVersionError) as caught:
        negotiate(response, key)
    assert str(caught.value) == text


def test_negotiating_an_unknown_api_raises() -> None:
    broker = BrokerVersions.from_response(api_versions_response((999, 1, 2)))
    assert [broker.supports(999, version) for version in range(4)] == [False, True, True, False]
    with pytest.raises(UnknownApiError) as caught:
        broker.highest_common(999)
    assert str(caught.value) == f"unknown API key 999; {KNOWN_KEYS}"


def test_supports_checks_api_and_version() -> None:
    broker = BrokerVersions.from_response(api_versions_response((3, 4, 9)))
    assert [broker.supports(MetadataRequest, version) for version in (3, 4, 9, 10)] == [False, True, True, False]
    assert not broker.supports(ApiKey.FETCH, 4)


def test_last_entry_of_a_repeated_key_is_used() -> None:
    assert negotiate(api_versions_response((3, 0, 3), (3, 0, 6)), ApiKey.METADATA) == 6


def test_broker_features_are_read() -> None:
    response = ApiVersionsResponse(
        supported_features=SupportedFeatureKeyCollection(
            [SupportedFeatureKey(name="metadata.version", min_version=7, max_version=27)]
        ),
        finalized_features=FinalizedFeatureKeyCollection(
            [FinalizedFeatureKey(name="metadata.version", min_version_level=25, max_version_level=25)]
        ),
        finalized_features_epoch=9,
    )
    broker = BrokerVersions.from_response(ApiVersionsResponse.read(bytes.fromhex(FEATURES_BODY), 4))
    assert broker == BrokerVersions(
        {3: Versions(0, 12)},
        {"metadata.version": Versions(7, 27)},
        {"metadata.version": Versions(25, 25)},
        9,
    )
    assert BrokerVersions.from_response(response).finalized_features == broker.finalized_features


def test_features_absent_from_the_response_are_empty() -> None:
    broker = BrokerVersions.from_response(ApiVersionsResponse.read(api_versions_response((3, 0, 9)).write(2), 2))
    assert (broker.supported_features, broker.finalized_features, broker.finalized_features_epoch) == ({}, {}, None)
