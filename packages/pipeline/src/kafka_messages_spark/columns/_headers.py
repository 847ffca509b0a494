"""Parse request and response headers in the workers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from kafka_messages import RequestHeader, ResponseHeader, arrow
from kafka_messages.errors import KafkaMessageError
from kafka_messages.protocol import Api, ErrorCode, UnknownApiError, api, read_request_header

from ._bytes import BinaryColumn, Bools, Ints, numbers

REQUEST, RESPONSE = "request", "response"
# Columns of a frame's header; header_size is the offset of the body in the frame. Of a response, only the
# correlation ID is known until it is paired with its request.
HEADER_FIELDS: tuple[pa.Field, ...] = (
    pa.field("api_key", pa.int16()),
    pa.field("api_name", pa.string()),
    pa.field("api_version", pa.int16()),
    pa.field("correlation_id", pa.int32()),
    pa.field("client_id", pa.string()),
    pa.field("header_size", pa.int32()),
    pa.field("problem", pa.string()),
)
_API_VERSIONS = 18
_CORRELATION_ID = 4
_ESSENTIAL, _CLIENT_ID = 8, 10
# Lowest header version with a client ID. Version 0, used only by ControlledShutdown, ends after the correlation ID.
_WITH_CLIENT_ID = 1


def headers_of(frames: pa.Array, is_request: Bools) -> list[pa.Array]:
    """Return the columns ``HEADER_FIELDS``; ``frames`` must not include length prefixes; nulls for null frames."""
    count = len(frames)
    data = BinaryColumn(frames)
    columns = _Columns(count)
    columns.responses(frames, data, ~is_request & np.asarray(frames.is_valid()))
    columns.requests(frames, data, is_request & np.asarray(frames.is_valid()))
    return columns.arrays()


class _Columns:
    def __init__(self, count: int) -> None:
        self._key = np.zeros(count, np.int64)
        self._version = np.zeros(count, np.int64)
        self._correlation = np.zeros(count, np.int64)
        self._size = np.zeros(count, np.int64)
        self._has_api = np.zeros(count, np.bool_)
        self._has_correlation = np.zeros(count, np.bool_)
        self._has_size = np.zeros(count, np.bool_)
        self._client: pa.Array = pa.nulls(count, pa.string())
        self._problem: dict[int, str] = {}

    def responses(self, frames: pa.Array, data: BinaryColumn, chosen: Bools) -> None:
        head, enough = data.leading(_CORRELATION_ID)
        good = chosen & enough
        self._correlation[good] = numbers(head, ">i4")[good]
        self._has_correlation |= good
        for row in np.flatnonzero(chosen & ~enough).tolist():
            self._problem[row] = _reason(frames[row].as_py(), _read_response_header)

    def requests(self, frames: pa.Array, data: BinaryColumn, chosen: Bools) -> None:
        head, enough = data.leading(_ESSENTIAL)
        good = chosen & enough
        self._key[good] = numbers(head[:, :2], ">i2")[good]
        self._version[good] = numbers(head[:, 2:4], ">i2")[good]
        self._correlation[good] = numbers(head[:, 4:], ">i4")[good]
        self._has_api |= good
        self._has_correlation |= good
        version = self._header_versions(good)
        self._size[version == 0] = _ESSENTIAL
        self._has_size |= version == 0
        self._decoded(frames, data, version)
        for row in np.flatnonzero(chosen & ~self._has_size).tolist():
            self._problem[row] = _reason(frames[row].as_py(), read_request_header)

    def _header_versions(self, chosen: Bools) -> Ints:
        found = np.full(len(chosen), -1, np.int64)
        for key in np.unique(self._key[chosen]).tolist():
            if (each := _api(key)) is None:
                continue
            first, header = (np.array(column) for column in zip(*each.request_headers, strict=True))
            rows = chosen & (self._key == key)
            place = np.searchsorted(first, self._version[rows], side="right") - 1
            found[rows] = header[np.maximum(place, 0)]
        return found

    def _decoded(self, frames: pa.Array, data: BinaryColumn, version: Ints) -> None:
        rows = np.flatnonzero(version >= _WITH_CLIENT_ID)
        if not len(rows):
            return
        versions = pa.array(version[rows])
        structs = arrow.decode(
            frames.take(pa.array(rows)), RequestHeader, versions, mode="PERMISSIVE", trailing="ignore"
        )
        fine = np.asarray(structs.is_valid())
        place = np.full(len(version), -1, np.int64)
        place[rows[fine]] = np.flatnonzero(fine)
        self._client = structs.field("client_id").take(pa.array(place, mask=place < 0))
        head, _ = data.leading(_CLIENT_ID)
        end = _CLIENT_ID + np.maximum(numbers(head[:, _ESSENTIAL:], ">i2"), 0)
        tags, _ = BinaryColumn(data.after(end)).leading(1)
        flexible = version >= 2
        self._size[rows] = (end + flexible)[rows]
        self._has_size[rows[fine]] = True
        for row in np.flatnonzero(flexible & self._has_size & (tags[:, 0] != 0)).tolist():
            self._size[row] = read_request_header(frames[row].as_py())[1]

    def arrays(self) -> list[pa.Array]:
        names = {key: each.name if (each := _api(key)) else None for key in np.unique(self._key).tolist()}
        name = [names[key] for key in self._key.tolist()] if self._has_api.any() else []
        problems = [self._problem.get(row) for row in range(len(self._key))] if self._problem else []
        count = len(self._key)
        return [
            pa.array(self._key, pa.int16(), mask=~self._has_api),
            pa.array(name, pa.string(), mask=~self._has_api) if name else pa.nulls(count, pa.string()),
            pa.array(self._version, pa.int16(), mask=~self._has_api),
            pa.array(self._correlation, pa.int32(), mask=~self._has_correlation),
            self._client,
            pa.array(self._size, pa.int32(), mask=~self._has_size),
            pa.array(problems, pa.string()) if problems else pa.nulls(count, pa.string()),
        ]


def response_headers(frames: pa.Array, key: pa.Array, version: pa.Array) -> tuple[pa.Array, pa.Array, list[str | None]]:
    """Return body offsets, body versions and header errors; ``key`` and ``version`` are those of the requests."""
    count = len(frames)
    known = np.asarray(frames.is_valid()) & np.asarray(key.is_valid())
    keys, versions = np.asarray(key.fill_null(-1), np.int64), np.asarray(version.fill_null(-1), np.int64)
    header = np.full(count, -1, np.int64)
    for number, at in {(keys[row], versions[row]) for row in np.flatnonzero(known).tolist()}:
        if (each := _api(int(number))) is not None:
            header[known & (keys == number) & (versions == at)] = each.response_header_version(int(at))
    data = BinaryColumn(frames)
    head, enough = data.leading(_CORRELATION_ID + 2)
    has_id = data.leading(_CORRELATION_ID)[1]
    size = np.where(header == 0, _CORRELATION_ID, _CORRELATION_ID + 1)
    tags = data.leading(_CORRELATION_ID + 1)
    fine = (header >= 0) & has_id & ((header == 0) | (tags[1] & (tags[0][:, _CORRELATION_ID] == 0)))
    problems: list[str | None] = [None] * count
    for row in np.flatnonzero((header >= 0) & ~fine).tolist():
        try:
            size[row] = ResponseHeader.read_from(frames[row].as_py(), 0, int(header[row]))[1]
            fine[row] = True
        except KafkaMessageError as error:
            problems[row] = str(error)
    # A broker responds at version 0 to an ApiVersions request of an unsupported version (KIP-511).
    code = numbers(head[:, _CORRELATION_ID:], ">i2")
    fallback = enough & (keys == _API_VERSIONS) & (code == ErrorCode.UNSUPPORTED_VERSION)
    found = pa.array(np.where(fallback, 0, versions), pa.int16(), mask=~fine)
    return pa.array(size, pa.int32(), mask=~fine), found, problems


def _api(key: int) -> Api | None:
    try:
        return api(key)
    except UnknownApiError:
        return None


def _read_response_header(frame: bytes) -> None:
    ResponseHeader.read_from(frame, 0, ResponseHeader.LOWEST_SUPPORTED_VERSION)


def _reason(frame: bytes, read: Callable[[bytes], object]) -> str:
    try:
        read(frame)
    except KafkaMessageError as error:
        return str(error)
    return "the column codec rejects bytes that the object codec reads; please report this"
