"""Encoding and decoding of requests and responses with their headers."""

from __future__ import annotations

from struct import Struct

from .._base.message import Message, class_of, unsupported
from .._base.prefixed import read_rest
from .._core.generic import Generic
from .._core.structs import name_of
from .._core.value import dataclass
from .._core.wire import as_bytes
from ..errors import DecodeError, EncodeError, KafkaMessageError, UnsupportedVersionError
from ._apis import Api
from ._apis import api as api_of
from ._errors import UnknownApiError
from ._framing import framed_chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar, overload

    from .._base.message import Request as RequestMessage
    from .._base.message import Response as ResponseMessage
    from .._base.message import Text
    from .._core.wire import BytesLike
    from ._apis import AnyApi
    from ._shapes import RequestHeader, ResponseHeader

    M_co = TypeVar("M_co", bound=Message, covariant=True)
    R = TypeVar("R", bound=ResponseMessage)
else:
    M_co = None


class Route:
    """Header and message class of the requests, or of the responses, of an API at one version."""

    __slots__ = ("api", "header", "header_version", "key", "may_fall_back", "message", "version")

    def __init__(self, api: Api, version: int, is_request: bool) -> None:
        header_version = api.request_header_version if is_request else api.response_header_version
        self.api = api
        self.key = int(api.key)
        self.version = version
        self.message: Any = api.request_class if is_request else api.response_class
        self.header: Any = class_of("RequestHeader" if is_request else "ResponseHeader")
        self.header_version = header_version(version)
        self.may_fall_back = False


_LENGTH_SIZE = 4
_essential = Struct(">hhi")
_peek = Struct(">hh").unpack_from
_sent: dict[tuple[type[Message], int], Route] = {}
_answered: dict[tuple[type[Message], int], Route] = {}
_requests: dict[bytes, Route] = {}
_responses: dict[tuple[object, int], Route] = {}
_UNSUPPORTED_VERSION = (35).to_bytes(2, "big")


class UnsupportedRequestError(UnsupportedVersionError):
    """Request at an invalid or unannounced version; has ``api`` and ``header``. The body was not decoded."""

    def __init__(self, reason: str, api: Api, header: RequestHeader) -> None:
        super().__init__(reason, api, header)
        self.api = api
        self.header = header

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class DecodedRequest:
    """A request and its header."""

    header: RequestHeader
    api: Api
    version: int
    message: RequestMessage
    trailing: bytes = b""
    """Bytes after the message, which brokers ignore."""

    def encode(self, *, framed: bool = True, text: Text = "strict") -> bytes:
        """Return header, message and ``trailing``, preceded by their length if ``framed``.

        Raises UnsupportedVersionError, and EncodeError, also if header, API, version and message do not match.
        """
        return b"".join(self.encode_chunks(framed=framed, text=text))

    def encode_chunks(self, *, framed: bool = True, text: Text = "strict") -> list[bytes]:
        """Return ``encode()`` as a list for ``writelines``, without copying long fields."""
        header, name, api = self.header, name_of(type(self.message)), self.api
        if name != api.request_name:
            raise EncodeError(f"is not the request class of the API {api}; pass {api.request_name}", name)
        if header.request_api_key != api.key:
            raise _differs("request_api_key", header.request_api_key, f"the API {api} has {int(api.key)}")
        if header.request_api_version != self.version:
            raise _differs("request_api_version", header.request_api_version, f"the request has {self.version}")
        body = [*_chunks(self.message, self.version, text), as_bytes(self.trailing, "trailing")]
        return framed_chunks(_written(header, api.request_header_version(self.version), text), body, framed)


@dataclass(frozen=True, slots=True)
class DecodedResponse(Generic[M_co]):
    """A response and its header."""

    header: ResponseHeader
    api: Api
    version: int
    """Request version, or 0 after a fallback of ApiVersions (KIP-511)."""
    message: M_co

    def encode(self, *, framed: bool = True, text: Text = "strict") -> bytes:
        """Return header and message, preceded by their length if ``framed``.

        Raises EncodeError and UnsupportedVersionError.
        """
        return b"".join(self.encode_chunks(framed=framed, text=text))

    def encode_chunks(self, *, framed: bool = True, text: Text = "strict") -> list[bytes]:
        header_version = self.api.response_header_version(self.version)
        body = _chunks(self.message, self.version, text)
        return framed_chunks(_written(self.header, header_version, text), body, framed)


def _chunks(message: Message, version: int, text: Text) -> list[bytes]:
    return message.chunks(version) if text == "strict" else message.chunks(version, text=text)


def _written(header: RequestHeader | ResponseHeader, version: int, text: Text) -> bytes:
    return header.write(version) if text == "strict" else header.write(version, text=text)


def _differs(field: str, value: int, wanted: str) -> EncodeError:
    return EncodeError(f"is {value}, but {wanted}", "RequestHeader", path=field)


