"""Version ranges that brokers of older releases announce."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_messages import ApiVersionsResponse
from kafka_messages.connection import announce
from kafka_messages.protocol import ApiKey, Versions
from kafka_messages_testkit.handlers import table

KAFKA_1_0 = {
    ApiKey.PRODUCE: 5,
    ApiKey.FETCH: 6,
    ApiKey.LIST_OFFSETS: 2,
    ApiKey.METADATA: 5,
    ApiKey.OFFSET_COMMIT: 3,
    ApiKey.OFFSET_FETCH: 3,
    ApiKey.FIND_COORDINATOR: 1,
    ApiKey.JOIN_GROUP: 2,
    ApiKey.HEARTBEAT: 1,
    ApiKey.LEAVE_GROUP: 1,
    ApiKey.SYNC_GROUP: 1,
    ApiKey.API_VERSIONS: 1,
    ApiKey.INIT_PRODUCER_ID: 0,
}
"""Highest versions of Kafka 1.0.0, from its class ``ApiKeys``; its jars have no definitions. All lowest versions are 0."""
BEFORE_FORMAT_2 = {
    ApiKey.PRODUCE: 2,
    ApiKey.FETCH: 2,
    ApiKey.LIST_OFFSETS: 0,
    ApiKey.METADATA: 1,
    ApiKey.OFFSET_COMMIT: 2,
    ApiKey.OFFSET_FETCH: 1,
    ApiKey.FIND_COORDINATOR: 0,
    ApiKey.JOIN_GROUP: 0,
    ApiKey.HEARTBEAT: 0,
    ApiKey.LEAVE_GROUP: 0,
    ApiKey.SYNC_GROUP: 0,
    ApiKey.API_VERSIONS: 0,
}
"""Highest versions of brokers before Kafka 0.11, which only have message formats 0 and 1 (KIP-98)."""
NEWEST = "newest"
RELEASES = (NEWEST, "2.4.0", "1.0.0")


def announced(release: str) -> ApiVersionsResponse:
    """Return the ApiVersions response of the test kit's cluster for a release."""
    if release == "1.0.0":
        return announce(KAFKA_1_0, versions=_from_0(KAFKA_1_0))
    found: ApiVersionsResponse = table.announced(None if release == NEWEST else release)
    return found


def announced_before_format_2() -> ApiVersionsResponse:
    """Return the ApiVersions response of a broker that only has message formats 0 and 1."""
    return announce(BEFORE_FORMAT_2, versions=_from_0(BEFORE_FORMAT_2))


def _from_0(highest: Mapping[ApiKey, int]) -> dict[ApiKey, Versions]:
    return {key: Versions(0, version) for key, version in highest.items()}
