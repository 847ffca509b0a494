"""What fields of bytes hold: messages behind their version, whole requests, the log of KRaft. Facts of Kafka's messages."""

from __future__ import annotations

from uuid import UUID

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

METADATA_TOPIC = "__cluster_metadata"
"""The topic that is the log of KRaft. Its records hold what clients set, SCRAM keys and passwords, as it is."""
METADATA_TOPIC_ID = UUID(int=1)
"""The id that this topic has in every cluster (Kafka's Uuid.METADATA_TOPIC_ID)."""


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
"""The messages in which records of the log of KRaft are, by name."""


def is_metadata(topic: object) -> bool:
    """Whether a name or an id is that of the log of KRaft."""
    return topic in (METADATA_TOPIC, METADATA_TOPIC_ID)


def may_hold_metadata(message: str, data: bytes) -> bool:
    """Whether the bytes of a message that cannot be read could hold records of the log of KRaft."""
    return message in FETCHED and (METADATA_TOPIC.encode() in data or METADATA_TOPIC_ID.bytes in data)
