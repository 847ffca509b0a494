"""Decode messages of a data frame with ``mapInArrow``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from kafka_messages.errors import did_you_mean
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, ByteType, IntegerType, LongType, NullType, ShortType, StructField, StructType

from .._core.errors import invalid_argument
from .._core.options import DecodeOptions
from .._core.spark_types import struct_type
from .._core.worker_python import use_for_functions
from ._codec import MessageDecoder, message_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_VERSION = "__kafka_version"
_INTEGERS = (ByteType, ShortType, IntegerType, LongType, NullType)


def decode(
    df: DataFrame,
    messageName: str,
    version: int | str | Column | None = None,
    column: str = "value",
    options: Mapping[str, str] | None = None,
    *,
    into: str = "message",
    keep: Sequence[str] | None = None,
    trailing: str | None = None,
) -> DataFrame:
    """Decode a binary column into the struct column ``into``, with the options of ``from_kafka``.

    Spark decodes each row once, however many fields a query uses.

    ``version`` is an integer, a column of integers, its name, or None if each value starts with its version. ``keep``
    lists the columns of ``df`` to keep (default: all). ``trailing`` names an added binary column with the bytes after a
    message, and changes the default of the option ``trailingBytes`` from ``error`` to ``ignore``. Raises
    PySparkValueError for wrong arguments.
    """
    message_of(messageName)
    if isinstance(version, str):
        require(df, version, "decode")
        version = df[_quoted(version)]
    if version is not None and not isinstance(version, int):
        if not hasattr(version, "isNull"):  # a Column, of Spark classic or Connect
            raise invalid_argument(
                f"decode: version must be an integer, a column of integers, its name or None, not {version!r}"
            )
        df = df.withColumn(_VERSION, version)
        if not isinstance(given := df.schema[_VERSION].dataType, _INTEGERS):
            raise invalid_argument(
                f"decode: version must be a column of integers, not of {given.simpleString()}; cast it"
            )
        version = None
        versions = True
    else:
        versions = False
    if isinstance(version, bool):
        raise invalid_argument(
            f"decode: version must be an integer, a column of integers, its name or None, not {version!r}"
        )
    require(df, column, "decode")
    if not isinstance(df.schema[column].dataType, BinaryType):
        kind = df.schema[column].dataType.simpleString()
        raise invalid_argument(f"decode: the column {column!r} must be binary, not {kind}")
    parsed = DecodeOptions.parse("decode", options, "error" if trailing is None else "ignore")
    decoding = MessageDecoder.checked("decode", messageName, version, parsed)
    if isinstance(keep, str):
        raise invalid_argument(f"decode: keep must be a list of column names, not {keep!r}")
    kept = [name for name in df.columns if name != _VERSION] if keep is None else list(keep)
    for name in kept:
        require(df, name, "decode")
    if into in kept:
        raise invalid_argument(f"decode: the column {into!r} already exists; choose another name for 'into'")
    if trailing in (*kept, into):
        raise invalid_argument(f"decode: the column {trailing!r} already exists; choose another name for 'trailing'")
    schema = StructType([*(df.schema[name] for name in kept), StructField(into, struct_type(decoding.type()))])
    if trailing is not None:
        schema = schema.add(trailing, BinaryType())

    def decoded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            data, each = batch.column(column), batch.column(_VERSION) if versions else None
            made = decoding.decode_with_trailing(data, each) if trailing else (decoding.decode(data, each),)
            yield pa.RecordBatch.from_arrays([*(batch.column(name) for name in kept), *made], schema.names)

    needed = dict.fromkeys([*kept, column, *([_VERSION] if versions else [])])
    return map_in_arrow(df, list(needed), decoded, schema)


def map_in_arrow(
    df: DataFrame,
    names: Sequence[str],
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: StructType,
) -> DataFrame:
    """Call ``mapInArrow`` with ``function`` on the columns ``names``; a name may contain dots."""
    use_for_functions()
    columns = [F.col(_quoted(name)).alias(str(number)) for number, name in enumerate(names)]

    def renamed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return function(batch.rename_columns(names) for batch in batches)

    return df.select(*columns).mapInArrow(renamed, schema)


def require(df: DataFrame, name: str, owner: str) -> None:
    if not isinstance(name, str):
        raise invalid_argument(f"{owner}: expected a column name, got {name!r}")
    if name not in df.columns:
        hint = did_you_mean(name, df.columns) or f". Known are {', '.join(df.columns)}."
        raise invalid_argument(f"{owner}: unknown column {name!r}{hint}")


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
