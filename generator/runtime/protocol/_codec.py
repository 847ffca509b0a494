"""Requests and responses as they travel: a header, then the body, both at the versions the API table gives."""

from __future__ import annotations

from struct import Struct

from .._base.message import Message, unsupported
from .._base.prefixed import class_of, read_rest
from .._core.value import dataclass
from .._core.wire import as_bytes
from ..enums import ApiKey
from ..errors import DecodeError, EncodeError, UnsupportedVersionError
from ._apis import Api
from ._apis import api as api_of
from ._errors import UnknownApiError
from ._framing import framed as join_framed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generic, TypeVar, overload

    from .._core.wire import BytesLike
    from ._shapes import RequestHeader, ResponseHeader

    M = TypeVar("M", bound=Message)

    class _Base(Generic[M]): ...

else:
    M = None

    class _Base:
        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls


_essential = Struct(">hhi")
_peek = Struct(">hh").unpack_from
_UNSUPPORTED_VERSION = (35).to_bytes(2, "big")


class UnsupportedRequestError(UnsupportedVersionError):
    """A request for a version that its API does not have; its body was not read.

    ``api`` is the API and ``header`` the header of the request: what a broker needs for its answer.
    """

    def __init__(self, reason: str, api: Api, header: RequestHeader) -> None:
        super().__init__(reason, api, header)
        self.api = api
        self.header = header

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Request:
    """A request and its header."""

    header: RequestHeader
    """The message RequestHeader, with any tagged fields it does not know."""
    api: Api
    version: int
    """Version of the API: of ``message``, and what the header says."""
    message: Message
    trailing: bytes = b""
    """Bytes behind the message, which brokers ignore and some clients send; nearly always none."""

    def encode(self, *, framed: bool = True) -> bytes:
        """The bytes of header, message and ``trailing``, after their length if ``framed``.

        Raises EncodeError with the field, also where header, API, version and message do not belong together, and
        UnsupportedVersionError.
        """
        header, name = self.header, type(self.message).NAME
        if name != self.api.request_name:
            raise EncodeError(f"is not the request of the API {self.api}, which is {self.api.request_name}", name)
        if header.request_api_key != self.api.key:
            raise _differs("request_api_key", header.request_api_key, f"the API {self.api} has {int(self.api.key)}")
        if header.request_api_version != self.version:
            raise _differs("request_api_version", header.request_api_version, f"the request has {self.version}")
        body = self.message.write(self.version) + as_bytes(self.trailing, "trailing")
        return _join(self.header.write(self.api.request_header_version(self.version)), body, framed)


@dataclass(frozen=True, slots=True)
class Response(_Base[M]):
    """A response and its header."""

    header: ResponseHeader
    """The message ResponseHeader, with any tagged fields it does not know."""
    api: Api
    version: int
    """Version of ``message``; that of the request, but 0 where ApiVersions fell back to it (KIP-511)."""
    message: M

    def encode(self, *, framed: bool = True) -> bytes:
        """The bytes of header and message, after their length if ``framed``.

        Raises EncodeError with the field, and UnsupportedVersionError.
        """
        body = self.message.write(self.version)
        return _join(self.header.write(self.api.response_header_version(self.version)), body, framed)


def _differs(field: str, told: int, wanted: str) -> EncodeError:
    """The error for a header that is not of the request behind it: a broker would read that as something else."""
    return EncodeError(f"is {told}, but {wanted}", "RequestHeader", path=field)


