"""Convert Kafka timestamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column

# End of the year 9999, the limit of Python's and SQL's dates.
_LAST = 253_402_300_799_999


def timestamp_of(milliseconds: Column) -> Column:
    """Return milliseconds since the epoch as a timestamp, or null below 0 and after the year 9999."""
    return F.when(milliseconds.between(0, _LAST), F.timestamp_millis(milliseconds))
