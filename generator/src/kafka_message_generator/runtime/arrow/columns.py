"""Conversion of Arrow arrays of encoded messages to struct columns and back."""

from __future__ import annotations

from numbers import Integral

import pyarrow as pa
import pyarrow.compute as pc

from .._base.message import Message, unsupported
from .._core.display import display
from ..errors import DecodeError, KafkaMessageError
from ..schema import schemas_of
from ..schema.descriptors import descriptor_of
from . import _objects
from ._conform import conformed
from ._native import decoded, encoded
from ._rows import RowError, explain, one_by_one
from ._shape import EMIT_DEFAULTS, IGNORE_REST, PERMISSIVE, UNKNOWN, VALIDATE_UTF8, Shape, shape_of
from ._validation import check_all, check_buffers, check_places, in_one, private, stored

MODES = ("FAILFAST", "PERMISSIVE")
TRAILING = ("error", "ignore")
_INT64 = 1 << 63
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias, TypeGuard

    Versions: TypeAlias = int | pa.Array | Any | None
    Known: TypeAlias = int | pa.Array | None


def schema(message: type[Message], *, unknown_tagged_fields: bool = False) -> pa.Schema:
    """Return the Arrow schema of a message: the nullable union of its fields over all versions.

    A uuid is a 22-character string, a uint16 an int32, a uint32 an int64; list elements are named ``element``.
    ``unknown_tagged_fields`` adds a map of tag to bytes to every struct.
    """
    return pa.schema(list(shape_of(message, unknown_tagged_fields).type))


