"""Responses with headers, compared with bytes of Kafka's own classes."""

from __future__ import annotations

from typing import Any, assert_type

import pytest
from kafka_messages import (
    ApiVersionsResponse,
    DecodeError,
    EncodeError,
    HeartbeatRequest,
    HeartbeatResponse,
    KafkaMessageError,
    MetadataRequest,
    MetadataResponse,
    RawTaggedField,
    UnsupportedVersionError,
)
from kafka_messages.messages.api_versions_response import ApiVersion, ApiVersionCollection
from kafka_messages.protocol import (
    ApiKey,
    DecodedResponse,
    ErrorCode,
    UnknownApiError,
    api,
    decode_response,
    encode_response,
    frame,
    negotiate,
    split_frames,
)

from tests.support.kafka_protocol import (
    API_VERSIONS_RESPONSE_4,
    KNOWN_KEYS,
    METADATA_RESPONSE_1,
    METADATA_RESPONSE_12,
    UNSUPPORTED_VERSION_BODY,
)


def test_encode_response_gives_kafkas_bytes() -> None:
    new = MetadataResponse(cluster_id="c", controller_id=1)
    assert encode_response(new, 12, 77).hex() == METADATA_RESPONSE_12
    assert encode_response(MetadataResponse(controller_id=1), 1, 78).hex() == METADATA_RESPONSE_1
    keys = ApiVersionCollection([ApiVersion(api_key=3, min_version=0, max_version=12)])
    assert encode_response(ApiVersionsResponse(api_keys=keys), 4, 79).hex() == API_VERSIONS_RESPONSE_4


def test_decode_response_reads_kafkas_bytes() -> None:
    (payload,) = split_frames(bytes.fromhex(METADATA_RESPONSE_12))
    response = decode_response(payload, ApiKey.METADATA, 12)
    assert (response.header.correlation_id, response.api, response.version) == (77, api(3), 12)
    assert response.message == MetadataResponse(cluster_id="c", controller_id=1)
    assert response.encode().hex() == METADATA_RESPONSE_12


def test_decode_response_infers_the_type_from_the_given_class() -> None:
    (payload,) = split_frames(bytes.fromhex(METADATA_RESPONSE_12))
    response = decode_response(payload, MetadataResponse, 12)
    assert_type(response, DecodedResponse[MetadataResponse])
    assert response.message.cluster_id == "c"
    assert response == decode_response(payload, 3, 12) == decode_response(payload, "Metadata", 12)
    answer = decode_response(payload, MetadataRequest, 12)
    assert_type(answer, DecodedResponse[MetadataResponse])
    assert answer == response


def test_unknown_tags_of_the_response_header_are_kept() -> None:
    body = MetadataResponse().write(12)
    data = bytes.fromhex("0000004d" + "0105020102") + body
    response = decode_response(data, ApiKey.METADATA, 12)
    assert response.header.unknown_tagged_fields == (RawTaggedField(5, b"\1\2"),)
    assert response.encode(framed=False) == data


@pytest.mark.parametrize("version", range(6))
def test_api_versions_falls_back_to_version_0(version: int) -> None:
    data = bytes.fromhex("0000004f" + UNSUPPORTED_VERSION_BODY)
    response = decode_response(data, ApiVersionsResponse, version)
    assert (response.version, response.message.error_code) == (0, ErrorCode.UNSUPPORTED_VERSION)
    assert negotiate(response.message, ApiKey.API_VERSIONS) == 5
    assert response.encode(framed=False) == data


@pytest.mark.parametrize("version", range(6))
def test_api_versions_error_in_the_requested_version_is_decoded(version: int) -> None:
    keys = ApiVersionCollection([ApiVersion(api_key=18, min_version=0, max_version=4)])
    message = ApiVersionsResponse(error_code=35, api_keys=keys)
    response = decode_response(encode_response(message, version, 1, framed=False), ApiVersionsResponse, version)
    assert (response.version, response.message) == (version, message)