def encode_request(
    message: Message, version: int, correlation_id: int, client_id: str | None = None, *, framed: bool = True
) -> bytes:
    """The bytes of a request: its header, and the message at ``version``.

    ``correlation_id`` (int32) comes back in the response; ``client_id`` may be null. With ``framed`` the length stands
    first (int32), as on a connection. Raises EncodeError with the field, and UnsupportedVersionError.
    """
    api = _api_of_side(message, "request")
    header: Any = class_of("RequestHeader")
    filled = header(
        request_api_key=int(api.key),
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    body = message.write(version)
    return _join(filled.write(api.request_header_version(version)), body, framed)


def encode_response(message: Message, version: int, correlation_id: int, *, framed: bool = True) -> bytes:
    """The bytes of a response: its header, and the message at ``version``, the version of the request.

    A broker that is asked for an unsupported version of ApiVersions answers at version 0 (KIP-511). Parameters and
    errors as for ``encode_request``.
    """
    api = _api_of_side(message, "response")
    header: Any = class_of("ResponseHeader")
    body = message.write(version)
    return _join(header(correlation_id=correlation_id).write(api.response_header_version(version)), body, framed)


def read_request_header(data: BytesLike) -> tuple[RequestHeader, int]:
    """The header of a request (without its length), and the offset of the body.

    Also for versions that the API does not have. Raises DecodeError, and UnknownApiError, which has the part of the
    header that does not depend on the API.
    """
    if type(data) is not bytes:
        data = as_bytes(data)
    reader: Any = class_of("RequestHeader")
    if len(data) < _essential.size:
        # Not even the part that all headers share: this raises, with the field that is missing.
        reader.read_from(data, 0, reader.LOWEST_SUPPORTED_VERSION)
    key, version = _peek(data)
    try:
        header_version = api_of(key).request_header_version(version)
    except UnknownApiError as error:
        raise UnknownApiError(str(error), _certain_header(data)) from None
    if header_version < reader.LOWEST_SUPPORTED_VERSION:  # version 0, of ControlledShutdown: nothing but these
        return _certain_header(data), _essential.size
    header, end = reader.read_from(data, 0, header_version)
    return header, end


def _certain_header(data: bytes) -> RequestHeader:
    key, version, correlation_id = _essential.unpack_from(data)
    header: Any = class_of("RequestHeader")
    filled: RequestHeader = header(
        request_api_key=key, request_api_version=version, correlation_id=correlation_id, client_id=None
    )
    return filled


def decode_request(data: BytesLike) -> Request:
    """The request in ``data``: header and body, without the length before them.

    Bytes behind the body are kept as ``Request.trailing``: brokers ignore them, and librdkafka sends one to three after
    a MetadataRequest for all topics.

    Raises UnknownApiError and UnsupportedRequestError (an UnsupportedVersionError), which keep the header, so that the
    request can be answered; and DecodeError, with offsets in ``data``.
    """
    if type(data) is not bytes:
        data = as_bytes(data)
    header, body = read_request_header(data)
    api, version = api_of(header.request_api_key), header.request_api_version
    if version not in api.valid_versions:
        raise _unsupported_request(header, api, version)
    message, end = class_of(api.request_name).read_from(data, body, version)
    return Request(header, api, version, message, data[end:])


def _unsupported_request(header: RequestHeader, api: Api, version: int) -> UnsupportedRequestError:
    if api.is_removed:
        return UnsupportedRequestError(f"{api.request_name} has no version {version}: the API was removed", api, header)
    return UnsupportedRequestError(str(unsupported(api.request_class, version)), api, header)


if TYPE_CHECKING:

    @overload
    def decode_response(data: BytesLike, api: type[M], version: int) -> Response[M]: ...
    @overload
    def decode_response(data: BytesLike, api: ApiKey | int | Api, version: int) -> Response[Message]: ...


def decode_response(data: BytesLike, api: type[Message] | ApiKey | int | Api, version: int) -> Response[Any]:
    """The response in ``data``: header and body, without the length before them.

    ``api`` and ``version`` are those of the request, which only the correlation id connects with its response; with
    the response class as ``api`` the result is typed. An ApiVersionsResponse with the error UNSUPPORTED_VERSION is
    read at version 0, whatever was asked for (KIP-511). Raises DecodeError with offsets in ``data``,
    UnsupportedVersionError and UnknownApiError.
    """
    if type(data) is not bytes:
        data = as_bytes(data)
    which = api_of(api)
    if isinstance(api, type) and which.response_name != api.NAME:
        what = f"is a request; the response is {which.response_name}" if which.response_name else "has no response"
        raise UnknownApiError(f"{api.NAME} {what}")
    message = which.response_class
    may_fall_back = which.response_name == "ApiVersionsResponse"
    if not may_fall_back and version not in which.valid_versions:
        raise unsupported(message, version)
    reader: Any = class_of("ResponseHeader")
    header, body = reader.read_from(data, 0, which.response_header_version(version))
    if may_fall_back and data.startswith(_UNSUPPORTED_VERSION, body):
        try:
            return Response(header, which, 0, read_rest(message, data, body, 0))
        except DecodeError:  # perhaps from a broker that does answer in the version it was asked for
            if version == 0:
                raise
    return Response(header, which, version, read_rest(message, data, body, version))


def _api_of_side(message: Message, side: str) -> Api:
    name = type(message).NAME
    api = api_of(type(message))
    if name != (api.request_name if side == "request" else api.response_name):
        raise EncodeError(f"this message is not a {side}", name)
    return api


def _join(header: bytes, body: bytes, framed: bool) -> bytes:
    return join_framed(header, body) if framed else header + body
