"""Every field that resembles a name or an address is an entity, an endpoint, or listed here with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_messages import all_messages
from kafka_messages.schema import entity_types
from kafka_messages.schema.descriptors import FieldDescriptor, address_of, descriptor_of

LOOKS_LIKE_A_NAME = re.compile(
    r"broker|candidate|client_id|cluster|controller|coordinator|elr|entity|group|isr|leader|node|owner|principal|producer|rack|renewer"
    r"|replica|requester|resource|successor|token|topic|transactional|user|voted|voter|(^|_)(id|ids|key|keys|match|name|names)$"
).search
TYPES = ("int32", "int64", "string")

NO_NAMES = {
    r"\w*_epoch": "counts",
    r"producer_id_len": "counts",
    r"(assignor|protocol|client_software)_name": "of a piece of software",
    r"configuration_keys": "of settings, which are the same everywhere",
    r"correlation_id|generation_id|session_id|subscription_id": "a number of this connection or this group alone",
    r"(group_)?instance_id|member_id|process_id": "known within a group alone",
    r"(entity|group|\w*principal)_type|group_state": "one of a few words",
    r"partition_ids?|topic_group_id": "the number of a part",
    r"subtopology_id|successors": "of a part of a Kafka Streams program",
    r"\w*topic_regex|transactional_id_pattern": "a regular expression, which may stand for any names",
    r"(cluster|topic)_authorized_operations": "bits",
}
"""Reasons by pattern of the field name."""
OF_A_LISTENER = "of a listener"
OF_A_SETTING = "of a setting, or of a quota"
OF_A_FEATURE = "of a feature"
OF_STREAMS = "of a part of a Kafka Streams program"
OF_A_MEMBER = "a member, known within its group alone"
NO_NAMES_HERE = {
    "AddRaftVoterRequest.Listener.name": OF_A_LISTENER,
    "AlterClientQuotasRequest.OpData.key": OF_A_SETTING,
    "AlterConfigsRequest.AlterableConfig.name": OF_A_SETTING,
    "ApiVersionsResponse.FinalizedFeatureKey.name": OF_A_FEATURE,
    "ApiVersionsResponse.SupportedFeatureKey.name": OF_A_FEATURE,
    "BeginQuorumEpochRequest.LeaderEndpoint.name": OF_A_LISTENER,
    "BeginTransactionRecord.name": "says what the controller is at, for people",
    "BrokerRegistrationRequest.Feature.name": OF_A_FEATURE,
    "BrokerRegistrationRequest.Listener.name": OF_A_LISTENER,
    "ClientQuotaRecord.key": OF_A_SETTING,
    "ConfigRecord.name": OF_A_SETTING,
    "ConsumerGroupMemberMetadataValue.ClassicProtocol.name": "of an assignor",
    "ControllerRegistrationRequest.Feature.name": OF_A_FEATURE,
    "ControllerRegistrationRequest.Listener.name": OF_A_LISTENER,
    "CreateTopicsRequest.CreatableTopicConfig.name": OF_A_SETTING,
    "CreateTopicsResponse.CreatableTopicConfigs.name": OF_A_SETTING,
    "DescribeClientQuotasResponse.ValueData.key": OF_A_SETTING,
    "DescribeConfigsResponse.DescribeConfigsResourceResult.name": OF_A_SETTING,
    "DescribeConfigsResponse.DescribeConfigsSynonym.name": OF_A_SETTING,
    "DescribeQuorumResponse.Listener.name": OF_A_LISTENER,
    "EndQuorumEpochRequest.LeaderEndpoint.name": OF_A_LISTENER,
    "FeatureLevelRecord.name": OF_A_FEATURE,
    "GroupMetadataValue.leader": OF_A_MEMBER,
    "IncrementalAlterConfigsRequest.AlterableConfig.name": OF_A_SETTING,
    "JoinGroupRequest.JoinGroupRequestProtocol.name": "of an assignor",
    "JoinGroupResponse.leader": OF_A_MEMBER,
    "RegisterBrokerRecord.BrokerEndpoint.name": OF_A_LISTENER,
    "RegisterBrokerRecord.BrokerFeature.name": OF_A_FEATURE,
    "RegisterControllerRecord.ControllerEndpoint.name": OF_A_LISTENER,
    "RegisterControllerRecord.ControllerFeature.name": OF_A_FEATURE,
    "RemoveFeatureLevelRecord.name": OF_A_FEATURE,
    "StreamsGroupDescribeResponse.KeyValue.key": OF_STREAMS,
    "StreamsGroupDescribeResponse.TopologyDescriptionNode.name": OF_STREAMS,
    "StreamsGroupHeartbeatRequest.KeyValue.key": OF_STREAMS,
    "StreamsGroupMemberMetadataValue.KeyValue.key": OF_STREAMS,
    "StreamsGroupMetadataValue.LastAssignmentConfig.key": OF_STREAMS,
    "StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode.name": OF_STREAMS,
    "StreamsGroupTopologyValue.TopicConfig.key": OF_A_SETTING,
    "UpdateRaftVoterRequest.Listener.name": OF_A_LISTENER,
    "VotersRecord.Endpoint.name": OF_A_LISTENER,
}
"""Reasons by path of a single field."""

# Brokers and controllers share one range of node ids.
NODES = (
    *("adding_replicas", "broker_id", "broker_ids", "candidate_id", "controller_id", "eligible_leader_replicas", "id"),
    *("isr", "isr_nodes", "last_known_elr", "leader", "leader_id", "new_isr", "node_id", "offline_replicas"),
    *("preferred_read_replica", "preferred_successors", "removing_replicas", "replica_id", "replica_nodes", "replicas"),
    *("voted_id", "voter_id"),
)
OF_AN_ACL = "whom an ACL lets in: a client, which nobody connects to"
OF_A_CLIENT = "a client as a broker saw it, without a port: nobody connects to it"
NO_ADDRESSES = {
    "AccessControlEntryRecord.host": OF_AN_ACL,
    "AccessControlRecord.host": OF_AN_ACL,
    "CreateAclsRequest.AclCreation.host": OF_AN_ACL,
    "DeleteAclsRequest.DeleteAclsFilter.host_filter": OF_AN_ACL,
    "DeleteAclsResponse.DeleteAclsMatchingAcl.host": OF_AN_ACL,
    "DescribeAclsRequest.host_filter": OF_AN_ACL,
    "DescribeAclsResponse.AclDescription.host": OF_AN_ACL,
    "ConsumerGroupDescribeResponse.Member.client_host": OF_A_CLIENT,
    "ConsumerGroupMemberMetadataValue.client_host": OF_A_CLIENT,
    "DescribeGroupsResponse.DescribedGroupMember.client_host": OF_A_CLIENT,
    "EnvelopeRequest.client_host_address": OF_A_CLIENT,
    "GroupMetadataValue.MemberMetadata.client_host": OF_A_CLIENT,
    "ShareGroupDescribeResponse.Member.client_host": OF_A_CLIENT,
    "ShareGroupMemberMetadataValue.client_host": OF_A_CLIENT,
    "StreamsGroupDescribeResponse.Member.client_host": OF_A_CLIENT,
    "StreamsGroupMemberMetadataValue.client_host": OF_A_CLIENT,
}


def structs() -> Iterator[tuple[str, str, tuple[FieldDescriptor, ...]]]:
    for info in all_messages():
        descriptor = descriptor_of(info.message_class)
        yield descriptor.name, descriptor.name, descriptor.fields
        for name, fields in descriptor.structs.items():
            yield descriptor.name, name, fields


def entities_by_place() -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return the entity types of fields by message, struct and field."""
    return {
        (info.name, *place): types
        for info in all_messages()
        for place, types in entity_types(info.message_class).items()
    }


