"""Encoding and decoding of requests with their headers."""

from __future__ import annotations

from struct import Struct

from .._base.message import check_text, class_of, find_end, is_final, reads_strictly, unsupported
from .._core.structs import name_of
from .._core.value import dataclass
from .._core.wire import LONG, as_bytes
from ..errors import DecodeError, EncodeError, KafkaMessageError, UnsupportedVersionError
from ._apis import api as api_of
from ._errors import UnknownApiError
from ._framing import framed_chunks
from ._routes import IS_NATIVE, READ_ERRORS, WRITE_ERRORS, Route, chunks_of, hint_at_length, pack_size, written_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._base.message import Message, Text
    from .._base.message import Request as RequestMessage
    from .._core.wire import BytesLike
    from ._apis import Api
    from ._shapes import RequestHeader

_START = Struct(">hhi")  # API key, version and correlation id
_sent: dict[type[Message], dict[int, _RequestRoute]] = {}
_requests: dict[bytes, _RequestRoute] = {}
# Frame length and first fields of a header.
_pack_start = Struct(">ihhi").pack
_peek = Struct(">hh").unpack_from


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
                return pack_size(len(start) + len(body)) + start + body
        except WRITE_ERRORS:
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
        body = [*chunks_of(self.message, self.version, text), as_bytes(self.trailing, "trailing")]
        return framed_chunks(written_header(header, api.request_header_version(self.version), text), body, framed)


class _RequestRoute(Route):
    __slots__ = ()
    is_request = True
    result = DecodedRequest
    start = _START


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
            return _pack_start(len(rest) + len(body) + 8, route.key, version, correlation_id) + rest + body
    except WRITE_ERRORS:
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
    route = _RequestRoute.of(message, version, _sent)
    header = route.header(
        request_api_key=route.key, request_api_version=version, correlation_id=correlation_id, client_id=client_id
    )
    body = chunks_of(message, version, text)
    written = written_header(header, route.header_version, text)
    if route.has_usual_start and text == "strict" and (client_id is None or type(client_id) is str):
        route.rest = client_id, written[_START.size :]
    return framed_chunks(written, body, framed)


def read_request_header(data: BytesLike, *, text: Text = "strict") -> tuple[RequestHeader, int]:
    """Decode the header of a request without frame length. Return the header and the offset of the body.

    Accepts invalid versions; ``text`` is as for ``Message.read``. Raises DecodeError. Raises UnknownApiError, and
    UnsupportedRequestError for an unreadable header of an invalid version, with API key, version and correlation id.
    """
    if text != "strict":
        check_text(text)
    if type(data) is not bytes:
        data = as_bytes(data)
    reader: Any = class_of("RequestHeader")
    if len(data) < _START.size:
        # Raises DecodeError with the missing field.
        reader.read_from(data, 0, reader.LOWEST_SUPPORTED_VERSION)
    key, version = _peek(data)
    try:
        header_version = api_of(key).request_header_version(version)
    except UnknownApiError as error:
        raise UnknownApiError(str(error), _certain_header(data)) from None
    if header_version < reader.LOWEST_SUPPORTED_VERSION:  # header version 0, of ControlledShutdown
        return _certain_header(data), _START.size
    try:
        try:
            header, end = reader.read_from(data, 0, header_version)
        except DecodeError as error:
            if is_final(error, text):
                raise
            header, end = reader.read_from(data, 0, header_version, text=text)
    except DecodeError as error:
        api = api_of(key)
        if version in api.valid_versions:
            raise
        # A newer version may have a newer header (KIP-511, KIP-1313).
        raise _unsupported_request(_certain_header(data), api, version) from error
    return header, end


def _certain_header(data: bytes) -> RequestHeader:
    key, version, correlation_id = _START.unpack_from(data)
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
    is_refused = False
    try:
        try:
            route = _requests[data[:4]]  # API key and version
            if text == "strict" or reads_strictly(text, data):
                make: Callable[..., DecodedRequest]
                make, api, read_header, header_version, read_message, version = route.decoding
                if IS_NATIVE:
                    header, body = read_header(data, 0, header_version)
                    message, end = read_message(data, body, version)
                else:
                    header, body = read_header(data, 0)
                    message, end = read_message(data, body)
                if end == len(data):
                    return make(DecodedRequest, api, header, message, b"", version)
                if end < len(data):
                    return make(DecodedRequest, api, header, message, data[end:], version)
                message, is_refused = None, True  # free before the search
        except READ_ERRORS as error:
            if IS_NATIVE and isinstance(error, DecodeError) and len(data) >= _START.size and is_final(error, text):
                raise
            is_refused = not isinstance(error, (KeyError, TypeError))
        return _decode_request(data, text, is_refused)
    except KafkaMessageError as error:
        hint_at_length(error, data, _decode_request, text)
        raise


def _decode_request(data: bytes, text: Text, is_refused: bool = False) -> DecodedRequest:
    header, body, route = _first_request(data, text)
    if is_refused:
        find_end(route.message, data, body, route.version, False, text)
    read, version = route.message.read_from, route.version
    message, end = read(data, body, version) if text == "strict" else read(data, body, version, text=text)
    return DecodedRequest(header, route.api, version, message, data[end:])


def _first_request(data: bytes, text: Text = "strict") -> tuple[RequestHeader, int, _RequestRoute]:
    header, body = read_request_header(data, text=text)
    api, version = api_of(header.request_api_key), header.request_api_version
    if version not in api.valid_versions:
        raise _unsupported_request(header, api, version)
    route = _requests.get(data[:4]) or _RequestRoute(api, version)
    if route.header_version >= route.header.LOWEST_SUPPORTED_VERSION:
        _requests[data[:4]] = route
    return header, body, route


def _unsupported_request(header: RequestHeader, api: Api, version: int) -> UnsupportedRequestError:
    if not api.valid_versions:
        return UnsupportedRequestError(f"{api.request_name} has no version {version}: the API was removed", api, header)
    return UnsupportedRequestError(str(unsupported(api.request_class, version)), api, header)
