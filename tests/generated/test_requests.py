"""Requests with headers, compared with bytes of Kafka's own classes."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ControlledShutdownRequest,
    DecodeError,
    EncodeError,
    HeartbeatRequest,
    KafkaMessageError,
    MetadataRequest,
    MetadataResponse,
    PartitionRecord,
    RawTaggedField,
    RequestHeader,
    UnsupportedVersionError,
)
from kafka_messages.messages.api_versions_response import ApiVersion, ApiVersionCollection
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.protocol import (
    Api,
    ApiKey,
    DecodedRequest,
    ErrorCode,
    UnknownApiError,
    UnsupportedRequestError,
    api,
    apis,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    frame,
    read_request_header,
)

from tests.support.kafka_protocol import (
    API_VERSIONS_REQUEST_3,
    KNOWN_KEYS,
    METADATA_REQUEST_1,
    METADATA_REQUEST_12,
    METADATA_REQUEST_12_TAGS,
    METADATA_REQUEST_13_TRAILING,
    UNSUPPORTED_VERSION_BODY,
)

WRONG: Any = None
SURROGATE = "cannot be encoded as UTF-8: surrogates not allowed at character 0"


def metadata_request() -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name="orders")], allow_auto_topic_creation=True)


def test_encode_request_gives_kafkas_bytes() -> None:
    assert encode_request(metadata_request(), 12, 77, "cli", framed=False).hex() == METADATA_REQUEST_12
    assert encode_request(metadata_request(), 1, 78, "cli", framed=False).hex() == METADATA_REQUEST_1
    request = ApiVersionsRequest(client_software_name="lib", client_software_version="1")
    assert encode_request(request, 3, 79, "cli", framed=False).hex() == API_VERSIONS_REQUEST_3


def test_requests_are_framed_by_default() -> None:
    assert encode_request(metadata_request(), 12, 77, "cli").hex() == "0000002a" + METADATA_REQUEST_12


def test_decode_request_reads_kafkas_bytes() -> None:
    request = decode_request(bytes.fromhex(METADATA_REQUEST_12))
    assert request == DecodedRequest(
        RequestHeader(request_api_key=3, request_api_version=12, correlation_id=77, client_id="cli"),
        api(ApiKey.METADATA),
        12,
        metadata_request(),
    )
    old = decode_request(bytes.fromhex(METADATA_REQUEST_1))
    assert (old.version, old.header.correlation_id, old.message) == (1, 78, metadata_request())


def test_trailing_bytes_of_a_request_are_kept() -> None:
    """librdkafka sends trailing bytes, which brokers ignore."""
    data = bytes.fromhex(METADATA_REQUEST_13_TRAILING)
    request = decode_request(data)
    wanted = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    assert (request.version, request.header.client_id, request.message) == (13, "rdkafka", wanted)
    assert request.trailing.hex() == "010000"
    assert request.encode(framed=False) == data
    assert request.encode() == frame(data)
    assert decode_request(data[:-3]) == dataclasses.replace(request, trailing=b"")
    assert decode_request(data[:-3]).trailing == b""


@pytest.mark.parametrize("each", [each for each in apis() if not each.is_removed], ids=str)
def test_trailing_bytes_are_kept_in_requests_and_rejected_in_responses(each: Api) -> None:
    for version in each.valid_versions:
        data = encode_request(each.request_class(), version, 7, "c", framed=False)
        request = decode_request(data + b"\1\0\0")
        assert (request.message, request.trailing) == (each.request_class(), b"\1\0\0")
        assert request.encode(framed=False) == data + b"\1\0\0"
        answer = encode_response(each.response_class(), version, 7, framed=False)
        with pytest.raises(DecodeError) as caught:
            decode_response(answer + b"\1\0\0", each.key, version)
        end = f"3 byte(s) left after the message, at offset {len(answer)}"
        assert str(caught.value) == f"{each.response_name} v{version}: {end}"


def test_null_client_id_and_unknown_tags_of_the_header_are_kept() -> None:
    data = bytes.fromhex(METADATA_REQUEST_12_TAGS)
    request = decode_request(data)
    assert request.header.client_id is None
    assert request.header.unknown_tagged_fields == (RawTaggedField(5, b"\1\2"),)
    assert request.encode(framed=False) == data
    assert request.encode() == frame(data)


def test_bytearray_and_memoryview_are_accepted() -> None:
    data = bytes.fromhex(METADATA_REQUEST_12)
    assert decode_request(bytearray(data)) == decode_request(memoryview(data)) == decode_request(data)


@pytest.mark.parametrize("each", [each for each in apis() if not each.is_removed], ids=str)
def test_every_version_of_every_api_round_trips(each: Api) -> None:
    for version in each.valid_versions:
        request = each.request_class()
        sent = decode_request(encode_request(request, version, 7, "c", framed=False))
        assert (sent.api, sent.version, sent.message) == (each, version, request)
        response = each.response_class()
        got = decode_response(encode_response(response, version, 7, framed=False), each.key, version)
        assert (got.api, got.version, got.message, got.header.correlation_id) == (each, version, response, 7)


def test_unsupported_version_error_has_the_header() -> None:
    with pytest.raises(UnsupportedRequestError) as caught:
        decode_request(bytes.fromhex("0003001400000009" + "0003636c6900" + "ffffffff"))
    error = caught.value
    assert str(error) == "MetadataRequest has no version 20, only versions 0 to 13"
    assert isinstance(error, UnsupportedVersionError)
    assert error.api is api(ApiKey.METADATA)
    assert error.header == RequestHeader(request_api_key=3, request_api_version=20, correlation_id=9, client_id="cli")


def test_broker_can_answer_an_unsupported_api_versions_request() -> None:
    """KIP-511: the broker responds at version 0 with its range."""
    sent = bytes.fromhex("0012006300000009" + "0003636c6900" + "ffffffff")
    with pytest.raises(UnsupportedRequestError) as caught:
        decode_request(sent)
    error = caught.value
    assert str(error) == "ApiVersionsRequest has no version 99, only versions 0 to 5"
    valid = error.api.valid_versions
    answer = ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=ApiVersionCollection([ApiVersion(api_key=18, min_version=valid.lowest, max_version=valid.highest)]),
    )
    payload = encode_response(answer, 0, error.header.correlation_id, framed=False)
    assert payload.hex() == "00000009" + UNSUPPORTED_VERSION_BODY
    response = decode_response(payload, ApiKey.API_VERSIONS, 99)
    assert (response.version, response.header.correlation_id, response.message) == (0, 9, answer)


def test_unknown_api_error_has_a_partial_header() -> None:
    with pytest.raises(UnknownApiError) as caught:
        decode_request(bytes.fromhex("03e7000200000009" + "0003636c69"))
    assert str(caught.value) == f"unknown API key 999; {KNOWN_KEYS}"
    assert caught.value.header == RequestHeader(
        request_api_key=999, request_api_version=2, correlation_id=9, client_id=None
    )


def test_unsupported_version_of_removed_api_keeps_the_header() -> None:
    with pytest.raises(UnsupportedRequestError) as caught:
        decode_request(bytes.fromhex("0004000800000009000163" + "00"))
    assert str(caught.value) == "LeaderAndIsrRequest has no version 8, only versions 0 to 7"
    assert caught.value.header.correlation_id == 9


def test_header_without_client_id_round_trips() -> None:
    request = decode_request(bytes.fromhex("0007000000000009" + "0000000c"))
    assert (request.header.correlation_id, request.header.client_id) == (9, "")
    assert request.message == ControlledShutdownRequest(broker_id=12)
    assert request.encode(framed=False) == bytes.fromhex("0007000000000009" + "0000000c")


def test_read_request_header_returns_header_and_offset() -> None:
    data = bytes.fromhex(METADATA_REQUEST_12)
    header, body = read_request_header(data)
    assert header == RequestHeader(request_api_key=3, request_api_version=12, correlation_id=77, client_id="cli")
    assert MetadataRequest.read(data[body:], 12) == metadata_request()
    header, body = read_request_header(bytes.fromhex("0003001400000009" + "ffff00" + "aa"))
    assert (header.request_api_version, header.client_id, body) == (20, None, 11)


def test_unreadable_header_of_an_unknown_version_raises_unsupported_request_error() -> None:
    data = bytes.fromhex("0003001400000009" + "ffff0a")
    for read in (read_request_header, decode_request):
        with pytest.raises(UnsupportedRequestError) as caught:
            read(data)
        assert str(caught.value) == "MetadataRequest has no version 20, only versions 0 to 13"
        assert caught.value.header == RequestHeader(
            request_api_key=3, request_api_version=20, correlation_id=9, client_id=None
        )
        assert isinstance(caught.value.__cause__, DecodeError)


@pytest.mark.parametrize(
    ("data", "text", "offset"),
    [
        ("", "RequestHeader v0: request_api_key: INT16: 2 bytes needed at offset 0, 0 left", 0),
        ("000300", "RequestHeader v0: request_api_version: INT16: 2 bytes needed at offset 2, 1 left", 2),
        ("0003000c0000", "RequestHeader v0: correlation_id: INT32: 4 bytes needed at offset 4, 2 left", 4),
        ("03e70000", "RequestHeader v0: correlation_id: INT32: 4 bytes needed at offset 4, 0 left", 4),
        ("0003000c00000001", "RequestHeader v2: client_id: INT16: 2 bytes needed at offset 8, 0 left", 8),
        (
            "0003000c00000001ffff",
            "RequestHeader v2: _tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset 10, 0 left",
            10,
        ),
        (
            METADATA_REQUEST_12[:-6],
            "MetadataRequest v12: allow_auto_topic_creation: BOOLEAN: 1 byte needed at offset 39, 0 left",
            39,
        ),
    ],
)
def test_truncated_requests_raise_decode_error(data: str, text: str, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_request(bytes.fromhex(data))
    assert (str(caught.value), caught.value.offset) == (text, offset)


@given(st.binary(max_size=64))
def test_random_bytes_give_a_request_or_kafka_message_error(data: bytes) -> None:
    try:
        request = decode_request(data)
    except KafkaMessageError:
        return
    written = request.encode(framed=False)  # bytes may differ: tags are sorted
    assert decode_request(written).encode(framed=False) == written


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((MetadataResponse(), 12, 1), EncodeError, "MetadataResponse: this message is not a request"),
        (
            (PartitionRecord(), 0, 1),
            UnknownApiError,
            "PartitionRecord is neither the request nor the response of an API",
        ),
        (
            (MetadataRequest(), 14, 1),
            UnsupportedVersionError,
            "MetadataRequest has no version 14, only versions 0 to 13",
        ),
        (
            (MetadataRequest(), 12, 2**31),
            EncodeError,
            "RequestHeader v2: correlation_id: 2147483648 is out of range for INT32, -2147483648 to 2147483647",
        ),
    ],
)
def test_invalid_requests_raise_on_encode(arguments: tuple[Any, int, int], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        encode_request(*arguments)
    assert str(caught.value) == text


def test_errors_with_a_header_can_be_pickled() -> None:
    for data in ("0003001400000009ffff00", "03e7000200000009"):
        with pytest.raises(KafkaMessageError) as caught:
            decode_request(bytes.fromhex(data))
        error: Any = pickle.loads(pickle.dumps(caught.value))
        assert (type(error), str(error)) == (type(caught.value), str(caught.value))
        assert error.header.correlation_id == 9


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 8}, "RequestHeader: request_api_version: is 13, but the request has 8"),
        (
            {"message": HeartbeatRequest()},
            "HeartbeatRequest: is not the request class of the API Metadata; pass MetadataRequest",
        ),
        (
            {"header": RequestHeader(request_api_key=12, request_api_version=13)},
            "RequestHeader: request_api_key: is 12, but the API Metadata has 3",
        ),
    ],
)
def test_inconsistent_requests_raise_encode_error(changes: dict[str, Any], reason: str) -> None:
    request = decode_request(encode_request(MetadataRequest(topics=[]), 13, 1, "c", framed=False))
    with pytest.raises(EncodeError) as caught:
        dataclasses.replace(request, **changes).encode()
    assert str(caught.value) == reason


def test_trailing_of_wrong_type_is_rejected() -> None:
    request = decode_request(encode_request(MetadataRequest(topics=[]), 13, 1, "c", framed=False))
    trailing: Any
    for trailing, name in (("x", "str"), ("", "str"), (None, "NoneType"), (0, "int")):
        with pytest.raises(TypeError, match=rf"^trailing must be bytes-like, not {name}$"):
            dataclasses.replace(request, trailing=trailing).encode()


def test_repeated_requests_are_encoded_with_their_own_client_id_and_number() -> None:
    for number, client_id in enumerate(["a", "a", "b", None, None, "", "".join(("a", "b"))] * 2, start=-2):
        for version in (3, 4):  # without and with tagged fields in the header
            sent = encode_request(HeartbeatRequest(member_id="m"), version, number, client_id)
            request = decode_request(sent[4:])
            assert (request.header.client_id, request.header.correlation_id) == (client_id, number)
            assert request.encode() == sent == frame(sent[4:])
            assert encode_request(HeartbeatRequest(member_id="m"), version, number, client_id, framed=False) == sent[4:]


def test_long_and_short_messages_of_a_class_are_encoded_alike() -> None:
    for size in (1, 20_000, 2, 20_000, 3):
        request = HeartbeatRequest(member_id="m" * size)
        sent = encode_request(request, 4, 7, "c")
        assert sent == frame(encode_request(request, 4, 7, "c", framed=False))
        assert decode_request(sent[4:]).encode() == sent


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        (
            {"number": 2**31},
            EncodeError,
            "RequestHeader v2: correlation_id: 2147483648 is out of range for INT32, -2147483648 to 2147483647",
        ),
        (
            {"number": "7"},
            EncodeError,
            "RequestHeader v2: correlation_id: expected int for INT32, got str of 1 character",
        ),
        ({"client_id": 5}, EncodeError, "RequestHeader v2: client_id: expected str, got int (5)"),
        ({"client_id": "\udce9"}, EncodeError, f"RequestHeader v2: client_id: {SURROGATE}"),
        ({"version": True}, UnsupportedVersionError, "HeartbeatRequest has no version True, only versions 0 to 4"),
        ({"version": 4.0}, UnsupportedVersionError, "HeartbeatRequest has no version 4.0, only versions 0 to 4"),
        (
            {"message": HeartbeatRequest(group_id=WRONG)},
            EncodeError,
            "HeartbeatRequest v4: group_id: must not be None in this version",
        ),
    ],
)
def test_errors_are_the_same_after_a_valid_request(changes: dict[str, Any], error: type[Exception], text: str) -> None:
    valid: dict[str, Any] = {"message": HeartbeatRequest(), "version": 4, "number": 7, "client_id": "c"}
    for _ in range(2):
        with pytest.raises(error) as caught:
            encode_request(*(valid | changes).values())
        assert str(caught.value) == text
        for version in range(5):
            encode_request(*(valid | {"version": version}).values())


def test_decoded_request_keeps_its_fields_alive_and_frozen() -> None:
    data = encode_request(HeartbeatRequest(), 4, 7, "c", framed=False)
    first, again = decode_request(data), decode_request(data)
    assert first == again == DecodedRequest(first.header, first.api, 4, HeartbeatRequest())
    assert (type(again), repr(again), hash(api(12))) == (DecodedRequest, repr(first), hash(again.api))
    assert pickle.loads(pickle.dumps(again)) == again
    with pytest.raises(AttributeError, match=r"^cannot assign to field 'version'$"):
        again.version = 3  # type: ignore[misc]
