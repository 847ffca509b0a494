"""The data source ``kafka_log``: Kafka's log segments and KRaft snapshots, with the columns of Spark's Kafka source."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from kafka_messages.arrow.batches import CorruptSegmentError
from kafka_messages.arrow.segments import read_segments
from pyarrow.fs import LocalFileSystem
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from .._errors import near, wrong
from .._options import Options
from .._types import spark_type, struct_type
from ._files import list_files, open_filesystem

NAME = "kafka_log"
OPTIONS = (
    "path",
    "paths",
    "pathGlobFilter",
    "recursiveFileLookup",
    "maxPartitionBytes",
    "includeHeaders",
    "includeBatchMetadata",
    "checkCrcs",
    "mode",
    "ignoreCorruptFiles",
)
MAX_PARTITION_BYTES = 128 << 20
"""Default of ``maxPartitionBytes``, as Spark's file sources have it."""
MAX_ROWS = 10000
"""Rows of an Arrow batch: what Spark's ``maxRecordsPerBatch`` is by default, and what it is fastest with."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LogOptions:
    """The options of the source, checked."""

    paths: tuple[str, ...]
    glob: str | None
    recursive: bool
    max_partition_bytes: int
    headers: bool
    batch_metadata: bool
    check_crcs: bool
    mode: str
    ignore_corrupt: bool

    @classmethod
    def parse(cls, options: dict[str, str]) -> LogOptions:
        given = Options(NAME, options, OPTIONS)
        return cls(
            paths=_paths(given),
            glob=given.text("pathGlobFilter"),
            recursive=given.flag("recursiveFileLookup", False),
            max_partition_bytes=given.size("maxPartitionBytes", MAX_PARTITION_BYTES),
            headers=given.flag("includeHeaders", False),
            batch_metadata=given.flag("includeBatchMetadata", False),
            check_crcs=given.flag("checkCrcs", True),
            mode=given.mode(),
            ignore_corrupt=given.flag("ignoreCorruptFiles", False),
        )

    def arrow_schema(self) -> pa.Schema:
        """All columns that the options give."""
        with read_segments([], mode=self.mode, headers=self.headers, batch_metadata=self.batch_metadata) as reader:
            schema: pa.Schema = reader.schema
        return schema


def _paths(given: Options) -> tuple[str, ...]:
    paths = [] if (path := given.text("path")) is None else [path]
    if (text := given.text("paths")) is not None:
        try:
            several = json.loads(text)
        except ValueError:
            several = None
        if not isinstance(several, list) or not all(isinstance(each, str) for each in several):
            raise wrong(f"{NAME}: the option 'paths' is a JSON list of paths, not {text!r}")
        paths += several
    if not paths:
        raise wrong(f"{NAME}: name what to read, with load(path) or the option 'path' or 'paths'")
    return tuple(paths)


class KafkaLogDataSource(DataSource):
    """Kafka's log segments as rows, one a record; see docs/spark.md for the options."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        return struct_type(LogOptions.parse(dict(self.options)).arrow_schema())

    def reader(self, schema: StructType) -> DataSourceReader:
        return KafkaLogReader(LogOptions.parse(dict(self.options)), schema)


@dataclass
class Range(InputPartition):
    """Some bytes of a file: the batches that begin in them."""

    path: str
    start: int
    end: int | None


class KafkaLogReader(DataSourceReader):
    """Reads the ranges of the files that the options name, with the columns of a schema."""

    def __init__(self, options: LogOptions, schema: StructType) -> None:
        self._options = options
        self._schema = checked(options, schema)

    def partitions(self) -> Sequence[InputPartition]:
        options, most = self._options, self._options.max_partition_bytes
        ranges: list[InputPartition] = []
        for file in list_files(NAME, options.paths, options.glob, options.recursive):
            starts = range(0, max(file.size, 1), most)
            # The last range has no end, so that what is written meanwhile is read once, by it.
            ranges += [Range(file.path, at, at + most if at != starts[-1] else None) for at in starts]
        return ranges

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The record batches of a range. Where there is nothing to read, Spark comes with a partition of nothing."""
        if not isinstance(partition, Range):
            return
        options = self._options
        try:
            filesystem, path, _ = open_filesystem(partition.path)
            with read_segments(
                path,
                columns=self._schema.names,
                mode=options.mode,
                check_crcs=options.check_crcs,
                control_records=options.batch_metadata,
                start=partition.start,
                end=partition.end,
                max_rows=MAX_ROWS,
                filesystem=None if isinstance(filesystem, LocalFileSystem) else filesystem,
            ) as batches:
                for batch in batches:
                    yield pa.RecordBatch.from_arrays(batch.columns, schema=self._schema)
        except (CorruptSegmentError, OSError) as error:
            if not options.ignore_corrupt:
                raise
            _log.warning("Skipped the rest of the content in the corrupted file: %s: %s", partition.path, error)


def checked(options: LogOptions, schema: StructType) -> pa.Schema:
    """The Arrow schema of what a user's schema asks for, which may be fewer columns, in any order."""
    full = options.arrow_schema()
    for field in schema.fields:
        if field.name not in full.names:
            hint = near(field.name, full.names) or "."
            raise wrong(f"{NAME}: there is no column {field.name!r}{hint} There are {', '.join(full.names)}.")
        kind = spark_type(full.field(field.name).type)
        if field.dataType.simpleString() != kind.simpleString():
            raise wrong(
                f"{NAME}: the column {field.name!r} is {kind.simpleString()}, not {field.dataType.simpleString()}"
            )
    return pa.schema([full.field(field.name) for field in schema.fields])
