"""Loops over the structs of a message as source text: only over those in which there is something to do.

Loops that are written out visit structs some twenty times as fast as a walk that asks the definition at each of them.
A path stays a template and its indices until somebody needs the text.
"""

from __future__ import annotations

from .._core.source import Source
from .._core.structs import NULLED
from .._core.value import dataclass
from .facts import FieldFacts, HasDescriptor, class_in, facts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Place: TypeAlias = str | tuple[Any, ...]
    """A path, or the template of one and its indices."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A struct in the loops."""

    name: str
    """Of its class."""
    fields: tuple[FieldFacts, ...]
    path: str
    """The template of its path: ``topics[%d].partitions[%d]``."""
    structs: tuple[str, ...]
    """The variables of the structs from the message to this one."""
    indices: tuple[str, ...] = ()
    """The variables of the indices in ``path``."""
    array: str = ""
    """The variable of the array that has the struct; empty where none has."""

    @property
    def variable(self) -> str:
        return self.structs[-1]

    def path_to(self, field: str) -> str:
        """The template of the path of a field."""
        return f"{self.path}.{field}" if self.path else field

    def place(self, path: str) -> str:
        """The expression of the place with a path."""
        return f"({path!r}, {', '.join(self.indices)})" if self.indices else repr(path)


def path_of(place: Place) -> str:
    """Return the path of a place."""
    if isinstance(place, str):
        return place
    path: str = place[0] % place[1:]
    return path


def array_class(message: type[HasDescriptor], field: FieldFacts) -> Any:
    """Return the class of the lists in an array field."""
    is_keyed = any(each.map_key for each in field.fields)
    return class_in(message, f"{field.type}Collection") if is_keyed else list


def is_late(message: type[HasDescriptor], struct: str, field: FieldFacts) -> bool:
    """Whether the default of a field is made on first access; until then its slot holds None."""
    return field.name in getattr(class_in(message, struct), "_lazy", ())


class Loops:
    """The source of one function over the structs of a message; subclasses say what it does at each of them.

    ``listed(value, place)`` and ``check(value, kind, place)`` of the names are called for an array that is no list of
    its class and a struct that is not of its class: they raise the error for what cannot be visited.
    """

    copies_lists = False
    """Whether a list is copied before it is visited: while a generator waits, its caller may change the message."""

    def __init__(self, message: type[HasDescriptor], **names: object) -> None:
        self.message = message
        self.facts = facts_of(message)
        self.source = Source(type=type, NULLED=NULLED, **names)
        self._reached: dict[str, bool] = {}

    def has_own(self, name: str, fields: tuple[FieldFacts, ...]) -> bool:
        """Whether there is something to do at a struct itself."""
        raise NotImplementedError

    def enters(self, field: FieldFacts) -> bool:
        """Whether the structs of a field count."""
        return True

    def is_quiet(self, field: FieldFacts) -> bool:
        """Whether there is nothing to do at the struct of a field while it is at its default."""
        return False

    def visit(self, depth: int, spot: Spot) -> None:
        """Add the lines for a struct, and with ``inner`` those for the structs inside it."""
        raise NotImplementedError

    def reaches(self, name: str, fields: tuple[FieldFacts, ...]) -> bool:
        """Whether there is something to do at a struct or inside it."""
        if name not in self._reached:
            inner = (field for field in fields if field.is_struct and self.enters(field))
            self._reached[name] = self.has_own(name, fields) or any(self.reaches(f.type, f.fields) for f in inner)
        return self._reached[name]

    def all(self, depth: int, variable: str) -> bool:
        """Add the lines for a message; returns False if there is nothing to do in it."""
        if not self.reaches(self.facts.name, self.facts.fields):
            return False
        self.visit(depth, Spot(self.facts.name, self.facts.fields, "", (variable,)))
        return True

    def inner(self, depth: int, spot: Spot, field: FieldFacts) -> None:
        """Add the lines for the structs of a field, if there is something to do in them."""
        if not (field.is_struct and self.enters(field) and self.reaches(field.type, field.fields)):
            return
        source, path = self.source, spot.path_to(field.name)
        value, struct = source.variable("v"), source.variable("x")
        late = self.is_quiet(field) and is_late(self.message, spot.name, field)
        source.add(depth, f"{value} = {spot.variable}.{'_' if late else ''}{field.name}")
        source.add(depth, f"if {value} is not None{f' and {value} is not NULLED' if late else ''}:")
        if field.is_array:
            index, kept = source.variable("i"), source.constant(array_class(self.message, field))
            own = f"{value}[:]" if self.copies_lists else value
            source.add(depth + 1, f"{index} = -1")
            source.add(
                depth + 1,
                f"for {struct} in {own} if type({value}) is {kept} else listed({value}, {spot.place(path)}):",
            )
            depth += 1
            source.add(depth + 1, f"{index} += 1")
            inner = Spot(
                field.type, field.fields, f"{path}[%d]", (*spot.structs, struct), (*spot.indices, index), value
            )
        else:
            source.add(depth + 1, f"{struct} = {value}")
            inner = Spot(field.type, field.fields, path, (*spot.structs, struct), spot.indices)
        source.add(depth + 1, f"if type({struct}) is not {source.constant(class_in(self.message, field.type))}:")
        source.add(depth + 2, f"check({struct}, {field.type!r}, {inner.place(inner.path)})")
        self.visit(depth + 1, inner)
