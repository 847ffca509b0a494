"""Effects of metadata record types."""

from __future__ import annotations

from dataclasses import dataclass

SET, CHANGE, REMOVE = "set", "change", "remove"
# Key of an ACL without an ID, from before Kafka 3.2.
_ACL = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type")
BEGIN, END, ABORT = "begin", "end", "abort"
IGNORED = "ignored"


@dataclass(frozen=True)
class RecordRule:
    """Effect of a record type. ``key`` lists the identifying fields."""

    record: str
    entity: str
    key: tuple[str, ...]
    action: str


# By record type; ``unhandled`` counts types without a rule.
RULES = {
    rule.record: rule
    for rule in (
        RecordRule("topic_record", "topic", ("topic_id",), SET),
        RecordRule("remove_topic_record", "topic", ("topic_id",), REMOVE),
        RecordRule("partition_record", "partition", ("topic_id", "partition_id"), SET),
        RecordRule("partition_change_record", "partition", ("topic_id", "partition_id"), CHANGE),
        RecordRule("clear_elr_record", "partition", ("topic_name",), CHANGE),
        RecordRule("config_record", "config", ("resource_type", "resource_name", "name"), SET),
        RecordRule("client_quota_record", "client quota", ("entity", "key"), SET),
        RecordRule("access_control_record", "acl", _ACL, SET),
        RecordRule("access_control_entry_record", "acl", ("id",), SET),
        RecordRule("remove_access_control_entry_record", "acl", ("id",), REMOVE),
        RecordRule("user_scram_credential_record", "scram credential", ("name", "mechanism"), SET),
        RecordRule("remove_user_scram_credential_record", "scram credential", ("name", "mechanism"), REMOVE),
        RecordRule("delegation_token_record", "delegation token", ("token_id",), SET),
        RecordRule("remove_delegation_token_record", "delegation token", ("token_id",), REMOVE),
        RecordRule("feature_level_record", "feature", ("name",), SET),
        RecordRule("remove_feature_level_record", "feature", ("name",), REMOVE),
        RecordRule("register_broker_record", "broker", ("broker_id",), SET),
        RecordRule("unregister_broker_record", "broker", ("broker_id",), REMOVE),
        RecordRule("broker_registration_change_record", "broker", ("broker_id",), CHANGE),
        RecordRule("fence_broker_record", "broker", ("id",), CHANGE),
        RecordRule("unfence_broker_record", "broker", ("id",), CHANGE),
        RecordRule("register_controller_record", "controller", ("controller_id",), SET),
        RecordRule("unregister_controller_record", "controller", ("controller_id",), REMOVE),
        RecordRule("producer_ids_record", "producer ids", (), SET),
        RecordRule("zk_migration_state_record", "zk migration", (), SET),
        RecordRule("begin_transaction_record", "", (), BEGIN),
        RecordRule("end_transaction_record", "", (), END),
        RecordRule("abort_transaction_record", "", (), ABORT),
        RecordRule("no_op_record", "", (), IGNORED),
    )
}
