"""Base classes of internal data sources that list files while Spark plans a query, also on Spark Connect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader

from .._core.errors import invalid_argument
from .._core.spark_types import struct_type
from ._files import File, FileSelection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


@dataclass
class ListingReader(DataSourceReader):
    owner: str
    paths: list[str]
    glob: str | None
    recursive: bool

    def files(self) -> list[File]:
        return FileSelection(tuple(self.paths), self.glob, recursive=self.recursive).find(self.owner)


class Listing(DataSource):
    format: ClassVar[str]
    columns: ClassVar[pa.Schema]
    reader_class: ClassVar[type[ListingReader]]

    @classmethod
    def name(cls) -> str:
        return cls.format

    def schema(self) -> StructType:
        return struct_type(self.columns)

    def reader(self, schema: StructType) -> DataSourceReader:
        return self.reader_class(**json.loads(self.options["arguments"]))

    @classmethod
    def load(
        cls,
        spark: SparkSession,
        paths: Sequence[str],
        *,
        owner: str,
        glob: str | None,
        recursive: bool,
        **arguments: object,
    ) -> DataFrame:
        spark.dataSource.register(cls)
        options = cls.options_of(paths, owner=owner, glob=glob, recursive=recursive, **arguments)
        return spark.read.format(cls.format).options(**options).load()

    @staticmethod
    def options_of(
        paths: Sequence[str], *, owner: str, glob: str | None = None, recursive: bool = True, **arguments: object
    ) -> dict[str, str]:
        if isinstance(paths, str) or not paths:
            raise invalid_argument(f"{owner}: paths must be a list of at least one path, not {paths!r}")
        given_paths: list[object] = list(paths)
        if others := [each for each in given_paths if not isinstance(each, str)]:
            raise invalid_argument(f"{owner}: a path must be a str, not {others[0]!r}")
        given = {"owner": owner, "paths": given_paths, "glob": glob, "recursive": recursive, **arguments}
        return {"arguments": json.dumps(given)}
