"""What brokers of older releases announce."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_messages import ApiVersionsResponse
from kafka_messages.connection import announce
from kafka_messages.protocol import ApiKey, Versions

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
"""The highest versions of Kafka 1.0.0, whose jars have no definitions: what its ``ApiKeys`` says. The lowest are 0."""
NEWEST = "newest"
RELEASES = (NEWEST, "2.4.0", "1.0.0")


def announced(apis: Iterable[int], release: str) -> ApiVersionsResponse:
    """What a broker of a release says that it has of these APIs."""
    if release == NEWEST:
        return announce(apis)
    if release != "1.0.0":
        return announce(apis, release=release)
    return announce(apis, versions={key: Versions(0, highest) for key, highest in KAFKA_1_0.items()})
