"""Compiler of the loops in ``errors``, ``error_codes``, ``endpoints`` and ``entities``."""

from __future__ import annotations

from functools import cache

from .._core.display import summary
from .._core.structs import StructBase
from .._core.wire import new
from ..errors import EncodeError
from ..schema.arrays import elements
from ..schema.descriptors import FieldDescriptor, HasDescriptor, address_of
from ..schema.loops import Loops, Spot, path_of
from ..schema.types import SchemaError
from ._places import (
    NUMBERS,
    Endpoint,
    Entity,
    EntitySite,
    Error,
    ErrorCodePlace,
    ErrorCodeSite,
)
from ._tables import ENTITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from ..schema.loops import ValuePath
    from ._tables import EntityType, Named

    Own: TypeAlias = dict[tuple[str, str], Named]

PARTITIONS = frozenset(("index", "partition", "partition_id", "partition_index"))


@cache
def entity_fields() -> dict[str, Own]:
    found: dict[str, Own] = {}
    for each in ENTITIES:
        found.setdefault(each[0], {})[each[1], each[2]] = each
    return found


class _Traversal(Loops):

    def __init__(self, message: type[HasDescriptor], **names: object) -> None:
        super().__init__(
            message, isinstance=isinstance, getattr=getattr, iter=iter, check=self.check, listed=self.listed, **names
        )
        self.name = self.descriptor.name

    def check(self, struct: object, kind: str, place: ValuePath) -> None:
        if not isinstance(struct, StructBase):
            raise EncodeError(f"expected {kind}, got {summary(struct)}", self.name, path=path_of(place))

    def listed(self, value: object, place: ValuePath) -> list[Any]:
        try:
            return elements(value)
        except SchemaError as error:
            raise EncodeError(error.reason, self.name, path=path_of(place)) from None

    def compiled(self) -> Callable[..., Iterator[Any]]:
        self.source.add(0, "def traverse(x, request=None):")
        if not self.copies_lists:
            self.source.add(1, "out = []")
        if not self.all(1, "x"):
            return nothing
        if not self.copies_lists:
            self.source.add(1, "return iter(out)")
        return self.source.function("traverse")

    def own(self, depth: int, spot: Spot, field: FieldDescriptor) -> None:
        raise NotImplementedError

    def visit(self, depth: int, spot: Spot) -> None:
        for field in spot.fields:
            self.own(depth, spot, field)
        for field in spot.fields:
            self.inner(depth, spot, field)


def nothing(message: object, request: object = None) -> Iterator[Any]:
    return iter(())


class Errors(_Traversal):
    def __init__(self, message: type[HasDescriptor]) -> None:
        super().__init__(message, Error=Error, new=new, int=int, no_code=self.no_code)

    def no_code(self, value: object, place: ValuePath) -> None:
        raise EncodeError(f"expected an error code, got {summary(value)}", self.name, path=path_of(place))

    def has_own(self, name: str, fields: tuple[FieldDescriptor, ...]) -> bool:
        return any(field.is_error_code for field in fields)

    def is_quiet(self, field: FieldDescriptor) -> bool:
        return not any(each.is_error_code and each.default() for each in field.fields) and all(
            self.is_quiet(each) for each in field.fields
        )

    def own(self, depth: int, spot: Spot, field: FieldDescriptor) -> None:
        if not field.is_error_code:
            return
        place, text = spot.place(spot.path_to(field.name)), _text_beside(spot, field)
        self.source.add(depth, f"c = {spot.variable}.{field.name}")
        self.source.add(depth, "if c:")
        self.source.add(depth + 1, f"if type(c) is not int and not isinstance(c, int): no_code(c, {place})")
        self.source.add(depth + 1, "e = new(Error)")  # calling the constructor would take longer than the rest
        self.source.add(depth + 1, "e._code = c")
        self.source.add(depth + 1, f"e._place = {place}")
        self.source.add(depth + 1, f"e._text = {f'{spot.variable}.{text}' if text else 'None'}")
        self.source.add(depth + 1, "out.append(e)")


def _text_beside(spot: Spot, field: FieldDescriptor) -> str | None:
    name = field.name.removesuffix("code") + "message"
    return name if any(each.name == name for each in spot.fields) else None


