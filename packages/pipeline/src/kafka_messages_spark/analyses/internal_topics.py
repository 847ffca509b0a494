"""Kafka's internal topics as typed rows: functions for ``df.transform``, on ``kafka_log`` and on ``format("kafka")``.

Each takes rows with ``key`` and ``value`` and gives the same rows with ``record_type``, ``record_type_id``,
``record_version``, ``is_tombstone``, ``problem`` and one struct column for each record type, of which at most the one
that ``record_type`` names is not null. Structs of coordinators' records have the fields ``key`` and ``value``. A row
that cannot be decoded, or is of a type that this package does not know, keeps its bytes; ``problem`` says why.

Secrets in the structs (SCRAM credentials, settings that are passwords) are ``(redacted)``, by the rule of
``kafka_messages.secrets``. The bytes in ``key`` and ``value`` stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from kafka_messages.records import LOGS
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructType

from .._core.errors import near, wrong
from .._core.options import Options
from .._core.spark_types import struct_type
from ..columns._records import CONTROL, columns_of, decoder_of
from ..columns._secrets import SECRET_OPTIONS, Hiding
from ..columns.frames import map_in_arrow, require
from ._outcomes import tells_outcomes, with_outcome

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
    """Records of ``__consumer_offsets``: offset commits, and groups of every kind with their members and assignments.

    Options: ``mode`` PERMISSIVE (default: a malformed record is a row with a ``problem``) or FAILFAST; ``showSecrets``
    true (default false: they are hidden); ``secretSalt``, a random text of yours: hidden values are then marked, such as
    ``(redacted 1a2b3c4d)``, and equal ones have the same mark.
    ``record_types`` names the record types that get a column, all by default; fewer is faster.
    """
    return _decoded(df, "consumer_offsets", "__consumer_offsets", options, record_types)


def transaction_state(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Records of ``__transaction_state``: the state of each transactional id. See ``consumer_offsets``."""
    return _decoded(df, "transaction_state", "__transaction_state", options, record_types)


def share_group_state(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Records of ``__share_group_state``: snapshots and updates of share partitions. See ``consumer_offsets``."""
    return _decoded(df, "share_group_state", "__share_group_state", options, record_types)


def cluster_metadata(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Records of ``__cluster_metadata`` and its snapshots; only files have them. See ``consumer_offsets``.

    They have no keys: the struct of a type is the record itself. For the functions of ``metadata`` set ``secretSalt``, or
    they cannot see that a secret changed.
    """
    return _decoded(df, "cluster_metadata", "__cluster_metadata", options, record_types)


def remote_log_metadata(
    df: DataFrame, options: Mapping[str, str] | None = None, *, record_types: Sequence[str] | None = None
) -> DataFrame:
    """Records of ``__remote_log_metadata``: segments in tiered storage. See ``cluster_metadata``."""
    return _decoded(df, "remote_log_metadata", "__remote_log_metadata", options, record_types)


def latest(df: DataFrame, *, tombstones: bool = False) -> DataFrame:
    """What compaction leaves: of each key in each partition the row with the highest offset.

    Keys whose last row is a tombstone are left out, unless ``tombstones``. Rows without a key (and control records)
    cannot be compacted and stay. Where rows tell what became of transactions (``kafka_log`` with
    ``includeBatchMetadata``), records of those that were aborted, or have no end, are left out: the offsets that a
    producer wanted to commit in them never took effect.
    """
    for name in ("key", "value", "offset"):
        require(df, name, "latest")
    if tells_outcomes(df):
        df = with_outcome(df, _OUTCOME).where(f"{_OUTCOME} is null or {_OUTCOME} = 'committed'").drop(_OUTCOME)
    names = [name for name in ("topic", "partition", "key") if name in df.columns]
    stays = F.col("key").isNull()
    if "record_type" in df.columns:
        stays = stays | F.coalesce(F.col("record_type") == CONTROL, F.lit(False))
    # Rows that stay are ranked by themselves, or one of them would be the newest of some key.
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
            raise wrong(
                f"{owner}: there is no record type {name!r}{near(name, known) or '.'} There are {', '.join(known)}."
            )
    given = Options(owner, options, ("mode", *SECRET_OPTIONS))
    failfast = given.mode("PERMISSIVE") == "FAILFAST"
    decoder = decoder_of(topic, chosen, failfast, Hiding.parse(owner, given))
    for name in ("key", "value"):
        require(df, name, owner)
        if not isinstance(df.schema[name].dataType, BinaryType):
            raise wrong(f"{owner}: the column {name!r} is {df.schema[name].dataType.simpleString()}, not binary")
    added = struct_type(pa.schema(decoder.fields()))
    if twice := [name for name in added.names if name in df.columns]:
        raise wrong(f"{owner}: there is a column {twice[0]!r} already; rename it first")
    kept = df.columns
    with_control = "is_control" in kept

    def decoded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            control = batch.column("is_control") if with_control else None
            columns = decoder.decode(batch.column("key"), batch.column("value"), control)
            yield pa.RecordBatch.from_arrays([*batch.columns, *columns], [*kept, *added.names])

    return map_in_arrow(df, kept, decoded, StructType([*df.schema.fields, *added.fields]))
