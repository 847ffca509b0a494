"""Iterate over the error codes, addresses and names in any message."""

from __future__ import annotations

from collections.abc import Iterator

from .._base.message import Message, checked_version
from .._core.native import filled
from .._core.shown import shown
from .._core.spelling import did_you_mean
from ..protocol import DecodedRequest
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
    if not isinstance(message, Message):
        raise TypeError(f"expected a message, got {shown(message)}")
    return message_class(type(message))


def errors(message: Message) -> Iterator[Error]:
    """Iterate over every error code that is not NONE, outer structs first.

    Like the other iterators, raises EncodeError with the path of a value of the wrong type.
    """
    found = _errors.get(type(message))
    if found is None:
        cls = _printed(message)
        found = _errors.get(cls) or _errors.setdefault(cls, Errors(cls).compiled())
    return found(message)


def error_codes(message: Message, *, version: int | None = None) -> Iterator[ErrorCodePlace]:
    """Iterate over every place of an error code, including NONE, to read or change it; outer structs first.

    ``version`` selects the places that this version has. Raises UnsupportedVersionError for a version that the message
    does not have.
    """
    cls = _printed(message)
    at = None if version is None else checked_version(cls, version)
    found = _error_codes.get((cls, at)) or _error_codes.setdefault((cls, at), ErrorCodes(cls, at).compiled())
    return found(message)


def endpoints(message: Message) -> Iterator[Endpoint]:
    """Iterate over every host with its port, in message order, to read or change it. Empty hosts are skipped.

    The fields are called ``host`` and ``port``; some versions of LeaderAndIsr and UpdateMetadata call them
    ``host_name``, ``v0_host`` and ``v0_port``.
    """
    found = _endpoints.get(type(message))
    if found is None:
        cls = _printed(message)
        found = _endpoints.get(cls) or _endpoints.setdefault(cls, Endpoints(cls).compiled())
    return found(message)


def entities(message: Message, *types: EntityType, request: Message | DecodedRequest | None = None) -> Iterator[Entity]:
    """Iterate over the names in a message (topics, groups, brokers …), in message order, to read or change them.

    ``types`` selects entity types; the default is all. The type comes from the definition or from ``entities.json``.
    Some fields have their type in another field, such as the resource type of configurations, ACLs and quotas. The keys
    of a FindCoordinatorResponse have it in the ``request``; without the request they are skipped.

    Also skipped are unknown types, the wildcards ``*`` and ``User:*`` of ACLs, null, empty strings, negative numbers,
    and names inside encoded bytes (records of Produce, group assignments).

    Raises ValueError for an unknown type, and TypeError for a request that does not belong to the response.
    """
    found = _entities.get((type(message), *types))
    if found is None:
        found = _entities_of(_printed(message), types)
    if request is None:
        return found(message)
    asked = request.message if isinstance(request, DecodedRequest) else request
    _check_request(message, asked)
    return found(message, asked)


def _entities_of(cls: Any, types: tuple[EntityType, ...]) -> Callable[..., Iterator[Any]]:
    for each in types:
        if each not in ENTITY_TYPES:
            advice = did_you_mean(str(each), ENTITY_TYPES) or f"; they are {', '.join(map(repr, ENTITY_TYPES))}"
            raise ValueError(f"unknown entity type {each!r}{advice}")
    key = (cls, *sorted(set(types)))
    found = _entities.get(key)
    if found is None:
        found = Entities(cls, frozenset(types), filled).compiled()
        _entities[key] = found
    return found


def _check_request(message: Message, asked: object) -> None:
    if not isinstance(asked, Message):
        within = getattr(asked, "request", None)
        advice = "; its .request is one" if isinstance(within, Message | DecodedRequest) else ""
        raise TypeError(f"request must be the request of {message.NAME}, not {or_class(asked)}{advice}")
    if not isinstance(message, getattr(asked, "response_class", ())):
        raise TypeError(f"{shown(asked)} is not the request of {message.NAME}")
