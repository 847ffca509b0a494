"""Walks over what messages have in common: error codes, addresses, and what is named, each with its path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from .._base.message import Message
from .._core.collection import KeyedCollection
from .._core.shown import shown
from .._core.spelling import did_you_mean
from .._core.structs import StructBase
from .._core.value import dataclass
from ..errors import EncodeError
from ..protocol import ErrorCode, Request
from ..schema.facts import FieldFacts, MessageFacts, address_of, facts_of
from ..schema.types import SchemaError, elements
from ._exchange import or_class
from ._tables import ENTITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from ._tables import Named

    EntityType: TypeAlias = Literal[
        "brokerId",
        "clientId",
        "clientMetrics",
        "delegationToken",
        "groupId",
        "principal",
        "producerId",
        "shareKey",
        "topicName",
        "transactionalId",
        "user",
    ]
    _Own: TypeAlias = dict[tuple[str, str], Named]

ENTITY_TYPES: tuple[EntityType, ...] = (
    "brokerId",
    "clientId",
    "clientMetrics",
    "delegationToken",
    "groupId",
    "principal",
    "producerId",
    "shareKey",
    "topicName",
    "transactionalId",
    "user",
)
_NUMBERS = ("brokerId", "producerId")
_DIGITS = re.compile(r"[0-9]{1,10}").fullmatch


@dataclass(frozen=True, slots=True)
class Error:
    """An error in a response."""

    path: str
    """Where its code is: ``topics[3].partitions[0].error_code``."""
    code: ErrorCode
    message: str | None
    """The text beside the code; None where there is none."""


class Endpoint:
    """A host and a port in a message. Set them, and the message has the new ones."""

    __slots__ = ("_names", "_struct", "path")

    def __init__(self, path: str, struct: Any, names: tuple[str, str]) -> None:
        self.path = path
        """Of the struct that has them: ``brokers[0]``; empty if the message itself has them."""
        self._struct = struct
        self._names = names  # of the fields

    @property
    def host(self) -> str:
        """Name or address of the host."""
        host: str = getattr(self._struct, self._names[0])
        return host

    @host.setter
    def host(self, host: str) -> None:
        if not isinstance(host, str):
            raise TypeError(f"the host at {self.path or 'the message'} must be of type str, not {shown(host)}")
        setattr(self._struct, self._names[0], host)

    @property
    def port(self) -> int:
        """Port, 0 to 65535, or -1 where there is none."""
        port: int = getattr(self._struct, self._names[1])
        return port

    @port.setter
    def port(self, port: int) -> None:
        if not _is_number(port):
            raise TypeError(f"the port at {self.path or 'the message'} must be of type int, not {shown(port)}")
        setattr(self._struct, self._names[1], port)

    def __repr__(self) -> str:
        return f"<Endpoint {self.path}: {self.host}:{self.port}>"


class Entity:
    """Something that a message names: set ``value``, and the message has the new name."""

    __slots__ = ("_holder", "_is_digits", "_key", "_keyed", "path", "type")

    def __init__(
        self, path: str, type: EntityType, holder: Any, key: str | int, keyed: KeyedCollection[Any] | None
    ) -> None:
        self.path = path
        """Where the name is: ``topics[3].name``, ``groups[0]``."""
        self.type = type
        """What it names, in the word of the definition."""
        self._holder = holder  # a list, or a struct
        self._key = key
        self._keyed = keyed  # whose index is no longer true when a name changes
        self._is_digits = type in _NUMBERS and isinstance(self._stored, str)

    @property
    def value(self) -> str | int:
        """The name: ``int`` of brokers and producers, ``str`` of all others."""
        return int(self._stored) if self._is_digits else self._stored

    @value.setter
    def value(self, value: str | int) -> None:
        """Raises TypeError for what is no ``int`` of a broker or producer, or no ``str`` of another; nothing changed."""
        wanted = int if self.type in _NUMBERS else str
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise TypeError(f"the {self.type} at {self.path} must be of type {wanted.__name__}, not {shown(value)}")
        if value == self.value:
            return  # as it is stored: text of a number may begin with 0
        stored = str(value) if self._is_digits else value
        if not isinstance(self._key, int):
            self._set(self._key, stored)
        elif isinstance(self._holder, list):
            self._holder[self._key] = stored
        else:
            raise TypeError(f"{self.path} is in {shown(self._holder)}, which cannot be changed; a list can")

    def _set(self, field: str, stored: str | int) -> None:
        """Set a field of a struct, and keep the index true that has it under its key."""
        if self._keyed is None:
            setattr(self._holder, field, stored)
        else:
            self._keyed._set_key(self._holder, field, stored)

    def _is_name(self, nothing: tuple[str, ...]) -> bool:
        """Whether it names something: texts that are ``nothing`` do not, nor do those of numbers that are none, nor -1."""
        stored = self._stored
        if self._is_digits:
            return _DIGITS(str(stored)) is not None
        return stored >= 0 if isinstance(stored, int) else stored not in nothing

    @property
    def _stored(self) -> str | int:
        stored: str | int = self._holder[self._key] if isinstance(self._key, int) else getattr(self._holder, self._key)
        return stored

    def __repr__(self) -> str:
        return f"<Entity {self.path}: {self.type} {self.value!r}>"


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def errors(message: Message) -> Iterator[Error]:
    """Every error code of a message that is not NONE, outer ones first; a response without any has succeeded.

    Raises EncodeError with the place of what is no struct or no number where one has to be; so do the other walks.
    """
    for step in _structs(message):
        for field in step.fields:
            if field.is_error_code and (code := getattr(step.struct, field.name)):
                if not isinstance(code, int):
                    raise EncodeError(
                        f"expected an error code, got {shown(code)}", message.NAME, path=step.place(field)
                    )
                text = getattr(step.struct, field.name.removesuffix("code") + "message", None)
                yield Error(step.place(field), ErrorCode(code), text)


def endpoints(message: Message) -> Iterator[Endpoint]:
    """Every host with its port, in the order of the message, to read or to change; an empty host is none.

    A struct has them in fields called ``host`` and ``port``, those of LeaderAndIsr and of the first version of
    UpdateMetadata in some called ``host_name`` and ``v0_host``, ``v0_port``.
    """
    facts = _facts(message)
    structs = {facts.name: facts.fields, **facts.structs}
    names = {name: address_of(structs[name]) for name in facts.endpoints()}
    for step in _structs(message):
        fields = names.get(step.name)
        if fields is not None and getattr(step.struct, fields[0]):
            yield Endpoint(step.path, step.struct, fields)


def entities(message: Message, *types: EntityType, request: Message | Request | None = None) -> Iterator[Entity]:
    """Everything that a message names, in the order of the message, to read or to change.

    ``types`` are those that are wanted, all if none is given. What a field names says its definition or, where that is
    silent, ``entities.json`` beside it: resource names of configurations and ACLs, the keys of FindCoordinator and the
    entities of quotas name what the type beside them says. The keys in a FindCoordinatorResponse have their type in its
    ``request``; without that they are not found. Names under a type that is not known are left out, and so are ``*`` and
    ``User:*`` of ACLs, which stand for all. Null, the empty text and numbers below 0 name nothing. Names in bytes of their
    own, such as the records of Produce and the assignments of groups, are not found. Raises ValueError for another type,
    and TypeError for a request that is not that of the response.
    """
    for each in types:
        if each not in ENTITY_TYPES:
            advice = did_you_mean(str(each), ENTITY_TYPES) or f"; they are {', '.join(map(repr, ENTITY_TYPES))}"
            raise ValueError(f"no entity type is called {each!r}{advice}")
    own = _facts_about().get(_facts(message).name, {})
    asked = request.message if isinstance(request, Request) else request
    if asked is not None:
        _check_request(message, asked)
    return _entities(message, types, own, asked)


def _check_request(message: Message, asked: object) -> None:
    """Raise TypeError for what is not the request of a response; one that has it in ``request`` is a step too far out."""
    if not isinstance(asked, Message):
        within = getattr(asked, "request", None)
        advice = "; its .request is one" if isinstance(within, Message | Request) else ""
        raise TypeError(f"request must be the request of {message.NAME}, not {or_class(asked)}{advice}")
    if not isinstance(message, getattr(asked, "response_class", ())):
        raise TypeError(f"{shown(asked)} is not the request of {message.NAME}")


def _entities(message: Message, types: tuple[EntityType, ...], own: _Own, request: Message | None) -> Iterator[Entity]:
    for step in _structs(message):
        for field in step.fields:
            named = own.get((step.name, field.name))
            kind: Any = field.entity_type if named is None else _kind(named, step.struct, request)
            if kind is None or (types and kind not in types) or getattr(step.struct, field.name) is None:
                continue
            nothing = ("", named[7]) if named else ("",)
            for entity in _named_by(field, kind, step, message.NAME):
                if entity._is_name(nothing):
                    yield entity


def _named_by(field: FieldFacts, kind: EntityType, step: _Step, message: str) -> Iterator[Entity]:
    path = step.place(field)
    if field.is_array:
        value = getattr(step.struct, field.name)
        for index in range(len(_elements(message, path, value))):
            yield Entity(f"{path}[{index}]", kind, value, index, None)
    else:
        yield Entity(path, kind, step.struct, field.name, step.keyed if field.map_key else None)


def _kind(named: Named, struct: object, request: Message | None) -> str | None:
    """What a field names that a fact is about; None where that is not known."""
    _, _, _, entity, asked, by, kinds, _ = named
    if not by:
        return entity
    code = getattr(request if asked else struct, by, None)
    return kinds.get(code) if isinstance(code, int | str) else None


@cache
def _facts_about() -> dict[str, _Own]:
    """Those of ``entities.json`` by message, and by struct and field."""
    found: dict[str, _Own] = {}
    for each in ENTITIES:
        found.setdefault(each[0], {})[each[1], each[2]] = each
    return found


@dataclass(frozen=True, slots=True)
class _Step:
    """A struct of a message, on the way through it."""

    path: str
    name: str
    """Of the class."""
    struct: Any
    fields: tuple[FieldFacts, ...]
    keyed: KeyedCollection[Any] | None
    """The collection that has the struct under its key."""

    def place(self, field: FieldFacts) -> str:
        return f"{self.path}.{field.name}" if self.path else field.name


def _facts(message: Message) -> MessageFacts:
    if not isinstance(message, Message):
        raise TypeError(f"a message is needed, not {shown(message)}")
    return facts_of(type(message))


def _structs(message: Message) -> Iterator[_Step]:
    """The message and every struct in it, outer ones first."""
    facts = _facts(message)
    return _inner(facts, _Step("", facts.name, message, facts.fields, None))


def _inner(facts: MessageFacts, step: _Step) -> Iterator[_Step]:
    yield step
    for field in step.fields:
        value = getattr(step.struct, field.name) if field.is_struct else None
        if value is None:
            continue
        path = step.place(field)
        if not field.is_array:
            yield from _inner(facts, _step(facts, path, field, value, None))
            continue
        keyed = value if isinstance(value, KeyedCollection) else None
        for index, element in enumerate(_elements(facts.name, path, value)):
            yield from _inner(facts, _step(facts, f"{path}[{index}]", field, element, keyed))


def _step(
    facts: MessageFacts, path: str, field: FieldFacts, value: object, keyed: KeyedCollection[Any] | None
) -> _Step:
    if not isinstance(value, StructBase):
        raise EncodeError(f"expected {field.type}, got {shown(value)}", facts.name, path=path)
    return _Step(path, field.type, value, field.fields, keyed)


def _elements(message: str, path: str, value: object) -> list[Any]:
    try:
        return elements(value)
    except SchemaError as error:
        raise EncodeError(error.reason, message, path=path) from None
