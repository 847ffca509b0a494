"""Contents of Kafka's bytes fields: messages, requests, fetched records."""

from __future__ import annotations

from .._core.value import dataclass

_SUBSCRIPTION, _ASSIGNMENT = "ConsumerProtocolSubscription", "ConsumerProtocolAssignment"
# Fields with an int16 version and a message, by message and field path. In groups only with protocol type "consumer".
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
# Fields that contain a whole request, as message and field path.
REQUESTS = {("EnvelopeRequest", "request_data")}


@dataclass(frozen=True, slots=True)
class FetchedRecords:

    topics: str
    names: tuple[str, ...]
    partitions: str
    records: str

    def paths(self) -> dict[str, str | list[str]]:
        names = [f"{self.topics}.{name}" for name in self.names]
        return {"topics": names, "records": f"{self.topics}.{self.partitions}.{self.records}"}


FETCHED = {
    "FetchResponse": FetchedRecords("responses", ("topic", "topic_id"), "partitions", "records"),
    "FetchSnapshotResponse": FetchedRecords("topics", ("name",), "partitions", "unaligned_records"),
}
