"""Messages in the JSON form of Kafka's converters, for ``json.dumps`` and ``json.loads``.

Keys are camelCase. UUIDs are 22 characters of URL-safe base64, bytes are padded base64, int64 is a number.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from ._base.message import Message, check_class, checked_message, checked_version
from ._core.display import display, summary
from ._core.formatting import uuid_text as _uuid_text
from ._core.structs import made
from ._core.wire import RawTaggedField
from .errors import PlacedError, did_you_mean
from .schema.build import SchemaBuilder
from .schema.descriptors import FieldDescriptor, class_in, descriptor_of, message_class
from .schema.sections import Section
from .schema.struct import is_default
from .schema.types import INTEGERS, SchemaError, Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeVar

    M = TypeVar("M", bound=Message)

__all__ = ["JsonError", "from_json", "parse_uuid", "to_json", "uuid_text"]

RAW_KEY = "_unknownTaggedFields"
RECORDS_FORMS = ("data", "size", "empty")


class JsonError(PlacedError):
    """JSON that is not this message at this version; ``path`` is the field and ``reason`` the cause."""


def to_json(
    message: Message,
    version: int,
    *,
    records: Literal["data", "size", "empty"] = "data",
    unknown_tagged_fields: bool = False,
    names: bool = False,
) -> dict[str, object]:
    """Return the message as Kafka's JSON converters write it at ``version``.

    ``records`` selects the form of ``records`` fields: "data" is base64, which ``from_json`` reads; "empty" is an empty
    string and "size" is ``<name>SizeInBytes``, the two forms of Kafka. Null stays null.

    Unlike Kafka's converters, ``unknown_tagged_fields`` adds a list of ``{"tag": 5, "data": "<base64>"}`` to a struct,
    at the key ``_unknownTaggedFields``, and ``names`` writes the names of ``enums`` instead of numbers. Non-finite
    floats stay floats.

    Raises UnsupportedVersionError, and EncodeError for a message that cannot be written.
    """
    if records not in RECORDS_FORMS:
        raise ValueError(f"records must be one of {', '.join(map(repr, RECORDS_FORMS))}, not {records!r}")
    version = _json_version(type(checked_message(message)), version)
    message.write(version)  # raises for values that the version cannot carry
    out = _struct_to(_shape_of(type(message), version), message, records, unknown_tagged_fields)
    if names:
        from ._base.enum_names import put_names

        put_names(descriptor_of(type(message)).fields, out)
    return out


def from_json(
    cls: type[M],
    obj: Mapping[str, object],
    version: int,
    *,
    ignore_unknown: bool = False,
    default_missing: bool = False,
    names: bool = False,
) -> M:
    """Convert ``obj``, the JSON form of a message at ``version``, to a message of class ``cls``.

    Unlike Kafka's converters, rejects unknown keys, missing untagged fields, fields that the version lacks, and nulls
    that the version does not allow. ``ignore_unknown`` accepts unknown keys, ``default_missing`` gives missing fields
    their defaults, and ``names`` accepts names of ``enums``. Fields of type ``records`` are base64.

    Raises JsonError with the path, and UnsupportedVersionError.
    """
    version = _json_version(cls, version)
    try:
        plain: object = obj
        if names:
            from ._base.enum_names import with_numbers

            plain = with_numbers(descriptor_of(cls).fields, obj)
        message: M = _struct_from(_shape_of(cls, version), plain, _Leniency(ignore_unknown, default_missing))
    except SchemaError as error:
        raise JsonError(error.reason, cls.NAME, version, error.place) from None
    return message


def _json_version(cls: type[Message], version: int) -> int:
    check_class(cls)
    is_type = version == cls.API_KEY and version not in cls._codecs and descriptor_of(cls).kind == "coordinator-key"
    return checked_version(cls, cls.HIGHEST_SUPPORTED_VERSION if is_type else version)


def uuid_text(value: UUID) -> str:
    """Return a UUID in Kafka's form: 22 characters of URL-safe base64."""
    if not isinstance(value, UUID):
        raise TypeError(f"expected a UUID, got {display(value)}")
    return _uuid_text(value)


def parse_uuid(text: str) -> UUID:
    """Parse a UUID in Kafka's form. Raises ValueError."""
    if not isinstance(text, str):
        raise TypeError(f"expected str, got {display(text)}")
    try:
        return _uuid(text)
    except SchemaError as error:
        raise ValueError(error.reason) from None


