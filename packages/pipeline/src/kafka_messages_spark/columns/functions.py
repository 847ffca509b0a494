"""The functions ``from_kafka``, ``to_kafka`` and ``schema_of_kafka``.

Spark runs ``from_kafka`` twice if a query filters on a field of the result. Filter on other columns first, or use
``kafka_messages_spark.decode``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from kafka_messages import arrow
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import BinaryType, DataType, StructType

from .._core.errors import invalid_argument
from .._core.options import DecodeOptions, Options
from .._core.spark_types import at_version, struct_type
from .._core.worker_python import use_for_functions
from ._codec import MessageDecoder, MessageEncoder, checked_version, message_of

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["from_kafka", "schema_of_kafka", "to_kafka"]


def from_kafka(
    data: Column | str,
    messageName: str,
    version: int | Column | None = None,
    options: Mapping[str, str] | None = None,
) -> Column:
    """Decode a binary column to structs with the fields of all versions, or of the option ``fields``; nulls stay null.

    ``version`` is an integer, a column of integers, or None if each value starts with its version (int16).

    Options:

    - ``mode``: a malformed message fails the query (FAILFAST, default) or becomes null (PERMISSIVE).
    - ``columnNameOfCorruptRecord``: with PERMISSIVE, name of an added binary field with the bytes of a malformed message;
      its struct is then not null, but all its other fields are.
    - ``fields``: comma-separated names of the fields to return, with dots for nested fields.
    - ``unknownTaggedFields``: true adds the field ``_unknown_tagged_fields`` (map of tag to bytes) to every struct.
    - ``trailingBytes``: bytes after a message make it malformed (error, default) or are ignored (ignore).
    - ``validateUtf8``: invalid UTF-8 is malformed (true, default) or kept (false).

    Raises PySparkValueError for wrong arguments; a column of a wrong type fails the query.
    """
    message_of(messageName)
    decoding = MessageDecoder.checked(
        "from_kafka", messageName, _fixed(version), DecodeOptions.parse("from_kafka", options)
    )
    returns = struct_type(decoding.type())
    if version is None or isinstance(version, int):

        def from_kafka(data: pa.Array) -> pa.Array:
            return decoding.decode(data)

        return _arrow_udf(from_kafka, returns)(_column(data))

    def from_kafka_versions(data: pa.Array, version: pa.Array) -> pa.Array:
        return decoding.decode(data, version)

    return _arrow_udf(from_kafka_versions, returns)(_column(data), version)


def to_kafka(
    data: Column | str,
    messageName: str,
    version: int | Column,
    options: Mapping[str, str] | None = None,
) -> Column:
    """Encode a struct column to a binary column, matching fields by name; a null struct or version becomes null.

    The struct must have every field of the version. With the option ``versionPrefix`` true, the version (int16)
    precedes each message. A struct that cannot be encoded and a column of a wrong type fail
    the query. Raises PySparkValueError for wrong arguments.
    """
    message = message_of(messageName)
    given = Options("to_kafka", options, ("versionPrefix",))
    fixed = _fixed(version)
    if version is None:
        raise invalid_argument("to_kafka: version must be an integer or a column of integers, not None")
    if fixed is not None:
        checked_version(message, fixed)
    encoding = MessageEncoder(messageName, fixed, given.flag("versionPrefix", False))
    if isinstance(version, int):

        def to_kafka(data: pa.Array) -> pa.Array:
            return encoding.encode(data)

        return _arrow_udf(to_kafka, BinaryType())(_column(data))

    def to_kafka_versions(data: pa.Array, version: pa.Array) -> pa.Array:
        return encoding.encode(data, version)

    return _arrow_udf(to_kafka_versions, BinaryType())(_column(data), version)


def schema_of_kafka(messageName: str, version: int | None = None) -> StructType:
    """Return the struct type of a message, with the fields of all versions (as in ``from_kafka``) or of ``version``.

    Raises PySparkValueError for an unknown message or version.
    """
    message = message_of(messageName)
    kind = pa.struct(list(arrow.schema(message)))
    if version is not None:
        fixed = _fixed(version)
        if fixed is None:
            raise invalid_argument(f"schema_of_kafka: version must be an integer, not {version!r}")
        kind = at_version(message, kind, checked_version(message, fixed))
    return struct_type(kind)


def _fixed(version: int | Column | None) -> int | None:
    if isinstance(version, int) and not isinstance(version, bool):
        return version
    if version is None or hasattr(version, "isNull"):  # a Column, of Spark classic or Connect
        return None
    raise invalid_argument(f"version must be an integer or a column of integers, not {version!r}")


def _column(data: Column | str) -> Column:
    return F.col(data) if isinstance(data, str) else data


def _arrow_udf(function: Callable[..., pa.Array], returns: DataType) -> Callable[..., Column]:
    use_for_functions()
    udf: Any = arrow_udf
    made: Callable[..., Column] = udf(function, returnType=returns)
    return made
