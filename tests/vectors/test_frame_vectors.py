"""Frames and version negotiation by Kafka's classes, read and written with ``kafka_messages.protocol``."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kafka_messages import KafkaMessageError, RequestHeader, ResponseHeader
from kafka_messages.json import from_json, to_json
from kafka_messages.protocol import (
    DecodedRequest,
    DecodedResponse,
    UnsupportedRequestError,
    api,
    apis,
    decode_request,
    decode_response,
    encode_response,
    split_frames,
)

import kafka_protocol_vectors as package
from kafka_protocol_vectors import FrameVector
from tests.support import vectors

FRAMES = list(package.frames())
NEGOTIATIONS = list(package.negotiation())


def decoded(vector: FrameVector) -> Any:
    (payload,) = split_frames(vector.data)
    if vector.kind == "response":
        return decode_response(payload, api(vectors.message_class(vector.message)), vector.version)
    return decode_request(payload)


def differences(vector: FrameVector, data: bytes) -> list[str]:
    """Return the names of what differs from the vector in ``data`` and its decoding."""
    try:
        found = decoded(FrameVector(**{name: getattr(vector, name) for name in vector.__slots__} | {"data": data}))
    except KafkaMessageError as error:
        return [type(error).__name__]
    header, body = (
        vectors.plain(to_json(message, version, unknown_tagged_fields=True))
        for message, version in ((found.header, vector.header_version), (found.message, vector.version))
    )
    pairs = {
        "api": (found.api.key, vector.api),
        "version": (found.version, vector.version),
        "header": (header, vectors.plain(vector.header)),
        "body": (body, vectors.plain(vector.body)),
        "bytes": (found.encode(), vector.data),
    }
    return [name for name, (ours, kafkas) in pairs.items() if ours != kafkas]


def test_frames_decode_to_their_json_and_encode_to_the_same_bytes() -> None:
    assert [str(vector) for vector in FRAMES if differences(vector, vector.data)] == []


def test_frames_encode_from_their_json() -> None:
    for vector in FRAMES:
        message: Any = from_json(vectors.message_class(vector.message), vector.body, vector.version)
        header: Any
        frame: DecodedRequest | DecodedResponse[Any]
        if vector.kind == "request":
            header = from_json(RequestHeader, vector.header, vector.header_version)
            frame = DecodedRequest(header, api(vector.api), vector.version, message)
        else:
            header = from_json(ResponseHeader, vector.header, vector.header_version)
            frame = DecodedResponse(header, api(vector.api), vector.version, message)
        assert frame.encode() == vector.data, vector


def test_a_damaged_frame_is_a_difference() -> None:
    (vector,) = (
        each for each in package.frames("MetadataRequest") if (each.version, each.sample) == (12, "unknown_tags")
    )
    found = [differences(vector, damaged(vector.data, at)) for at in range(4, len(vector.data))]
    assert all(found)
    assert {name for names in found for name in names} >= {"header", "body", "bytes", "DecodeError"}


def damaged(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_every_version_of_every_api_has_frames() -> None:
    found = {(vector.message, vector.version) for vector in FRAMES if vector.sample == "full"}
    wanted = {
        (name, version)
        for each in apis()
        for name in (each.request_name, each.response_name)
        for version in vectors.versions_of(vectors.message_class(name))
    }
    assert found == wanted
    assert len({str(vector) for vector in FRAMES}) == len(FRAMES)


def test_header_versions_are_those_of_kafkas_table() -> None:
    for vector in FRAMES:
        if vector.release == package.RELEASE:
            table = next(line for line in package.apis() if line["id"] == vector.api)
            assert table[f"{vector.kind}HeaderVersions"][str(vector.version)] == vector.header_version, vector
    assert {vector.header_version for vector in FRAMES if vector.kind == "request"} == {0, 1, 2}
    assert {vector.header_version for vector in FRAMES if vector.message == "ApiVersionsResponse"} == {0}


def test_unknown_tags_are_in_every_flexible_version() -> None:
    for vector in FRAMES:
        tags = vector.header.get("_unknownTaggedFields"), vector.body.get("_unknownTaggedFields")
        if vector.sample != "unknown_tags":
            assert tags == (None, None), vector
        elif vector.message == "ApiVersionsResponse":
            assert (tags[0], len(tags[1] or ())) == (None, 2)
        else:
            assert [len(each or ()) for each in tags] == [2, 2], vector
    flexible = {
        (name, version)
        for each in apis()
        for name in (each.request_name, each.response_name)
        for version in vectors.versions_of(vectors.message_class(name))
        if version >= vectors.message_class(name).LOWEST_FLEXIBLE_VERSION
    }
    assert {(vector.message, vector.version) for vector in FRAMES if vector.sample == "unknown_tags"} == flexible


def test_negotiations_decode_to_their_json() -> None:
    for each in NEGOTIATIONS:
        (asked,), (answered,) = split_frames(each.request), split_frames(each.response)
        request: Any
        response: Any
        header: Any
        try:
            request = decode_request(asked)
            body = vectors.plain(to_json(request.message, each.version))
            header, again = request.header, request.encode()
        except UnsupportedRequestError as error:
            header, body, again = error.header, None, each.request
        assert (vectors.plain(to_json(header, each.request_header_version)), body, again) == (
            each.request_header,
            each.request_body,
            each.request,
        ), each
        response = decode_response(answered, "ApiVersions", each.version)
        assert response.version == each.response_version
        assert vectors.plain(to_json(response.header, each.response_header_version)) == each.response_header
        assert vectors.plain(to_json(response.message, response.version)) == each.response_body
        assert response.encode() == each.response
        assert encode_response(response.message, each.response_version, 7) == each.response


def test_unsupported_versions_get_version_0_with_one_key() -> None:
    unsupported = [each for each in NEGOTIATIONS if each.request_body is None]
    assert {each.version for each in unsupported} == {-(1 << 15), -1, 6, 99, (1 << 15) - 1}
    for each in unsupported:
        supported = {"apiKey": 18, "minVersion": 0, "maxVersion": 5}
        assert each.response_body == {"errorCode": 35, "apiKeys": [supported]}
        assert (each.response_version, each.response_header_version) == (0, 0)
        # Length, correlation id, error 35, an array count of four bytes, and one key.
        assert each.response.hex() == "00000010" + "00000007" + "0023" + "00000001" + "001200000005"


def test_supported_versions_get_their_own_version() -> None:
    supported = [each for each in NEGOTIATIONS if each.request_body is not None]
    assert {each.version for each in supported} == {*range(6)}
    assert {each.response_version - each.version for each in supported} == {0}
    assert {each.response_header_version for each in supported} == {0}
    assert Counter(each.response_body["errorCode"] for each in supported) == {0: 7, 42: 7, 129: 2}


def test_a_damaged_response_is_another_response() -> None:
    (vector,) = (each for each in NEGOTIATIONS if each.id == "version-4")
    (payload,) = split_frames(damaged(vector.response, 9))  # in the error code
    assert to_json(decode_response(payload, "ApiVersions", 4).message, 4) != vector.response_body
