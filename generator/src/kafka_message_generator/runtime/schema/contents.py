"""What fields of bytes hold: messages behind their version, whole requests, records of topics. Facts of Kafka's messages."""

from __future__ import annotations

from .._core.value import dataclass

_SUBSCRIPTION, _ASSIGNMENT = "ConsumerProtocolSubscription", "ConsumerProtocolAssignment"
VERSIONED = {
    ("JoinGroupRequest", "protocols.metadata"): _SUBSCRIPTION,
    ("JoinGroupResponse", "members.metadata"): _SUBSCRIPTION,
    ("SyncGroupRequest", "assignments.assignment"): _ASSIGNMENT,
    ("SyncGroupResponse", "assignment"): _ASSIGNMENT,
    ("DescribeGroupsResponse", "groups.members.member_metadata"): _SUBSCRIPTION,
    ("DescribeGroupsResponse", "groups.members.member_assignment"): _ASSIGNMENT,
    ("GroupMetadataValue", "members.subscription"): _SUBSCRIPTION,
    ("GroupMetadataValue", "members.assignment"): _ASSIGNMENT,
    ("EnvelopeRequest", "request_principal"): "DefaultPrincipalData",
}
"""Fields of bytes that hold a message behind its version (int16), by message and path; of groups if they are consumers'."""
REQUESTS = {("EnvelopeRequest", "request_data")}
"""Fields of bytes that hold a whole request, from its header on."""


@dataclass(frozen=True, slots=True)
class FetchedRecords:
    """Where a message has records of topics: ``topics``, in these ``partitions``, in these the bytes."""

    topics: str
    names: tuple[str, ...]
    """The fields of a topic that say which it is."""
    partitions: str
    records: str

    def paths(self) -> dict[str, str | list[str]]:
        """The fields by their paths in the message."""
        names = [f"{self.topics}.{name}" for name in self.names]
        return {"topics": names, "records": f"{self.topics}.{self.partitions}.{self.records}"}


FETCHED = {
    "FetchResponse": FetchedRecords("responses", ("topic", "topic_id"), "partitions", "records"),
    "FetchSnapshotResponse": FetchedRecords("topics", ("name",), "partitions", "unaligned_records"),
}
"""The messages in which brokers and controllers fetch records of topics, by name."""
