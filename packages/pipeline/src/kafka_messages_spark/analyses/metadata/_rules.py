"""Effects of metadata record types."""

from __future__ import annotations

from dataclasses import dataclass

SET, CHANGE, REMOVE = "set", "change", "remove"
# ACLs had no IDs before Kafka 3.2.
_ACL = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type")
BEGIN, END, ABORT = "begin", "end", "abort"
IGNORED = "ignored"


@dataclass(frozen=True)
class Rule:
    """Effect of a record type. ``key`` lists the identifying fields; the first one identifies the group."""

    record: str
    entity: str
    key: tuple[str, ...]
    action: str


# By record type; types without a rule are listed by unhandled.
RULES = {
    rule.record: rule
    for rule in (
        Rule("topic_record", "topic", ("topic_id",), SET),
        Rule("remove_topic_record", "topic", ("topic_id",), REMOVE),
        Rule("partition_record", "partition", ("topic_id", "partition_id"), SET),
        Rule("partition_change_record", "partition", ("topic_id", "partition_id"), CHANGE),
        Rule("clear_elr_record", "partition", ("topic_name",), CHANGE),
        Rule("config_record", "config", ("resource_type", "resource_name", "name"), SET),
        Rule("client_quota_record", "client quota", ("entity", "key"), SET),
        Rule("access_control_record", "acl", _ACL, SET),
        Rule("access_control_entry_record", "acl", ("id",), SET),
        Rule("remove_access_control_entry_record", "acl", ("id",), REMOVE),
        Rule("user_scram_credential_record", "scram credential", ("name", "mechanism"), SET),
        Rule("remove_user_scram_credential_record", "scram credential", ("name", "mechanism"), REMOVE),
        Rule("delegation_token_record", "delegation token", ("token_id",), SET),
        Rule("remove_delegation_token_record", "delegation token", ("token_id",), REMOVE),
        Rule("feature_level_record", "feature", ("name",), SET),
        Rule("remove_feature_level_record", "feature", ("name",), REMOVE),
        Rule("register_broker_record", "broker", ("broker_id",), SET),
        Rule("unregister_broker_record", "broker", ("broker_id",), REMOVE),
        Rule("broker_registration_change_record", "broker", ("broker_id",), CHANGE),
        Rule("fence_broker_record", "broker", ("id",), CHANGE),
        Rule("unfence_broker_record", "broker", ("id",), CHANGE),
        Rule("register_controller_record", "controller", ("controller_id",), SET),
        Rule("unregister_controller_record", "controller", ("controller_id",), REMOVE),
        Rule("producer_ids_record", "producer ids", (), SET),
        Rule("zk_migration_state_record", "zk migration", (), SET),
        Rule("begin_transaction_record", "", (), BEGIN),
        Rule("end_transaction_record", "", (), END),
        Rule("abort_transaction_record", "", (), ABORT),
        Rule("no_op_record", "", (), IGNORED),
    )
}
