"""Arguments of announce."""

from __future__ import annotations

from typing import Any

import pytest
from kafka_messages.connection import announce
from kafka_messages.protocol import ApiKey, UnknownApiError, Versions


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"versions": (0, 1)}, TypeError, "versions must be a mapping to Versions, not (0, 1)"),
        (
            {"versions": {"Metadata": (0, 1)}},
            TypeError,
            "versions['Metadata'] must be Versions(lowest, highest), not (0, 1)",
        ),
        (
            {"versions": {"Metadata": Versions(0, -1)}},
            ValueError,
            "versions['Metadata'] is Versions(lowest=0, highest=-1); expected 0 <= lowest <= highest",
        ),
        (
            {"versions": {ApiKey.METADATA: Versions(-1, 3)}},
            ValueError,
            "versions[<ApiKey.METADATA: 3>] is Versions(lowest=-1, highest=3); expected 0 <= lowest <= highest",
        ),
        (
            {"supported_features": {"x": 3}},
            TypeError,
            "supported_features['x'] must be Versions(lowest, highest), not 3",
        ),
        (
            {"finalized_features": ["x"]},
            TypeError,
            "finalized_features must be a mapping to Versions, not ['x']",
        ),
        (
            {"release": "2.8", "allow_unstable": True},
            ValueError,
            "allow_unstable cannot be combined with release: releases announce only stable versions",
        ),
        ({"release": 2.8}, TypeError, "a release must be a str such as '2.8', not 2.8"),
    ],
)
def test_invalid_announce_arguments_raise(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        announce(**arguments)
    assert str(caught.value) == text


def test_only_the_apis_of_a_release_are_announced() -> None:
    mine = [ApiKey.METADATA, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.LEADER_AND_ISR]
    with pytest.raises(
        UnknownApiError, match=r"^ConsumerGroupHeartbeat has no version to announce; skip it with only_present=True$"
    ):
        announce(mine, release="2.4")
    found = announce(mine, release="2.4", only_present=True)
    assert [(each.api_key, each.max_version) for each in found.api_keys] == [(3, 9), (4, 4), (18, 3)]
    assert [each.api_key for each in announce(mine, only_present=True).api_keys] == [3, 18, 68]


def test_versions_of_an_absent_api_are_not_announced() -> None:
    ranges = {ApiKey.CONSUMER_GROUP_HEARTBEAT: Versions(0, 0), ApiKey.METADATA: Versions(0, 5)}
    found = announce(ranges, release="2.4", only_present=True, versions=ranges)
    assert [(each.api_key, each.max_version) for each in found.api_keys] == [(3, 5), (18, 3)]


def test_unknown_release_is_rejected() -> None:
    text = "Kafka '1.0' is not in the history of this package, which has 2.2.0 to 4.4.0"
    with pytest.raises(ValueError, match=f"^{text}$"):
        announce(release="1.0")
