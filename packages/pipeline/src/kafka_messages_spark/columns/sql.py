"""SQL functions: named decoders and ``kafka_message_json``."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from kafka_messages import Message
from kafka_messages.errors import KafkaMessageError
from kafka_messages.json import to_json
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType, StringType

from .._core.errors import invalid_argument, type_mismatch
from .._core.options import DecodeOptions
from .._core.spark_types import struct_type
from ._codec import MessageDecoder, message_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["JSON_FUNCTION", "register_functions"]

JSON_FUNCTION = "kafka_message_json"
TRY_JSON_FUNCTION = "try_kafka_message_json"
_OWNER = "register"

# (message class or name, version) or (message class or name, version, options)
Decoded = Sequence[Any]


def register_functions(spark: SparkSession, functions: Mapping[str, Decoded]) -> None:
    """Register named decoders and the JSON functions in a session.

    Raises PySparkValueError for an invalid definition, before any registration.
    """
    if not isinstance(functions, Mapping):
        raise invalid_argument(f"{_OWNER}: functions must map names to (message, version), not {functions!r}")
    made = {name: _function(name, what) for name, what in functions.items()}
    if twice := [name for name, count in Counter(map(str.lower, made)).items() if count > 1]:
        raise invalid_argument(f"{_OWNER}: the function {twice[0]!r} is defined twice; SQL names are case-insensitive")
    for name, function in made.items():
        spark.udf.register(name, function)
    spark.udf.register(JSON_FUNCTION, _json_function(JSON_FUNCTION, is_null_if_malformed=False))
    spark.udf.register(TRY_JSON_FUNCTION, _json_function(TRY_JSON_FUNCTION, is_null_if_malformed=True))


def _function(name: object, what: object) -> Any:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise invalid_argument(f"{_OWNER}: a function name must be an ASCII identifier, not {name!r}")
    if name.lower() in (JSON_FUNCTION, TRY_JSON_FUNCTION):
        raise invalid_argument(f"{_OWNER}: the function {name.lower()!r} is built in; choose another name")
    if isinstance(what, str) or not isinstance(what, Sequence) or len(what) not in (2, 3):
        raise invalid_argument(
            f"{_OWNER}: functions[{name!r}] must be (message, version) or (message, version, options), not {what!r}"
        )
    message, version, options = (*what, None)[:3]
    if isinstance(message, type) and issubclass(message, Message):
        message = message.__name__
    if version is not None and (not isinstance(version, int) or isinstance(version, bool)):
        raise invalid_argument(
            f"{_OWNER}: the version of the function {name!r} must be an integer or None, not {version!r}"
        )
    if options is not None and not isinstance(options, Mapping):
        raise invalid_argument(f"{_OWNER}: the options of the function {name!r} must map str to str, not {options!r}")
    message_of(message)
    decoding = MessageDecoder.checked(name, message, version, DecodeOptions.parse(name, options))

    def decode(data: pa.Array) -> pa.Array:
        _require(name, "first", _BYTES, data)
        return decoding.decode(data)

    return _udf(name, decode, struct_type(decoding.type()))


def _udf(name: str, function: Callable[..., pa.Array], returns: DataType) -> Any:
    function.__name__ = function.__qualname__ = name
    made: Any = arrow_udf
    return made(function, returnType=returns)


def _json_function(name: str, *, is_null_if_malformed: bool) -> Any:
    def as_json(message: pa.Array, version: pa.Array, data: pa.Array) -> pa.Array:
        for column, place, kind in zip((message, version, data), _PLACES, _KINDS, strict=True):
            _require(name, place, kind, column)
        rows = zip(*(column.to_pylist() for column in (message, version, data)), strict=True)
        return pa.array([_json(name, at, row, is_null_if_malformed) for at, row in enumerate(rows)], pa.string())

    return _udf(name, as_json, StringType())


# Spark's name of a type, and a test whether an Arrow type matches it.
_Kind = tuple[str, Callable[[Any], bool]]
_BYTES: _Kind = ('"BINARY"', lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
_PLACES = ("first", "second", "third")
# Argument types of the JSON functions: message name, version, bytes.
_KINDS: tuple[_Kind, ...] = (
    ('"STRING"', lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind)),
    ('"INT"', pa.types.is_integer),
    _BYTES,
)


def _require(name: str, place: str, kind: _Kind, column: pa.Array) -> None:
    required, matches = kind
    if not pa.types.is_null(column.type) and not matches(column.type):
        raise type_mismatch(name, place, required, column.type)


def _json(
    owner: str, at: int, row: tuple[str | None, int | None, bytes | None], is_null_if_malformed: bool
) -> str | None:
    message, version, data = row
    if message is None or version is None or data is None:
        return None
    try:
        return _text(to_json(message_of(message).read(data, version), version))
    except KafkaMessageError as error:
        if is_null_if_malformed:
            return None
        raise ValueError(
            f"Malformed Kafka messages are detected in message deserialization. To process malformed messages as null "
            f"result, use the function 'try_{owner}'. In this Arrow batch, row {at}: {message}: {error}"
        ) from None


def _text(found: object) -> str:
    """Return ``found`` as JSON text, with NaN and infinities as strings, as Kafka's converters do."""
    try:
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return _text(_replace_non_finite(found))


def _replace_non_finite(found: Any) -> Any:
    if isinstance(found, float) and not math.isfinite(found):
        return "NaN" if math.isnan(found) else "Infinity" if found > 0 else "-Infinity"
    if isinstance(found, dict):
        return {name: _replace_non_finite(each) for name, each in found.items()}
    return [_replace_non_finite(each) for each in found] if isinstance(found, list) else found
