"""What a version of a message cannot carry: the places, and a copy without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from .._core.structs import StructBase
from .._core.value import dataclass
from .build import Builder
from .explain import explain_write
from .facts import Described, FieldFacts, class_in, facts_of
from .struct import is_default, value_of
from .types import SchemaError, elements

D = TypeVar("D", bound=Described)
UNKNOWN = "unknown_tagged_fields"


@dataclass(frozen=True, slots=True)
class Lost:
    """A value that a version cannot carry."""

    path: str
    """The place in the message: ``topics[0].topic_id``."""
    is_refused: bool
    """Whether ``write`` raises EncodeError for it. What is not refused is dropped, as the definition calls it ignorable."""
    reason: str
    """Why, as it may stand behind the path."""

    def __str__(self) -> str:
        return f"{self.path}: {'refused' if self.is_refused else 'dropped'}, {self.reason}"


def lost(message: Described, version: int) -> tuple[Lost, ...]:
    """What ``message`` loses at ``version``, in the order of the definition."""
    fit = _Fit(type(message), version)
    try:
        return tuple(fit.lost(fit.facts.fields, message, ""))
    except SchemaError as error:
        raise explain_write(message, version, error) from None


def fitted(message: D, version: int) -> D:
    """A copy of ``message`` in which all that it loses at ``version`` is at its default."""
    fit = _Fit(type(message), version)
    try:
        copy: D = fit.struct(type(message), fit.facts.fields, message)
    except SchemaError as error:
        raise explain_write(message, version, error) from None
    return copy


class _Fit:
    """A message class at one version."""

    def __init__(self, cls: type[Described], version: int) -> None:
        self.cls = cls
        self.facts = facts_of(cls)
        self.version = version
        self.builder = Builder(self.facts)
        self.is_extensible = version in self.facts.flexible or version in self.facts.with_optional

    def refuses_null(self, field: FieldFacts, value: object) -> bool:
        """Whether the version has the field, but no null there."""
        return value is None and self.version not in field.nullable

    def lost(self, fields: tuple[FieldFacts, ...], struct: object, place: str) -> Iterator[Lost]:
        for field in fields:
            value, path = value_of(struct, field.name), f"{place}{field.name}"
            if self.version not in field.versions:
                if not is_default(value, self.builder.default(field)):
                    yield Lost(path, not field.ignorable, f"only versions {field.versions} have this field")
            elif self.refuses_null(field, value):
                yield Lost(path, True, f"version {self.version} has no null here")
            elif field.is_struct and value is not None:
                for index, element in self.structs(field, value):
                    yield from self.lost(field.fields, element, f"{path}{index}.")
        if not self.is_extensible and value_of(struct, UNKNOWN):
            yield Lost(f"{place}{UNKNOWN}", True, f"version {self.version} has no tagged fields")

    def structs(self, field: FieldFacts, value: object) -> Iterator[tuple[str, object]]:
        """The structs of a field, each with its index in an array."""
        found = (
            [(f"[{index}]", each) for index, each in enumerate(elements(value))] if field.is_array else [("", value)]
        )
        for index, element in found:
            if not isinstance(element, StructBase):
                raise SchemaError("is no struct").inside(f".{field.name}{index}")
            yield index, element

    def struct(self, cls: type[D], fields: tuple[FieldFacts, ...], struct: object) -> D:
        kept: dict[str, object] = {}
        for field in fields:
            value = value_of(struct, field.name)
            if self.version in field.versions and not self.refuses_null(field, value):
                kept[field.name] = self.value(field, value)
        if self.is_extensible:
            kept[UNKNOWN] = value_of(struct, UNKNOWN)
        return cls(**kept)

    def value(self, field: FieldFacts, value: object) -> object:
        if value is None:
            return None
        if field.is_struct:
            cls: Any = class_in(self.cls, field.type)
            inner = [self.struct(cls, field.fields, element) for _, element in self.structs(field, value)]
            return inner if field.is_array else inner[0]
        return list(elements(value)) if field.is_array else value
