"""Data source and batch reader of ``kafka_log``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, Filter, InputPartition
from pyspark.sql.types import StructType

from ..._core.spark_types import struct_type
from .._shares import shares
from ._filters import PushedFilters
from ._isolation import CommittedView
from ._log_options import NAME, LogColumns, LogOptions, topic_to_decode
from ._logs import LogFiles, bounds_by_folder, logs_of, ranges_within
from ._offset_options import check_batch_offsets
from ._range_reader import read_share, split

_log = logging.getLogger(__name__)


class KafkaLogDataSource(DataSource):
    """Rows of log records, like Spark's Kafka source; options are in docs/spark-sources.md."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        return struct_type(LogColumns.of(LogOptions.parse(dict(self.options))).out)

    def reader(self, schema: StructType) -> DataSourceReader:
        options = LogOptions.parse(dict(self.options))
        return FilteredLogReader(options, schema) if options.filter_pushdown else KafkaLogReader(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from ._stream import KafkaLogStreamReader

        return KafkaLogStreamReader(LogOptions.parse(dict(self.options)), schema)


class KafkaLogReader(DataSourceReader):
    def __init__(self, options: LogOptions, schema: StructType) -> None:
        check_batch_offsets(NAME, options.start, options.end)
        self._options = options
        self._columns = LogColumns.of(options).chosen(schema)
        self._pushed = PushedFilters()

    def partitions(self) -> Sequence[InputPartition]:
        options = self._options
        pushed = self._pushed
        files = options.files.find(NAME)
        if options.decode:
            topic_to_decode(options, files)
        logs = logs_of(files)
        bounds = bounds_by_folder(options, logs)
        ranges = [
            whole
            for log in logs
            for whole in ranges_within(log, bounds[log.folder], pushed.bounds, self._committed(log))
            if pushed.takes(whole.name)
        ]
        most = options.max_partition_bytes
        return shares([part for whole in ranges for part in split(whole, most)], most)

    def _committed(self, log: LogFiles) -> CommittedView:
        if not self._options.committed or not any(self._pushed.takes(file.name) for file in log.files):
            return CommittedView()
        found = CommittedView.of(log.files)
        if found.is_open:
            _log.warning(
                "%s: reading stops at offset %s: the marker of a transaction that begins there is not in the files",
                log.folder,
                found.until_offset,
            )
        return found

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return read_share(self._options, self._columns, partition, self._pushed)


class PushFilters:
    """Callable ``pushFilters`` that Spark does not recognize as an override.

    Spark rejects overrides, detected by ``__func__``, if ``spark.sql.python.filterPushdown.enabled`` is false. Sources
    cannot read this setting.
    """

    def __init__(self, push: Callable[[list[Filter]], Iterable[Filter]]) -> None:
        self.__func__ = DataSourceReader.pushFilters
        self._push = push

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        return self._push(filters)


class FilteredLogReader(KafkaLogReader):
    @property
    def pushFilters(self) -> PushFilters:
        return PushFilters(self._take)

    def _take(self, filters: list[Filter]) -> Iterable[Filter]:
        self._pushed, left = PushedFilters.of(filters)
        return left
