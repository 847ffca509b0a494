"""What records of ``__cluster_metadata`` do to the state of a cluster; what runs in Spark's workers for ``metadata``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from kafka_messages.secrets import HIDDEN

from ._records import types_of

Fields = dict[str, Any]

SET, CHANGE, REMOVE = "set", "change", "remove"
BEGIN, END, ABORT = "begin", "end", "abort"
IGNORED = "ignored"


@dataclass(frozen=True)
class Rule:
    """What one type of record is about and does. ``key`` are the fields that name the entity, the first its group."""

    record: str
    entity: str
    key: tuple[str, ...]
    action: str


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
        Rule("access_control_entry_record", "acl", ("id",), SET),
        Rule("remove_access_control_entry_record", "acl", ("id",), REMOVE),
        Rule("user_scram_credential_record", "scram credential", ("name", "mechanism"), SET),
        Rule("remove_user_scram_credential_record", "scram credential", ("name", "mechanism"), REMOVE),
        Rule("delegation_token_record", "delegation token", ("token_id",), SET),
        Rule("remove_delegation_token_record", "delegation token", ("token_id",), REMOVE),
        Rule("feature_level_record", "feature", ("name",), SET),
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
"""By record type. A type that a later release adds has no rule: ``metadata.unhandled`` shows its records."""

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
"""A record as what it does. ``at`` is its offset in the log (of a snapshot, the last that it contains), ``place`` its
offset within the snapshot; ``group`` is what must be replayed together; ``key`` and ``fields`` are JSON."""

CHANGES = pa.list_(
    pa.field(
        "element",
        pa.struct([pa.field("field", pa.string()), pa.field("before", pa.string()), pa.field("after", pa.string())]),
    )
)
REPLAYED = pa.schema(
    [
        pa.field("what", pa.string()),
        pa.field("entity", pa.string()),
        pa.field("key", pa.string()),
        pa.field("name", pa.string()),
        pa.field("fields", pa.map_(pa.string(), pa.string())),
        pa.field("offset", pa.int64()),
        pa.field("timestamp", pa.timestamp("us", tz="UTC")),
        pa.field("leader_epoch", pa.int32()),
        pa.field("record_type", pa.string()),
        pa.field("change", pa.string()),
        pa.field("changes", CHANGES),
        pa.field("problem", pa.string()),
    ]
)
"""``what`` is ``before`` or ``after`` for an entity of an image, ``change`` for what one record did."""


def events_of(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Records, as ``cluster_metadata`` decodes them and ``metadata`` puts them in order, as events."""
    columns = [each.column for each in types_of("metadata") if each.column in RULES]
    for batch in batches:
        rows: list[Fields] = []
        facts = batch.select(["at", "place", "timestamp", "leader_epoch", "record_type"])
        for name in columns:
            chosen = batch.column(name).is_valid()
            for fact, record in zip(
                facts.filter(chosen).to_pylist(), batch.column(name).filter(chosen).to_pylist(), strict=True
            ):
                rows.append(fact | _event(RULES[name], record))
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=EVENTS)


def _event(rule: Rule, record: Fields) -> Fields:
    record = {name: _text_of(value) if isinstance(value, bytes) else value for name, value in record.items()}
    if rule.entity == "client quota":
        record["entity"] = sorted(record["entity"], key=lambda part: str(part["entity_type"]))
    key = [record.pop(name) for name in rule.key]
    group = [rule.entity.replace("partition", "topic"), *key[:1]]
    if rule.record == "config_record":
        group = ["config", *key[:2]]  # all settings of a resource, so that they go when it goes
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
    """The name of what must be replayed together, in the words of Spark's ``to_json``."""
    return json.dumps([str(part) for part in parts], separators=(",", ":"), ensure_ascii=False)


def _action(rule: Rule, record: Fields) -> str:
    gone = (
        (rule.record == "config_record" and record["value"] is None)
        or (rule.record == "client_quota_record" and record["remove"])
        or (rule.record == "feature_level_record" and record["feature_level"] == 0)
    )
    return REMOVE if gone else rule.action


def _text_of(value: bytes) -> str:
    """The mark of hidden bytes as it is; bytes that are shown in hexadecimal."""
    return value.decode() if value.startswith(HIDDEN[:-1].encode()) else value.hex()


@dataclass
class _Entity:
    fields: Fields
    event: Fields
    problem: str | None = None


