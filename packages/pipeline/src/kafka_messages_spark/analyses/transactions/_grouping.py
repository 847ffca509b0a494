"""Combine rows of ``find_transactions`` into whole transactions, in the workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

# Input columns; times are in milliseconds.
READ = (
    "topic",
    "partition",
    "producer_id",
    "status",
    "records",
    "bytes",
    "first_timestamp",
    "marker_timestamp",
    "marker_epoch",
)
SCHEMA = pa.schema(
    [
        pa.field("producer_id", pa.int64()),
        pa.field("producer_epoch", pa.int32()),
        pa.field("status", pa.string()),
        pa.field("partitions", pa.int32()),
        pa.field("records", pa.int64()),
        pa.field("bytes", pa.int64()),
        pa.field("first_ms", pa.int64()),
        pa.field("last_marker_ms", pa.int64()),
    ]
)


def whole(table: pa.Table) -> pa.Table:
    order = ("marker_epoch", "marker_timestamp", "topic", "partition")
    rows = table.sort_by([(name, "ascending") for name in order]).to_pylist()
    by_time = not _has_own_epochs(rows)
    groups: list[list[dict[str, Any]]] = []
    places: set[tuple[str, int]] = set()
    for row in rows:
        place = row["topic"], row["partition"]
        if not groups or place in places or _is_later(groups[-1][0], row, by_time=by_time):
            groups.append([])
            places = set()
        groups[-1].append(row)
        places.add(place)
    return pa.Table.from_pylist([_row(group) for group in groups], schema=SCHEMA)


def _has_own_epochs(rows: Sequence[dict[str, Any]]) -> bool:
    """Return whether each transaction has its own epoch (KIP-890)."""
    places = {(row["marker_epoch"], row["topic"], row["partition"]) for row in rows}
    return len(places) == len(rows) and len({row["marker_epoch"] for row in rows}) > 1


def _is_later(first: dict[str, Any], row: dict[str, Any], *, by_time: bool) -> bool:
    if (row["status"], row["marker_epoch"]) != (first["status"], first["marker_epoch"]):
        return True
    begin = row["first_timestamp"]
    return by_time and begin is not None and begin > first["marker_timestamp"]


def _row(group: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first = group[0]
    begins = [row["first_timestamp"] for row in group if row["first_timestamp"] is not None]
    return {
        "producer_id": first["producer_id"],
        "producer_epoch": first["marker_epoch"],
        "status": first["status"],
        "partitions": len(group),
        "records": sum(row["records"] for row in group),
        "bytes": sum(row["bytes"] or 0 for row in group),
        "first_ms": min(begins, default=None),
        "last_marker_ms": group[-1]["marker_timestamp"],
    }
