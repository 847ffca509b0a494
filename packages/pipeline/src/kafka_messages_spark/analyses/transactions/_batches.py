"""Use the path of the folder as topic of batches without a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ...columns.frames import require
from .._logs import folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


LOG = ("topic", "partition")


def sound(batches: DataFrame, owner: str) -> DataFrame:
    named = with_names(batches, owner)
    return named.where("corrupt is null") if "corrupt" in batches.columns else named


def with_names(batches: DataFrame, owner: str) -> DataFrame:
    for name in ("topic", "partition", "file", "base_offset", "last_offset", "producer_id", "control_type"):
        require(batches, name, owner)
    names = {"topic": F.coalesce("topic", folder()), "partition": F.coalesce("partition", F.lit(-1))}
    return batches.withColumns(names)
