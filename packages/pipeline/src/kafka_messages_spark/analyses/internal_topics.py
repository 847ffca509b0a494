"""Functions for ``df.transform`` that decode the records of internal topics.

Each decoding function adds ``record_type``, ``record_type_id``, ``record_version``, ``is_tombstone``, ``problem``, and one
struct column per record type. Secrets in the structs are redacted; ``key`` and ``value`` keep their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from kafka_messages.errors import did_you_mean
from kafka_messages.internal_topics import LOGS
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructType

from .._core.errors import invalid_argument
from .._core.options import Options
from .._core.spark_types import struct_type
from ..columns._records import CONTROL, SECRET_OPTIONS, Redaction, columns_of, decoder_of
from ..columns.frames import map_in_arrow, require
from ._expressions import has_outcome_columns, with_outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "cluster_metadata",
    "consumer_offsets",
    "latest",
    "remote_log_metadata",
    "share_group_state",
    "transaction_state",
]


_STAYS, _RANK, _OUTCOME = "__kafka_stays", "__kafka_rank", "__kafka_outcome"


def consumer_offsets(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Decode records of ``__consumer_offsets``: offset commits, groups and members.

    Options: ``mode`` PERMISSIVE (default) or FAILFAST, ``showSecrets`` (default false: secrets become ``(redacted)``), and
    ``secretSalt``, which adds a hash to ``(redacted)``, equal for equal secrets. ``record_types`` selects the struct columns.
    """
    return _decoded(df, "consumer_offsets", "__consumer_offsets", options, record_types)


def transaction_state(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Decode records of ``__transaction_state``; arguments as for ``consumer_offsets``."""
    return _decoded(df, "transaction_state", "__transaction_state", options, record_types)


def share_group_state(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Decode records of ``__share_group_state``; arguments as for ``consumer_offsets``."""
    return _decoded(df, "share_group_state", "__share_group_state", options, record_types)


def cluster_metadata(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Decode records of ``__cluster_metadata`` and its snapshots; arguments as for ``consumer_offsets``.

    ``analyses.metadata`` detects changed secrets only with ``secretSalt`` or ``showSecrets``.
    """
    return _decoded(df, "cluster_metadata", "__cluster_metadata", options, record_types)


def remote_log_metadata(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Decode records of ``__remote_log_metadata``; arguments as for ``consumer_offsets``."""
    return _decoded(df, "remote_log_metadata", "__remote_log_metadata", options, record_types)


def latest(df: DataFrame, *, tombstones: bool = False) -> DataFrame:
    """Return the last row of each key in each partition.

    Keys whose last record is a tombstone are dropped, unless ``tombstones`` is true. Control records, and rows without a
    key, are kept. With ``includeBatchMetadata``, records of aborted and open transactions are dropped.
    """
    for name in ("key", "value", "offset"):
        require(df, name, "latest")
    if has_outcome_columns(df):
        df = with_outcome(df, _OUTCOME).where(f"{_OUTCOME} is null or {_OUTCOME} = 'committed'").drop(_OUTCOME)
    names = [name for name in ("topic", "partition", "key") if name in df.columns]
    stays = F.col("key").isNull()
    if "record_type" in df.columns:
        stays = stays | F.coalesce(F.col("record_type") == CONTROL, F.lit(False))
    # Rows that are kept anyway are ranked separately.
    window = Window.partitionBy(_STAYS, *names).orderBy(F.col("offset").desc_nulls_last())
    ranked = df.withColumn(_STAYS, stays).withColumn(_RANK, F.row_number().over(window))
    is_kept = F.col(_RANK) == 1
    if not tombstones:
        is_kept = is_kept & F.col("value").isNotNull()
    return ranked.where(F.col(_STAYS) | is_kept).drop(_STAYS, _RANK)


def _decoded(
    df: DataFrame,
    owner: str,
    topic: str,
    options: Mapping[str, str] | None,
    record_types: Sequence[str] | None,
) -> DataFrame:
    log = LOGS[topic]
    known = columns_of(log)
    chosen = known if record_types is None else list(record_types)
    for name in chosen:
        if name not in known:
            raise invalid_argument(
                f"{owner}: unknown record type {name!r}{did_you_mean(name, known) or '.'} Known are {', '.join(known)}."
            )
    given = Options(owner, options, ("mode", *SECRET_OPTIONS))
    failfast = given.mode("PERMISSIVE") == "FAILFAST"
    decoder = decoder_of(topic, chosen, failfast, Redaction.parse(owner, given))
    for name in ("key", "value"):
        require(df, name, owner)
        if not isinstance(df.schema[name].dataType, BinaryType):
            raise invalid_argument(
                f"{owner}: the column {name!r} must be binary, not {df.schema[name].dataType.simpleString()}"
            )
    added = struct_type(pa.schema(decoder.fields()))
    if twice := [name for name in added.names if name in df.columns]:
        raise invalid_argument(f"{owner}: the column {twice[0]!r} already exists; rename it first")
    kept = df.columns
    with_control = "is_control" in kept

    def decoded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            control = batch.column("is_control") if with_control else None
            columns = decoder.decode(batch.column("key"), batch.column("value"), control)
            yield pa.RecordBatch.from_arrays([*batch.columns, *columns], [*kept, *added.names])

    return map_in_arrow(df, kept, decoded, StructType([*df.schema.fields, *added.fields]))