@dataclass
class Replay:
    """The state of one group of entities, event by event. ``start`` is the offset after which changes are listed."""

    start: int | None
    state: dict[tuple[str, str], _Entity] = field(default_factory=dict)
    rows: list[Fields] = field(default_factory=list)
    topic: str | None = None
    started: bool = False

    def run(self, events: Sequence[Fields]) -> list[Fields]:
        """Replay events in order; the rows of ``REPLAYED``."""
        for event in events:
            if self.start is not None and not self.started and event["at"] > self.start:
                self._image("before")
                self.started = True
            self._apply(event)
        if self.start is not None and not self.started:
            self._image("before")
        self._image("after")
        return self.rows

    def _apply(self, event: Fields) -> None:
        entity, fields = event["entity"], json.loads(event["fields"])
        place = entity, event["key"]
        if entity == "topic" and event["action"] == SET:
            self.topic = fields["name"]
        if event["record_type"] in ("clear_elr_record", "remove_topic_record"):
            places = [each for each in self.state if event["record_type"] == "remove_topic_record" or each[0] == entity]
            for each in places:
                self._set(each, event, self._after(self.state[each].fields, event, fields))
            if not places and entity == "topic":
                self._note(place, event, "removes what was not there")
            return
        before = self.state.get(place)
        if event["action"] == REMOVE and before is None:
            self._note(place, event, "removes what was not there")
            return
        problem = None
        if event["action"] == CHANGE and before is None:
            problem = "changes what was not there"
        self._set(place, event, self._after(before.fields if before else {}, event, fields), problem)

    def _after(self, before: Fields, event: Fields, fields: Fields) -> Fields | None:
        """The fields of an entity after an event; None when it is gone."""
        if event["action"] == REMOVE:
            return None
        if event["action"] == SET:
            return normal(event["entity"], fields)
        return changed(before, event["record_type"], fields)

    def _set(self, place: tuple[str, str], event: Fields, after: Fields | None, problem: str | None = None) -> None:
        before = self.state.get(place)
        name = self._name(place, after if before is None else before.fields)
        if after is None:
            self.state.pop(place, None)
        else:
            problem = problem or (before.problem if before and event["action"] == CHANGE else None)
            self.state[place] = _Entity(after, event, problem)
        self._listed(place, event, name, before.fields if before else None, after, problem)

    def _listed(
        self,
        place: tuple[str, str],
        event: Fields,
        name: str,
        before: Fields | None,
        after: Fields | None,
        problem: str | None,
    ) -> None:
        if self.start is None or event["at"] <= self.start:
            return
        changes = [
            {"field": each, "before": text((before or {}).get(each)), "after": text((after or {}).get(each))}
            for each in {**(before or {}), **(after or {})}
        ]
        changes = [each for each in changes if each["before"] != each["after"]]
        change = "changed" if before is not None else "added"
        change = "removed" if after is None else change if changes or before is None else "unchanged"
        if change == "unchanged" and event["record_type"] == "clear_elr_record":
            return  # it is for all partitions, whether there is something to clear or not
        self._row("change", place, event, name, after, change=change, changes=changes, problem=problem)

    def _note(self, place: tuple[str, str], event: Fields, problem: str) -> None:
        """A record that could not do what it says."""
        if self.start is not None and event["at"] > self.start:
            self._row("change", place, event, self._name(place, None), None, change="unchanged", problem=problem)

    def _image(self, what: str) -> None:
        for place, entity in self.state.items():
            name = self._name(place, entity.fields)
            self._row(what, place, entity.event, name, entity.fields, problem=entity.problem)

    def _row(
        self, what: str, place: tuple[str, str], event: Fields, name: str, fields: Fields | None, **more: Any
    ) -> None:
        facts = {each: event[each] for each in ("timestamp", "leader_epoch", "record_type")}
        content = None if fields is None else [(each, text(value)) for each, value in fields.items()]
        row = {"what": what, "entity": place[0], "key": place[1], "name": name, "fields": content}
        self.rows.append(row | facts | {"offset": event["at"]} | more)

    def _name(self, place: tuple[str, str], fields: Fields | None) -> str:
        return name_of(place[0], json.loads(place[1]), fields or {}, self.topic)


_MAPS = ("end_points", "features")
_SETS = ("log_dirs", "cordoned_log_dirs")


