"""Classes and codecs of requests and responses, found once for each API and version."""

from __future__ import annotations

from struct import Struct
from struct import error as struct_error

from .._base.message import class_of, unsupported
from .._core.native import filled
from .._core.structs import name_of
from .._core.value import maker
from .._core.wire import READ_FAILURES
from ..errors import DecodeError, EncodeError, KafkaMessageError
from ._apis import api as api_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from .._base.message import Message, Text
    from ._apis import Api
    from ._shapes import RequestHeader, ResponseHeader

IS_NATIVE = filled is not None
# Failures after which the slow path continues, or finds the error.
READ_ERRORS = (KeyError, TypeError, *READ_FAILURES)
WRITE_ERRORS = (KeyError, TypeError, struct_error)
LENGTH_SIZE = 4
pack_size = Struct(">i").pack
_UNSENT = object()


class Route:
    """Classes and codecs of the requests, or of the responses, of an API at one version."""

    __slots__ = (
        *("api", "decoding", "has_usual_start", "header", "header_version", "is_short", "key", "may_fall_back"),
        *("message", "rest", "version"),
    )
    # Set by the class for requests and the one for responses.
    is_request: bool
    result: Any
    start: Struct

    def __init__(self, api: Api, version: int) -> None:
        header_version = api.request_header_version if self.is_request else api.response_header_version
        self.api = api
        self.key = int(api.key)
        self.version = int(version)  # callers may pass bools and floats
        self.message: Any = api.request_class if self.is_request else api.response_class
        self.header: Any = class_of("RequestHeader" if self.is_request else "ResponseHeader")
        self.header_version = header_version(version)
        self.may_fall_back = False
        # ``filled`` leaves objects untracked by the collector: a decoded message cannot be part of a cycle.
        make = filled or maker(self.result)
        # With the core, readers also take the version; without it, they raise READ_FAILURES and may pass the end.
        read_header = self.header.read_from if IS_NATIVE else _reader(self.header, self.header_version)
        read_message = self.message.read_from if IS_NATIVE else _reader(self.message, version)
        # A tuple, since calls of attributes in slots are slower.
        self.decoding: Any = make, api, read_header, self.header_version, read_message, self.version
        # False if a package defines a header that differs before the end of the correlation id.
        self.has_usual_start = False
        # The last client id, and the bytes of its header after the correlation id.
        self.rest: tuple[object, bytes] = _UNSENT, b""
        # Until a long message is encoded. Long ones are encoded in chunks, with fewer copies.
        self.is_short = True

    @classmethod
    def of(cls, message: Message, version: int, known: dict[type[Message], dict[int, Self]]) -> Self:
        """Return the route of a message to be sent, from ``known`` or added there."""
        made = type(message)
        if made in known and version in known[made]:
            return known[made][version]
        api = api_of(made)
        if (api.request_name if cls.is_request else api.response_name) != name_of(made):
            raise EncodeError(f"this message is not a {'request' if cls.is_request else 'response'}", name_of(made))
        if version not in api.valid_versions:
            raise unsupported(made, version)
        routes = known.setdefault(api.request_class if cls.is_request else api.response_class, {})
        if version not in routes:  # derived classes may be short-lived
            routes[version] = cls(api, version)
            routes[version]._find_start()
        return routes[version]

    def _find_start(self) -> None:
        """Set ``has_usual_start``, and ``rest`` for responses."""
        before = (0, 0) if self.is_request else ()  # API key and version
        headers = [self.header(correlation_id=number).write(self.header_version) for number in (1, -2)]
        rest = headers[0][self.start.size :]
        self.has_usual_start = headers == [self.start.pack(*before, number) + rest for number in (1, -2)]
        self.rest = _UNSENT, rest


def _reader(message: Any, version: int) -> Any:
    return message._codecs.get(version, (None,))[0]


def hint_at_length(error: KafkaMessageError, data: bytes, decode: Callable[..., object], *arguments: object) -> None:
    if len(data) < LENGTH_SIZE or int.from_bytes(data[:LENGTH_SIZE], "big") != len(data) - LENGTH_SIZE:
        return
    try:
        decode(data[LENGTH_SIZE:], *arguments)
    except KafkaMessageError:
        return
    reason = f"{error.args[0]}; the data starts with a frame length: omit the first 4 bytes, as split_frames does"
    error.args = (reason, *error.args[1:])
    if isinstance(error, DecodeError):
        error.reason = reason


def chunks_of(message: Message, version: int, text: Text) -> list[bytes]:
    return message.chunks(version) if text == "strict" else message.chunks(version, text=text)


def written_header(header: RequestHeader | ResponseHeader, version: int, text: Text) -> bytes:
    return header.write(version) if text == "strict" else header.write(version, text=text)
