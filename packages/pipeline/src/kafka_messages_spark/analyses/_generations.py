"""Compute the generations or epochs of one group in the workers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

# Kinds of events, in this order: generation of a classic group; epoch of another group, member of such a group, and
# epoch that a member reached.
GENERATION, EPOCH, MEMBER, SETTLED = "generation", "epoch", "member", "settled"

_MEMBER = pa.struct(
    [
        pa.field("member_id", pa.string()),
        pa.field("instance_id", pa.string()),
        pa.field("client_id", pa.string()),
        pa.field("client_host", pa.string()),
    ]
)
# Columns of an event. members has all members of a classic group, or the one member in a record of another group.
READ = (
    "group",
    "type",
    "event",
    "generation",
    "protocol",
    "leader",
    "member_id",
    "members",
    "is_tombstone",
    "state_ms",
    "time_ms",
    "log_topic",
    "log_partition",
    "log_offset",
)
SCHEMA = pa.schema(
    [
        pa.field("group", pa.string()),
        pa.field("type", pa.string()),
        pa.field("generation", pa.int32()),
        pa.field("time_ms", pa.int64()),
        pa.field("members", pa.int32()),
        pa.field("joined", pa.list_(_MEMBER)),
        pa.field("left", pa.list_(_MEMBER)),
        pa.field("protocol", pa.string()),
        pa.field("leader", pa.string()),
        pa.field("took_ms", pa.int64()),
        pa.field("log_partition", pa.int32()),
        pa.field("log_offset", pa.int64()),
    ]
)

# Highest epoch at which a new group starts (Kafka 4.4.0; earlier versions start at 1).
_FIRST_EPOCH = 2

Row = dict[str, Any]
Members = dict[str, Row]


def generations(table: pa.Table) -> pa.Table:
    order = [(name, "ascending") for name in ("log_topic", "log_partition", "log_offset")]
    group = _GroupHistory()
    for event in table.sort_by(order).to_pylist():
        group.take(event)
    return pa.Table.from_pylist(group.rows, schema=SCHEMA)


class _GroupHistory:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.members: Members = {}
        # Members of the previous epoch, for groups that are not classic.
        self._before: Members = {}
        self._generation: int | None = None
        self._settled: dict[str, int] = {}

    def take(self, event: Row) -> None:
        kind = event["event"]
        if kind == GENERATION:
            self._classic(event)
        elif kind == EPOCH:
            self._epoch(event)
        elif kind == MEMBER:
            self._member(event)
        else:
            self._reached(event)

    def _classic(self, event: Row) -> None:
        if event["is_tombstone"]:
            self.members, self._generation = {}, None
            return
        generation = event["generation"]
        is_cut = self._generation is None and generation > 1  # earlier generations were compacted away
        now = {each["member_id"]: each for each in event["members"] or []}
        row = self._row(event, None if is_cut else self.members, now)
        is_new = self._generation is None or generation != self._generation
        if (is_new or row["joined"] or row["left"]) and (now or self._generation is not None):
            is_timed = bool(now) and event["state_ms"] is not None and 0 <= event["state_ms"] <= event["time_ms"]
            self.rows.append(row | {"took_ms": event["time_ms"] - event["state_ms"] if is_timed else None})
        self.members, self._generation = now, generation

    def _member(self, event: Row) -> None:
        if event["is_tombstone"]:
            self.members.pop(event["member_id"], None)
            self._settled.pop(event["member_id"], None)
        else:
            self.members[event["member_id"]] = event["members"][0]

    def _epoch(self, event: Row) -> None:
        if event["is_tombstone"]:
            self.members, self._before, self._generation = {}, {}, None
            return
        is_cut = self._generation is None and event["generation"] > _FIRST_EPOCH
        self.rows.append(self._row(event, None if is_cut else self._before, self.members))
        self._before, self._generation = dict(self.members), event["generation"]

    def _reached(self, event: Row) -> None:
        if event["is_tombstone"]:
            self._settled.pop(event["member_id"], None)
            return
        self._settled[event["member_id"]] = event["generation"]
        row = self.rows[-1] if self.rows else None
        if row is None or row["took_ms"] is not None or row["generation"] != self._generation:
            return
        if self.members and all(self._settled.get(each) == self._generation for each in self.members):
            row["took_ms"] = max(0, event["time_ms"] - row["time_ms"])

    @staticmethod
    def _row(event: Row, before: Members | None, now: Members) -> Row:
        kept = ("group", "type", "generation", "time_ms", "protocol", "leader", "log_partition", "log_offset")
        return {name: event[name] for name in kept} | {
            "members": len(now),
            "joined": None if before is None else [now[each] for each in now if each not in before],
            "left": None if before is None else [before[each] for each in before if each not in now],
            "took_ms": None,
        }
