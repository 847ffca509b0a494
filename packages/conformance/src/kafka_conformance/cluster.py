"""What a broker says of its cluster: versions, features and addresses."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kafka_messages import ApiVersionsRequest, ApiVersionsResponse
from kafka_messages.errors import KafkaMessageError
from kafka_messages.protocol import ErrorCode, api, decode_response, encode_request

from .wire import CaseFailure, Deadline, FrameSocket

Address: TypeAlias = tuple[str, int]
CLIENT_ID = "kafka-conformance"
_ID = 1
BY_ANY = ""
ROUTES = {
    **dict.fromkeys(("Produce", "Fetch", "ListOffsets", "OffsetForLeaderEpoch", "DeleteRecords"), "leader"),
    **dict.fromkeys(("DescribeProducers", "ShareFetch", "ShareAcknowledge"), "leader"),
    **dict.fromkeys(("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch"), "group"),
    **dict.fromkeys(("DescribeGroups", "ListGroups", "DeleteGroups", "OffsetDelete", "TxnOffsetCommit"), "group"),
    **dict.fromkeys(("ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "ShareGroupHeartbeat"), "group"),
    **dict.fromkeys(("ShareGroupDescribe", "DescribeShareGroupOffsets", "AlterShareGroupOffsets"), "group"),
    **dict.fromkeys(("DeleteShareGroupOffsets", "StreamsGroupHeartbeat", "StreamsGroupDescribe"), "group"),
    **dict.fromkeys(("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"), "transaction"),
    **dict.fromkeys(("DescribeTransactions", "ListTransactions"), "transaction"),
    **dict.fromkeys(("CreateTopics", "DeleteTopics", "CreatePartitions", "ElectLeaders"), "controller"),
    **dict.fromkeys(("AlterPartitionReassignments", "ListPartitionReassignments"), "controller"),
}
"""Broker that serves an API in a cluster of several: leader of the topic, a coordinator, or the controller."""


class BrokerError(Exception):
    """The broker cannot be tested at all."""


@dataclass(slots=True)
class Cluster:
    """A cluster, reached by one of its brokers."""

    address: Address
    expected: Collection[Address] = ()
    """Addresses that responses may have; all if empty."""
    versions: dict[int, tuple[int, int]] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    """Finalized levels."""
    brokers: dict[int, Address] = field(default_factory=dict)
    controller: Address | None = None
    internal_topics: set[str] = field(default_factory=set)
    foreign: list[str] = field(default_factory=list)
    """Addresses in responses to requests of no case that are not expected, with their places."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Take over brokers, controller and internal topics from a Metadata response."""
        self.brokers = {each["nodeId"]: (each["host"], each["port"]) for each in metadata["brokers"]}
        self.controller = self.brokers.get(metadata["controllerId"])
        self.internal_topics = {each["name"] for each in metadata["topics"] if each["isInternal"]}


def discover(address: Address, expected: Collection[Address], timeout: float) -> Cluster:
    """Ask for versions and features, in version 3 of ApiVersions, or else 0. Raises BrokerError."""
    problems = []
    for version in (3, 0):
        try:
            found = _api_versions(address, version, timeout)
        except (CaseFailure, KafkaMessageError) as error:
            problems.append(f"version {version}: {error}")
            continue
        if found.error_code == 0:
            versions = {each.api_key: (each.min_version, each.max_version) for each in found.api_keys}
            features = {each.name: each.max_version_level for each in found.finalized_features}
            return Cluster(address, expected, versions, features)
        problems.append(f"version {version}: error code {found.error_code}")
    raise BrokerError(f"{address[0]}:{address[1]} does not answer ApiVersions: {'; '.join(problems)}")


def _api_versions(address: Address, version: int, timeout: float) -> ApiVersionsResponse:
    wire = FrameSocket(address, Deadline(timeout, timeout))
    request = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")
    try:
        wire.send(encode_request(request.downgraded(version), version, _ID, CLIENT_ID))
        payload = wire.receive()[4:]
        if payload[:4] != _ID.to_bytes(4):
            raise CaseFailure(f"the response has another correlation id: {payload[:4].hex()}")
        is_fallback = payload[4:6] == ErrorCode.UNSUPPORTED_VERSION.to_bytes(2)
        return decode_response(payload, api(ApiVersionsRequest), 0 if is_fallback else version).message
    finally:
        wire.close()
