"""Exact filter pushdown for topic, partition, offset and timestamp."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from kafka_records.segments.names import topic_of
from pyspark.sql import datasource as spark

from ._batch_filter import Bounds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES: dict[str, Any] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
}
_OF_FILES = ("topic", "partition")
# Keys are the names of Spark's filter classes.
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "EqualTo": pc.equal,
    "GreaterThan": pc.greater,
    "GreaterThanOrEqual": pc.greater_equal,
    "LessThan": pc.less,
    "LessThanOrEqual": pc.less_equal,
    "StringStartsWith": pc.starts_with,
    "StringEndsWith": pc.ends_with,
    "StringContains": pc.match_substring,
}
# Filters with a bound of the value plus 1: the lower one of GreaterThan, the (exclusive) upper one of the others.
_WITH_LAST = ("GreaterThan", "LessThanOrEqual", "EqualTo", "EqualNullSafe", "In")


@dataclass(frozen=True)
class Condition:
    """Filter on one column; rows for which the result is false or null are dropped."""

    column: str
    # Name of Spark's filter class.
    kind: str
    values: tuple[Any, ...] = ()
    is_negated: bool = False

    @classmethod
    def of(cls, given: spark.Filter) -> Condition | None:
        """Convert a filter of Spark; return None if unsupported."""
        is_negated = isinstance(given, spark.Not)
        inner: Any = given.child if isinstance(given, spark.Not) else given
        name = ".".join(getattr(inner, "attribute", ()))
        if name not in _TYPES:
            return None
        kind = type(inner).__name__
        if kind in ("IsNull", "IsNotNull"):
            return cls(name, kind, (), is_negated)
        if kind not in (*_COMPARED, "In", "EqualNullSafe"):
            return None
        values = tuple(inner.value) if kind == "In" else (inner.value,)
        if not all(_fits(name, value) for value in values):
            return None
        return cls(name, kind, tuple(map(_plain, values)), is_negated)

    def holds(self, column: Any) -> Any:
        """Return whether the condition holds, per value of ``column``; may be null, as in SQL."""
        found = self._holds(column)
        return pc.invert(found) if self.is_negated else found

    def _holds(self, column: Any) -> Any:
        if self.kind == "IsNull":
            return column.is_null()
        if self.kind == "IsNotNull":
            return column.is_valid()
        if self.kind == "In":
            is_in = pc.is_in(column, pa.array(self.values, _TYPES[self.column]))
            return pc.if_else(column.is_valid(), is_in, pa.scalar(None, pa.bool_()))
        (value,) = self.values
        if self.kind == "EqualNullSafe":
            return pc.fill_null(pc.equal(column, pa.scalar(value, _TYPES[self.column])), False)
        is_text = self.kind.startswith("String")
        return _COMPARED[self.kind](column, value if is_text else pa.scalar(value, _TYPES[self.column]))

    def bounds(self) -> tuple[int | None, int | None]:
        """Return the bounds (upper one exclusive) of matching values, None if unbounded."""
        if self.is_negated or not self.values:
            return None, None
        low, high = min(self.values), max(self.values)
        after = int(self.kind in _WITH_LAST)
        if self.kind.startswith("Greater"):
            return low + after, None
        if self.kind.startswith("Less"):
            return None, high + after
        return low, high + after


@dataclass(frozen=True)
class PushedFilters:
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, filters: Iterable[spark.Filter]) -> tuple[PushedFilters, list[spark.Filter]]:
        supported, left = [], []
        for each in filters:
            condition = Condition.of(each)
            if condition is None:
                left.append(each)
            else:
                supported.append(condition)
        return cls(tuple(supported)), left

    def takes(self, name: str) -> bool:
        values = dict(zip(_OF_FILES, topic_of(name), strict=True))
        return all(
            each.holds(pa.array([values[each.column]], _TYPES[each.column])).to_pylist() == [True]
            for each in self.conditions
            if each.column in _OF_FILES
        )

    @property
    def of_records(self) -> tuple[Condition, ...]:
        return tuple(each for each in self.conditions if each.column not in _OF_FILES)

    @property
    def bounds(self) -> Bounds:
        found = Bounds()
        for each in self.of_records:
            low, high = each.bounds()
            is_offset = each.column == "offset"
            found = found.within(Bounds(low, high) if is_offset else Bounds(None, None, low, high))
        return found

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for each in self.of_records:
            batch = batch.filter(each.holds(batch.column(each.column)))
        return batch


def _fits(column: str, value: object) -> bool:
    if column == "topic":
        return isinstance(value, str)
    if column == "timestamp":
        return isinstance(value, datetime) and value.tzinfo is not None
    limit = 1 << (31 if column == "partition" else 63)
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _plain(value: Any) -> Any:
    return (value - _EPOCH) // timedelta(microseconds=1) if isinstance(value, datetime) else value
