"""Kafka connections without I/O, in the style of h11, and access to error codes, addresses and names in messages."""

from __future__ import annotations

from ._announce import announce, limit_versions
from ._client import ClientConnection, ClientEvent, ResponseReceived, Sent, VersionFallback
from ._error_response import error_response
from ._events import ConnectionClosed, ConnectionProtocolError, LocalProtocolError, RemoteProtocolError, TokenReceived
from ._forwarded import LocalResponse, RequestForwarded, ResponseForwarded, TokenForwarded
from ._handlers import Handlers
from ._identity import ClientIdentity, omits_identity
from ._iterators import endpoints, entities, error_codes, errors, replace_entities
from ._places import Endpoint, Entity, Error, ErrorCodePlace
from ._proxy import FromBroker, FromClient, ProxyConnection
from ._rules import expects_response
from ._sasl import AuthenticationError, sasl_requests
from ._server import RequestReceived, ServerConnection, ServerEvent
from ._states import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._tables import EntityType as EntityType
else:

    def __getattr__(name):
        if name == "EntityType":  # importing typing takes longer than importing this module
            from typing import Literal

            from ._tables import ENTITY_TYPES

            return Literal[ENTITY_TYPES]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "AuthenticationError",
    "ClientConnection",
    "ClientEvent",
    "ClientIdentity",
    "ConnectionClosed",
    "ConnectionProtocolError",
    "Endpoint",
    "Entity",
    "EntityType",
    "Error",
    "ErrorCodePlace",
    "FromBroker",
    "FromClient",
    "Handlers",
    "LocalProtocolError",
    "LocalResponse",
    "ProxyConnection",
    "RemoteProtocolError",
    "RequestForwarded",
    "RequestReceived",
    "ResponseForwarded",
    "ResponseReceived",
    "Sent",
    "ServerConnection",
    "ServerEvent",
    "State",
    "TokenForwarded",
    "TokenReceived",
    "VersionFallback",
    "announce",
    "endpoints",
    "entities",
    "error_codes",
    "error_response",
    "errors",
    "expects_response",
    "limit_versions",
    "omits_identity",
    "replace_entities",
    "sasl_requests",
]