def path_of(message: str, struct: str, field: FieldDescriptor) -> str:
    return f"{message}.{field.name}" if message == struct else f"{message}.{struct}.{field.name}"


def test_every_name_like_field_is_an_entity_or_excluded() -> None:
    annotated = entities_by_place()
    found, patterns, here = set(), set(), set()
    for message, struct, fields in structs():
        for field in fields:
            if field.type not in TYPES or not LOOKS_LIKE_A_NAME(field.name):
                continue
            if field.name in (address_of(fields) or ()):
                continue
            if field.entity_type is not None or (message, struct, field.name) in annotated:
                continue
            pattern = next((each for each in NO_NAMES if re.fullmatch(each, field.name)), None)
            if pattern is not None:
                patterns.add(pattern)
            elif (where := path_of(message, struct, field)) in NO_NAMES_HERE:
                here.add(where)
            else:
                found.add(where)
    assert found == set()
    assert patterns == set(NO_NAMES)
    assert here == set(NO_NAMES_HERE)


def test_nodes_racks_and_clusters_have_their_entity_type() -> None:
    annotated = entities_by_place()
    names: dict[str, set[str]] = {"brokerId": set(), "rack": set(), "clusterId": set()}
    for message, struct, fields in structs():
        for field in fields:
            entity = field.entity_type or next(iter(annotated.get((message, struct, field.name), ())), None)
            if entity in names:
                names[entity].add(field.name)
            assert entity == "brokerId" or not (entity and field.type == "int32"), path_of(message, struct, field)
    assert names["rack"] == {"rack", "rack_id", "racks"}
    assert names["clusterId"] == {"cluster_id"}
    assert names["brokerId"] == set(NODES)


def test_every_address_like_field_is_an_endpoint_or_excluded() -> None:
    found = {
        path_of(message, struct, field)
        for message, struct, fields in structs()
        for field in fields
        if "host" in field.name and field.name not in (address_of(fields) or ())
    }
    assert found == set(NO_ADDRESSES)
    ports = {
        path_of(message, struct, field)
        for message, struct, fields in structs()
        for field in fields
        if field.name.endswith("port") and field.name not in (address_of(fields) or ())
    }
    assert ports == set()