@dataclass(frozen=True, slots=True)
class _JsonField:

    name: str
    key: str
    type: str
    is_array: bool
    is_nullable: bool
    is_tagged: bool
    default: object
    wire: Type | None
    shape: _JsonShape | None


@dataclass(frozen=True, slots=True)
class _JsonShape:

    cls: type
    version: int
    fields: tuple[_JsonField, ...]
    absent: frozenset[str]
    section: Section | None


@dataclass(frozen=True, slots=True)
class _Leniency:
    ignore_unknown: bool
    default_missing: bool


_shapes: dict[tuple[type, int], _JsonShape] = {}


def _shape_of(message: type[Message], version: int) -> _JsonShape:
    own = message_class(message)  # derived classes may be short-lived
    shape = _shapes.get((own, version))
    if shape is None:
        shape = _shapes[own, version] = _shape(message, own, descriptor_of(message).fields, version)
    return shape if own is message else replace(shape, cls=message)


def _shape(message: type[Message], cls: type, fields: tuple[FieldDescriptor, ...], version: int) -> _JsonShape:
    present = tuple(_field(message, field, version) for field in fields if version in field.versions)
    absent = frozenset(field.json_name for field in fields if version not in field.versions)
    schema = SchemaBuilder(descriptor_of(message)).struct(fields, version)
    return _JsonShape(cls, version, present, absent, schema.tags or schema.optional)


def _field(message: type[Message], field: FieldDescriptor, version: int) -> _JsonField:
    descriptor = descriptor_of(message)
    builder = SchemaBuilder(descriptor)
    wire, shape = None, None
    if field.is_struct:
        shape = _shape(message, class_in(message, field.type), descriptor.structs[field.type], version)
    else:
        encoded = builder.encoded(field.element_encodings if field.is_array else field.encodings, version)
        wire = encoded or builder.scalar(field.type, version in descriptor.flexible_at(field), False, version)
    nullable, tagged = version in field.nullable, version in field.tagged or field.optional
    name, key, default = field.name, field.json_name, builder.default(field)
    return _JsonField(name, key, field.type, field.is_array, nullable, tagged, default, wire, shape)


def _struct_to(shape: _JsonShape, struct: Any, records: str, raw: bool) -> dict[str, object]:
    out: dict[str, object] = {}
    for field in shape.fields:
        value = getattr(struct, field.name)
        if field.is_tagged and is_default(value, field.default):
            continue
        if value is None:
            out[field.key] = None
        elif field.shape is not None:
            inner = field.shape
            if field.is_array:
                out[field.key] = [_struct_to(inner, element, records, raw) for element in value]
            else:
                out[field.key] = _struct_to(inner, value, records, raw)
        elif field.is_array:
            out[field.key] = list(map(_TO_JSON[field.type], value))
        elif field.type == "records" and records != "data":
            out |= {field.key: ""} if records == "empty" else {f"{field.key}SizeInBytes": len(value)}
        else:
            out[field.key] = _TO_JSON[field.type](value)
    if raw and shape.section is not None and struct.unknown_tagged_fields:
        out[RAW_KEY] = [{"tag": each.tag, "data": _base64(each.data)} for each in struct.unknown_tagged_fields]
    return out


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


_TO_JSON: dict[str, Callable[[Any], object]] = dict.fromkeys(INTEGERS, int)
_TO_JSON |= {"bool": bool, "float64": float, "uuid": _uuid_text, "string": str, "bytes": _base64, "records": _base64}


def _struct_from(shape: _JsonShape, obj: object, lenient: _Leniency) -> Any:
    if not isinstance(obj, Mapping):
        raise _wrong(obj, "an object")
    values: dict[str, object] = {}
    for field in shape.fields:
        if field.key in obj:
            try:
                values[field.name] = _field_from(field, obj[field.key], lenient)
            except SchemaError as error:
                raise error.inside(f".{field.key}") from None
        elif not field.is_tagged and not lenient.default_missing:
            raise _missing(shape, field, obj, lenient)
    if RAW_KEY in obj:
        try:
            values["unknown_tagged_fields"] = tuple(_raw_fields(shape, obj[RAW_KEY]))
        except SchemaError as error:
            raise error.inside(f".{RAW_KEY}") from None
    if len(values) < len(obj):
        _check_keys(shape, obj, lenient)
    return made(shape.cls, values)


