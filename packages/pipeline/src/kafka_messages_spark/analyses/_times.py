"""Kafka's times as Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column

_LAST = 253_402_300_799_999
"""The end of the year 9999: beyond it neither Python nor SQL has dates, and a record may hold any number."""


def timestamp_of(milliseconds: Column) -> Column:
    """A timestamp of milliseconds since 1970; null for what is no time, as Kafka's -1 for none."""
    return F.when(milliseconds.between(0, _LAST), F.timestamp_millis(milliseconds))
