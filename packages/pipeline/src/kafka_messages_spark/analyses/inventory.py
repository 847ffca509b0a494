"""Topics with their size, settings and readers, and flags for topics that may need attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ._expressions import folder, log_of
from .copies import is_lost, lost_epochs, once, with_lost

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["FLAGS", "STALE_DAYS", "inventory", "settings_of_topics"]

FLAGS = ("stale", "unread", "tiny", "empty", "unreplicated", "no files", "deleted")
# Days without a new record that make a topic stale.
STALE_DAYS = 30
_DAY_MS = 86_400_000
_TINY = 1 << 20
# Not in the metadata log.
_METADATA, _UNNAMED = "__cluster_metadata", "(folders without a topic name)"
# ConfigResource.Type.TOPIC
_TOPIC = "2"
# The only settings that are read, so that no secret is.
_SETTINGS = {"retention.ms": "long", "retention.bytes": "long", "cleanup.policy": "string"}


def settings_of_topics(image: DataFrame) -> DataFrame:
    """Return the topics in the result of ``metadata.image`` with partitions, replication factor and own settings.

    ``retention_source`` is ``topic``, or ``broker`` if the topic has neither ``retention.ms`` nor ``retention.bytes``:
    then the settings of the brokers apply, which the metadata log does not have. The replication factor is the lowest
    of the partitions.
    """
    first, second, name = (F.get_json_object("key", f"$[{at}]") for at in range(3))
    topics = image.where("entity = 'topic'").select(first.alias("topic_id"), F.col("fields")["name"].alias("topic"))
    replicas = F.size(F.from_json(F.col("fields")["replicas"], "array<int>"))
    partitions = (
        image.where("entity = 'partition'")
        .groupBy(first.alias("topic_id"))
        .agg(F.count("*").alias("partitions"), F.min(replicas).alias("replication_factor"))
    )
    values = [
        F.max(F.when(name == setting, F.col("fields")["value"])).try_cast(kind).alias(_column(setting))
        for setting, kind in _SETTINGS.items()
    ]
    configs = image.where("entity = 'config'").where(first == _TOPIC).groupBy(second.alias("topic")).agg(*values)
    is_own = F.coalesce("retention_ms", "retention_bytes").isNotNull()
    return (
        topics.join(partitions, "topic_id", "left")
        .join(configs, "topic", "left")
        .withColumn("retention_source", F.when(is_own, "topic").otherwise("broker"))
    )


def _column(setting: str) -> str:
    return setting.replace(".", "_")


def inventory(
    files: DataFrame,
    batches: DataFrame,
    settings: DataFrame | None,
    readers: DataFrame | None,
    *,
    as_of: int,
    stale_days: int = STALE_DAYS,
    epochs: DataFrame | None = None,
) -> DataFrame:
    """Return one row per topic in ``files`` (byte ranges of segments) or ``settings`` (``settings_of_topics``).

    ``batches`` are those of ``files``; copies count once. ``readers`` has one row per ``topic`` and ``group``. ``bytes``
    is the size of the largest copy of each partition, ``stored_bytes`` that of all copies. ``flags`` is a list of
    ``FLAGS`` at the time ``as_of`` (milliseconds since the epoch); flags with an unknown input are missing. Batches that a
    failover lost do not count; ``epochs`` has the entries of the ``leader-epoch-checkpoint`` files.
    """
    joined = _of_files(files).join(_of_batches(batches, epochs), "topic", "left")
    if settings is not None:
        joined = joined.join(settings, "topic", "full")
    if readers is not None:
        groups = readers.groupBy("topic").agg(F.count_distinct("group").alias("groups"))
        joined = joined.join(groups, "topic", "left").fillna(0, ["groups"])
    known = {"partitions": "long", "replication_factor": "int", "topic_id": "string", "groups": "long"}
    known |= {_column(setting): kind for setting, kind in _SETTINGS.items()} | {"retention_source": "string"}
    unknown = {name: F.lit(None).cast(kind) for name, kind in known.items() if name not in joined.columns}
    is_deleted = F.lit(settings is not None) & F.col("retention_source").isNull()
    counts = ["files", "replicas", "bytes", "stored_bytes", "batches", "records", "unreadable"]
    return (
        (joined.withColumns(unknown) if unknown else joined)
        .fillna(0, counts)
        .select(
            "topic",
            _flags(as_of - stale_days * _DAY_MS, is_deleted).alias("flags"),
            *("bytes", "stored_bytes", "retention_ms", "retention_bytes", "cleanup_policy"),
            F.coalesce("retention_source", F.lit("unknown")).alias("retention_source"),
            "replication_factor",
            F.coalesce("partitions", "partitions_read").alias("partitions"),
            *("groups", "first_timestamp", "last_timestamp", "records", "batches", "median_records", "median_bytes"),
            *("compression", "replicas", "files", "unreadable", "topic_id"),
        )
    )


def _of_files(files: DataFrame) -> DataFrame:
    segments = files.where((F.col("start") == 0) & ~F.col("path").endswith(".checkpoint"))
    replicas = segments.groupBy(_named(), "partition", folder("path")).agg(
        F.count("*").alias("files"), F.sum("size").alias("size")
    )
    partitions = replicas.groupBy("topic", "partition").agg(
        F.count("*").alias("replicas"),
        F.sum("files").alias("files"),
        F.max("files").alias("most_files"),
        F.max("size").alias("bytes"),
        F.sum("size").alias("stored_bytes"),
    )
    sums = [F.sum(name).alias(name) for name in ("replicas", "files", "bytes", "stored_bytes")]
    return partitions.groupBy("topic").agg(
        F.count("*").alias("partitions_read"), *sums, F.max("most_files").alias("most_files")
    )


def _of_batches(batches: DataFrame, epochs: DataFrame | None) -> DataFrame:
    segments = batches.where(~F.col("file").endswith(".checkpoint"))
    marked = with_lost(segments, lost_epochs(segments, epochs))
    rows = once(marked, *log_of(marked), is_lost(), F.coalesce("base_offset", "last_offset"))
    is_sound = F.col("corrupt").isNull()
    is_data = is_sound & ~is_lost() & ~F.col("is_control") & (F.coalesce("records", F.lit(1)) > 0)

    def median(name: str) -> Column:
        return F.percentile_approx(F.when(is_data, F.col(name)), 0.5).cast("long")

    return rows.groupBy(_named()).agg(
        F.count_if(is_data).alias("batches"),
        F.sum(F.when(is_data, F.col("records"))).alias("records"),
        median("records").alias("median_records"),
        median("size").alias("median_bytes"),
        F.array_join(F.array_sort(F.collect_set(F.when(is_data, F.col("compression")))), ", ").alias("compression"),
        F.min(F.when(is_data, F.coalesce("first_timestamp", "max_timestamp"))).alias("first_timestamp"),
        F.max(F.when(is_data, F.col("max_timestamp"))).alias("last_timestamp"),
        F.count_if(~is_sound).alias("unreadable"),
        F.count_if(is_sound).alias("sound"),
    )


def _named() -> Column:
    return F.coalesce("topic", F.lit(_UNNAMED)).alias("topic")


def _flags(stale_before: int, is_deleted: Column) -> Column:
    has_files, is_empty, is_read = F.col("files") > 0, F.col("batches") == 0, F.col("unreadable") == 0
    # A file with bytes and without a batch may be damaged.
    is_known = (F.col("bytes") == 0) | (F.col("sound") > 0)
    conditions = (
        is_read & (F.unix_millis("last_timestamp") < stale_before),
        (F.col("groups") == 0) & ~F.col("topic").startswith("__"),
        has_files & ~is_empty & (F.col("bytes") < _TINY) & (F.col("most_files") == 1),
        has_files & is_empty & is_read & is_known,
        F.col("replication_factor") == 1,
        ~has_files,
        is_deleted & ~F.col("topic").isin(_METADATA, _UNNAMED),
    )
    return F.array_compact(F.array(*(F.when(is_so, flag) for is_so, flag in zip(conditions, FLAGS, strict=True))))
