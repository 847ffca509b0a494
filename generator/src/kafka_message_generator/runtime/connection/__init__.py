"""A connection without I/O, in the manner of h11: bytes in, events and bytes out.

* ``ClientConnection`` numbers requests, agrees on versions, and pairs responses with requests.
* ``ServerConnection`` decodes requests, and writes responses in the order of the requests.
* ``ProxyConnection`` stands between both: it decodes some APIs, and passes all others on as they came.
* ``ClientEvent``, ``ServerEvent``, ``FromClient`` and ``FromBroker`` are what each of them gives, for annotations.
* ``announce`` says which versions a broker has; ``error_response`` answers any request with an error.
* ``Handlers`` maps request classes to functions that return their responses.
* ``errors``, ``error_codes``, ``endpoints`` and ``entities`` find the error codes, addresses and names in any message.

Nothing here opens a socket: it goes with asyncio, threads, trio, or bytes of a capture.
"""

from __future__ import annotations

from ._announce import announce
from ._client import ClientConnection, ClientEvent, ResponseReceived, Sent, VersionFallback
from ._error_response import error_response
from ._errors import ConnectionProtocolError, LocalProtocolError, RemoteProtocolError
from ._events import ConnectionClosed, TokenReceived
from ._exchange import expects_response
from ._forwarded import LocalResponse, RequestForwarded, ResponseForwarded, TokenForwarded
from ._handlers import Handlers
from ._iterators import endpoints, entities, error_codes, errors
from ._places import Endpoint, Entity, Error, ErrorCodePlace
from ._proxy import FromBroker, FromClient, ProxyConnection
from ._server import RequestReceived, ServerConnection, ServerEvent
from ._states import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._places import EntityType as EntityType
else:

    def __getattr__(name):
        if name == "EntityType":  # on first use: importing typing costs more than this module
            from typing import Literal

            from ._iterators import ENTITY_TYPES

            return Literal[ENTITY_TYPES]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "ClientConnection",
    "ClientEvent",
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
]
