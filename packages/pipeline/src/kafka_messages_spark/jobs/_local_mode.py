"""Shortcut for local inputs of up to a gigabyte: files are listed in this process, and few partitions are made."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from kafka_records.segments.names import topic_of
from pyspark.errors import PySparkValueError
from pyspark.sql.pandas.types import to_arrow_schema

from kafka_messages_spark.sources._files import File, FileSelection, is_path
from kafka_messages_spark.sources._segment_ranges import is_of_topics
from kafka_messages_spark.sources.kafka_log._planner import closed_files
from kafka_messages_spark.state._folder import ListedFile, StateFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource, DataSourceReader

# Maximum size of input files for one partition; this much would be one task anyway.
MAX_BYTES = 16 << 20
# Maximum size of input files for a partition per core.
MAX_LOCAL_BYTES = 1 << 30
# Maximum size of new bytes beside a state, and of its compressed rows; few rows are worth no exchange, whatever is read.
MAX_NEW_BYTES, MAX_STORED_BYTES = 512 << 20, 16 << 20
# Maximum size of the decoded rows of one source; Spark's workers read larger ones.
MAX_DECODED_BYTES = 128 << 20
# Minimum number of rows of one source for which Spark generates code; with fewer, interpreting the plan is faster.
MANY_ROWS = 20_000
# JVM options for short runs: quick compilation, simple garbage collection.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# Session settings for small inputs only.
SETTINGS = {
    # A single partition needs no exchange.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Plans are interpreted until a source has MANY_ROWS.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.ui.enabled": "false",
    # Plans as text, which nobody sees without the UI.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "0",
    # Otherwise each call is sent to the JVM with its place in the code, for error messages.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
# Spark's defaults for generated code.
_CODE = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}


def settings(partitions: int) -> dict[str, str]:
    """Return the session settings for a number of partitions; 0 means those of Spark."""
    if partitions < 2:
        return SETTINGS if partitions else {}
    kept = ("spark.sql.adaptive.enabled", "spark.ui.enabled", "spark.python.sql.dataFrameDebugging.enabled")
    return {name: SETTINGS[name] for name in kept} | {"spark.sql.shuffle.partitions": str(partitions)}


@dataclass(frozen=True)
class Input:
    """Paths of segments and the topics read from them; no topics means all."""

    paths: Sequence[str]
    topics: Collection[str] = ()
    # Patterns of --topic.
    patterns: Collection[str] = ()
    # Rows that the state of an earlier run may have.
    stream: str = ""

    def includes(self, file: File) -> bool:
        topic = topic_of(file.name)[0]
        is_wanted = not self.topics or topic is None or topic in self.topics
        return is_wanted and is_of_topics(file.name, self.patterns)


def partitions_for(inputs: Sequence[Input], glob: str | None, state: Callable[[str], StateFolder] | None = None) -> int:
    """Return the number of partitions for a job that reads ``inputs``, beside the rows in its state, or 0 for any."""
    used = [each for each in inputs if each.paths]
    if not used or not all(is_path(path) for each in used for path in each.paths):
        return 0
    sizes: dict[str, int] = {}
    new = stored = 0
    try:
        for each in used:
            found = FileSelection(tuple(each.paths), glob, recursive=True).find("")
            closed = closed_files(found)
            files = [file for file in found if each.includes(file)]
            if state is None:
                sizes |= {file.name: file.size for file in files}
                continue
            folder = state(each.stream)
            listed = [ListedFile(file.uri, file.size, file.modified, file.name in closed) for file in files]
            stored += folder.bytes
            new += folder.plan(listed).bytes
    except (PySparkValueError, OSError):
        return 0
    size = new + sum(sizes.values())
    if size <= (MAX_NEW_BYTES if stored else MAX_BYTES) and stored <= MAX_STORED_BYTES:
        return 1
    return max(2, os.cpu_count() or 1) if size + stored <= MAX_LOCAL_BYTES else 0


def rows(spark: SparkSession, source: DataSource, partitions: int) -> DataFrame | None:
    """Read a source in this process; return None if the rows exceed ``MAX_DECODED_BYTES``."""
    schema = source.schema()
    if isinstance(schema, str):
        return None
    batches = _batches(source.reader(schema))
    if batches is None or sum(map(len, batches)) >= MANY_ROWS:
        for name, value in _CODE.items():
            spark.conf.set(name, value)
    if batches is None:
        return None
    # createDataFrame([]) would start another Python worker; an empty table does not.
    table = pa.Table.from_batches(batches, None if batches else to_arrow_schema(schema))
    return spark.createDataFrame(table, schema).coalesce(partitions)


def _batches(reader: DataSourceReader) -> list[pa.RecordBatch] | None:
    found: list[pa.RecordBatch] = []
    size = 0
    for partition in reader.partitions():
        for batch in reader.read(partition):
            if not isinstance(batch, pa.RecordBatch) or (size := size + batch.nbytes) > MAX_DECODED_BYTES:
                return None
            if len(batch):  # Spark 4.3.0 ignores all batches of a table that begins with an empty one
                found.append(batch)
    return found
