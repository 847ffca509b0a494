"""Options of ``kafka_log``, and the columns they select."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
from kafka_messages.errors import did_you_mean
from kafka_messages.internal_topics import LOGS
from kafka_records.segments.names import topic_of
from kafka_records.segments.reader import read_segments
from pyspark.sql.types import StructType

from ..._core.errors import invalid_argument
from ..._core.options import Options
from ..._core.spark_types import chosen_schema
from ...columns._records import SECRET_OPTIONS, LogDecoder, Redaction, columns_of, decoder_of
from .._files import FILE_OPTIONS, File, FileSelection
from .._shares import MAX_PARTITION_BYTES
from ._offset_options import EARLIEST, END_OPTIONS, LATEST, START_OPTIONS, OffsetOption

NAME = "kafka_log"
STREAM_OPTIONS = ("maxFilesPerTrigger", "maxBytesPerTrigger")
OPTIONS = (
    *FILE_OPTIONS,
    "maxPartitionBytes",
    "includeHeaders",
    "includeBatchMetadata",
    "checkCrcs",
    "mode",
    "columnNameOfCorruptRecord",
    "ignoreCorruptFiles",
    "decode",
    "topic",
    *SECRET_OPTIONS,
    *START_OPTIONS,
    *END_OPTIONS,
    "failOnDataLoss",
    "isolationLevel",
    "filterPushdown",
    *STREAM_OPTIONS,
)
# Default and allowed values of isolationLevel, as for a consumer's isolation.level.
ISOLATION = ("read_uncommitted", ("read_uncommitted", "read_committed"))
# Default name of the column of corrupt batches.
CORRUPT = "corrupt"


@dataclass(frozen=True)
class LogOptions:
    files: FileSelection
    max_partition_bytes: int
    headers: bool
    batch_metadata: bool
    check_crcs: bool
    mode: str
    corrupt_column: str
    ignore_corrupt: bool
    decode: bool
    topic: str | None
    redaction: Redaction
    max_files: int | None
    max_bytes: int | None
    start: OffsetOption
    # True: start at the log end if all records are earlier than the starting timestamp (strategy latest).
    start_at_end: bool
    end: OffsetOption
    fail_on_data_loss: bool
    # True if isolationLevel is read_committed.
    committed: bool
    filter_pushdown: bool

    @classmethod
    def parse(cls, options: dict[str, str]) -> LogOptions:
        given = Options(NAME, options, OPTIONS)
        mode = given.mode()
        found = cls(
            files=FileSelection.parse(given),
            max_partition_bytes=given.size("maxPartitionBytes", MAX_PARTITION_BYTES),
            headers=given.flag("includeHeaders", False),
            batch_metadata=given.flag("includeBatchMetadata", False),
            check_crcs=given.flag("checkCrcs", True),
            mode=mode,
            corrupt_column=given.corrupt_column(mode) or CORRUPT,
            ignore_corrupt=given.flag("ignoreCorruptFiles", False),
            decode=given.choice("decode", "none", ("none", "internal")) == "internal",
            topic=given.text("topic"),
            redaction=Redaction.parse(NAME, given),
            max_files=given.count("maxFilesPerTrigger"),
            max_bytes=given.size("maxBytesPerTrigger", 0) or None,
            start=OffsetOption.parse(NAME, given, "starting", EARLIEST),
            start_at_end=given.choice("startingOffsetsByTimestampStrategy", "error", ("error", "latest")) == "latest",
            end=OffsetOption.parse(NAME, given, "ending", LATEST),
            fail_on_data_loss=given.flag("failOnDataLoss", True),
            committed=given.choice("isolationLevel", *ISOLATION) == ISOLATION[1][1],
            filter_pushdown=given.flag("filterPushdown", False),
        )
        if found.topic is not None and not found.decode:
            raise invalid_argument(f"{NAME}: the option 'topic' is only valid with decode=internal")
        if found.redaction != Redaction() and not found.decode:
            raise invalid_argument(
                f"{NAME}: the options 'showSecrets' and 'secretSalt' are only valid with decode=internal"
            )
        if found.max_files and found.max_bytes:
            raise invalid_argument(
                f"{NAME}: the options 'maxFilesPerTrigger' and 'maxBytesPerTrigger' cannot both be set"
            )
        return found


@dataclass(frozen=True)
class LogColumns:
    """Output columns, and the columns to read from segments."""

    out: pa.Schema
    read: tuple[str, ...]
    corrupt: str
    control: bool
    decoder: LogDecoder | None = None

    @classmethod
    def of(cls, options: LogOptions, files: Iterable[File] | None = None) -> LogColumns:
        """Return all available columns; ``files`` (default: search them) determine the topic for ``decode=internal``."""
        with read_segments([], mode=options.mode, headers=options.headers, batch_metadata=options.batch_metadata) as r:
            raw: pa.Schema = r.schema
        out = [pa.field(options.corrupt_column, each.type) if each.name == CORRUPT else each for each in raw]
        decoder = None
        if options.decode:
            topic = topic_to_decode(options, options.files.find(NAME, lenient=True) if files is None else files)
            decoder = decoder_of(topic, columns_of(LOGS[topic]), options.mode == "FAILFAST", options.redaction)
            out += decoder.fields()
        names = [each.name for each in out]
        if names.count(options.corrupt_column) > 1:
            raise invalid_argument(
                f"{NAME}: the option 'columnNameOfCorruptRecord' is {options.corrupt_column!r}, "
                "but there is a column of this name"
            )
        return cls(pa.schema(out), tuple(raw.names), options.corrupt_column, options.batch_metadata, decoder)

    def chosen(self, schema: StructType) -> LogColumns:
        out = chosen_schema(NAME, self.out, schema)
        wanted = {CORRUPT if name == self.corrupt else name for name in schema.names}
        decoder = self.decoder
        if decoder is not None:
            added = {each.name for each in decoder.fields()}
            if wanted & added:
                wanted |= {"key", "value"} | ({"is_control"} if self.control else set())
                columns = [name for name in decoder.columns if name in wanted]
                decoder = decoder_of(decoder.log, columns, decoder.failfast, decoder.redaction)
            else:
                decoder = None
        return LogColumns(out, tuple(name for name in self.read if name in wanted), self.corrupt, self.control, decoder)

    def made(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = dict(zip(self.read, batch.columns, strict=True))
        if CORRUPT in columns:
            columns[self.corrupt] = columns[CORRUPT]
        if (decoder := self.decoder) is not None:
            names = (each.name for each in decoder.fields())
            arrays = decoder.decode(columns["key"], columns["value"], columns["is_control"] if self.control else None)
            columns.update(zip(names, arrays, strict=True))
        return pa.RecordBatch.from_arrays([columns[name] for name in self.out.names], schema=self.out)


def topic_to_decode(options: LogOptions, files: Iterable[File]) -> str:
    """Return the internal topic in the folder names, or the option ``topic`` if folders do not name it.

    Raises PySparkValueError unless there is exactly one topic, and it is internal.
    """
    topic = options.topic
    if topic is not None and topic not in LOGS:
        hint = did_you_mean(topic, LOGS) or "."
        raise invalid_argument(f"{NAME}: {topic!r} is not an internal topic{hint} Known are {', '.join(LOGS)}.")
    first: tuple[str, str] | None = None if topic is None else (topic, "the option 'topic'")
    for file in files:
        name = topic_of(file.name)[0]
        if name is None and topic is None:
            raise invalid_argument(
                f"{NAME}: decode=internal: the folder of {file.name} does not name its topic; " "set the option 'topic'"
            )
        if name is not None and name not in LOGS:
            raise invalid_argument(
                f"{NAME}: decode=internal: {name!r} ({file.name}) is not an internal topic. Known are {', '.join(LOGS)}."
            )
        if first is None and name is not None:
            first = name, file.name
        if first is not None and name is not None and name != first[0]:
            raise invalid_argument(
                f"{NAME}: decode=internal decodes one topic, found {first[0]!r} ({first[1]}) "
                f"and {name!r} ({file.name}); read each topic separately, with its name or nothing as 'topic'"
            )
    if first is None:
        raise invalid_argument(f"{NAME}: decode=internal: no files found; set the option 'topic'")
    return first[0]
