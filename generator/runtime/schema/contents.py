"""What fields of bytes hold: messages behind their version, and whole requests. Facts of Kafka's own messages."""

from __future__ import annotations

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
