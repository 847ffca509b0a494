"""Effects of metadata record types, and conversion of records to events in the workers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from kafka_messages.secrets import REDACTED

from ...columns._records import types_of

Fields = dict[str, Any]

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


# ``at`` is the log offset (for a snapshot, the last offset that it contains), ``place`` the offset in the snapshot.
# Events of a ``group`` are replayed together. ``key`` and ``fields`` are JSON.
EVENTS = pa.schema(
    [
        pa.field("at", pa.int64()),
        pa.field("place", pa.int64()),
        pa.field("timestamp", pa.timestamp("us", tz="UTC")),
        pa.field("leader_epoch", pa.int32()),
        pa.field("record_type", pa.string()),
        pa.field("group", pa.string()),
        pa.field("entity", pa.string()),
        pa.field("key", pa.string()),
        pa.field("action", pa.string()),
        pa.field("topic_id", pa.string()),
        pa.field("topic_name", pa.string()),
        pa.field("fields", pa.string()),
    ]
)


def events_of(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    columns = [each.column for each in types_of("metadata") if each.column in RULES]
    for batch in batches:
        rows: list[Fields] = []
        events = batch.select(["at", "place", "timestamp", "leader_epoch", "record_type"])
        for name in columns:
            chosen = batch.column(name).is_valid()
            for event, record in zip(
                events.filter(chosen).to_pylist(), batch.column(name).filter(chosen).to_pylist(), strict=True
            ):
                rows.append(event | _event(RULES[name], record))
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=EVENTS)


def _event(rule: RecordRule, record: Fields) -> Fields:
    record = {name: _text_of(value) if isinstance(value, bytes) else value for name, value in record.items()}
    if rule.entity == "client quota":
        record["entity"] = sorted(record["entity"], key=lambda part: str(part["entity_type"]))
    key = [record.pop(name) for name in rule.key]
    group = [rule.entity.replace("partition", "topic"), *key[:1]]
    if rule.record == "config_record":
        group = ["config", *key[:2]]  # all settings of a resource, because removing the resource removes them
    return {
        "group": group_name(group),
        "entity": rule.entity,
        "key": json.dumps(key),
        "action": _action(rule, record),
        "topic_id": key[0] if "topic_id" in rule.key else None,
        "topic_name": key[0] if rule.record == "clear_elr_record" else record.get("name"),
        "fields": json.dumps(record),
    }


def group_name(parts: Sequence[Any]) -> str:
    return json.dumps([str(part) for part in parts], separators=(",", ":"), ensure_ascii=False)


def _action(rule: RecordRule, record: Fields) -> str:
    gone = (
        (rule.record == "config_record" and record["value"] is None)
        or (rule.record == "client_quota_record" and record["remove"])
        or (rule.record == "feature_level_record" and record["feature_level"] == 0)
    )
    return REMOVE if gone else rule.action


def _text_of(value: bytes) -> str:
    return value.decode() if value.startswith(REDACTED[:-1].encode()) else value.hex()
