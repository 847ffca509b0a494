"""Values that a version cannot carry, and copies without them; compiled per class and version on first use."""

from __future__ import annotations

from .._core.source import Source
from .._core.structs import NULLED, StructBase
from .._core.value import dataclass
from .._core.versions import with_noun
from .._core.wire import new
from .arrays import elements
from .build import SchemaBuilder
from .descriptors import FieldDescriptor, HasDescriptor, class_in, descriptor_of, message_class
from .error_location import explain_write
from .loops import Loops, Spot, array_class, is_late
from .struct import is_default
from .types import SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .loops import ValuePath

UNKNOWN = "unknown_tagged_fields"
_FAILURES = (SchemaError, AttributeError)


@dataclass(frozen=True, slots=True)
class UnsupportedField:
    """Value that a version cannot carry."""

    path: str
    """Path in the message: ``topics[0].topic_id``."""
    is_refused: bool
    """True if ``write`` raises EncodeError; False if it drops the value."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {'refused' if self.is_refused else 'dropped'}, {self.reason}"


def losses_at(cls: type[HasDescriptor], version: int) -> Callable[[Any], tuple[UnsupportedField, ...]]:
    return _Losses(message_class(cls), version).compiled()


def _nothing(message: object) -> tuple[UnsupportedField, ...]:
    return ()


def _check(struct: object, kind: str, place: ValuePath) -> None:
    # Accept other structs: they may have the same fields. ``explain_write`` names the place of anything else.
    if not isinstance(struct, StructBase):
        raise AttributeError


def _listed(value: object, place: ValuePath) -> list[object]:
    return elements(value)


class _Losses(Loops):
    def __init__(self, cls: type[HasDescriptor], version: int) -> None:
        super().__init__(cls, check=_check, listed=_listed, is_default=is_default, failures=_FAILURES)
        self.version = version
        self.builder = SchemaBuilder(self.descriptor)
        self.is_extensible = version in self.descriptor.flexible or version in self.descriptor.with_optional

    def compiled(self) -> Callable[[Any], tuple[UnsupportedField, ...]]:
        source = self.source
        source.add(0, "def losses(x):")
        source.add(1, "out = []")
        source.add(1, "try:")
        if not self.all(2, "x"):
            return _nothing
        source.add(1, "except failures as error:")
        source.add(2, f"raise {source.constant(explain_write)}(x, {self.version}, error) from None")
        source.add(1, "return tuple(out)")
        return source.function("losses")

    def enters(self, field: FieldDescriptor) -> bool:
        return self.version in field.versions

    def has_own(self, name: str, fields: tuple[FieldDescriptor, ...]) -> bool:
        return not self.is_extensible or any(not self.enters(field) or self.may_be_null(field) for field in fields)

    def may_be_null(self, field: FieldDescriptor) -> bool:
        return field.nullable.lowest <= field.nullable.highest and self.version not in field.nullable

    def is_quiet(self, field: FieldDescriptor) -> bool:
        return True  # a field whose default is null is nullable in all its versions

    def visit(self, depth: int, spot: Spot) -> None:
        for field in spot.fields:
            value = f"{spot.variable}.{field.name}"
            if not self.enters(field):
                verb = "has" if len(field.versions) == 1 else "have"
                reason = f"only {with_noun(field.versions.notation)} {verb} this field"
                self.lose(depth, self.is_set(spot, field), spot, field.name, not field.ignorable, reason)
            else:
                if self.may_be_null(field):
                    self.lose(
                        depth, f"{value} is None", spot, field.name, True, f"not nullable in version {self.version}"
                    )
                self.inner(depth, spot, field)
        if not self.is_extensible:
            reason = f"version {self.version} has no tagged fields"
            self.lose(depth, f"{spot.variable}.{UNKNOWN}", spot, UNKNOWN, True, reason)

    def is_set(self, spot: Spot, field: FieldDescriptor) -> str:
        value, default = f"{spot.variable}.{field.name}", self.builder.default(field)
        if default is None:
            return f"{value} is not None"
        known = self.source.constant(default)
        is_changed = f"not is_default({value}, {known})"
        if field.is_array:
            kept = self.source.constant(array_class(self.message, field))
            return f"({value} or type({value}) is not {kept}) and {is_changed}"
        if not field.is_struct:
            return f"{value} is not {known} and not {value} == {known}"
        if not is_late(self.message, spot.name, field):
            return is_changed
        slot, made = f"{spot.variable}._{field.name}", self.source.constant(class_in(self.message, field.type)())
        return f"{slot} is not None and {slot} != {made} and {is_changed}"

    def lose(self, depth: int, condition: str, spot: Spot, name: str, is_refused: bool, reason: str) -> None:
        path = spot.path_to(name)
        text = f"{path!r} % ({''.join(f'{each}, ' for each in spot.indices)})" if spot.indices else repr(path)
        self.source.add(depth, f"if {condition}:")
        self.source.add(
            depth + 1, f"out.append({self.source.constant(UnsupportedField)}({text}, {is_refused}, {reason!r}))"
        )


def fit_at(cls: type[HasDescriptor], version: int) -> Callable[[Any], Any]:
    return _Fit(message_class(cls), version).compiled()


class _Fit:
    def __init__(self, cls: type[HasDescriptor], version: int) -> None:
        self.cls = cls
        self.descriptor = descriptor_of(cls)
        self.version = version
        self.is_extensible = version in self.descriptor.flexible or version in self.descriptor.with_optional
        known = {"type": type, "new": new, "elements": elements, "check": _check, "NULLED": NULLED, "list": list}
        self.source = Source(f"Fit of {self.descriptor.name}", failures=_FAILURES, **known)
        self.copiers: dict[str, str] = {}

    def compiled(self) -> Callable[[Any], Any]:
        source = self.source
        copy = self.copier(self.descriptor.name, self.descriptor.fields)
        made = source.constant(class_in(self.cls, self.descriptor.name))
        source.add(0, "def fit(x):")
        source.add(1, "try:")
        source.add(2, f"y = {copy}(x)")
        source.add(1, "except failures as error:")
        source.add(2, f"raise {source.constant(explain_write)}(x, {self.version}, error) from None")
        source.add(1, f"return y if type(x) is {made} else {source.constant(self.derived)}(x, y)")
        return source.function("fit")

    def derived(self, message: object, copy: object) -> object:
        kept = [
            field.name
            for field in self.descriptor.fields
            if self.version in field.versions
            and (self.version in field.nullable or getattr(message, field.name) is not None)
        ]
        names = [*kept, UNKNOWN] if self.is_extensible else kept
        return type(message)(**{name: getattr(copy, name) for name in names})

    def copier(self, name: str, fields: tuple[FieldDescriptor, ...]) -> str:
        if name not in self.copiers:
            function = self.copiers[name] = f"copy_{len(self.copiers)}"
            lines = [line for field in fields for line in self.field(name, field)]
            self.source.add(0, f"def {function}(x):")
            self.source.add(1, f"y = new({self.source.constant(class_in(self.cls, name))})")
            for line in lines:
                self.source.add(1, line)
            self.source.add(1, f"y.{UNKNOWN} = {f'x.{UNKNOWN}' if self.is_extensible else '()'}")
            self.source.add(1, "return y")
        return self.copiers[name]

    def field(self, struct: str, field: FieldDescriptor) -> list[str]:
        late = is_late(self.cls, struct, field)
        slot, default = f"{'_' if late else ''}{field.name}", "None" if late else self.default(field)
        if self.version not in field.versions:
            return [f"y.{slot} = {default}"]
        null = "None" if self.version in field.nullable else default
        if field.is_struct or field.is_array:
            is_null = "v is None or v is NULLED" if late else "v is None"
            return [f"v = x.{slot}", f"y.{slot} = {null} if {is_null} else {self.copied(field)}"]
        if null == "None":
            return [f"y.{slot} = x.{slot}"]
        return [f"v = x.{slot}", f"y.{slot} = {null} if v is None else v"]

    def copied(self, field: FieldDescriptor) -> str:
        if not field.is_struct:
            return "v[:] if type(v) is list else elements(v)"
        copy, kind = self.copier(field.type, field.fields), self.source.constant(class_in(self.cls, field.type))
        if not field.is_array:
            return f"{copy}(v) if type(v) is {kind} else {copy}(check(v, '', {field.name!r}) or v)"
        kept = array_class(self.cls, field)
        values = f"(v if type(v) is {self.source.constant(kept)} else elements(v))"
        each = f"[{copy}(e if type(e) is {kind} else check(e, '', {field.name!r}) or e) for e in {values}]"
        return each if kept is list else f"{self.source.constant(kept)}({each})"

    def default(self, field: FieldDescriptor) -> str:
        if field.raw_default is None:
            return "None"
        if field.is_array:
            kept = array_class(self.cls, field)
            return "[]" if kept is list else f"{self.source.constant(kept)}()"
        if field.is_struct:
            return f"{self.source.constant(class_in(self.cls, field.type))}()"
        return self.source.constant(field.default())