def decode(
    array: pa.Array,
    message: type[Message],
    version: Versions = None,
    *,
    mode: str = "FAILFAST",
    corrupt_column: str | None = None,
    unknown_tagged_fields: bool = False,
    trailing: str = "error",
    trailing_column: str | None = None,
    emit_defaults: bool = False,
    validate_utf8: bool = True,
) -> pa.StructArray:
    """Decode an array of binary values, one message each, to structs; null stays null.

    ``version`` is an int, an integer array with one version per row, or None for an int16 prefix (coordinator values).
    Fields that the version lacks are null, or have their defaults with ``emit_defaults``. ``trailing`` ("error" or
    "ignore") applies to bytes after a message; ``trailing_column`` adds a field with the ignored bytes.
    ``validate_utf8=False`` keeps invalid UTF-8.

    An invalid row raises RowError (a DecodeError) in mode "FAILFAST". In "PERMISSIVE" the row is null; with
    ``corrupt_column`` its other fields are null, and this column has its bytes.

    Raises ValueError for invalid arguments and for 2 GiB or more in one array. Raises TypeError for arrays of other
    types, invalid offsets, and versions that are not integers.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    if trailing not in TRAILING:
        raise ValueError(f"trailing must be one of {', '.join(TRAILING)}, not {trailing!r}")
    array = _binary(array)
    unknown_tagged_fields = bool(unknown_tagged_fields)
    if corrupt_column is not None or trailing_column is not None:
        _check_names(message, unknown_tagged_fields, corrupt_column, trailing_column)
    known = _known_version(version, len(array))
    flags = EMIT_DEFAULTS if emit_defaults else 0
    if validate_utf8:
        flags |= VALIDATE_UTF8
    if trailing == "ignore":
        flags |= IGNORE_REST
    if mode == "PERMISSIVE":
        flags |= PERMISSIVE
    found = decoded(array, message, known, unknown_tagged_fields, flags, trailing_column, corrupt_column)
    if found is None:
        _objects.warn_once()
        array = private(array)
        check_all(array, "")
        shape = shape_of(message, unknown_tagged_fields)
        found = _objects.ObjectDecoder(shape, known, flags, trailing_column, corrupt_column).decoded(array)
    if isinstance(found, int):
        row = private(array.slice(found, 1))
        check_all(row, "")
        raise _row_error(message, row[0].as_py(), found, known)
    return found


def encode(
    array: pa.StructArray | pa.RecordBatch | pa.Table, message: type[Message], version: int, *, prefix: bool = False
) -> pa.Array:
    """Encode an array of structs from ``decode``, or a table, to binary values of one version; null stays null.

    Every field of the version needs a column of its name; columns of other types are cast. A field that the version
    lacks must be null or its default, unless ignorable. ``prefix`` writes the version (int16) before each
    value.

    Raises EncodeRowError for the first invalid row, UnsupportedVersionError, KeyError for a missing column, and
    TypeError for a wrong column, invalid offsets or a non-integer version.
    """
    if isinstance(array, pa.RecordBatch | pa.Table):
        array = array.to_struct_array()
    if isinstance(array, pa.ChunkedArray):
        array = in_one(array, message.NAME)
    if not isinstance(array, pa.Array):
        raise TypeError(f"expected a struct array of messages, got {type(array).__name__}")
    if type(version) is not int and not _is_integer(version):
        given = display(version) if _is_one(version) else f"a value of type {type(version).__name__}"
        raise TypeError(f"version must be an integer for all rows, not {given}")
    version = int(version)
    if version not in schemas_of(message):
        raise unsupported(message, version)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), pa.binary())
    check_buffers(array)
    prefix = bool(prefix)
    found = encoded(array, message, version, prefix)
    if isinstance(found, pa.Array):
        return found
    array = private(array)
    shape, given = shape_of(message), array
    try:
        array = conformed(array, shape)
    except pa.ArrowException:
        try:
            return _slowly(stored(array), shape, version, prefix)
        except pa.ArrowException as error:
            raise TypeError(f"{message.NAME}: pyarrow cannot read these columns: {error}") from None
    if found is None and array is not given:
        found = encoded(array, message, version, prefix)
    if found is None:
        _objects.warn_once()
        return _objects.encoded(array, shape, version, prefix)
    if isinstance(found, int):
        raise explain(message, array, found, version)
    return found


def _slowly(array: pa.Array, shape: Shape, version: int, prefix: bool) -> pa.Array:
    # For rows that no column type can hold and types that pyarrow cannot cast; raises for the first bad row.
    _objects.encoded(conformed(array[:0], shape), shape, version, prefix)  # check types and columns first
    check_places(array, shape.message.NAME)
    return one_by_one(shape.message, array, 0, version, prefix)


def _binary(array: pa.Array) -> pa.Array:
    if isinstance(array, pa.ChunkedArray):
        array = in_one(array, "")
    if not isinstance(array, pa.Array):
        raise TypeError(f"expected a binary array of encoded messages, got {type(array).__name__}")
    check_buffers(array)
    if isinstance(array, pa.BinaryArray | pa.LargeBinaryArray):
        return array
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = private(array)
        check_places(array, "")
        return _binary(array.dictionary).take(array.indices)
    if pa.types.is_binary_view(kind):
        array = private(array)
        check_places(array, "")
    elif not (pa.types.is_fixed_size_binary(kind) or pa.types.is_null(kind)):
        raise TypeError(f"expected a binary array of encoded messages, got {kind}")
    return array.cast(pa.binary())


def _is_integer(version: object) -> TypeGuard[int]:
    return isinstance(version, Integral) and not isinstance(version, bool)


def _known_version(version: Versions, count: int) -> Known:
    # Return one version, None for a prefix, or an int64 array with -1 for null.
    if type(version) is int and 0 <= version < _INT64:
        return version
    if version is None:
        return None
    if _is_integer(version):
        if not -_INT64 <= version < _INT64:
            raise ValueError(f"version {version} is out of range for INT64")
        return int(version)
    if isinstance(version, pa.Array | pa.ChunkedArray):
        values = version
    elif _is_one(version):
        raise TypeError(f"version must be an integer, an array of integers or None, not {display(version)}")
    else:
        values = _numbers(version)
    if not pa.types.is_integer(values.type) and not pa.types.is_null(values.type):
        raise TypeError(f"versions must be integers, not {values.type}")
    if len(values) != count:
        raise ValueError(f"got {len(values)} versions for {count} rows")
    if isinstance(values, pa.ChunkedArray):
        values = in_one(values, "")
    check_buffers(values)
    try:
        return pc.fill_null(values.cast(pa.int64()), -1)
    except pa.ArrowInvalid:
        raise ValueError(f"version {pc.max(values)} is out of range for INT64") from None


def _is_one(version: object) -> bool:
    return isinstance(version, str | bytes) or not (getattr(version, "shape", ()) or hasattr(version, "__len__"))


def _numbers(versions: object) -> pa.Array:
    try:
        if hasattr(versions, "astype"):  # a numpy array, maybe in the other byte order
            versions = versions.astype(versions.dtype.newbyteorder("="))  # type: ignore[attr-defined]
        return pa.array(versions)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise TypeError(f"versions must be integers, one for each row, not {display(versions)}") from None


def _check_names(
    message: type[Message], unknown_tagged_fields: bool, corrupt_column: str | None, trailing_column: str | None
) -> None:
    names = {field.name for field in descriptor_of(message).fields} | ({UNKNOWN} if unknown_tagged_fields else set())
    for option, name in (("corrupt_column", corrupt_column), ("trailing_column", trailing_column)):
        if name is None:
            continue
        if not isinstance(name, str):
            raise TypeError(f"{option} must be a name or None, not {display(name)}")
        if any(each == "\0" or "\ud800" <= each <= "\udfff" for each in name):
            raise ValueError(f"{option} is {name!r}: Arrow column names cannot contain NUL or lone surrogates")
        if name in names:
            raise ValueError(f"{option} is {name!r}, which is already a field of the message; choose another name")
    if corrupt_column is not None and corrupt_column == trailing_column:
        raise ValueError(f"corrupt_column and trailing_column are both {corrupt_column!r}; choose different names")


def _row_error(message: type[Message], data: bytes, row: int, known: Known) -> KafkaMessageError:
    has_prefix = known is None
    if has_prefix and len(data) < 2:
        reason = f"2 bytes needed at offset 0, {len(data)} left"
        return RowError(row, DecodeError(reason, message.NAME, path="version", offset=0))
    try:
        version = int.from_bytes(data[:2], signed=True) if known is None else _of_row(known, row)
        if version not in message._codecs:
            raise unsupported(message, version)
        message.read(data[2:] if has_prefix else data, version)
    except KafkaMessageError as error:
        if has_prefix and isinstance(error, DecodeError):
            error = DecodeError(error.reason, error.message, error.version, error.path, error.offset)
        return RowError(row, error)
    return RowError(row, DecodeError("the column codec rejects bytes that the object codec reads; please report this"))


def _of_row(known: int | pa.Array, row: int) -> int:
    version: int = known if isinstance(known, int) else known[row].as_py()
    return version
