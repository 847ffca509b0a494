"""Encoding and decoding of requests and responses with their headers."""

from __future__ import annotations

from struct import Struct
from struct import error as struct_error

from .._base.message import Message, class_of, unsupported
from .._base.prefixed import read_rest
from .._core.generic import Generic
from .._core.native import filled
from .._core.structs import name_of
from .._core.value import dataclass, maker
from .._core.wire import LONG, READ_FAILURES, as_bytes
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
    """Classes and codecs of the requests, or of the responses, of an API at one version."""

    __slots__ = (
        *("api", "decoding", "has_usual_start", "header", "header_version", "is_short", "key", "may_fall_back"),
        *("message", "rest", "version"),
    )

    def __init__(self, api: Api, version: int, is_request: bool) -> None:
        header_version = api.request_header_version if is_request else api.response_header_version
        self.api = api
        self.key = int(api.key)
        self.version = int(version)  # callers may pass bools and floats
        self.message: Any = api.request_class if is_request else api.response_class
        self.header: Any = class_of("RequestHeader" if is_request else "ResponseHeader")
        self.header_version = header_version(version)
        self.may_fall_back = False
        # ``filled`` leaves objects untracked by the collector: a decoded message cannot be part of a cycle.
        make = filled or maker(DecodedRequest if is_request else DecodedResponse)
        # With the core, readers also take the version; without it, they raise READ_FAILURES and may pass the end.
        read_header = self.header.read_from if _IS_NATIVE else _reader(self.header, self.header_version)
        read_message = self.message.read_from if _IS_NATIVE else _reader(self.message, version)
        # A tuple, since calls of attributes in slots are slower.
        self.decoding: Any = make, api, read_header, self.header_version, read_message, self.version
        # False if a package defines a header that differs before the end of the correlation id.
        self.has_usual_start = False
        # The last client id, and the bytes of its header after the correlation id.
        self.rest: tuple[object, bytes] = _UNSENT, b""
        # Until a long message is encoded. Long ones are encoded in chunks, with fewer copies.
        self.is_short = True


def _reader(message: Any, version: int) -> Any:
    return message._codecs.get(version, (None,))[0]


_UNSENT = object()
_IS_NATIVE = filled is not None
# Failures after which the slow path continues, or finds the error.
_READ_FAILURES = (KeyError, TypeError, *READ_FAILURES)
_WRITE_FAILURES = (KeyError, TypeError, struct_error)
_LENGTH_SIZE = 4
_essential = Struct(">hhi")
# Frame length and first fields of a header.
_pack_size = Struct(">i").pack
_pack_request_start = Struct(">ihhi").pack
_pack_response_start = Struct(">ii").pack
_correlation_id = Struct(">i")
_peek = Struct(">hh").unpack_from
_sent: dict[type[Message], dict[int, Route]] = {}
_answered: dict[type[Message], dict[int, Route]] = {}
_requests: dict[bytes, Route] = {}
_responses: dict[AnyApi, dict[int, Route]] = {}
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
        header, message, version = self.header, self.message, self.version
        try:
            route = _sent[type(message)][version]
            if (
                framed
                and text == "strict"
                and route.is_short
                and route.api is self.api
                and header.request_api_key == route.key
                and header.request_api_version == version
                and self.trailing == b""
            ):
                body, start = message.write(version), header.write(route.header_version)
                route.is_short = len(body) < LONG
                return _pack_size(len(start) + len(body)) + start + body
        except _WRITE_FAILURES:
            pass
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
        message, version = self.message, self.version
        try:
            route = _answered[type(message)][version]
            if framed and text == "strict" and route.is_short and route.api is self.api:
                body, start = message.write(version), self.header.write(route.header_version)
                route.is_short = len(body) < LONG
                return _pack_size(len(start) + len(body)) + start + body
        except _WRITE_FAILURES:
            pass
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
    try:
        route = _sent[type(message)][version]
        known, rest = route.rest
        if known is client_id and framed and text == "strict" and route.is_short:
            body = message.write(version)
            route.is_short = len(body) < LONG
            return _pack_request_start(len(rest) + len(body) + 8, route.key, version, correlation_id) + rest + body
    except _WRITE_FAILURES:
        pass
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
    route = _route_of(message, version, "request")
    header = route.header(
        request_api_key=route.key, request_api_version=version, correlation_id=correlation_id, client_id=client_id
    )
    body = _chunks(message, version, text)
    written = _written(header, route.header_version, text)
    if route.has_usual_start and text == "strict" and (client_id is None or type(client_id) is str):
        route.rest = client_id, written[_essential.size :]
    return framed_chunks(written, body, framed)


