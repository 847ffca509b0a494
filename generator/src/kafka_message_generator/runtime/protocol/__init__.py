"""APIs, headers, framing, version negotiation and error codes, without I/O."""

from __future__ import annotations

from .._core.versions import Versions
from ..enums import ApiKey, ErrorCode
from ._apis import Api, Restriction, api, apis, is_retriable
from ._errors import FramingError, UnknownApiError
from ._foreign import foreign_protocol
from ._framing import MAX_FRAME_SIZE, FrameReader, frame, split_frames
from ._negotiation import BrokerVersions, negotiate
from ._requests import (
    DecodedRequest,
    UnsupportedRequestError,
    decode_request,
    encode_request,
    encode_request_chunks,
    read_request_header,
)
from ._responses import DecodedResponse, decode_response, encode_response, encode_response_chunks

__all__ = [
    "MAX_FRAME_SIZE",
    "Api",
    "ApiKey",
    "BrokerVersions",
    "DecodedRequest",
    "DecodedResponse",
    "ErrorCode",
    "FrameReader",
    "FramingError",
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
    "foreign_protocol",
    "frame",
    "is_retriable",
    "negotiate",
    "read_request_header",
    "split_frames",
]