class ErrorCodes(_Traversal):

    copies_lists = True

    def __init__(self, message: type[HasDescriptor], version: int | None) -> None:
        super().__init__(message, ErrorCodePlace=ErrorCodePlace)
        self.version = version
        self.entities = entity_fields().get(self.name, {})
        self.structs = {self.name: self.descriptor.fields, **self.descriptor.structs}
        self.around: list[str] = []

    def enters(self, field: FieldDescriptor) -> bool:
        return self.version is None or self.version in field.versions

    def has_own(self, name: str, fields: tuple[FieldDescriptor, ...]) -> bool:
        return any(field.is_error_code and self.enters(field) for field in fields)

    def visit(self, depth: int, spot: Spot) -> None:
        self.around.append(spot.name)
        super().visit(depth, spot)
        self.around.pop()

    def own(self, depth: int, spot: Spot, field: FieldDescriptor) -> None:
        if field.is_error_code and self.enters(field):
            site = self.source.constant(self.site(spot, field))
            place = spot.place(spot.path_to(field.name))
            self.source.add(depth, f"yield ErrorCodePlace({site}, ({', '.join(spot.structs)},), {place})")

    def site(self, spot: Spot, field: FieldDescriptor) -> ErrorCodeSite:
        around = [
            (depth, name, each)
            for depth, name in reversed(list(enumerate(self.around)))
            for each in self.structs[name]
            if not each.is_array and self.enters(each)
        ]
        text = next((each for each in spot.fields if each.name == _text_beside(spot, field)), None)
        if text is not None and not self.enters(text):
            text = None
        return ErrorCodeSite(
            field.name,
            text.name if text is not None else None,
            text is not None and (bool(text.nullable) if self.version is None else self.version in text.nullable),
            self.naming(around, "topicName"),
            self.naming(around, "groupId"),
            tuple((depth, each.name, None) for depth, _, each in around if each.name == "topic_id")[:1],
            tuple((depth, each.name, None) for depth, _, each in around if each.name in PARTITIONS)[:1],
        )

    def naming(self, around: list[tuple[int, str, FieldDescriptor]], kind: str) -> tuple[tuple[int, str, Any], ...]:
        found: list[tuple[int, str, Any]] = []
        for depth, struct, field in around:
            named = self.entities.get((struct, field.name))
            kinds = [field.entity_type] if named is None else [named[3], *named[6].values()]
            if kind in kinds and not (named is not None and named[4]):
                found.append((depth, field.name, named))
        return tuple(found)


class Endpoints(_Traversal):
    def __init__(self, message: type[HasDescriptor]) -> None:
        super().__init__(message, Endpoint=Endpoint)

    def has_own(self, name: str, fields: tuple[FieldDescriptor, ...]) -> bool:
        return address_of(fields) is not None

    def is_quiet(self, field: FieldDescriptor) -> bool:
        names = address_of(field.fields)
        host = next((each for each in field.fields if names is not None and each.name == names[0]), None)
        return (host is None or not host.default()) and all(self.is_quiet(each) for each in field.fields)

    def own(self, depth: int, spot: Spot, field: FieldDescriptor) -> None:
        names = address_of(spot.fields)
        if names is not None and field.name == names[0]:
            self.source.add(depth, f"if {spot.variable}.{names[0]}:")
            self.source.add(depth + 1, f"out.append(Endpoint({spot.place(spot.path)}, {spot.variable}, {names!r}))")


class TopicPairs(_Traversal):
    """Loop over topic ids and names in the same struct, without structs that have an error code."""

    def has_own(self, name: str, fields: tuple[FieldDescriptor, ...]) -> bool:
        return _topic_pair(fields) is not None

    def own(self, depth: int, spot: Spot, field: FieldDescriptor) -> None:
        pair = _topic_pair(spot.fields)
        if pair is None or field.name != pair[1]:
            return
        if any(each.is_error_code and each.name == "error_code" for each in spot.fields):
            self.source.add(depth, f"if not {spot.variable}.error_code:")
            depth += 1
        self.source.add(depth, f"out.append(({', '.join(f'{spot.variable}.{name}' for name in pair)}))")


def _topic_pair(fields: tuple[FieldDescriptor, ...]) -> tuple[str, str] | None:
    """Return the fields with id and name of a topic, or None if no version has both."""
    ids = [field for field in fields if field.name == "topic_id" and field.type == "uuid" and not field.is_array]
    names = [field for field in fields if field.entity_type == "topicName" and not field.is_array]
    for one in ids:
        for other in names:  # ranges overlap if one of them starts in the other
            if one.versions.lowest in other.versions or other.versions.lowest in one.versions:
                return one.name, other.name
    return None