def encode_request(
    message: RequestMessage,
    version: int,
    correlation_id: int,
    client_id: str | None = None,
    *,
    framed: bool = True,
    text: Text = "strict",
) -> bytes:
    """Encode a request: header, and message at ``version``.

    ``correlation_id`` is an int32; ``framed`` adds the length (int32) in front. ``text`` is as for ``Message.read``.
    Raises EncodeError and UnsupportedVersionError.
    """
    return b"".join(encode_request_chunks(message, version, correlation_id, client_id, framed=framed, text=text))


def encode_request_chunks(
    message: RequestMessage,
    version: int,
    correlation_id: int,
    client_id: str | None = None,
    *,
    framed: bool = True,
    text: Text = "strict",
) -> list[bytes]:
    """Return ``encode_request()`` as a list for ``writelines``, without copying long fields."""
    route = _sent.get((type(message), version)) or _route_of(message, version, "request")
    header = route.header(
        request_api_key=route.key, request_api_version=version, correlation_id=correlation_id, client_id=client_id
    )
    body = _chunks(message, version, text)
    return framed_chunks(_written(header, route.header_version, text), body, framed)


def encode_response(
    message: ResponseMessage, version: int, correlation_id: int, *, framed: bool = True, text: Text = "strict"
) -> bytes:
    """Encode a response: header, and message at the ``version`` of the request. Options are as for ``encode_request``.

    Respond to an unsupported version of ApiVersions at version 0 (KIP-511).
    """
    return b"".join(encode_response_chunks(message, version, correlation_id, framed=framed, text=text))


def encode_response_chunks(
    message: ResponseMessage, version: int, correlation_id: int, *, framed: bool = True, text: Text = "strict"
) -> list[bytes]:
    """Return ``encode_response()`` as a list for ``writelines``, without copying long fields."""
    route = _answered.get((type(message), version)) or _route_of(message, version, "response")
    body = _chunks(message, version, text)
    return framed_chunks(route.header(correlation_id=correlation_id).write(route.header_version), body, framed)


def _route_of(message: Message, version: int, side: str) -> Route:
    cls = type(message)
    api, is_request = api_of(cls), side == "request"
    if (api.request_name if is_request else api.response_name) != name_of(cls):
        raise EncodeError(f"this message is not a {side}", name_of(cls))
    if version not in api.valid_versions:
        raise unsupported(cls, version)
    routes, own = (_sent, api.request_class) if is_request else (_answered, api.response_class)
    found = routes.get((own, version))  # derived classes may be short-lived
    return found or routes.setdefault((own, version), Route(api, version, is_request))


def read_request_header(data: BytesLike, *, text: Text = "strict") -> tuple[RequestHeader, int]:
    """Decode the header of a request without frame length. Return the header and the offset of the body.

    Accepts invalid versions; ``text`` is as for ``Message.read``. Raises DecodeError. Raises UnknownApiError, and
    UnsupportedRequestError for an unreadable header of an invalid version, with API key, version and correlation id.
    """
    if type(data) is not bytes:
        data = as_bytes(data)
    reader: Any = class_of("RequestHeader")
    if len(data) < _essential.size:
        # Raises DecodeError with the missing field.
        reader.read_from(data, 0, reader.LOWEST_SUPPORTED_VERSION)
    key, version = _peek(data)
    try:
        header_version = api_of(key).request_header_version(version)
    except UnknownApiError as error:
        raise UnknownApiError(str(error), _certain_header(data)) from None
    if header_version < reader.LOWEST_SUPPORTED_VERSION:  # header version 0, of ControlledShutdown
        return _certain_header(data), _essential.size
    try:
        header, end = (
            reader.read_from(data, 0, header_version)
            if text == "strict"
            else reader.read_from(data, 0, header_version, text=text)
        )
    except DecodeError as error:
        api = api_of(key)
        if version in api.valid_versions:
            raise
        # A newer version may have a newer header (KIP-511, KIP-1313).
        raise _unsupported_request(_certain_header(data), api, version) from error
    return header, end


def _certain_header(data: bytes) -> RequestHeader:
    key, version, correlation_id = _essential.unpack_from(data)
    header: Any = class_of("RequestHeader")
    filled: RequestHeader = header(
        request_api_key=key, request_api_version=version, correlation_id=correlation_id, client_id=None
    )
    return filled


def decode_request(data: BytesLike, *, text: Text = "strict") -> DecodedRequest:
    """Decode a request: header and body, without the frame length.

    Keeps bytes after the body, such as those of librdkafka's MetadataRequest for all topics. ``text`` is as for
    ``Message.read``; Kafka's broker replaces invalid UTF-8 by U+FFFD.

    Raises UnknownApiError and UnsupportedRequestError with the header, and DecodeError with the offset in ``data``.
    """
    if type(data) is not bytes:
        data = as_bytes(data)
    try:
        if text != "strict":
            return _decode_request(data, text)
        route = _requests.get(data[:4])  # API key and version
        if route is None or len(data) < _essential.size:
            header, body, route = _first_request(data)
        else:
            header, body = route.header.read_from(data, 0, route.header_version)
        message, end = route.message.read_from(data, body, route.version)
        return DecodedRequest(header, route.api, route.version, message, data[end:])
    except KafkaMessageError as error:
        _hint_at_length(error, data, _decode_request, text)
        raise


