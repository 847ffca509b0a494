"""Base class of data sources that Spark discovers in modules named ``pyspark_*``."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar, cast

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType


class LazyDataSource(DataSource):
    # Name of the format, and the module and class that implement it.
    source: ClassVar[tuple[str, str, str]]

    @classmethod
    def name(cls) -> str:
        return cls.source[0]

    def _real(self) -> DataSource:
        _, module, name = self.source
        return cast("DataSource", getattr(import_module(module), name)(self.options))

    def schema(self) -> StructType | str:
        return self._real().schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        return self._real().reader(schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return self._real().streamReader(schema)
