"""Iterators over error codes, addresses and names in messages, and replacement of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .._base.message import Message, checked_version
from .._core.display import class_or_value, display
from .._core.native import filled
from ..errors import did_you_mean
from ..protocol import DecodedRequest
from ..schema.descriptors import message_class
from ._places import NUMBERS
from ._tables import ENTITY_TYPES
from ._traversal import Endpoints, Entities, ErrorCodes, Errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from ._places import Endpoint, Entity, Error, ErrorCodePlace
    from ._tables import EntityType

    _Traversals: TypeAlias = dict[Any, Callable[..., Iterator[Any]]]

# Compiled on first use. Only generated classes are cached; derived classes may be short-lived.
_errors: _Traversals = {}
_error_codes: _Traversals = {}
_endpoints: _Traversals = {}
_entities: _Traversals = {}


def _printed(message: object) -> Any:
    if not isinstance(message, Message):
        raise TypeError(f"expected a message, got {display(message)}")
    return message_class(type(message))


def errors(message: Message) -> Iterator[Error]:
    """Iterate over every error code except NONE, outer structs first.

    Like the other iterators, raises EncodeError with the path of a value of the wrong type.
    """
    found = _errors.get(type(message))
    if found is None:
        cls = _printed(message)
        found = _errors.get(cls) or _errors.setdefault(cls, Errors(cls).compiled())
    return found(message)


def error_codes(message: Message, *, version: int | None = None) -> Iterator[ErrorCodePlace]:
    """Iterate over every error code field, outer structs first, to read or set the codes.

    With ``version``, yields only fields that this version has. Raises UnsupportedVersionError.
    """
    cls = _printed(message)
    at = None if version is None else checked_version(cls, version)
    found = _error_codes.get((cls, at)) or _error_codes.setdefault((cls, at), ErrorCodes(cls, at).compiled())
    return found(message)


def endpoints(message: Message) -> Iterator[Endpoint]:
    """Iterate over every nonempty host with its port, outer structs first, to read or change them."""
    found = _endpoints.get(type(message))
    if found is None:
        cls = _printed(message)
        found = _endpoints.get(cls) or _endpoints.setdefault(cls, Endpoints(cls).compiled())
    return found(message)


def entities(message: Message, *types: EntityType, request: Message | DecodedRequest | None = None) -> Iterator[Entity]:
    """Iterate over names and ids (of topics, groups, brokers …), outer structs first, to read or change them.

    ``types`` selects entity types. The type is given in the definition, in ``entities.json``, or in a sibling field
    (configurations, ACLs, quotas). Keys of FindCoordinatorResponse are skipped unless you pass ``request``.

    Also skipped: unknown types, ACL wildcards (``*``, ``User:*``), null, empty strings, negative numbers, and encoded
    bytes such as records and group assignments.

    Raises ValueError for an unknown type, and TypeError if ``request`` does not match the response.
    """
    found = _entities.get((type(message), *types))
    if found is None:
        found = _entities_of(_printed(message), types)
    if request is None:
        return found(message)
    request_message = request.message if isinstance(request, DecodedRequest) else request
    _check_request(message, request_message)
    return found(message, request_message)


def replace_entities(
    message: Message,
    maps: Mapping[EntityType, Mapping[int, int] | Mapping[str, str]],
    *,
    reverse: bool = False,
    request: Message | DecodedRequest | None = None,
) -> int:
    """Replace names and ids by ``maps``, such as ``{"brokerId": {1: 101}}``; return the number of replaced values.

    The maps have the new value of each old value, by entity type. With ``reverse``, new values become old ones.
    Values without an entry are not changed; a list or struct in two places of the message is changed once. The fields
    are those of ``entities``, which explains ``request``.

    Raises ValueError for an unknown type, for an empty, negative or too large value in a map, and with ``reverse`` if
    two old values have the same new value. Raises TypeError for maps that are not mappings, and for values that are not
    ints or strings as the type requires.
    """
    if not isinstance(maps, Mapping):
        raise TypeError(f"maps must be a mapping from entity types to mappings, not {display(maps)}")
    found = entities(message, *maps, request=request)
    values = {kind: _replacements(kind, each, reverse) for kind, each in maps.items()}
    replaced: set[tuple[int, object]] = set()
    for entity in found if maps else ():
        new = values[entity.type].get(entity.value)
        if new is not None and entity._slot not in replaced:
            entity.value = new
            replaced.add(entity._slot)
    return len(replaced)


def _replacements(kind: EntityType, names: Any, reverse: bool) -> Mapping[Any, Any]:
    wanted = int if kind in NUMBERS else str
    if not isinstance(names, Mapping):
        what = f"a mapping from {wanted.__name__} to {wanted.__name__}"
        raise TypeError(f"the map of {kind} must be {what}, not {display(names)}")
    largest = 2 ** (NUMBERS.get(kind, 1) - 1) - 1
    reversed_names: dict[Any, Any] = {}
    for old, new in names.items():
        pair = f"from {display(old)} to {display(new)}"
        if not all(isinstance(each, wanted) and not isinstance(each, bool) for each in (old, new)):
            raise TypeError(f"the map of {kind} must be from {wanted.__name__} to {wanted.__name__}, not {pair}")
        if min(old, new) < 0 if wanted is int else "" in (old, new):
            nothing = "a negative number" if wanted is int else "an empty string"
            raise ValueError(f"the map of {kind} is {pair}, but {nothing} is no {kind}; remove the entry")
        if wanted is int and max(old, new) > largest:
            raise ValueError(f"the map of {kind} is {pair}, but the largest {kind} is {largest}; correct the entry")
        if reverse and new in reversed_names:
            what = f"{display(reversed_names[new])} and {display(old)} have the same new value {display(new)}"
            raise ValueError(f"the map of {kind} cannot be reversed: {what}; make all new values different")
        reversed_names[new] = old
    return reversed_names if reverse else names


def _entities_of(cls: Any, types: tuple[EntityType, ...]) -> Callable[..., Iterator[Any]]:
    for each in types:
        if each not in ENTITY_TYPES:
            advice = did_you_mean(str(each), ENTITY_TYPES) or f"; known types are {', '.join(map(repr, ENTITY_TYPES))}"
            raise ValueError(f"unknown entity type {each!r}{advice}")
    key = (cls, *sorted(set(types)))
    found = _entities.get(key)
    if found is None:
        found = Entities(cls, frozenset(types), filled).compiled()
        _entities[key] = found
    return found


def _check_request(message: Message, request: object) -> None:
    if not isinstance(request, Message):
        within = getattr(request, "request", None)
        advice = "; pass its attribute request" if isinstance(within, Message | DecodedRequest) else ""
        raise TypeError(f"request must be the request of {message.NAME}, not {class_or_value(request)}{advice}")
    if not isinstance(message, getattr(request, "response_class", ())):
        raise TypeError(f"{display(request)} is not the request of {message.NAME}")
