"""Rebalances of groups in ``__consumer_offsets``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from .._core.spark_types import struct_type
from ..columns.frames import require
from ._expressions import timestamp_of
from ._generations import EPOCH, GENERATION, MEMBER, READ, SCHEMA, SETTLED, generations
from .copies import once

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["rebalances"]

_TYPES = ("consumer", "share", "streams")
_RECORDS = {"metadata": EPOCH, "member_metadata": MEMBER, "current_member_assignment": SETTLED}
_MEMBER = ("member_id", "instance_id", "client_id", "client_host")


def rebalances(records: DataFrame) -> DataFrame:
    """Return one row per generation of a classic group or epoch of another group.

    ``records`` are rows of ``consumer_offsets``. ``joined`` and ``left`` are arrays of members, null if earlier
    generations were compacted away. ``took_ms`` is the time from the last join (classic) or the new epoch until all
    members have their assignment; null if unknown.
    """
    for name in ("group_metadata", "consumer_group_metadata", "is_tombstone", "topic", "partition", "offset"):
        require(records, name, "rebalances")
    kinds = {f"{each}_group_{record}": event for each in _TYPES for record, event in _RECORDS.items()}
    kinds["group_metadata"] = GENERATION
    events = once(records.where(F.col("record_type").isin(*kinds) & F.col("problem").isNull()))
    columns = _columns(kinds)
    events = events.select(*(columns[name].alias(name) for name in READ))
    found = events.groupBy("group").applyInArrow(generations, struct_type(SCHEMA))
    names = ["time" if name == "time_ms" else name for name in SCHEMA.names]
    return found.withColumn("time", timestamp_of(F.col("time_ms"))).select(*names)


def _columns(kinds: dict[str, str]) -> dict[str, Column]:
    classic = F.col("group_metadata")
    of_type = {each: F.col("record_type").startswith(each) for each in _TYPES}
    kind = F.coalesce(*(F.when(condition, F.lit(each)) for each, condition in of_type.items()), F.lit("classic"))
    event = F.create_map(*(F.lit(word) for pair in kinds.items() for word in pair))[F.col("record_type")]
    epochs = (*_of("value", "epoch", "metadata"), *_of("value", "member_epoch", "current_member_assignment"))
    of_classic = F.when(event == GENERATION, F.transform(classic["value"]["members"], _classic_member))
    return {
        "group": F.coalesce(classic["key"]["group"], *_of("key", "group_id", *_RECORDS)),
        "type": kind,
        "event": event,
        "generation": F.coalesce(classic["value"]["generation"], *epochs),
        "protocol": classic["value"]["protocol"],
        "leader": classic["value"]["leader"],
        "member_id": F.coalesce(*_of("key", "member_id", "member_metadata", "current_member_assignment")),
        "members": of_classic.when(event == MEMBER, F.array(_member())),
        "is_tombstone": F.col("is_tombstone"),
        "state_ms": classic["value"]["current_state_timestamp"],
        "time_ms": F.unix_millis("timestamp"),
        **{f"log_{name}": F.col(name) for name in ("topic", "partition", "offset")},
    }


def _of(part: str, field: str, *records: str) -> list[Column]:
    return [F.col(f"{each}_group_{record}")[part][field] for each in _TYPES for record in records]


def _classic_member(member: Column) -> Column:
    names = {"instance_id": "group_instance_id"}
    return F.struct(*(member[names.get(name, name)].alias(name) for name in _MEMBER))


def _member() -> Column:
    fields = {
        "member_id": _of("key", "member_id", "member_metadata"),
        "instance_id": [F.col(f"{each}_group_member_metadata.value.instance_id") for each in ("consumer", "streams")],
        "client_id": _of("value", "client_id", "member_metadata"),
        "client_host": _of("value", "client_host", "member_metadata"),
    }
    return F.struct(*(F.coalesce(*columns).alias(name) for name, columns in fields.items()))
