"""First bytes of requests that are forwarded undecoded."""

from __future__ import annotations

from struct import Struct

from ..schema.build import SchemaBuilder
from ..schema.descriptors import descriptor_of
from ..schema.types import ESCAPED_STRINGS, SchemaError
from ._incoming import LENGTH_SIZE
from ._rules import API_VERSIONS, PRODUCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..protocol import Api

# Size of the frame length, API key, version and correlation id.
START_SIZE = LENGTH_SIZE + 8
_key_and_version = Struct(">hh")
# Maximum size of the rest of a header, in bytes, that a proxy keeps for comparison.
LONGEST_REST = 1 << 15


class RequestStart:

    __slots__ = ("_before_acks", "_is_compact", "api", "header_version", "is_produce", "key", "version")

    def __init__(self, api: Api, version: int) -> None:
        self.api = api
        self.key = int(api.key)
        self.version = version
        self.header_version = api.request_header_version(version)
        self.is_produce = api.name == PRODUCE
        if self.is_produce:
            descriptor = descriptor_of(api.request_class)
            self._is_compact = version in descriptor.flexible
            names = [field.name for field in descriptor.fields if version in field.versions]
            self._before_acks = [field for field in descriptor.fields if field.name in names[: names.index("acks")]]

    def expects_response(self, frame: bytes, pos: int) -> bool | None:
        """Return whether the Produce body at ``pos`` gets a response; None if the body must be decoded."""
        if self._before_acks:  # the transactional id, usually null
            null = b"\0" if self._is_compact else b"\xff\xff"
            if len(self._before_acks) > 1 or not frame.startswith(null, pos):
                return None
            pos += len(null)
        return frame[pos : pos + 2] != b"\0\0" if pos + 2 <= len(frame) else None


STARTS: dict[bytes, RequestStart] = {}


def keep_start(api: Api, version: int) -> None:
    has_client_id = version in api.valid_versions and api.request_header_version(version) > 0
    is_decoded = api.name in ("SaslHandshake", API_VERSIONS)
    packed = _key_and_version.pack(api.key, version)
    if has_client_id and api.response_name and not is_decoded and packed not in STARTS:
        STARTS[packed] = RequestStart(api, version)


def acks_in(api: Api, version: int, payload: bytes, pos: int) -> int | None:
    """Return ``acks`` of a ProduceRequest that is not decoded, or None if the field cannot be read."""
    descriptor = descriptor_of(api.request_class)
    builder = SchemaBuilder(descriptor, ESCAPED_STRINGS)  # brokers accept invalid UTF-8 in the fields before acks
    try:
        for field in descriptor.fields:
            if version in field.versions:
                value, pos = builder.type_of(field, version).read(payload, pos)
                if field.name == "acks":
                    return value if isinstance(value, int) else None
    except SchemaError:
        pass
    return None
