"""How messages travel: the table of APIs, headers, framing, version negotiation, error codes.

* ``api(...)`` and ``apis()`` give an ``Api``: its messages, versions, listeners and header versions.
* ``encode_request``, ``decode_request``, ``encode_response`` and ``decode_response`` put a message behind its header
  and take it apart again; ``read_request_header`` stops before the body. ``encode_request_chunks`` and
  ``encode_response_chunks`` give the bytes in pieces, for ``writelines``, and copy no long records.
* ``frame``, ``split_frames`` and ``FrameReader`` handle the four bytes of length before each of them on a connection.
* ``negotiate`` and ``BrokerVersions`` choose versions from an ApiVersionsResponse.
* ``ErrorCode`` names error codes; ``is_retriable`` says whether trying again may help.

Nothing here does I/O. The tables are those of the definitions this package was generated from.
"""

from __future__ import annotations

from .._core.versions import Versions
from ..enums import ApiKey, ErrorCode
from ._apis import Api, Restriction, api, apis, is_retriable
from ._codec import (
    Request,
    Response,
    UnsupportedRequestError,
    decode_request,
    decode_response,
    encode_request,
    encode_request_chunks,
    encode_response,
    encode_response_chunks,
    read_request_header,
)
from ._errors import FramingError, UnknownApiError
from ._framing import MAX_FRAME_SIZE, FrameReader, frame, split_frames
from ._negotiation import BrokerVersions, negotiate

__all__ = [
    "MAX_FRAME_SIZE",
    "Api",
    "ApiKey",
    "BrokerVersions",
    "ErrorCode",
    "FrameReader",
    "FramingError",
    "Request",
    "Response",
    "Restriction",
    "UnknownApiError",
    "UnsupportedRequestError",
    "Versions",
    "api",
    "apis",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_request_chunks",
    "encode_response",
    "encode_response_chunks",
    "frame",
    "is_retriable",
    "negotiate",
    "read_request_header",
    "split_frames",
]
