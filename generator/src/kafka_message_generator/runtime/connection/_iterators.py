"""What messages have in common, each with its path: error codes, addresses, and what is named."""

from __future__ import annotations

from collections.abc import Iterator

from .._base.message import Message, checked_version
from .._core.native import filler
from .._core.shown import shown
from .._core.spelling import did_you_mean
from ..protocol import Request
from ..schema.facts import message_class
from ._exchange import or_class
from ._traversal import Endpoints, Entities, ErrorCodes, Errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from ._places import Endpoint, Entity, EntityType, Error, ErrorCodePlace

    _Traversals: TypeAlias = dict[Any, Callable[..., Iterator[Any]]]

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
# Compiled on first use, by class: of the printed ones, for those that are derived from them come and go.
_errors: _Traversals = {}
_error_codes: _Traversals = {}
_endpoints: _Traversals = {}
_entities: _Traversals = {}


def _printed(message: object) -> Any:
    """The printed class of a message."""
    if not isinstance(message, Message):
        raise TypeError(f"a message is needed, not {shown(message)}")
    return message_class(type(message))


def errors(message: Message) -> Iterator[Error]:
    """Every error code of a message that is not NONE, outer ones first; a response without any has succeeded.

    Raises EncodeError with the place of what is no struct or no number where one has to be; so do the other traversals.
    Each visits only the structs in which there may be something for it.
    """
    found = _errors.get(type(message))
    if found is None:
        cls = _printed(message)
        found = _errors.get(cls) or _errors.setdefault(cls, Errors(cls).compiled())
    return found(message)


def error_codes(message: Message, *, version: int | None = None) -> Iterator[ErrorCodePlace]:
    """Yield every place of an error code, NONE included and outer ones first, to read or to change.

    With ``version`` only the places that this version has: a code in another place is dropped or refused when the message
    is written. Raises UnsupportedVersionError for a version that the message does not have.
    """
    cls = _printed(message)
    at = None if version is None else checked_version(cls, version)
    found = _error_codes.get((cls, at)) or _error_codes.setdefault((cls, at), ErrorCodes(cls, at).compiled())
    return found(message)


def endpoints(message: Message) -> Iterator[Endpoint]:
    """Every host with its port, in the order of the message, to read or to change; an empty host is none.

    A struct has them in fields called ``host`` and ``port``, those of LeaderAndIsr and of the first version of
    UpdateMetadata in some called ``host_name`` and ``v0_host``, ``v0_port``.
    """
    found = _endpoints.get(type(message))
    if found is None:
        cls = _printed(message)
        found = _endpoints.get(cls) or _endpoints.setdefault(cls, Endpoints(cls).compiled())
    return found(message)


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
    found = _entities.get((type(message), *types))
    if found is None:
        found = _entities_of(_printed(message), types)
    if request is None:
        return found(message)
    asked = request.message if isinstance(request, Request) else request
    _check_request(message, asked)
    return found(message, asked)


def _entities_of(cls: Any, types: tuple[EntityType, ...]) -> Callable[..., Iterator[Any]]:
    """The traversal for some types of names in a class of messages."""
    for each in types:
        if each not in ENTITY_TYPES:
            advice = did_you_mean(str(each), ENTITY_TYPES) or f"; they are {', '.join(map(repr, ENTITY_TYPES))}"
            raise ValueError(f"no entity type is called {each!r}{advice}")
    key = (cls, *sorted(set(types)))
    found = _entities.get(key)
    if found is None:
        found = Entities(cls, frozenset(types), filler(_entities)).compiled()
        _entities[key] = found
    return found


def _check_request(message: Message, asked: object) -> None:
    """Raise TypeError for what is not the request of a response; one that has it in ``request`` is a step too far out."""
    if not isinstance(asked, Message):
        within = getattr(asked, "request", None)
        advice = "; its .request is one" if isinstance(within, Message | Request) else ""
        raise TypeError(f"request must be the request of {message.NAME}, not {or_class(asked)}{advice}")
    if not isinstance(message, getattr(asked, "response_class", ())):
        raise TypeError(f"{shown(asked)} is not the request of {message.NAME}")
