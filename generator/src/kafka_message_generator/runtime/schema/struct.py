"""Fields and struct values of the schema codec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace

from .._core.redaction import REDACTED, secret_names
from .._core.wire import RawTaggedField
from .arrays import elements
from .types import SchemaError, Type


class Field:
    """Name and type of a field; ``default`` is the value of a tagged field that is omitted."""

    __slots__ = ("default", "has_default", "name", "type")

    def __init__(self, name: str, type: Type, default: object = ...) -> None:
        self.name = name
        self.type = type
        self.has_default = default is not ...
        self.default = None if default is ... else default

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.type!r})"


class StructType(Type):

    fields: tuple[Field, ...]
    names: frozenset[str]
    # Rules of secret fields, as in ``FieldDescriptor.secret``.
    secrets: Mapping[str, object] = {}


class Struct:
    """Values by field name, in wire order, and unknown tagged fields."""

    __slots__ = ("schema", "unknown_tagged_fields", "values")

    def __init__(
        self, schema: StructType, values: Mapping[str, object], unknown_tagged_fields: tuple[RawTaggedField, ...] = ()
    ) -> None:
        self.schema = schema
        self.values = dict(values)
        self.unknown_tagged_fields = unknown_tagged_fields

    def __getitem__(self, name: str) -> object:
        return self.values[name]

    def __setitem__(self, name: str, value: object) -> None:
        if name not in self.schema.names:
            raise SchemaError(f"the schema has no field {name!r}")
        self.values[name] = value

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return self.values == other.values and self.unknown_tagged_fields == other.unknown_tagged_fields

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        secrets = {name: rule for name, rule in self.schema.secrets.items() if name in self.values}
        hidden = dict.fromkeys(secret_names(SimpleNamespace(**self.values), rules=secrets), REDACTED)
        return (
            f"Struct({', '.join(f'{name}={hidden.get(name) or repr(value)}' for name, value in self.values.items())})"
        )


def value_of(container: object, name: str) -> object:
    try:
        if isinstance(container, (Struct, Mapping)):
            return container[name]
        return getattr(container, name)
    except (KeyError, AttributeError):
        raise SchemaError("is missing") from None


def is_default(value: object, default: object) -> bool:
    if default is None or value is None:
        return value is default
    if isinstance(default, list):
        return len(elements(value)) == 0
    if isinstance(default, Struct):
        if getattr(value, "unknown_tagged_fields", ()):
            return False
        return all(_has_default(value, name, wanted) for name, wanted in default.values.items())
    return bool(value == default)


def _has_default(value: object, name: str, wanted: object) -> bool:
    if isinstance(value, Struct) and name not in value and all(field.name != name for field in value.schema.fields):
        return True
    return is_default(value_of(value, name), wanted)