def normal(entity: str, fields: Fields) -> Fields:
    """Fields as they are compared: what a record leaves out is what Kafka takes it for."""
    if entity == "partition":
        empty = ("eligible_leader_replicas", "last_known_elr", "directories")
        return fields | {name: fields[name] or [] for name in empty}
    if entity == "client quota":
        return {"value": fields["value"]}
    if entity == "producer ids":
        return {"next_producer_id": fields["next_producer_id"]}  # for whom a block was is not in snapshots
    if entity in ("broker", "controller"):
        # Maps by name and sets, which have no order in Kafka; snapshots write them in another one than the log.
        by_name = {name: sorted(fields[name] or [], key=lambda each: str(each["name"])) for name in _MAPS}
        return fields | by_name | {name: sorted(fields[name] or []) for name in _SETS if name in fields}
    return fields


def changed(before: Fields, record_type: str, fields: Fields) -> Fields:
    """The fields of a partition or broker after a record that changes parts of it (Kafka's PartitionRegistration.merge
    and ClusterDelta.replay)."""
    if record_type == "clear_elr_record":
        return before | {"eligible_leader_replicas": [], "last_known_elr": []}
    if record_type == "fence_broker_record":
        return before | {"fenced": True}
    if record_type == "unfence_broker_record":
        return before | {"fenced": False}
    if record_type == "partition_change_record":
        same = {"leader": -2, "leader_recovery_state": -1}
        after = before | {
            name: value for name, value in fields.items() if value is not None and value != same.get(name)
        }
        if fields["leader"] != same["leader"]:
            after["leader_epoch"] = before.get("leader_epoch", -1) + 1
        return after | {"partition_epoch": before.get("partition_epoch", -1) + 1}
    after = dict(before)
    if fields["fenced"]:
        after["fenced"] = fields["fenced"] > 0
    if fields["in_controlled_shutdown"]:
        after["in_controlled_shutdown"] = True
    if fields["log_dirs"]:
        after["log_dirs"] = sorted(fields["log_dirs"])
    if fields["cordoned_log_dirs"] is not None:
        after["cordoned_log_dirs"] = sorted(fields["cordoned_log_dirs"])
    return after


def text(value: Any) -> str | None:
    """A value as it is shown and compared: text as it is, all else as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


_RESOURCES = {2: "topic", 4: "broker", 8: "broker logger", 16: "client metrics", 32: "group"}
_ACL_RESOURCES = {2: "topic", 3: "group", 4: "cluster", 5: "transactional id", 6: "delegation token", 7: "user"}
_OPERATIONS = dict(
    enumerate(
        (
            "all",
            "read",
            "write",
            "create",
            "delete",
            "alter",
            "describe",
            "cluster action",
            "describe configs",
            "alter configs",
            "idempotent write",
            "create tokens",
            "describe tokens",
            "two-phase commit",
        ),
        2,
    )
)
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}


def name_of(entity: str, key: list[Any], fields: Fields, topic: str | None = None) -> str:
    """What people call an entity."""
    if entity == "topic":
        return str(fields.get("name") or topic or key[0])
    if entity == "partition":
        return f"{topic or key[0]}-{key[1]}" if len(key) > 1 else str(topic or key[0])
    if entity == "config":
        return f"{_RESOURCES.get(key[0], key[0])} {key[1] or '(default)'}: {key[2]}" if len(key) > 2 else str(key)
    if entity == "client quota":
        parts = [f"{part['entity_type']} {part['entity_name'] or '(default)'}" for part in key[0]]
        return f"{', '.join(parts)}: {key[1]}"
    if entity == "scram credential":
        return f"{key[0]} {_MECHANISMS.get(key[1], key[1])}"
    if entity == "acl" and fields:
        verb = "may" if fields["permission_type"] == 3 else "may not"
        kind = _ACL_RESOURCES.get(fields["resource_type"], fields["resource_type"])
        star = "*" if fields["pattern_type"] == 4 else ""
        what = f"{_OPERATIONS.get(fields['operation'], fields['operation'])} {kind} {fields['resource_name']}{star}"
        return f"{fields['principal']} {verb} {what} from {fields['host']}"
    return ", ".join(map(str, key)) or entity


def replayed(table: pa.Table, start: int | None) -> pa.Table:
    """One group of events, replayed."""
    events = table.sort_by([("at", "ascending"), ("place", "ascending")]).to_pylist()
    return pa.Table.from_pylist(Replay(start).run(events), schema=REPLAYED)