@pytest.mark.parametrize(
    ("data", "version", "text"),
    [
        (
            "00000001" + "0023" + "00000002" + "0012",
            0,
            "ApiVersionsResponse v0: api_keys[0].min_version: INT16: 2 bytes needed at offset 12, 0 left",
        ),
        (
            "00000001" + "0023" + "ff",
            3,
            "ApiVersionsResponse v3: api_keys: UNSIGNED_VARINT: 1 byte needed at offset 7, 0 left",
        ),
        ("00000001" + "0023" + "ff", 99, "ApiVersionsResponse has no version 99, only versions 0 to 5"),
        ("00000001" + "0000" + "00000000", 99, "ApiVersionsResponse has no version 99, only versions 0 to 5"),
    ],
)
def test_invalid_api_versions_responses_raise(data: str, version: int, text: str) -> None:
    with pytest.raises(KafkaMessageError) as caught:
        decode_response(bytes.fromhex(data), ApiKey.API_VERSIONS, version)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("data", "which", "version", "error", "text"),
    [
        ("0000", 3, 12, DecodeError, "ResponseHeader v1: correlation_id: INT32: 4 bytes needed at offset 0, 2 left"),
        (
            "00000001",
            3,
            12,
            DecodeError,
            "ResponseHeader v1: _tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset 4, 0 left",
        ),
        (
            "0000000100",
            3,
            12,
            DecodeError,
            "MetadataResponse v12: throttle_time_ms: INT32: 4 bytes needed at offset 5, 0 left",
        ),
        (
            METADATA_RESPONSE_12[8:] + "00",
            3,
            12,
            DecodeError,
            "MetadataResponse v12: 1 byte(s) left after the message, at offset 18",
        ),
        ("0000000100", 3, 14, UnsupportedVersionError, "MetadataResponse has no version 14, only versions 0 to 13"),
        ("0000000100", 999, 0, UnknownApiError, f"unknown API key 999; {KNOWN_KEYS}"),
        ("0000000100", 4, 8, UnsupportedVersionError, "LeaderAndIsrResponse has no version 8, only versions 0 to 7"),
    ],
)
def test_invalid_responses_raise(data: str, which: Any, version: int, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        decode_response(bytes.fromhex(data), which, version)
    assert str(caught.value) == text


def test_invalid_versions_are_rejected_after_valid_ones() -> None:
    data = encode_response(HeartbeatResponse(), 1, 7, framed=False)
    which: Any
    for which in (12, api(12), HeartbeatResponse, HeartbeatRequest, "Heartbeat"):
        for _ in range(2):
            assert decode_response(data, which, 1).header.correlation_id == 7
            for version in (True, 1.0):
                with pytest.raises(UnsupportedVersionError) as caught:
                    decode_response(data, which, version)  # type: ignore[arg-type]
                assert str(caught.value) == f"HeartbeatResponse has no version {version}, only versions 0 to 4"
    for invalid in (True, 1.0):
        with pytest.raises(UnsupportedVersionError) as caught:
            encode_response(HeartbeatResponse(), invalid, 7)  # type: ignore[arg-type]
        assert str(caught.value) == f"HeartbeatResponse has no version {invalid}, only versions 0 to 4"


@pytest.mark.parametrize("version", [3, 4])
def test_repeated_responses_are_encoded_with_their_own_number(version: int) -> None:
    for number in (7, -2, 7, 2**31 - 1):
        sent = encode_response(HeartbeatResponse(error_code=1), version, number)
        response = decode_response(sent[4:], 12, version)
        assert (response.header.correlation_id, response.message.error_code) == (number, 1)  # type: ignore[attr-defined]
        assert response.encode() == sent == frame(response.encode(framed=False))
    with pytest.raises(EncodeError) as caught:
        encode_response(HeartbeatResponse(), version, 2**31)
    what = "correlation_id: 2147483648 is out of range for INT32, -2147483648 to 2147483647"
    assert str(caught.value) == f"ResponseHeader v{version - 3}: {what}"


def test_request_is_rejected_by_encode_response() -> None:
    with pytest.raises(EncodeError) as caught:
        encode_response(MetadataRequest(), 12, 1)  # type: ignore[arg-type]  # what is refused
    assert str(caught.value) == "MetadataRequest: this message is not a response"
