"""Replay metadata events in the workers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ._events import CHANGE, REMOVE, SET, Fields
from ._names import name_of

CHANGES = pa.list_(
    pa.field(
        "element",
        pa.struct([pa.field("field", pa.string()), pa.field("before", pa.string()), pa.field("after", pa.string())]),
    )
)
# ``what`` is ``before`` or ``after`` for an entity of an image, and ``change`` for the effect of one record.
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


@dataclass
class _EntityState:
    fields: Fields
    event: Fields
    problem: str | None = None


@dataclass
class EntityReplay:
    """Replay of the events of one group of entities; with ``start`` None, for the last state only."""

    start: int | None
    state: dict[tuple[str, str], _EntityState] = field(default_factory=dict)
    rows: list[Fields] = field(default_factory=list)
    topic: str | None = None
    started: bool = False

    def run(self, events: Sequence[Fields]) -> list[Fields]:
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
                self._note(place, event, "removes an entity that does not exist")
            return
        before = self.state.get(place)
        if event["action"] == REMOVE and before is None:
            self._note(place, event, "removes an entity that does not exist")
            return
        problem = None
        if event["action"] == CHANGE and before is None:
            problem = "changes an entity that does not exist"
        self._set(place, event, self._after(before.fields if before else {}, event, fields), problem)

    def _after(self, before: Fields, event: Fields, fields: Fields) -> Fields | None:
        if event["action"] == REMOVE:
            return None
        if event["action"] == SET:
            return normalized(event["entity"], fields)
        return apply_change(before, event["record_type"], fields)

    def _set(self, place: tuple[str, str], event: Fields, after: Fields | None, problem: str | None = None) -> None:
        before = self.state.get(place)
        name = self._name(place, after if before is None else before.fields)
        if after is None:
            self.state.pop(place, None)
        else:
            problem = problem or (before.problem if before and event["action"] == CHANGE else None)
            self.state[place] = _EntityState(after, event, problem)
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
            return  # applies to all partitions, even without effect
        self._row("change", place, event, name, after, change=change, changes=changes, problem=problem)

    def _note(self, place: tuple[str, str], event: Fields, problem: str) -> None:
        if self.start is not None and event["at"] > self.start:
            self._row("change", place, event, self._name(place, None), None, change="unchanged", problem=problem)

    def _image(self, what: str) -> None:
        for place, entity in self.state.items():
            name = self._name(place, entity.fields)
            self._row(what, place, entity.event, name, entity.fields, problem=entity.problem)

    def _row(
        self, what: str, place: tuple[str, str], event: Fields, name: str, fields: Fields | None, **more: Any
    ) -> None:
        of_event = {each: event[each] for each in ("timestamp", "leader_epoch", "record_type")}
        content = None if fields is None else [(each, text(value)) for each, value in fields.items()]
        row = {"what": what, "entity": place[0], "key": place[1], "name": name, "fields": content}
        self.rows.append(row | of_event | {"offset": event["at"]} | more)

    def _name(self, place: tuple[str, str], fields: Fields | None) -> str:
        return name_of(place[0], json.loads(place[1]), fields or {}, self.topic)


_MAPS = ("end_points", "features")
_SETS = ("log_dirs", "cordoned_log_dirs")


def normalized(entity: str, fields: Fields) -> Fields:
    if entity == "partition":
        empty = ("eligible_leader_replicas", "last_known_elr", "directories")
        return fields | {name: fields[name] or [] for name in empty}
    if entity == "client quota":
        return {"value": fields["value"]}
    if entity == "producer ids":
        return {"next_producer_id": fields["next_producer_id"]}  # snapshots lack the broker of a block
    if entity in ("broker", "controller"):
        # Unordered in Kafka; snapshots and log use different orders.
        by_name = {name: sorted(fields[name] or [], key=lambda each: str(each["name"])) for name in _MAPS}
        return fields | by_name | {name: sorted(fields[name] or []) for name in _SETS if name in fields}
    return fields


def apply_change(before: Fields, record_type: str, fields: Fields) -> Fields:
    """Apply a partial change (Kafka's PartitionRegistration.merge and ClusterDelta.replay)."""
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
    return value if value is None or isinstance(value, str) else json.dumps(value)


def replayed(table: pa.Table, start: int | None) -> pa.Table:
    events = table.sort_by([("at", "ascending"), ("place", "ascending")]).to_pylist()
    return pa.Table.from_pylist(EntityReplay(start).run(events), schema=REPLAYED)
