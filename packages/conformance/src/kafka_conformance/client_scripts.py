"""Scripts of the client mode: rules that make a cluster of the test kit answer as a case needs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    EndTxnRequest,
    FetchRequest,
    FetchResponse,
    OffsetCommitRequest,
    ProduceRequest,
    RawTaggedField,
)
from kafka_messages.connection import announce
from kafka_messages.protocol import ApiKey, ErrorCode, Versions, api
from kafka_messages.schema import descriptor_of
from kafka_messages_testkit import KafkaCluster
from kafka_records import RecordError, read_headers

from .client_case import ClientCase
from .client_judge_records import identity
from .client_log import NAME, replay

_MOST_IN_FLIGHT = 5
_QUIET = 0.5  # seconds before a response, in which other requests arrive that are on their way
_TAGGED = (
    *("ApiVersions", "Metadata", "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"),
    *("OffsetCommit", "OffsetFetch", "ListOffsets", "Fetch"),
)


def prepare(cluster: KafkaCluster, case: ClientCase) -> None:
    """Make the rules and records of a case."""
    if case.script:
        globals()[case.script](cluster)
    for name, action, value in case.rules:
        topic = NAME if action == "fail" else None  # an error of the partitions, not of the request
        getattr(cluster.on(api(name).request_class, topic=topic, optional=True), action)(value)
    for node, release in case.versions.items():
        _announce(cluster, release, node_id=None if node == "*" else int(node))
    for _ in range(case.records):
        cluster.produce(NAME, b"v")
    if case.log:
        replay(cluster, case.log)


def _announce(cluster: KafkaCluster, release: str, **selectors: Any) -> None:
    """Announce the versions of a release; ApiVersions keeps its own, so that no client has to ask again."""
    own = Versions(0, api(ApiKey.API_VERSIONS).stable_versions.highest)
    made = announce(release=release, versions={ApiKey.API_VERSIONS: own})
    cluster.on(ApiVersionsRequest, times=None, optional=True, **selectors).respond(lambda request: made)


def downgrade(cluster: KafkaCluster) -> None:
    """Close the connection at the second Fetch, and announce an older release from then on."""
    closed = cluster.on(FetchRequest, nth=2, optional=True).disconnect()
    _announce(cluster, "2.8", when=lambda request: closed.called)


def unknown_apis(cluster: KafkaCluster) -> None:
    def extended(request: ApiVersionsRequest, response: ApiVersionsResponse) -> ApiVersionsResponse:
        for each in response.api_keys:
            if each.api_key in (ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.METADATA, ApiKey.API_VERSIONS):
                each.max_version = 32767
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

    def tag(struct: Any, fields: Any) -> Any:
        struct.unknown_tagged_fields = (RawTaggedField(9999, b"abc"),)
        for field in fields:
            value = getattr(struct, field.name)
            if field.is_struct and value is not None:
                for each in value if field.is_array else (value,):
                    tag(each, field.fields)
        return struct

    for name in _TAGGED:
        rule = cluster.on(api(name).request_class, times=None, optional=True)
        rule.change(lambda request, response: tag(response, descriptor_of(type(response)).fields))


def fail_until_repeated(cluster: KafkaCluster) -> None:
    """Fail the first Produce, and those in flight with it, until a batch arrives again or the transaction is aborted."""
    seen, repeated = set[tuple[int, ...]](), set[tuple[int, ...]]()
    aborted = cluster.on(EndTxnRequest, when=lambda request: not request.committed).observe()

    def is_first(request: ProduceRequest) -> bool:
        batches = set[tuple[int, ...]]()
        with suppress(RecordError):  # the judge says what is wrong
            for part in (part for topic in request.topic_data for part in topic.partition_data):
                batches.update(identity(part.index, batch) for batch in read_headers(part.records or b""))
        repeated.update(seen & batches)
        seen.update(batches)
        return not (repeated or aborted.called)

    cluster.on(ProduceRequest, when=is_first, times=_MOST_IN_FLIGHT, optional=True).fail(ErrorCode.NOT_ENOUGH_REPLICAS)


def old_leader(cluster: KafkaCluster) -> None:
    """Make broker 2 the leader; the case lets it announce older versions."""
    cluster.move_leader(NAME, 0, 2)


def move_leader(cluster: KafkaCluster) -> None:
    """Move the partition to broker 2 when the first Produce arrives."""
    cluster.move_leader(NAME, 0, 1)
    cluster.on(ProduceRequest, optional=True).respond(lambda request: cluster.move_leader(NAME, 0, 2))


def move_coordinator(cluster: KafkaCluster) -> None:
    """Move the group from broker 2 to broker 1 when the first OffsetCommit arrives."""
    cluster.move_coordinator(NAME, 2)

    def moves(request: OffsetCommitRequest) -> bool:
        if not moved.called:
            cluster.move_coordinator(NAME, 1)
        return True

    moved = cluster.on(OffsetCommitRequest, when=moves, optional=True).delay(_QUIET)


def unknown_member(cluster: KafkaCluster) -> None:
    """Expire the member when its first OffsetCommit arrives."""
    group = cluster.group(NAME)
    cluster.on(OffsetCommitRequest, optional=True).respond(lambda request: group.expire(request.member_id))


def null_records(cluster: KafkaCluster) -> None:
    """Answer the first two Fetch requests with null records."""

    def null(request: FetchRequest, response: FetchResponse) -> FetchResponse:
        for part in (part for topic in response.responses for part in topic.partitions):
            part.records = None
        return response

    cluster.on(FetchRequest, times=2, optional=True).change(null)
