"""The data source ``kafka_log``: Kafka's log segments and KRaft snapshots, with the columns of Spark's Kafka source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from ..._core.spark_types import struct_type
from .._shares import shares
from ._edges import refuse_for_batches
from ._log_options import NAME, LogColumns, LogOptions, topic_to_decode
from ._logs import bounds_by_folder, logs_of, ranges_within
from ._range_reader import read_share, split


class KafkaLogDataSource(DataSource):
    """Kafka's log segments as rows, one a record; see docs/spark-sources.md for the options."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        return struct_type(LogColumns.of(LogOptions.parse(dict(self.options))).out)

    def reader(self, schema: StructType) -> DataSourceReader:
        return KafkaLogReader(LogOptions.parse(dict(self.options)), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from ._stream import KafkaLogStreamReader

        return KafkaLogStreamReader(LogOptions.parse(dict(self.options)), schema)


class KafkaLogReader(DataSourceReader):
    """Reads the ranges of the files that the options name, with the columns of a schema."""

    def __init__(self, options: LogOptions, schema: StructType) -> None:
        refuse_for_batches(NAME, options.start, options.end)
        self._options = options
        self._columns = LogColumns.of(options).chosen(schema)

    def partitions(self) -> Sequence[InputPartition]:
        options = self._options
        files = options.files.find(NAME)
        if options.decode:
            topic_to_decode(options, files)
        logs = logs_of(files)
        bounds = bounds_by_folder(options, logs)
        wholes = [whole for log in logs for whole in ranges_within(log, bounds[log.folder])]
        most = options.max_partition_bytes
        return shares([part for whole in wholes for part in split(whole, most)], most)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return read_share(self._options, self._columns, partition)
