"""Broken brokers: topics and the cluster."""

from __future__ import annotations

from typing import Any

from kafka_messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeTopicPartitionsRequest,
    MetadataRequest,
    MetadataResponse,
)

from . import relay as relays
from .bug import constant, relay, rule, sets


def _by_name_only(request: Any, response: Any) -> None:
    for asked, topic in zip(request.topics or [], response.topics, strict=False):
        if asked.name is None:
            topic.error_code, topic.partitions = 3, []


def _without_unknown(request: Any, response: Any) -> None:
    response.topics = [each for each in response.topics if each.error_code != 3]


rule(
    "topics of nearly valid sizes: partitions",
    CreateTopicsRequest,
    sets(num_partitions={0: 1}),
    "CREATE-TOPICS.errors-of-sizes",
)
rule(
    "topics of nearly valid sizes: replicas",
    CreateTopicsRequest,
    sets(replication_factor={1000: 1}),
    "CREATE-TOPICS.errors-of-sizes",
)
rule("topics twice", CreateTopicsResponse, sets(error_code={42: 0}), "CREATE-TOPICS.duplicate-names")
rule("topics again", CreateTopicsResponse, sets(error_code={36: 0}), "CREATE-TOPICS.exists")
rule(
    "validation creates topics",
    CreateTopicsRequest,
    sets(validate_only=constant(False)),
    "CREATE-TOPICS.validate-only-creates-nothing",
)
rule("an empty name of a deleted id", DeleteTopicsResponse, sets(name={None: ""}), "KIP-516.delete-by-unknown-id")
rule(
    "all topics for none",
    MetadataRequest,
    sets(topics=lambda old: old or None),
    "METADATA.empty-topics-means-none",
    "FRAME.trailing-bytes-in-a-request",
)
rule("no topics for all", MetadataRequest, sets(topics=lambda old: old or []), "METADATA.null-topics-means-all")
relay("no topics for all of version 0", relays.EmptyTopicsAreNone, "METADATA.empty-topics-means-all-in-version-0")
rule(
    "unknown topics are left out",
    MetadataResponse,
    _without_unknown,
    "METADATA.unknown-topic-has-an-error",
    "CREATE-TOPICS.validate-only-creates-nothing",
)
rule(
    "topics by name only",
    MetadataResponse,
    _by_name_only,
    "METADATA.topic-by-id",
    "METADATA.unknown-topic-id-has-an-error",
)
rule(
    "an empty name of an unknown id", MetadataResponse, sets(name={None: ""}), "METADATA.unknown-topic-id-has-an-error"
)
rule("no invalid names", MetadataResponse, sets(error_code={17: 3}), "METADATA.invalid-topic-name")
rule("no replicas in sync", MetadataResponse, sets(isr_nodes=constant([])), "METADATA.leader-is-a-listed-broker")
rule("no controller", MetadataResponse, sets(controller_id=constant(-1)), "METADATA.controller-is-a-broker")
rule(
    "nobody at the address",
    MetadataResponse,
    sets(port=constant(1)),
    "METADATA.advertised-address-answers",
    "KIP-699.one-coordinator-per-key",
    "KIP-700.describe-cluster-agrees-with-metadata",
)
rule(
    "another address in DescribeCluster",
    DescribeClusterResponse,
    sets(host=constant("internal")),
    "KIP-700.describe-cluster-agrees-with-metadata",
)
rule(
    "any type of endpoint",
    DescribeClusterRequest,
    sets(endpoint_type=constant(1)),
    "KIP-919.controllers-are-not-at-a-broker",
)
rule(
    "partitions without limit",
    DescribeTopicPartitionsRequest,
    sets(response_partition_limit=constant(2000)),
    "KIP-966.describe-topic-partitions",
)
