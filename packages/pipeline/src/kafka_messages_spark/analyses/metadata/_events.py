"""Convert metadata records to events in the workers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from kafka_messages.secrets import REDACTED

from ...columns._records import types_of
from ._rules import REMOVE, RULES, RecordRule

Fields = dict[str, Any]

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
