"""Identity of the client of a connection, from request headers and ApiVersionsRequest.

Kafka proposes a request header with a client instance id (version 3, KIP-1313, not merged). The first request with this
header has both ids, later ones neither. Only this module depends on it; without the field nothing is omitted.
"""

from __future__ import annotations

from functools import cache

from .._base.message import class_of
from .._core.value import dataclass
from .._core.wire import ZERO_UUID
from ..protocol import DecodedRequest, UnknownApiError, encode_request
from ..protocol import api as api_of
from ..schema.descriptors import descriptor_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias
    from uuid import UUID

    from .._base.message import Message, Request, Text
    from ..protocol import Api
    from ..protocol._shapes import RequestHeader

    Ids: TypeAlias = tuple[str | None, UUID | None]  # client id and client instance id

_INSTANCE_ID = "client_instance_id"
_NEVER = 2**15


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """Identity of a client on one connection. None: unknown, or not reported by the client."""

    client_id: str | None = None
    client_instance_id: UUID | None = None
    """Id of this instance of the client, from request header version 3 on (KIP-1313)."""
    software_name: str | None = None
    """Client library, from ApiVersionsRequest version 3 on (KIP-511)."""
    software_version: str | None = None

    def after(self, header: RequestHeader, message: Message | None = None) -> ClientIdentity:
        """Return the identity after a request, which replaces only what it reports. Pass the message if decoded."""
        client_id = header.client_id
        if client_id == "" and header_version_of(header) == 0:  # this header has no client id
            client_id = None
        return self.announced(client_id, getattr(header, _INSTANCE_ID, None), message)

    def announced(
        self, client_id: str | None, client_instance_id: UUID | None, message: Message | None
    ) -> ClientIdentity:
        instance_id = None if client_instance_id == ZERO_UUID else client_instance_id
        name: str = getattr(message, "client_software_name", "")
        if client_id in (None, self.client_id) and instance_id in (None, self.client_instance_id) and not name:
            return self
        return ClientIdentity(
            self.client_id if client_id is None else client_id,
            instance_id or self.client_instance_id,
            name or self.software_name,
            getattr(message, "client_software_version", "") or self.software_version,
        )


UNKNOWN = ClientIdentity()


def omits_identity(header: RequestHeader) -> bool:
    """Return whether the ids of the client are in an earlier request of the connection (KIP-1313).

    True for a header of version 3 or higher without client id and client instance id.
    """
    has_none = header.client_id is None and getattr(header, _INSTANCE_ID, ZERO_UUID) == ZERO_UUID
    return has_none and header_version_of(header) >= _first_omitting()


@cache
def _first_omitting() -> int:
    fields = descriptor_of(class_of("RequestHeader")).fields
    return next((field.versions.lowest for field in fields if field.name == _INSTANCE_ID), _NEVER)


def header_version_of(header: RequestHeader) -> int:
    try:
        return api_of(header.request_api_key).request_header_version(header.request_api_version)
    except UnknownApiError:
        return 0


class Announcements:
    """What the requests of a client have reported, and encoder of the next request."""

    def __init__(self) -> None:
        self.identity = UNKNOWN
        self.omitted: Ids | None = None  # ids that later requests omit
        self._ids: Ids = None, None  # of the last encoded request

    def encoded(self, request: Request[Any], version: int, number: int, ids: Ids, text: Text) -> bytes:
        self._ids, api = ids, api_of(type(request))
        if _first_omitting() == _NEVER or api.request_header_version(version) < _first_omitting():
            return encode_request(request, version, number, ids[0], text=text)
        client_id, instance_id = (None, None) if ids == self.omitted else ids
        written: Any = class_of("RequestHeader")
        header = written(request_api_key=int(api.key), request_api_version=version, correlation_id=number)
        header.client_id = client_id
        if instance_id is not None:
            setattr(header, _INSTANCE_ID, instance_id)
        return DecodedRequest(header, api, version, request).encode(text=text)

    def add(self, request: Request[Any], api: Api, version: int) -> bool:
        """Add the last encoded request, which was sent. Return True if later requests omit its ids."""
        header_version, (client_id, instance_id) = api.request_header_version(version), self._ids
        may_omit = header_version >= _first_omitting()
        message = request.downgraded(version) if hasattr(request, "client_software_name") else None
        ids = client_id if header_version else None, instance_id if may_omit else None
        self.identity = self.identity.announced(*ids, message)
        has_ids = may_omit and self._ids != self.omitted
        self.omitted = self._ids if has_ids else self.omitted
        return has_ids

    def forget_software(self) -> None:
        """Remove what a rejected ApiVersionsRequest reported: the broker did not read its body."""
        self.identity = ClientIdentity(self.identity.client_id, self.identity.client_instance_id)