def _hint_at_length(error: KafkaMessageError, data: bytes, decode: Callable[..., object], *arguments: object) -> None:
    if len(data) < _LENGTH_SIZE or int.from_bytes(data[:_LENGTH_SIZE], "big") != len(data) - _LENGTH_SIZE:
        return
    try:
        decode(data[_LENGTH_SIZE:], *arguments)
    except KafkaMessageError:
        return
    reason = f"{error.args[0]}; the data starts with a frame length: omit the first 4 bytes, as split_frames does"
    error.args = (reason, *error.args[1:])
    if isinstance(error, DecodeError):
        error.reason = reason


def _decode_request(data: bytes, text: Text) -> DecodedRequest:
    header, body, route = _first_request(data, text)
    message, end = route.message.read_from(data, body, route.version, text=text)
    return DecodedRequest(header, route.api, route.version, message, data[end:])


def _first_request(data: bytes, text: Text = "strict") -> tuple[RequestHeader, int, Route]:
    header, body = read_request_header(data, text=text)
    api, version = api_of(header.request_api_key), header.request_api_version
    if version not in api.valid_versions:
        raise _unsupported_request(header, api, version)
    route = Route(api, version, True)
    if route.header_version >= route.header.LOWEST_SUPPORTED_VERSION:
        _requests[data[:4]] = route
    return header, body, route


def _unsupported_request(header: RequestHeader, api: Api, version: int) -> UnsupportedRequestError:
    if not api.valid_versions:
        return UnsupportedRequestError(f"{api.request_name} has no version {version}: the API was removed", api, header)
    return UnsupportedRequestError(str(unsupported(api.request_class, version)), api, header)


if TYPE_CHECKING:

    @overload
    def decode_response(
        data: BytesLike, api: type[RequestMessage[R]], version: int, *, text: Text = "strict"
    ) -> DecodedResponse[R]: ...
    @overload
    def decode_response(
        data: BytesLike, api: type[R], version: int, *, text: Text = "strict"
    ) -> DecodedResponse[R]: ...
    @overload
    def decode_response(data: BytesLike, api: Api[R], version: int, *, text: Text = "strict") -> DecodedResponse[R]: ...
    @overload
    def decode_response(
        data: BytesLike, api: AnyApi, version: int, *, text: Text = "strict"
    ) -> DecodedResponse[Message]: ...


def decode_response(data: BytesLike, api: AnyApi, version: int, *, text: Text = "strict") -> DecodedResponse[Any]:
    """Decode a response: header and body, without the frame length.

    ``api`` and ``version`` are those of the request. For a typed result, pass the request or response class as ``api``.
    An ApiVersionsResponse with UNSUPPORTED_VERSION is decoded at version 0 if possible (KIP-511). ``text`` is as for
    ``Message.read``.

    Raises DecodeError with the offset in ``data``, UnsupportedVersionError and UnknownApiError.
    """
    if type(data) is not bytes:
        data = as_bytes(data)
    route = _known_response(api, version) or _first_response(api, version)
    try:
        header, body = route.header.read_from(data, 0, route.header_version)
        if route.may_fall_back and data.startswith(_UNSUPPORTED_VERSION, body):
            try:
                return DecodedResponse(header, route.api, 0, read_rest(route.message, data, body, 0, text))
            except DecodeError:  # the broker may have used the requested version
                if version == 0:
                    raise
        return DecodedResponse(header, route.api, version, read_rest(route.message, data, body, version, text))
    except DecodeError as error:
        _hint_at_length(error, data, _whole, route, version, text)
        raise


def _whole(data: bytes, route: Route, version: int, text: Text) -> None:
    _, body = route.header.read_from(data, 0, route.header_version)
    read_rest(route.message, data, body, version, text)


def decode_response_leniently(data: bytes, api: Api, version: int, text: Text) -> tuple[DecodedResponse[Any], bytes]:
    try:
        return decode_response(data, api, version, text=text), b""
    except DecodeError:
        route = _first_response(api, version)
        header, body = route.header.read_from(data, 0, route.header_version)
        if route.may_fall_back and data.startswith(_UNSUPPORTED_VERSION, body):
            version = 0
        message, end = route.message.read_from(data, body, version, text=text)
        return DecodedResponse(header, route.api, version, message), data[end:]


def _known_response(api: AnyApi, version: int) -> Route | None:
    try:
        return _responses.get((api.key if isinstance(api, Api) else api, version))
    except TypeError:  # unhashable
        return None


def _first_response(api: AnyApi, version: int) -> Route:
    which = api_of(api)
    message, is_valid = which.response_class, version in which.valid_versions
    may_fall_back = which.response_name == "ApiVersionsResponse"
    if not is_valid and not may_fall_back:
        raise unsupported(message, version)
    route = Route(which, version, False)
    route.may_fall_back = may_fall_back
    is_derived = isinstance(api, type) and api not in (which.request_class, message)
    if is_valid and not is_derived:  # derived classes may be short-lived
        _responses[which.key if isinstance(api, Api) else api, version] = route
    return route
