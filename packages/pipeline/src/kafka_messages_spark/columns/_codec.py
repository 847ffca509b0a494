"""Look up messages by name, and decode and encode Arrow arrays of them in the workers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import cast

import kafka_messages
import numpy as np
import pyarrow as pa
from kafka_messages import Message, arrow
from kafka_messages.arrow import EncodeRowError, RowError
from kafka_messages.errors import UnsupportedVersionError, did_you_mean

from .._core.errors import invalid_argument, malformed_batch, type_mismatch
from .._core.options import DecodeOptions
from ._fields import conformed, pruned, pruned_type, tree_of

_PACKAGE: ModuleType = kafka_messages
_TRAILING = "__kafka_trailing"


@cache
def message_names() -> tuple[str, ...]:
    modules: dict[str, str] = _PACKAGE._MODULES
    return tuple(sorted(name for name, module in modules.items() if module.startswith("messages.")))


def message_of(name: object) -> type[Message]:
    """Return a message class by name; raise PySparkValueError if it is unknown."""
    if not isinstance(name, str):
        raise invalid_argument(f"expected the name of a message, such as 'MetadataResponse', got {name!r}")
    names = message_names()
    if name not in names:
        raise invalid_argument(
            f"unknown message {name!r}{did_you_mean(name, names) or '.'} There are {len(names)} messages."
        )
    return cast("type[Message]", getattr(_PACKAGE, name))


def checked_version(message: type[Message], version: int) -> int:
    """Return ``version`` if the message supports it; otherwise raise PySparkValueError."""
    try:
        message().unsupported_fields(version)
    except UnsupportedVersionError as error:
        raise invalid_argument(str(error)) from None
    return version


@dataclass(frozen=True)
class MessageDecoder:
    """Decoder of a binary column.

    If ``version`` is None, versions come from a column or from the first two bytes of each value.
    """

    message: str
    version: int | None
    options: DecodeOptions

    @classmethod
    def checked(cls, owner: str, message: str, version: int | None, options: DecodeOptions) -> MessageDecoder:
        found = cls(message, version, options)
        if version is not None:
            checked_version(message_of(message), version)
        names = arrow.schema(message_of(message), unknown_tagged_fields=options.unknown_tagged_fields).names
        if options.corrupt_column in names:
            raise invalid_argument(
                f"{owner}: the option 'columnNameOfCorruptRecord' is {options.corrupt_column!r}, "
                f"but {message} has a field of this name"
            )
        found.type(owner)
        return found

    def type(self, owner: str = "") -> pa.StructType:
        fields = list(self._pruned(owner))
        corrupt = self.options.corrupt_column
        return pa.struct(fields if corrupt is None else [*fields, pa.field(corrupt, pa.binary())])

    def _pruned(self, owner: str) -> pa.StructType:
        unknown = self.options.unknown_tagged_fields
        full = pa.struct(list(arrow.schema(message_of(self.message), unknown_tagged_fields=unknown)))
        return pruned_type(owner, full, tree_of(self.options.fields))

    def decode(self, data: pa.Array, versions: pa.Array | None = None) -> pa.StructArray:
        structs = self._decode(data, versions, None)
        return pruned(structs, self.type()) if self.options.fields else structs

    def decode_with_trailing(self, data: pa.Array, versions: pa.Array | None = None) -> tuple[pa.StructArray, pa.Array]:
        structs = self._decode(data, versions, _TRAILING)
        return pruned(structs, self.type()), structs.field(_TRAILING)

    def _decode(self, data: pa.Array, versions: pa.Array | None, trailing_column: str | None) -> pa.StructArray:
        if pa.types.is_null(data.type):
            data = data.cast(pa.binary())
        if not (pa.types.is_binary(data.type) or pa.types.is_large_binary(data.type)):
            raise type_mismatch("from_kafka", "first", '"BINARY"', data.type)
        if versions is not None:
            versions = _integers("from_kafka", versions)
        try:
            return arrow.decode(
                data,
                message_of(self.message),
                self.version if versions is None else versions,
                mode=self.options.mode,
                corrupt_column=self.options.corrupt_column,
                unknown_tagged_fields=self.options.unknown_tagged_fields,
                trailing=self.options.trailing,
                trailing_column=trailing_column,
                validate_utf8=self.options.validate_utf8,
            )
        except RowError as error:
            if versions is not None and not versions[error.row].is_valid:
                raise malformed_batch(ValueError(f"row {error.row}: the version is null")) from None
            raise malformed_batch(error) from None
        except UnsupportedVersionError as error:
            raise malformed_batch(error) from None


@dataclass(frozen=True)
class MessageEncoder:
    message: str
    version: int | None
    prefix: bool

    def encode(self, data: pa.StructArray, versions: pa.Array | None = None) -> pa.Array:
        """Return the encoded messages; null for null structs or versions."""
        message = message_of(self.message)
        if not (pa.types.is_struct(data.type) or pa.types.is_null(data.type)):
            raise type_mismatch("to_kafka", "first", '"STRUCT"', data.type)
        full = arrow.schema(message, unknown_tagged_fields=True)
        data = conformed(data, pa.struct(list(full)))
        if versions is None:
            return self._encode(data, np.arange(len(data)), self.version or 0)
        versions = _integers("to_kafka", versions)
        numbers = versions.fill_null(-1).to_numpy(zero_copy_only=False)
        values = pa.nulls(0, pa.binary())
        index = np.full(len(data), -1, np.int64)
        for version in np.unique(numbers[np.asarray(versions.is_valid())]).tolist():
            rows = np.flatnonzero(numbers == version)
            index[rows] = np.arange(len(rows)) + len(values)
            checked_version(message, version)
            values = pa.concat_arrays([values, self._encode(data.take(pa.array(rows)), rows, version)])
        return values.take(pa.array(index, mask=index < 0))

    def _encode(self, data: pa.StructArray, rows: np.typing.NDArray[np.int64], version: int) -> pa.Array:
        try:
            return arrow.encode(data, message_of(self.message), version, prefix=self.prefix).cast(pa.binary())
        except EncodeRowError as error:
            again = EncodeRowError(int(rows[error.row]), error.reason, error.message, error.version, error.path)
            raise ValueError(f"A struct cannot be written as a Kafka message. In this Arrow batch, {again}") from None


def _integers(function: str, versions: pa.Array) -> pa.Array:
    if pa.types.is_null(versions.type):
        return versions.cast(pa.int16())
    if not pa.types.is_integer(versions.type):
        raise type_mismatch(function, "third", '"INTEGRAL"', versions.type)
    return versions