def encode_response(
    message: ResponseMessage, version: int, correlation_id: int, *, framed: bool = True, text: Text = "strict"
) -> bytes:
    """Encode a response: header, and message at the ``version`` of the request. Options are as for ``encode_request``.

    Respond to an unsupported version of ApiVersions at version 0 (KIP-511).
    """
    try:
        route = _answered[type(message)][version]
        if route.has_usual_start and framed and text == "strict" and route.is_short:
            body, rest = message.write(version), route.rest[1]
            route.is_short = len(body) < LONG
            return _pack_response_start(len(rest) + len(body) + 4, correlation_id) + rest + body
    except _WRITE_FAILURES:
        pass
    return b"".join(encode_response_chunks(message, version, correlation_id, framed=framed, text=text))


def encode_response_chunks(
    message: ResponseMessage, version: int, correlation_id: int, *, framed: bool = True, text: Text = "strict"
) -> list[bytes]:
    """Return ``encode_response()`` as a list for ``writelines``, without copying long fields."""
    route = _route_of(message, version, "response")
    body = _chunks(message, version, text)
    return framed_chunks(route.header(correlation_id=correlation_id).write(route.header_version), body, framed)


def _route_of(message: Message, version: int, side: str) -> Route:
    cls, is_request = type(message), side == "request"
    routes = _sent if is_request else _answered
    if cls in routes and version in routes[cls]:
        return routes[cls][version]
    api = api_of(cls)
    if (api.request_name if is_request else api.response_name) != name_of(cls):
        raise EncodeError(f"this message is not a {side}", name_of(cls))
    if version not in api.valid_versions:
        raise unsupported(cls, version)
    own = routes.setdefault(api.request_class if is_request else api.response_class, {})
    if version not in own:  # derived classes may be short-lived
        route = Route(api, version, is_request)
        _find_start(route, _essential if is_request else _correlation_id)
        own[version] = route
    return own[version]


def _find_start(route: Route, start: Struct) -> None:
    """Set ``has_usual_start``, and ``rest`` for responses."""
    before = (0, 0) if start is _essential else ()  # API key and version
    headers = [route.header(correlation_id=number).write(route.header_version) for number in (1, -2)]
    rest = headers[0][start.size :]
    route.has_usual_start = headers == [start.pack(*before, number) + rest for number in (1, -2)]
    route.rest = _UNSENT, rest


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
        try:
            route = _requests[data[:4]]  # API key and version
            if text == "strict":
                make: Callable[..., DecodedRequest]
                make, api, read_header, header_version, read_message, version = route.decoding
                if _IS_NATIVE:
                    header, body = read_header(data, 0, header_version)
                    message, end = read_message(data, body, version)
                else:
                    header, body = read_header(data, 0)
                    message, end = read_message(data, body)
                if end == len(data):
                    return make(DecodedRequest, api, header, message, b"", version)
                if end < len(data):
                    return make(DecodedRequest, api, header, message, data[end:], version)
        except _READ_FAILURES as error:
            if _IS_NATIVE and isinstance(error, DecodeError) and len(data) >= _essential.size:
                raise
        return _decode_request(data, text)
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
    read_from = route.message.read_from
    message, end = (
        read_from(data, body, route.version) if text == "strict" else read_from(data, body, route.version, text=text)
    )
    return DecodedRequest(header, route.api, route.version, message, data[end:])


def _first_request(data: bytes, text: Text = "strict") -> tuple[RequestHeader, int, Route]:
    header, body = read_request_header(data, text=text)
    api, version = api_of(header.request_api_key), header.request_api_version
    if version not in api.valid_versions:
        raise _unsupported_request(header, api, version)
    route = _requests.get(data[:4]) or Route(api, version, True)
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
    route = None
    try:
        try:
            route = _responses[api][version]
            if text == "strict" and not route.may_fall_back and route.version is version:
                make: Callable[..., DecodedResponse[Any]]
                make, known, read_header, header_version, read_message, _ = route.decoding
                if _IS_NATIVE:
                    header, body = read_header(data, 0, header_version)
                    message, end = read_message(data, body, version)
                else:
                    header, body = read_header(data, 0)
                    message, end = read_message(data, body)
                if end == len(data):
                    return make(DecodedResponse, known, header, message, version)
        except _READ_FAILURES as error:
            if _IS_NATIVE and isinstance(error, DecodeError):
                raise
        route = route or _first_response(api, version)
        header, body = route.header.read_from(data, 0, route.header_version)
        if route.may_fall_back and data.startswith(_UNSUPPORTED_VERSION, body):
            try:
                return DecodedResponse(header, route.api, 0, read_rest(route.message, data, body, 0, text))
            except DecodeError:  # the broker may have used the requested version
                if version == 0:
                    raise
        return DecodedResponse(header, route.api, version, read_rest(route.message, data, body, version, text))
    except DecodeError as error:
        if route is not None:
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
        _responses.setdefault(api, {})[version] = route
    return route
