"""Which versions brokers of older releases have, as far as the package of today has them too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_messages import ApiVersionsResponse
from kafka_messages.connection import announce
from kafka_messages.protocol import ApiKey, Versions, api

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
"""The highest versions of Kafka 1.0.0, whose jars have no definitions: what its ``ApiKeys`` says, see Ranges.java."""
KAFKA_2_4 = {
    ApiKey.PRODUCE: 8,
    ApiKey.FETCH: 11,
    ApiKey.LIST_OFFSETS: 5,
    ApiKey.METADATA: 9,
    ApiKey.OFFSET_COMMIT: 8,
    ApiKey.OFFSET_FETCH: 6,
    ApiKey.FIND_COORDINATOR: 3,
    ApiKey.JOIN_GROUP: 6,
    ApiKey.HEARTBEAT: 4,
    ApiKey.LEAVE_GROUP: 4,
    ApiKey.SYNC_GROUP: 4,
    ApiKey.API_VERSIONS: 3,
    ApiKey.INIT_PRODUCER_ID: 2,
}
"""Those of Kafka 2.4.0, likewise. The lowest are 0 in both."""
RELEASES: Mapping[str, Mapping[ApiKey, int] | None] = {"newest": None, "2.4.0": KAFKA_2_4, "1.0.0": KAFKA_1_0}


def announced(apis: Iterable[int], release: str) -> ApiVersionsResponse:
    """What a broker of a release says that it has of these APIs, less what Kafka 4 removed, which we cannot read."""
    highest = RELEASES[release]
    if highest is None:
        return announce(apis)
    lowest = {api(key).key: api(key).stable_versions.lowest for key in apis}
    # Produce is announced from 0, as by all brokers: clients see by it whether a broker can decompress.
    lowest[ApiKey.PRODUCE] = 0
    return announce(apis, versions={key: Versions(lowest[key], highest[ApiKey(key)]) for key in lowest})
