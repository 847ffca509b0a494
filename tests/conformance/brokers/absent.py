"""Broken brokers: APIs that the cluster lacks: brokers that do nothing and report success."""

from __future__ import annotations

from typing import Any

from kafka_messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from . import relay as relays
from .bug import relay


def _configs(request: Any) -> DescribeConfigsResponse:
    kind = DescribeConfigsResponse.DescribeConfigsResult
    found = [kind(resource_type=each.resource_type, resource_name=each.resource_name) for each in request.resources]
    return DescribeConfigsResponse(results=found)


def _altered(request: Any) -> IncrementalAlterConfigsResponse:
    kind = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    found = [kind(resource_type=each.resource_type, resource_name=each.resource_name) for each in request.resources]
    return IncrementalAlterConfigsResponse(responses=found)


def _not_deleted(request: Any) -> DeleteRecordsResponse:
    topic, part = DeleteRecordsResponse.DeleteRecordsTopicResult, DeleteRecordsResponse.DeleteRecordsPartitionResult
    found = [
        topic(name=each.name, partitions=[part(partition_index=one.partition_index) for one in each.partitions])
        for each in request.topics
    ]
    return DeleteRecordsResponse(topics=found)


def _partitions(request: Any) -> CreatePartitionsResponse:
    kind = CreatePartitionsResponse.CreatePartitionsTopicResult
    return CreatePartitionsResponse(results=[kind(name=each.name) for each in request.topics])


def _deleted(request: Any) -> DeleteGroupsResponse:
    kind = DeleteGroupsResponse.DeletableGroupResult
    return DeleteGroupsResponse(results=[kind(group_id=each) for each in request.groups_names])


for cls, act, ids in (
    (
        ConsumerGroupDescribeRequest,
        lambda _: ConsumerGroupDescribeResponse(),
        ["CONSUMER-GROUP-DESCRIBE.unknown-group"],
    ),
    (CreatePartitionsRequest, _partitions, ["CREATE-PARTITIONS.cannot-shrink"]),
    (DeleteGroupsRequest, _deleted, ["DELETE-GROUPS.group-with-members"]),
    (DeleteRecordsRequest, _not_deleted, ["KIP-204.delete-records-moves-the-start"]),
    (DescribeConfigsRequest, _configs, ["DESCRIBE-CONFIGS.null-keys-means-all", "DESCRIBE-CONFIGS.unknown-topic"]),
    (DescribeProducersRequest, lambda _: DescribeProducersResponse(), ["KIP-664.producers-of-a-partition"]),
    (DescribeTransactionsRequest, lambda _: DescribeTransactionsResponse(), ["KIP-664.unknown-transactional-id"]),
    (
        DescribeUserScramCredentialsRequest,
        lambda _: DescribeUserScramCredentialsResponse(),
        ["KIP-554.unknown-user"],
    ),
    (IncrementalAlterConfigsRequest, _altered, ["KIP-339.append-to-a-value-that-is-no-list"]),
    (ListTransactionsRequest, lambda _: ListTransactionsResponse(), ["KIP-664.unknown-state-filters-are-returned"]),
    (OffsetDeleteRequest, lambda _: OffsetDeleteResponse(), ["KIP-496.offsets-of-an-unknown-group"]),
    (SaslHandshakeRequest, lambda _: SaslHandshakeResponse(), ["SASL-HANDSHAKE.on-a-plaintext-listener"]),
):
    relay(f"{cls.NAME} does nothing", relays.stub(cls, act), *ids)