class Entities(_Traversal):
    copies_lists = True

    def __init__(
        self, message: type[HasDescriptor], types: frozenset[EntityType], filled: Callable[..., Entity] | None
    ) -> None:
        super().__init__(message, Entity=Entity, filled=filled, int=int, str=str, list=list, chosen=_chosen)
        self.types = types
        self.is_native = filled is not None
        self.entities = entity_fields().get(self.name, {})

    def sites(self, struct: str, field: FieldDescriptor, path: str = "") -> dict[int | str | None, EntitySite]:
        named = self.entities.get((struct, field.name))
        name, place = (None, f"{path}[%d]") if field.is_array else (field.name, path)
        kinds: dict[Any, Any] = {None: field.entity_type if named is None else named[3]}
        if named is not None and named[5]:
            kinds = {**named[6]}
        nothing = ("",) if named is None else ("", named[7])
        return {
            code: EntitySite(kind, place, name, field.map_key, nothing)
            for code, kind in kinds.items()
            if kind is not None and (not self.types or kind in self.types)
        }

    def has_own(self, name: str, fields: tuple[FieldDescriptor, ...]) -> bool:
        return any(self.sites(name, field) for field in fields)

    def is_quiet(self, field: FieldDescriptor) -> bool:
        for each in field.fields:
            sites = self.sites(field.type, each)
            default: Any = None if each.is_array or each.is_struct else each.default()
            if default is not None and any(site.is_name(default) for site in sites.values()):
                return False
        return all(self.is_quiet(each) for each in field.fields)

    def visit(self, depth: int, spot: Spot) -> None:
        if self.has_own(spot.name, spot.fields):
            self.source.add(depth, f"a = ({''.join(f'{each}, ' for each in spot.indices)})")
        super().visit(depth, spot)

    def own(self, depth: int, spot: Spot, field: FieldDescriptor) -> None:
        sites = self.sites(spot.name, field, spot.path_to(field.name))
        if not sites:
            return
        if None not in sites:
            named, known = self.entities[spot.name, field.name], self.source.constant(sites)
            code = f"getattr({'request' if named[4] else spot.variable}, {named[5]!r}, None)"
            self.source.add(depth, f"s = chosen({known}, {code})")
            self.source.add(depth, "if s is not None:")
            self.named(depth + 1, spot, field, "s", "s.is_name(w)")
            return
        site = sites[None]
        known, nothing = self.source.constant(site), tuple(dict.fromkeys(site.nothing))
        test = "w >= 0 if type(w) is int" if site.type in NUMBERS else f"w not in {nothing!r} if type(w) is str"
        self.named(depth, spot, field, known, f"{test} else {known}.is_name(w)")

    def named(self, depth: int, spot: Spot, field: FieldDescriptor, site: str, test: str) -> None:
        source, value = self.source, f"{spot.variable}.{field.name}"
        if not field.is_array:
            source.add(depth, f"w = {value}")
            source.add(depth, f"if w is not None and ({test}):")
            self.found(depth + 1, spot.variable, "None", site, (spot.array or "None") if field.map_key else "")
            return
        source.add(depth, f"v = {value}")
        source.add(depth, "if v is not None:")
        source.add(depth + 1, "i = -1")
        place = spot.place(spot.path_to(field.name))
        source.add(depth + 1, f"for w in v[:] if type(v) is list else listed(v, {place}):")
        source.add(depth + 2, "i += 1")
        source.add(depth + 2, f"if {test}:")
        self.found(depth + 3, "v", "i", site, "")

    def found(self, depth: int, holder: str, index: str, site: str, within: str) -> None:
        if self.is_native:
            values = ", ".join(filter(None, ("Entity", holder, index, "a", site, within)))
            self.source.add(depth, f"yield filled({values})")
            return
        self.source.add(depth, "e = Entity()")
        for slot, value in (("holder", holder), ("index", index), ("indices", "a"), ("site", site), ("within", within)):
            if value not in ("", "None"):
                self.source.add(depth, f"e._{slot} = {value}")
        self.source.add(depth, "yield e")


def _chosen(sites: dict[int | str, EntitySite], code: object) -> EntitySite | None:
    return sites.get(code) if isinstance(code, (int, str)) else None
