"""Encoding and decoding of responses with their headers."""

from __future__ import annotations

from struct import Struct

from .._base.message import Message, find_end, is_final, reads_strictly, unsupported
from .._base.prefixed import read_rest
from .._core.generic import Generic
from .._core.value import dataclass
from .._core.wire import LONG, as_bytes
from ..errors import DecodeError
from ._apis import api as api_of
from ._framing import framed_chunks
from ._routes import IS_NATIVE, READ_ERRORS, WRITE_ERRORS, Route, chunks_of, hint_at_length, pack_size, written_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar, overload

    from .._base.message import Request as RequestMessage
    from .._base.message import Response as ResponseMessage
    from .._base.message import Text
    from .._core.wire import BytesLike
    from ._apis import AnyApi, Api
    from ._shapes import ResponseHeader

    M_co = TypeVar("M_co", bound=Message, covariant=True)
    R = TypeVar("R", bound=ResponseMessage)
else:
    M_co = None

_START = Struct(">i")  # correlation id
_sent: dict[type[Message], dict[int, _ResponseRoute]] = {}
_responses: dict[AnyApi, dict[int, _ResponseRoute]] = {}
# Frame length and correlation id.
_pack_start = Struct(">ii").pack
_UNSUPPORTED_VERSION = (35).to_bytes(2, "big")


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
            route = _sent[type(message)][version]
            if framed and text == "strict" and route.is_short and route.api is self.api:
                body, start = message.write(version), self.header.write(route.header_version)
                route.is_short = len(body) < LONG
                return pack_size(len(start) + len(body)) + start + body
        except WRITE_ERRORS:
            pass
        return b"".join(self.encode_chunks(framed=framed, text=text))

    def encode_chunks(self, *, framed: bool = True, text: Text = "strict") -> list[bytes]:
        header_version = self.api.response_header_version(self.version)
        body = chunks_of(self.message, self.version, text)
        return framed_chunks(written_header(self.header, header_version, text), body, framed)


class _ResponseRoute(Route):
    __slots__ = ()
    is_request = False
    result = DecodedResponse
    start = _START


def encode_response(
    message: ResponseMessage, version: int, correlation_id: int, *, framed: bool = True, text: Text = "strict"
) -> bytes:
    """Encode a response: header, and message at the ``version`` of the request. Options are as for ``encode_request``.

    Respond to an unsupported version of ApiVersions at version 0 (KIP-511).
    """
    try:
        route = _sent[type(message)][version]
        if route.has_usual_start and framed and text == "strict" and route.is_short:
            body, rest = message.write(version), route.rest[1]
            route.is_short = len(body) < LONG
            return _pack_start(len(rest) + len(body) + 4, correlation_id) + rest + body
    except WRITE_ERRORS:
        pass
    return b"".join(encode_response_chunks(message, version, correlation_id, framed=framed, text=text))


def encode_response_chunks(
    message: ResponseMessage, version: int, correlation_id: int, *, framed: bool = True, text: Text = "strict"
) -> list[bytes]:
    """Return ``encode_response()`` as a list for ``writelines``, without copying long fields."""
    route = _ResponseRoute.of(message, version, _sent)
    body = chunks_of(message, version, text)
    return framed_chunks(route.header(correlation_id=correlation_id).write(route.header_version), body, framed)


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
    ) -> DecodedResponse[ResponseMessage]: ...


def decode_response(data: BytesLike, api: AnyApi, version: int, *, text: Text = "strict") -> DecodedResponse[Any]:
    """Decode a response: header and body, without the frame length.

    ``api`` and ``version`` are those of the request. For a typed result, pass the request or response class as ``api``.
    An ApiVersionsResponse with UNSUPPORTED_VERSION is decoded at version 0 if possible (KIP-511). ``text`` is as for
    ``Message.read``.

    Raises DecodeError with the offset in ``data``, UnsupportedVersionError and UnknownApiError.
    """
    if type(data) is not bytes:
        data = as_bytes(data)
    route, is_refused = None, False
    try:
        try:
            route = _responses[api][version]
            if (
                not route.may_fall_back
                and route.version is version
                and (text == "strict" or reads_strictly(text, data))
            ):
                make: Callable[..., DecodedResponse[Any]]
                make, known, read_header, header_version, read_message, _ = route.decoding
                if IS_NATIVE:
                    header, body = read_header(data, 0, header_version)
                    message, end = read_message(data, body, version)
                else:
                    header, body = read_header(data, 0)
                    message, end = read_message(data, body)
                if end == len(data):
                    return make(DecodedResponse, known, header, message, version)
                message, is_refused = None, True  # free before the search
        except READ_ERRORS as error:
            if IS_NATIVE and isinstance(error, DecodeError) and is_final(error, text):
                raise
            is_refused = not isinstance(error, (KeyError, TypeError))
        route = route or _first_response(api, version)
        header, body = route.header.read_from(data, 0, route.header_version)
        if is_refused:
            find_end(route.message, data, body, version, True, text)
        if route.may_fall_back and data.startswith(_UNSUPPORTED_VERSION, body):
            try:
                return DecodedResponse(header, route.api, 0, read_rest(route.message, data, body, 0, text))
            except DecodeError:  # the broker may have used the requested version
                if version == 0:
                    raise
        return DecodedResponse(header, route.api, version, read_rest(route.message, data, body, version, text))
    except DecodeError as error:
        if route is not None:
            hint_at_length(error, data, _whole, route, version, text)
        raise


def _whole(data: bytes, route: _ResponseRoute, version: int, text: Text) -> None:
    _, body = route.header.read_from(data, 0, route.header_version)
    read_rest(route.message, data, body, version, text)


def decode_response_leniently(data: bytes, api: Api, version: int, text: Text) -> tuple[DecodedResponse[Any], bytes]:
    try:
        return decode_response(data, api, version, text=text), b""
    except DecodeError as error:
        route = _first_response(api, version)
        if not route.may_fall_back and "left after the message" not in error.reason:
            raise
        header, body = route.header.read_from(data, 0, route.header_version)
        if route.may_fall_back and data.startswith(_UNSUPPORTED_VERSION, body):
            version = 0
        message, end = route.message.read_from(data, body, version, text=text)
        return DecodedResponse(header, route.api, version, message), data[end:]


def _first_response(api: AnyApi, version: int) -> _ResponseRoute:
    which = api_of(api)
    message, is_valid = which.response_class, version in which.valid_versions
    may_fall_back = which.response_name == "ApiVersionsResponse"
    if not is_valid and not may_fall_back:
        raise unsupported(message, version)
    route = _ResponseRoute(which, version)
    route.may_fall_back = may_fall_back
    is_derived = isinstance(api, type) and api not in (which.request_class, message)
    if is_valid and not is_derived:  # derived classes may be short-lived
        _responses.setdefault(api, {})[version] = route
    return route
