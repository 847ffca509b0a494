"""What Spark finds by itself: modules called ``pyspark_...`` on the Python path. Light, for Spark imports all of them."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar, cast

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType


class LazyDataSource(DataSource):
    """A data source that is imported when it is used."""

    source: ClassVar[tuple[str, str, str]]
    """Its name, and the module and class that do the work."""

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