def _missing(shape: _JsonShape, field: _JsonField, obj: Mapping[object, object], lenient: _Leniency) -> SchemaError:
    reason = f"is missing, but version {shape.version} has this field"
    if f"{field.key}SizeInBytes" in obj:
        reason += f"; the bytes cannot be restored from {field.key}SizeInBytes"
    else:
        _check_keys(shape, obj, lenient)  # the key may be present but misspelled
    return SchemaError(reason).inside(f".{field.key}")


def _check_keys(shape: _JsonShape, obj: Mapping[object, object], lenient: _Leniency) -> None:
    known = {RAW_KEY, *(field.key for field in shape.fields)}
    for key in obj:
        if key in shape.absent:
            raise SchemaError(f"is not supported by version {shape.version}").inside(f".{key}")
        if key not in known and not lenient.ignore_unknown:
            raise SchemaError(f"unknown key{did_you_mean(str(key), known)}").inside(f".{key}")


def _field_from(field: _JsonField, value: object, lenient: _Leniency) -> object:
    if value is None:
        if not field.is_nullable:
            raise SchemaError("must not be null in this version")
        return None
    if not field.is_array:
        return _element_from(field, value, lenient)
    out = []
    for index, element in enumerate(_array(value)):
        try:
            out.append(_element_from(field, element, lenient))
        except SchemaError as error:
            raise error.inside(f"[{index}]") from None
    return out


def _element_from(field: _JsonField, value: object, lenient: _Leniency) -> object:
    if field.shape is not None:
        return _struct_from(field.shape, value, lenient)
    result = _FROM_JSON[field.type](value)
    assert field.wire is not None  # every scalar has a wire type
    field.wire.validate(result)  # ranges of numbers, lengths and characters of strings
    return result


def _raw_fields(shape: _JsonShape, value: object) -> Iterator[RawTaggedField]:
    if shape.section is None:
        raise SchemaError(f"version {shape.version} has no tagged fields")
    parts: dict[int, bytes] = {}
    for index, entry in enumerate(_array(value)):
        try:
            if not isinstance(entry, Mapping) or set(entry) != {"tag", "data"}:
                raise _wrong(entry, 'an object with "tag" and "data"')
            raw = RawTaggedField(_integer(entry["tag"]), _bytes(entry["data"]))
            shape.section.add_unknown(parts, raw)
        except SchemaError as error:
            raise error.inside(f"[{index}]") from None
        yield raw


def _array(value: object) -> Sequence[object]:
    if not isinstance(value, (list, tuple)):
        raise _wrong(value, "an array")
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(value, "true or false")
    return value


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(value, "an integer")
    return value


def _float(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _wrong(value, "a number")
    try:
        return float(value)
    except OverflowError:
        raise SchemaError(f"{_shown(value)} is out of range for FLOAT64") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(value, "a string")
    return value


def _bytes(value: object) -> bytes:
    try:
        return binascii.a2b_base64(_text(value), strict_mode=True)
    except ValueError:
        raise _wrong(value, "bytes as base64") from None


def _uuid(value: object) -> UUID:
    try:
        text = _text(value).translate(_FROM_URL_SAFE)
        return UUID(bytes=binascii.a2b_base64(text + "==" if len(text) == 22 else text, strict_mode=True))
    except ValueError:
        raise _wrong(value, "a UUID as 22 characters of URL-safe base64") from None


_FROM_URL_SAFE = str.maketrans("-_+/", "+/  ")
_FROM_JSON: dict[str, Callable[[object], object]] = dict.fromkeys(INTEGERS, _integer)
_FROM_JSON |= {"bool": _bool, "float64": _float, "uuid": _uuid, "string": _text, "bytes": _bytes, "records": _bytes}


def _wrong(value: object, expected: str) -> SchemaError:
    return SchemaError(f"expected {expected}, got {_shown(value)}")


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "an array"
    if isinstance(value, str):
        return f"a string of {len(value)} character{'' if len(value) == 1 else 's'}"
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        return summary(value)
    return text if len(text) <= 60 else text[:57] + "..."
