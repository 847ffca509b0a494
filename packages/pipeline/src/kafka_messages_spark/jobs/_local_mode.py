"""Small inputs on this machine: read by this process, and worked on in one partition, without a stage for each step.

What a job computes is the same. Spark is made for more than a few megabytes; for these nearly all of the time would go
into planning, compiling and starting: processes that list files, shuffles of a few rows, code for each stage.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from kafka_messages.segments.names import topic_of
from pyspark.errors import PySparkValueError

from kafka_messages_spark.sources._files import File, FileSelection, is_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource

MAX_BYTES = 16 << 20
"""Of all files to read: so many bytes are one task in any case (``_shares``)."""
MOST_ROWS = 64 << 20
"""Bytes of rows that this process takes out of the files, which may be compressed; with more Spark's workers read them."""
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a JVM that runs for seconds: compile once and quickly, and collect garbage without threads for it."""
SETTINGS = {
    # One partition needs no exchange; where one is left, it is one task, and no query of its own.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Code is generated and compiled for each stage, which takes longer than to interpret the plan for so few rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.ui.enabled": "false",
}
"""For a session that only reads small inputs."""


@dataclass(frozen=True)
class Input:
    """Paths of segments, and the topics that a job reads of what is there; without topics it reads all."""

    paths: Sequence[str]
    topics: Collection[str] = ()

    def includes(self, file: File) -> bool:
        """Return whether the job may read a file; it may be of any topic if its folder does not say which."""
        topic = topic_of(file.name)[0]
        return not self.topics or topic is None or topic in self.topics


def is_small(inputs: Sequence[Input], glob: str | None) -> bool:
    """Return whether all files to read are on this machine and small together; False if they cannot be listed."""
    used = [each for each in inputs if each.paths]
    if not used or not all(is_path(path) for each in used for path in each.paths):
        return False
    sizes: dict[str, int] = {}
    try:
        for each in used:
            found = FileSelection(tuple(each.paths), glob, recursive=True).find("")
            sizes |= {file.name: file.size for file in found if each.includes(file)}
    except (PySparkValueError, OSError):
        return False
    return sum(sizes.values()) <= MAX_BYTES


def rows(spark: SparkSession, source: DataSource) -> DataFrame | None:
    """The rows of a source, read here and now, in one partition; None if they are too many."""
    schema = source.schema()
    if isinstance(schema, str):
        return None
    reader = source.reader(schema)
    batches: list[pa.RecordBatch] = []
    size = 0
    for partition in reader.partitions():
        for batch in reader.read(partition):
            if not isinstance(batch, pa.RecordBatch) or (size := size + batch.nbytes) > MOST_ROWS:
                return None
            batches.append(batch)
    if not batches:
        return spark.createDataFrame([], schema).coalesce(1)
    return spark.createDataFrame(pa.Table.from_batches(batches), schema).coalesce(1)
