"""Scripts of the client mode: rules that make a cluster of the test kit answer as a case needs."""

from __future__ import annotations

from typing import Any

from kafka_messages import (
    AddPartitionsToTxnRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    OffsetCommitRequest,
    ProduceRequest,
    RawTaggedField,
)
from kafka_messages.connection import announce
from kafka_messages.protocol import ApiKey, ErrorCode, Versions, api
from kafka_messages.schema import descriptor_of
from kafka_messages_testkit import KafkaCluster

from .client_log import NAME

_OTHER_BROKER = 2
_MOST_IN_FLIGHT = 5
_USED = (
    *("ApiVersions", "Metadata", "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"),
    *("OffsetCommit", "OffsetFetch", "ListOffsets", "Fetch"),
)


def _announce(cluster: KafkaCluster, release: str, **selectors: Any) -> None:
    """Announce the versions of a release; ApiVersions keeps its own, so that no client has to ask again."""
    own = api(ApiKey.API_VERSIONS).stable_versions
    made = announce(release=release, versions={ApiKey.API_VERSIONS: Versions(0, own.highest)})
    cluster.on(ApiVersionsRequest, times=None, optional=True, **selectors).respond(lambda request: made)


def versions_of_2_2(cluster: KafkaCluster) -> None:
    _announce(cluster, "2.2")
    three_records(cluster)


def versions_of_2_8(cluster: KafkaCluster) -> None:
    _announce(cluster, "2.8")


def old_leader(cluster: KafkaCluster) -> None:
    """Make a broker the leader that announces the versions of 2.8."""
    cluster.move_leader(NAME, 0, _OTHER_BROKER)
    _announce(cluster, "2.8", node_id=_OTHER_BROKER)
    three_records(cluster)


def downgrade(cluster: KafkaCluster) -> None:
    """Close the connection at the second Fetch, and announce an older release from then on."""
    closed = cluster.on(FetchRequest, nth=2, optional=True).disconnect()
    _announce(cluster, "2.8", when=lambda request: closed.called)


def unknown_apis(cluster: KafkaCluster) -> None:
    known = {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.METADATA, ApiKey.API_VERSIONS}

    def extended(request: ApiVersionsRequest, response: ApiVersionsResponse) -> ApiVersionsResponse:
        for each in response.api_keys:
            each.max_version = 32767 if each.api_key in known else each.max_version
        response.api_keys.append(ApiVersionsResponse.ApiVersion(api_key=9999, min_version=0, max_version=7))
        return response

    cluster.on(ApiVersionsRequest, times=None, optional=True).change(extended)


def no_api_versions_keys(cluster: KafkaCluster) -> None:
    """Refuse new versions of ApiVersions as brokers before KIP-511 do: without keys."""

    def refused(request: ApiVersionsRequest) -> ApiVersionsResponse | None:
        is_new = request.client_software_name != ""  # a field of version 3
        return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION) if is_new else None

    cluster.on(ApiVersionsRequest, times=None, optional=True).respond(refused)


def no_features(cluster: KafkaCluster) -> None:
    def without(request: ApiVersionsRequest, response: ApiVersionsResponse) -> ApiVersionsResponse:
        response.finalized_features.clear()
        response.finalized_features_epoch = -1
        return response

    cluster.on(ApiVersionsRequest, times=None, optional=True).change(without)


def unknown_tags(cluster: KafkaCluster) -> None:
    """Add an unknown tagged field to each struct of each response; versions without tags drop it."""

    def tagged(request: object, response: Any) -> Any:
        _tag(response, descriptor_of(type(response)).fields)
        return response

    for name in _USED:
        cluster.on(api(name).request_class, times=None, optional=True).change(tagged)
    three_records(cluster)


def _tag(struct: Any, fields: Any) -> None:
    struct.unknown_tagged_fields = (RawTaggedField(9999, b"abc"),)
    for field in fields:
        value = getattr(struct, field.name)
        if field.is_struct and value is not None:
            for each in value if field.is_array else (value,):
                _tag(each, field.fields)


def throttle_first_produce(cluster: KafkaCluster) -> None:
    cluster.on(ProduceRequest, optional=True).throttle(500)


def fail_until_repeated(cluster: KafkaCluster) -> None:
    """Fail the first Produce, and those in flight with it, until one of their batches arrives again."""
    seen, repeated = set[tuple[int, bytes]](), set[tuple[int, bytes]]()

    def is_first(request: ProduceRequest) -> bool:
        parts = (part for topic in request.topic_data for part in topic.partition_data)
        batches = {(part.index, bytes(part.records or b"")) for part in parts}
        repeated.update(seen & batches)
        seen.update(batches)
        return not repeated

    cluster.on(ProduceRequest, when=is_first, times=_MOST_IN_FLIGHT, optional=True).fail(ErrorCode.NOT_ENOUGH_REPLICAS)


def delay_first_produce(cluster: KafkaCluster) -> None:
    cluster.on(ProduceRequest, optional=True).delay(0.3)


def fenced(cluster: KafkaCluster) -> None:
    cluster.on(AddPartitionsToTxnRequest, optional=True).fail(ErrorCode.PRODUCER_FENCED)


def move_leader(cluster: KafkaCluster) -> None:
    """Move the partition to another broker when the first Produce arrives."""
    cluster.move_leader(NAME, 0, 1)
    cluster.on(ProduceRequest, optional=True).respond(lambda request: cluster.move_leader(NAME, 0, _OTHER_BROKER))


def move_coordinator(cluster: KafkaCluster) -> None:
    """Move the group to the first broker when the first OffsetCommit arrives."""
    cluster.move_coordinator(NAME, _OTHER_BROKER)
    cluster.on(OffsetCommitRequest, optional=True).respond(lambda request: cluster.move_coordinator(NAME, 1))
    three_records(cluster)


def unknown_member(cluster: KafkaCluster) -> None:
    """Expire the member when its first OffsetCommit arrives."""
    group = cluster.group(NAME)
    cluster.on(OffsetCommitRequest, optional=True).respond(lambda request: group.expire(request.member_id))
    three_records(cluster)


def three_records(cluster: KafkaCluster) -> None:
    for _ in range(3):
        cluster.produce(NAME, b"v")
