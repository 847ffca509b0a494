"""The table of APIs, headers, framing, version negotiation and error codes, against what Kafka 4.4.0 itself says.

Bytes marked "Kafka 4.4.0" were printed by the named class of the released jars.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, assert_type

import kafka_messages
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
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
from kafka_messages.messages.api_versions_response import (
    ApiVersion,
    ApiVersionCollection,
    FinalizedFeatureKey,
    FinalizedFeatureKeyCollection,
    SupportedFeatureKey,
    SupportedFeatureKeyCollection,
)
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.protocol import (
    Api,
    ApiKey,
    BrokerVersions,
    ErrorCode,
    FrameReader,
    FramingError,
    Request,
    Response,
    UnknownApiError,
    UnsupportedRequestError,
    Versions,
    api,
    apis,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    frame,
    is_retriable,
    negotiate,
    read_request_header,
    split_frames,
)

ROOT = Path(__file__).parents[2]

# Kafka 4.4.0, AbstractRequest.serializeWithHeader, client id "cli", topic "orders".
METADATA_REQUEST_12 = "0003000c0000004d0003636c69000200000000000000000000000000000000076f726465727300010000"
# What librdkafka 2.16.0 sends for the metadata of all topics: three bytes more than the request has.
METADATA_REQUEST_13_TRAILING = "0003000d00000004000772646b61666b610000000000010000"
METADATA_REQUEST_1 = "000300010000004e0003636c690000000100066f7264657273"
API_VERSIONS_REQUEST_3 = "001200030000004f0003636c6900046c6962023100"
# The same with a null client id, and a tagged field 5 in a RequestHeaderData that Kafka does not know.
METADATA_REQUEST_12_TAGS = "0003000c00000050ffff01050201020200000000000000000000000000000000076f726465727300010000"
# Kafka 4.4.0, AbstractResponse.toSend, which writes the length too: Metadata v12 and v1, ApiVersions v4.
METADATA_RESPONSE_12 = "000000120000004d0000000000010263000000010100"
METADATA_RESPONSE_1 = "000000100000004e000000000000000100000000"
API_VERSIONS_RESPONSE_4 = "000000130000004f00000200030000000c000000000000"
# Kafka 4.4.0, ApiVersionsRequest.getErrorResponse(UnsupportedVersionException) at version 0, without a header.
UNSUPPORTED_VERSION_BODY = "002300000001001200000005"
# Kafka 4.4.0, MessageUtil.toByteBufferAccessor of an ApiVersionsResponseData with features, version 4.
FEATURES_BODY = (
    "00000200030000000c000000000103001702116d657461646174612e76657273696f6e0007001b0001080000000000000009"
    "021702116d657461646174612e76657273696f6e0019001900"
)


@cache
def oracle() -> list[dict[str, Any]]:
    """Kafka's own table of APIs."""
    (path,) = ROOT.glob("tests/vectors/kafka-*/apis.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def kafka_errors() -> list[dict[str, Any]]:
    """Kafka's own error codes."""
    errors: list[dict[str, Any]] = json.loads((ROOT / "specs/kafka/errors.json").read_text(encoding="utf-8"))
    return errors


def kafka_api(name: str) -> dict[str, Any]:
    """One row of Kafka's table."""
    return next(row for row in oracle() if row["name"] == name)


# --- APIs


def test_api_keys_are_kafkas() -> None:
    """The enum is printed from the definitions; names and numbers must be those that Kafka's ApiKeys has."""
    assert {key.name: int(key) for key in ApiKey} == {row["name"]: row["id"] for row in oracle()}


def test_apis_come_by_ascending_key_with_removed_ones() -> None:
    """Callers print and compare the whole table; an API that is left out would look like an unknown key."""
    assert [each.key for each in apis()] == [row["id"] for row in oracle()]


@pytest.mark.parametrize("row", oracle(), ids=lambda row: row["name"])
def test_api_agrees_with_kafka(row: dict[str, Any]) -> None:
    """Each fact of each API is checked against ApiMessageType: a wrong version here is a connection that fails."""
    each = api(row["id"])
    assert (each.key, each.key.name, each.name, str(each)) == (row["id"], row["name"], row["title"], row["title"])
    assert each.is_removed is not row["hasValidVersion"]
    assert each.valid_versions == Versions(row["oldestVersion"], row["latestVersion"])
    assert each.stable_versions.highest == row["latestStableVersion"]
    assert each.latest_version_unstable == row["latestVersionUnstable"]
    assert each.deprecated_versions == Versions(row["oldestDeprecatedVersion"], row["latestDeprecatedVersion"])
    assert sorted(each.listeners) == sorted(listener.lower() for listener in row["listeners"])


@pytest.mark.parametrize("row", oracle(), ids=lambda row: row["name"])
def test_header_versions_agree_with_kafka_for_every_version(row: dict[str, Any]) -> None:
    """A header of the wrong version shifts every byte behind it; ApiVersions and ControlledShutdown are special."""
    each = api(row["id"])
    request = {str(version): each.request_header_version(version) for version in each.valid_versions}
    response = {str(version): each.response_header_version(version) for version in each.valid_versions}
    assert request == row["requestHeaderVersions"]
    assert response == row["responseHeaderVersions"]


def test_header_versions_outside_the_valid_ones() -> None:
    """A broker must read the header of a request that it does not support; the numbers are what ApiKeys gives."""
    metadata = api(ApiKey.METADATA)
    assert [metadata.request_header_version(version) for version in (-1, 99)] == [1, 2]
    assert metadata.response_header_version(99) == 1
    assert api(ApiKey.API_VERSIONS).response_header_version(99) == 0
    assert [api(ApiKey.CONTROLLED_SHUTDOWN).request_header_version(version) for version in (0, 1)] == [0, 1]


@pytest.mark.parametrize("each", [each for each in apis() if not each.is_removed], ids=str)
def test_classes_of_an_api_are_its_messages(each: Api) -> None:
    """Classes are found by name on first use; a name that does not fit its key would answer the wrong request."""
    request, response = each.request_class, each.response_class
    assert f"{each.name}Request" == request.NAME
    assert f"{each.name}Response" == response.NAME
    assert request.API_KEY == response.API_KEY == each.key
    assert each.valid_versions == Versions(request.LOWEST_SUPPORTED_VERSION, request.HIGHEST_SUPPORTED_VERSION)
    assert set(response._codecs) == set(request._codecs) == set(each.valid_versions)


def test_api_is_found_by_everything_that_names_it() -> None:
    """Callers have a number from the wire, an enum member, or a class; all lead to the same object."""
    found = [api(which) for which in (3, ApiKey.METADATA, MetadataRequest, MetadataResponse, api(3))]
    assert all(each is found[0] for each in found)


def test_removed_api_has_no_classes() -> None:
    """Its key stays taken and can be named, but asking for its classes must say why there are none."""
    removed = api(ApiKey.LEADER_AND_ISR)
    assert (removed.is_removed, list(removed.valid_versions), str(removed.valid_versions)) == (True, [], "no version")
    with pytest.raises(UnknownApiError) as caught:
        _ = removed.request_class
    assert str(caught.value) == "LeaderAndIsrRequest has no class: the API LeaderAndIsr was removed"
    with pytest.raises(UnknownApiError) as caught:
        _ = removed.response_class
    assert str(caught.value) == "LeaderAndIsrResponse has no class: the API LeaderAndIsr was removed"


@pytest.mark.parametrize("key", [999, -1])
def test_unknown_key(key: int) -> None:
    """Numbers from the wire may be anything; the error is ours and says what is known."""
    with pytest.raises(UnknownApiError) as caught:
        api(key)
    assert str(caught.value) == f"no API has the key {key}; the known keys are 0 to 94"
    assert isinstance(caught.value, KafkaMessageError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.header is None


def test_class_that_is_no_request_or_response() -> None:
    """PartitionRecord has record type 3, which is also the key of Metadata: going by the number would be wrong."""
    assert PartitionRecord.API_KEY == ApiKey.METADATA
    with pytest.raises(UnknownApiError) as caught:
        api(PartitionRecord)
    assert str(caught.value) == "PartitionRecord is neither the request nor the response of an API"
    with pytest.raises(TypeError) as wrong:
        api("Metadata")  # type: ignore[arg-type]
    assert str(wrong.value) == "an API key or a message class is needed, not 'Metadata'"


def test_versions_are_a_range() -> None:
    """Both ends belong to it, and membership is by range: as a plain pair ``5 in (3, 13)`` would be false."""
    assert 5 in Versions(3, 13)
    assert 2 not in Versions(3, 13)
    assert "5" not in Versions(3, 13)
    assert (list(Versions(3, 5)), len(Versions(3, 5)), len(Versions(0, -1))) == ([3, 4, 5], 3, 0)
    assert [str(each) for each in (Versions(3, 13), Versions(4, 4), Versions(0, -1))] == [
        "versions 3 to 13",
        "version 4",
        "no version",
    ]


def test_values_are_dataclasses_for_those_who_ask() -> None:
    """They avoid the import of dataclasses, but users may expect its functions, immutability, hashing and pickling."""
    versions = Versions(3, highest=13)
    assert repr(versions) == "Versions(lowest=3, highest=13)"
    assert [field.name for field in dataclasses.fields(versions)] == ["lowest", "highest"]
    assert dataclasses.replace(versions, lowest=4) == Versions(4, 13)
    pair: object = (3, 13)
    assert versions != pair
    assert {versions, Versions(3, 13)} == {versions}
    assert pickle.loads(pickle.dumps(api(3))) == copy.deepcopy(api(3)) == api(3)
    with pytest.raises(AttributeError, match=r"^cannot assign to field 'lowest'$"):
        versions.lowest = 4  # type: ignore[misc]
    with pytest.raises(AttributeError, match=r"^cannot delete field 'lowest'$"):
        versions.__delattr__("lowest")
    for arguments, named in (((3,), {}), ((1, 2, 3), {}), ((1, 2), {"other": 3})):
        with pytest.raises(TypeError, match=r"^Versions\(\) takes the arguments lowest, highest$"):
            Versions(*arguments, **named)
    with pytest.raises(TypeError, match=r"^Versions\(\) got multiple values for argument 'lowest'$"):
        Versions(3, lowest=3)  # type: ignore[call-arg,misc]


def test_values_may_have_a_default() -> None:
    """``Request.trailing`` came later: requests made without it stay what they were, in every function of dataclasses."""
    header = RequestHeader(request_api_key=3, request_api_version=12, correlation_id=77)
    plain = Request(header, api(3), 12, MetadataRequest())
    assert plain == Request(header=header, api=api(3), version=12, message=MetadataRequest(), trailing=b"")
    assert [(field.name, field.default) for field in dataclasses.fields(plain)][3:] == [
        ("message", dataclasses.MISSING),
        ("trailing", b""),
    ]
    longer = dataclasses.replace(plain, trailing=b"\1")
    assert (longer.trailing, longer == plain, dataclasses.replace(longer, trailing=b"") == plain) == (
        b"\1",
        False,
        True,
    )
    assert pickle.loads(pickle.dumps(longer)) == copy.deepcopy(longer) == longer
    assert repr(longer) == repr(plain).replace("trailing=b''", "trailing=b'\\x01'")
    for arguments in ((header, api(3), 12), (header, api(3), 12, MetadataRequest(), b"", None)):
        with pytest.raises(
            TypeError, match=r"^Request\(\) takes the arguments header, api, version, message, trailing$"
        ):
            Request(*arguments)  # type: ignore[arg-type, call-arg]
    match longer:
        case Request(_, _, _, _, trailing):
            assert_type(trailing, bytes)
            assert trailing == b"\1"


# --- Error codes


def test_error_codes_are_kafkas() -> None:
    """Every code, its name, and whether its Java exception is a RetriableException."""
    assert {error.name: int(error) for error in ErrorCode} == {row["name"]: row["code"] for row in kafka_errors()}
    assert [is_retriable(row["code"]) for row in kafka_errors()] == [row["retriable"] for row in kafka_errors()]


def test_unknown_error_codes_stay_usable() -> None:
    """A newer broker sends codes that do not exist yet; a client must be able to log, compare and pass them on."""
    code = ErrorCode(9999)
    assert (code, code.name, int(code), is_retriable(code)) == (9999, "UNKNOWN_9999", 9999, False)
    assert code == ErrorCode(9999)
    assert hash(code) == hash(9999)
    assert pickle.loads(pickle.dumps(code)) == code
    assert copy.deepcopy(code) == code
    assert ErrorCode(-7).name == "UNKNOWN_MINUS_7"
    assert 9999 not in {int(known) for known in ErrorCode}
    with pytest.raises(ValueError, match=r"^'x' is not a valid ErrorCode$"):
        ErrorCode("x")  # type: ignore[arg-type]


def test_error_codes_of_messages_are_plain_numbers_and_compare() -> None:
    """Messages hold int, so that reading never fails on a new code; the enum must compare with it."""
    response = ApiVersionsResponse(error_code=35)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert is_retriable(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert not is_retriable(ErrorCode.NONE)


# --- Requests


def metadata_request() -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name="orders")], allow_auto_topic_creation=True)


def test_encode_request_gives_kafkas_bytes() -> None:
    """Header v2 (flexible) with a client id that is never compact, and header v1, byte for byte."""
    assert encode_request(metadata_request(), 12, 77, "cli", framed=False).hex() == METADATA_REQUEST_12
    assert encode_request(metadata_request(), 1, 78, "cli", framed=False).hex() == METADATA_REQUEST_1
    request = ApiVersionsRequest(client_software_name="lib", client_software_version="1")
    assert encode_request(request, 3, 79, "cli", framed=False).hex() == API_VERSIONS_REQUEST_3


def test_requests_are_framed_unless_told_otherwise() -> None:
    """What goes to a socket begins with its length; Kafka's AbstractRequest.toSend writes the same."""
    assert encode_request(metadata_request(), 12, 77, "cli").hex() == "0000002a" + METADATA_REQUEST_12


def test_decode_request_reads_kafkas_bytes() -> None:
    """The version of the header comes from the API key and version in its first four bytes."""
    request = decode_request(bytes.fromhex(METADATA_REQUEST_12))
    assert request == Request(
        RequestHeader(request_api_key=3, request_api_version=12, correlation_id=77, client_id="cli"),
        api(ApiKey.METADATA),
        12,
        metadata_request(),
    )
    old = decode_request(bytes.fromhex(METADATA_REQUEST_1))
    assert (old.version, old.header.correlation_id, old.message) == (1, 78, metadata_request())


def test_bytes_behind_a_request_are_kept() -> None:
    """Brokers ignore them and librdkafka sends them: they must neither refuse the request nor be lost in a proxy."""
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
def test_bytes_behind_any_request(each: Api) -> None:
    """Kafka ignores them after requests of every API and version; a response with them stays an error."""
    for version in each.valid_versions:
        data = encode_request(each.request_class(), version, 7, "c", framed=False)
        request = decode_request(data + b"\1\0\0")
        assert (request.message, request.trailing) == (each.request_class(), b"\1\0\0")
        assert request.encode(framed=False) == data + b"\1\0\0"
        answer = encode_response(each.response_class(), version, 7, framed=False)
        with pytest.raises(DecodeError) as caught:
            decode_response(answer + b"\1\0\0", each.key, version)
        end = f"the message ends at offset {len(answer)}, but 3 more byte(s) follow"
        assert str(caught.value) == f"{each.response_name} v{version}: {end}"


def test_null_client_id_and_unknown_tags_of_the_header_are_kept() -> None:
    """A proxy must pass on what it does not understand; the same bytes come out again."""
    data = bytes.fromhex(METADATA_REQUEST_12_TAGS)
    request = decode_request(data)
    assert request.header.client_id is None
    assert request.header.unknown_tagged_fields == (RawTaggedField(5, b"\1\2"),)
    assert request.encode(framed=False) == data
    assert request.encode() == frame(data)


def test_bytearray_and_memoryview_are_requests_too() -> None:
    """Buffers of sockets are seldom bytes."""
    data = bytes.fromhex(METADATA_REQUEST_12)
    assert decode_request(bytearray(data)) == decode_request(memoryview(data)) == decode_request(data)


@pytest.mark.parametrize("each", [each for each in apis() if not each.is_removed], ids=str)
def test_every_version_of_every_api_makes_the_round_trip(each: Api) -> None:
    """Encoding and decoding must agree on both header versions everywhere, not only where examples exist."""
    for version in each.valid_versions:
        request = each.request_class()
        sent = decode_request(encode_request(request, version, 7, "c", framed=False))
        assert (sent.api, sent.version, sent.message) == (each, version, request)
        response = each.response_class()
        got = decode_response(encode_response(response, version, 7, framed=False), each.key, version)
        assert (got.api, got.version, got.message, got.header.correlation_id) == (each, version, response, 7)


def test_unsupported_version_keeps_the_header() -> None:
    """A broker has to answer UNSUPPORTED_VERSION with the correlation id; the body is not touched."""
    with pytest.raises(UnsupportedRequestError) as caught:
        decode_request(bytes.fromhex("0003001400000009" + "0003636c6900" + "ffffffff"))
    error = caught.value
    assert str(error) == "MetadataRequest has no version 20, only versions 0 to 13"
    assert isinstance(error, UnsupportedVersionError)
    assert error.api is api(ApiKey.METADATA)
    assert error.header == RequestHeader(request_api_key=3, request_api_version=20, correlation_id=9, client_id="cli")


def test_broker_can_answer_an_unsupported_api_versions_request() -> None:
    """KIP-511 from both ends: a client that is too new gets the range at version 0 and can ask again."""
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


def test_unknown_api_keeps_what_is_certain_of_the_header() -> None:
    """The table cannot tell the header version of an unknown API; the first eight bytes are the same in all."""
    with pytest.raises(UnknownApiError) as caught:
        decode_request(bytes.fromhex("03e7000200000009" + "0003636c69"))
    assert str(caught.value) == "no API has the key 999; the known keys are 0 to 94"
    assert caught.value.header == RequestHeader(
        request_api_key=999, request_api_version=2, correlation_id=9, client_id=None
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("000400010000000900016300", "LeaderAndIsrRequest has no version 1: the API was removed"),
        ("0007000000000009", "ControlledShutdownRequest has no version 0: the API was removed"),
    ],
)
def test_removed_apis_keep_the_header(data: str, text: str) -> None:
    """ControlledShutdown v0 has header version 0, without a client id, which RequestHeader itself lost long ago."""
    with pytest.raises(UnsupportedRequestError) as caught:
        decode_request(bytes.fromhex(data))
    assert str(caught.value) == text
    assert caught.value.header.correlation_id == 9


def test_header_alone() -> None:
    """Who only routes requests reads the header and passes the body on unread, whatever its version."""
    data = bytes.fromhex(METADATA_REQUEST_12)
    header, body = read_request_header(data)
    assert header == RequestHeader(request_api_key=3, request_api_version=12, correlation_id=77, client_id="cli")
    assert MetadataRequest.read(data[body:], 12) == metadata_request()
    header, body = read_request_header(bytes.fromhex("0003001400000009" + "ffff00" + "aa"))
    assert (header.request_api_version, header.client_id, body) == (20, None, 11)


@pytest.mark.parametrize(
    ("data", "text", "offset"),
    [
        ("", "RequestHeader v1: request_api_key: INT16: 2 bytes needed at offset 0, 0 left", 0),
        ("000300", "RequestHeader v1: request_api_version: INT16: 2 bytes needed at offset 2, 1 left", 2),
        ("0003000c0000", "RequestHeader v1: correlation_id: INT32: 4 bytes needed at offset 4, 2 left", 4),
        ("03e70000", "RequestHeader v1: correlation_id: INT32: 4 bytes needed at offset 4, 0 left", 4),
        ("0003000c00000001", "RequestHeader v2: client_id: INT16: 2 bytes needed at offset 8, 0 left", 8),
        ("0003000c00000001ffff", "RequestHeader v2: UNSIGNED_VARINT: 1 byte needed at offset 10, 0 left", 10),
        (
            METADATA_REQUEST_12[:-6],
            "MetadataRequest v12: allow_auto_topic_creation: BOOLEAN: 1 byte needed at offset 39, 0 left",
            39,
        ),
    ],
)
def test_bad_requests(data: str, text: str, offset: int) -> None:
    """Bytes of a peer are never trusted: a DecodeError with field and offset, offsets counted from the header on."""
    with pytest.raises(DecodeError) as caught:
        decode_request(bytes.fromhex(data))
    assert (str(caught.value), caught.value.offset) == (text, offset)


@given(st.binary(max_size=64))
def test_any_bytes_give_a_request_or_our_errors(data: bytes) -> None:
    """Whatever arrives, servers catch KafkaMessageError and nothing else; a request that is read is written again."""
    try:
        request = decode_request(data)
    except KafkaMessageError:
        return
    written = request.encode(framed=False)  # not always the same bytes: tags are written in ascending order
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
def test_requests_that_cannot_be_encoded(arguments: tuple[Any, int, int], error: type[Exception], text: str) -> None:
    """Mistakes of the caller are named before anything is sent."""
    with pytest.raises(error) as caught:
        encode_request(*arguments)
    assert str(caught.value) == text


def test_errors_with_a_header_can_be_pickled() -> None:
    """Errors cross process boundaries in test runners and workers; what they carry must come along."""
    for data in ("0003001400000009ffff00", "03e7000200000009"):
        with pytest.raises(KafkaMessageError) as caught:
            decode_request(bytes.fromhex(data))
        error: Any = pickle.loads(pickle.dumps(caught.value))
        assert (type(error), str(error)) == (type(caught.value), str(caught.value))
        assert error.header.correlation_id == 9


# --- Responses


def test_encode_response_gives_kafkas_bytes() -> None:
    """Header v1 (with tags), header v0, and ApiVersions, whose header has no tags although its body is flexible."""
    new = MetadataResponse(cluster_id="c", controller_id=1)
    assert encode_response(new, 12, 77).hex() == METADATA_RESPONSE_12
    assert encode_response(MetadataResponse(controller_id=1), 1, 78).hex() == METADATA_RESPONSE_1
    keys = ApiVersionCollection([ApiVersion(api_key=3, min_version=0, max_version=12)])
    assert encode_response(ApiVersionsResponse(api_keys=keys), 4, 79).hex() == API_VERSIONS_RESPONSE_4


def test_decode_response_reads_kafkas_bytes() -> None:
    """Only the caller knows API and version of a response; the rest is in the bytes."""
    (payload,) = split_frames(bytes.fromhex(METADATA_RESPONSE_12))
    response = decode_response(payload, ApiKey.METADATA, 12)
    assert (response.header.correlation_id, response.api, response.version) == (77, api(3), 12)
    assert response.message == MetadataResponse(cluster_id="c", controller_id=1)
    assert response.encode().hex() == METADATA_RESPONSE_12


def test_response_is_typed_by_its_class() -> None:
    """With the class of the response, a type checker knows the message; mypy reads this test."""
    (payload,) = split_frames(bytes.fromhex(METADATA_RESPONSE_12))
    response = decode_response(payload, MetadataResponse, 12)
    assert_type(response, Response[MetadataResponse])
    assert response.message.cluster_id == "c"
    assert response == decode_response(payload, 3, 12)


def test_unknown_tags_of_the_response_header_are_kept() -> None:
    """Like those of a request: a proxy must not lose them."""
    body = MetadataResponse().write(12)
    data = bytes.fromhex("0000004d" + "0105020102") + body
    response = decode_response(data, ApiKey.METADATA, 12)
    assert response.header.unknown_tagged_fields == (RawTaggedField(5, b"\1\2"),)
    assert response.encode(framed=False) == data


@pytest.mark.parametrize("version", range(6))
def test_api_versions_falls_back_to_version_0(version: int) -> None:
    """KIP-511: Kafka's own answer to a version it does not know, read whatever version was asked for."""
    data = bytes.fromhex("0000004f" + UNSUPPORTED_VERSION_BODY)
    response = decode_response(data, ApiVersionsResponse, version)
    assert (response.version, response.message.error_code) == (0, ErrorCode.UNSUPPORTED_VERSION)
    assert negotiate(response.message, ApiKey.API_VERSIONS) == 5
    assert response.encode(framed=False) == data


@pytest.mark.parametrize("version", range(6))
def test_api_versions_error_in_the_version_asked_for_is_read_too(version: int) -> None:
    """Not every server falls back; the same error at the version of the request cannot be taken for version 0."""
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
def test_bad_api_versions_responses(data: str, version: int, text: str) -> None:
    """When neither reading fits, the error is about the version that was asked for."""
    with pytest.raises(KafkaMessageError) as caught:
        decode_response(bytes.fromhex(data), ApiKey.API_VERSIONS, version)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("data", "which", "version", "error", "text"),
    [
        ("0000", 3, 12, DecodeError, "ResponseHeader v1: correlation_id: INT32: 4 bytes needed at offset 0, 2 left"),
        ("00000001", 3, 12, DecodeError, "ResponseHeader v1: UNSIGNED_VARINT: 1 byte needed at offset 4, 0 left"),
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
            "MetadataResponse v12: the message ends at offset 18, but 1 more byte(s) follow",
        ),
        ("0000000100", 3, 14, UnsupportedVersionError, "MetadataResponse has no version 14, only versions 0 to 13"),
        ("0000000100", 999, 0, UnknownApiError, "no API has the key 999; the known keys are 0 to 94"),
        ("0000000100", 4, 0, UnknownApiError, "LeaderAndIsrResponse has no class: the API LeaderAndIsr was removed"),
        (
            "0000000100",
            MetadataRequest,
            12,
            UnknownApiError,
            "MetadataRequest is a request; the response is MetadataResponse",
        ),
    ],
)
def test_bad_responses(data: str, which: Any, version: int, error: type[Exception], text: str) -> None:
    """Bytes of a broker are not trusted either, and mistakes of the caller are told apart from them."""
    with pytest.raises(error) as caught:
        decode_response(bytes.fromhex(data), which, version)
    assert str(caught.value) == text


def test_a_request_is_not_a_response() -> None:
    """The two sides of an API have the same key; the mistake must not reach the wire."""
    with pytest.raises(EncodeError) as caught:
        encode_response(MetadataRequest(), 12, 1)
    assert str(caught.value) == "MetadataRequest: this message is not a response"


# --- Frames


def pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    """Data cut into pieces of these sizes, and the rest."""
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
    yield data[at:]


def trickle(reader: FrameReader, data: bytes, got: list[bytes]) -> None:
    """Feed single bytes, take what is complete, and end the stream."""
    for at in range(len(data)):
        reader.feed(data[at : at + 1])
        got += reader
    reader.close()


@given(st.lists(st.binary(max_size=40), max_size=12), st.lists(st.integers(0, 30), max_size=40))
def test_frames_survive_any_chunking(payloads: list[bytes], sizes: list[int]) -> None:
    """Networks cut streams anywhere: inside lengths, inside payloads, not at all, or into empty pieces."""
    stream = b"".join(map(frame, payloads))
    reader, fed = FrameReader(), 0
    got: list[bytes] = []
    for piece in pieces(stream, sizes):
        reader.feed(piece)
        fed += len(piece)
        got += list(reader)
        taken = sum(4 + len(payload) for payload in got)
        assert (reader.offset, reader.pending) == (taken, fed - taken)
    assert got == payloads
    reader.close()
    assert split_frames(stream) == payloads


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=12), st.data())
def test_frames_taken_one_by_one_between_feeds(payloads: list[bytes], data: st.DataObject) -> None:
    """Frames may wait while more is fed; what waits must stay as it is when the buffer is moved."""
    stream = b"".join(map(frame, payloads))
    reader, at = FrameReader(), 0
    got: list[bytes] = []
    while len(got) < len(payloads):
        size = data.draw(st.integers(1, 50))
        reader.feed(bytearray(stream[at : at + size]))
        at += size
        payload = reader.next_frame()
        if payload is not None:
            got.append(payload)
        assert reader.offset == sum(4 + len(each) for each in got)
    assert got == payloads


def test_a_large_frame_in_single_bytes_takes_linear_time() -> None:
    """A slow peer must not cost quadratic time: copying what is there for each byte would take minutes here."""
    stream = frame(bytes(1 << 19))
    reader = FrameReader()
    got: list[bytes] = []
    started = time.process_time()
    for at in range(len(stream)):
        reader.feed(stream[at : at + 1])
        got += list(reader)
    assert time.process_time() - started < 10
    assert got == [bytes(1 << 19)]


def test_many_waiting_frames_take_linear_time() -> None:
    """Nor must a fast one: a long queue of small frames is taken one by one while more arrives."""
    count = 100_000
    reader = FrameReader()
    reader.feed(frame(b"12345678") * count)
    started = time.process_time()
    for _ in range(count):
        reader.feed(b"\0")
        assert reader.next_frame() == b"12345678"
    assert time.process_time() - started < 10
    assert list(reader) == [b""] * (count // 4)
    reader.close()


def test_empty_frames_are_frames() -> None:
    """Kafka's NetworkReceive takes a length of 0 as complete; dropping it would lose count."""
    assert split_frames(bytes(8)) == [b"", b""]
    assert frame(b"") == bytes(4)


@pytest.mark.parametrize(
    ("data", "text", "offset"),
    [
        ("00000001aa" + "ffffffff", "the length of the frame at offset 5 is negative: -1", 5),
        ("00000001aa" + "00000009", "the frame at offset 5 has 9 bytes, but at most 8 are allowed", 5),
        ("00000001aa" + "7fffffff", "the frame at offset 5 has 2147483647 bytes, but at most 8 are allowed", 5),
        ("00000001aa" + "000000", "the data ends at offset 8, inside the frame at offset 5", 5),
        ("00000001aa" + "00000002bb", "the data ends at offset 10, inside the frame at offset 5", 5),
    ],
)
def test_bad_frames(data: str, text: str, offset: int) -> None:
    """The offset is that of the frame in the whole stream; frames before it were given out before it is reported."""
    with pytest.raises(FramingError) as caught:
        split_frames(bytes.fromhex(data), max_size=8)
    assert (str(caught.value), caught.value.offset) == (text, offset)
    assert isinstance(caught.value, DecodeError)
    reader = FrameReader(max_size=8)
    got: list[bytes] = []
    with pytest.raises(FramingError):
        trickle(reader, bytes.fromhex(data), got)
    assert got == [b"\xaa"]


def test_nothing_works_after_a_framing_error() -> None:
    """Behind a wrong length there is no way to find the next frame; every use says so again."""
    reader = FrameReader()
    reader.feed(b"\xff\xff\xff\xfe")
    text = "the length of the frame at offset 0 is negative: -2"
    for use in (reader.next_frame, lambda: list(reader), lambda: reader.feed(b"1"), reader.close):
        with pytest.raises(FramingError) as caught:
            use()
        assert str(caught.value) == text


def test_a_claimed_length_allocates_nothing() -> None:
    """A peer that promises 100 MiB and sends eight bytes must cost eight bytes."""
    reader = FrameReader()
    reader.feed((100 * 1024 * 1024).to_bytes(4, "big") + bytes(4))
    assert reader.next_frame() is None
    assert len(reader._buffer) == 8
    reader = FrameReader()
    reader.feed((100 * 1024 * 1024 + 1).to_bytes(4, "big"))
    with pytest.raises(FramingError) as caught:
        reader.next_frame()
    assert str(caught.value) == "the frame at offset 0 has 104857601 bytes, but at most 104857600 are allowed"


@pytest.mark.parametrize("size", [-1, 2**31])
def test_max_size_is_an_int32(size: int) -> None:
    """A bound that no length can reach, or that none can keep, is a mistake of the caller."""
    with pytest.raises(ValueError, match=rf"^max_size {size} is outside 0 to 2147483647$"):
        FrameReader(size)


class Huge(bytes):
    """Says that it is longer than any frame, without the memory."""

    def __len__(self) -> int:
        return 2**31


def test_payload_too_large_for_a_frame() -> None:
    """The length is an int32; struct.error is not an error of this package."""
    with pytest.raises(EncodeError) as caught:
        frame(Huge())
    assert str(caught.value) == "a frame of 2147483648 bytes is too large; its length is an int32"


# --- Negotiation


def announced(*ranges: tuple[int, int, int]) -> ApiVersionsResponse:
    """A response with these entries: API key, lowest and highest version."""
    entries = [ApiVersion(api_key=key, min_version=low, max_version=high) for key, low, high in ranges]
    return ApiVersionsResponse(api_keys=ApiVersionCollection(entries))


@pytest.mark.parametrize(("low", "high", "expected"), [(0, 99, 13), (0, 7, 7), (13, 20, 13), (0, 0, 0), (12, 12, 12)])
def test_highest_common_version(low: int, high: int, expected: int) -> None:
    """The usual cases: older broker, newer broker, just touching ranges; by key, enum, class or Api."""
    response = announced((3, low, high))
    for which in (3, ApiKey.METADATA, MetadataRequest, MetadataResponse, api(3)):
        assert negotiate(response, which) == expected
        assert BrokerVersions.from_response(response).highest_common(which) == expected


def test_unstable_latest_version_is_opt_in() -> None:
    """Brokers announce it only when configured to; using it by accident breaks with the next release."""
    row = kafka_api("INIT_PRODUCER_ID")
    assert row["latestVersionUnstable"]
    broker = BrokerVersions.from_response(announced((22, 0, row["latestVersion"])))
    assert broker.highest_common(ApiKey.INIT_PRODUCER_ID) == row["latestStableVersion"]
    assert broker.highest_common(ApiKey.INIT_PRODUCER_ID, allow_unstable=True) == row["latestVersion"]
    assert negotiate(announced((22, 6, 6)), ApiKey.INIT_PRODUCER_ID, allow_unstable=True) == 6


@pytest.mark.parametrize(
    ("response", "key", "text"),
    [
        (
            announced((1, 0, 3)),
            1,
            "Fetch: no common version: the broker has versions 0 to 3, this package has versions 4 to 18",
        ),
        (
            announced((1, 19, 19)),
            1,
            "Fetch: no common version: the broker has version 19, this package has versions 4 to 18",
        ),
        (
            announced((3, 0, 9)),
            1,
            "Fetch: no common version: the broker does not offer this API, this package has versions 4 to 18",
        ),
        (
            announced((22, 6, 6)),
            22,
            "InitProducerId: no common version: the broker has version 6, this package has versions 0 to 5"
            " (and version 6, which is unstable)",
        ),
        (
            announced((4, 0, 7)),
            4,
            "LeaderAndIsr: no common version: the broker has versions 0 to 7, this package has none since the API was"
            " removed",
        ),
        (
            announced((3, 9, 5)),
            3,
            "Metadata: no common version: the broker has no version, this package has versions 0 to 13",
        ),
    ],
)
def test_no_common_version(response: ApiVersionsResponse, key: int, text: str) -> None:
    """The text has both ranges: it is all that an operator sees of a client that is too old or too new."""
    with pytest.raises(UnsupportedVersionError) as caught:
        negotiate(response, key)
    assert str(caught.value) == text


def test_negotiating_an_api_that_the_package_does_not_know() -> None:
    """There is no range to compare with; the broker's answer about it can still be looked at."""
    broker = BrokerVersions.from_response(announced((999, 1, 2)))
    assert [broker.supports(999, version) for version in range(4)] == [False, True, True, False]
    with pytest.raises(UnknownApiError) as caught:
        broker.highest_common(999)
    assert str(caught.value) == "no API has the key 999; the known keys are 0 to 94"


def test_supports() -> None:
    """Asked before a feature is used that needs a certain version; an API that is not offered has none."""
    broker = BrokerVersions.from_response(announced((3, 4, 9)))
    assert [broker.supports(MetadataRequest, version) for version in (3, 4, 9, 10)] == [False, True, True, False]
    assert not broker.supports(ApiKey.FETCH, 4)


def test_of_repeated_keys_the_last_counts() -> None:
    """Collections keep duplicates; Kafka's NodeApiVersions (4.4.0) lets the last one win, and so do we."""
    assert negotiate(announced((3, 0, 3), (3, 0, 6)), ApiKey.METADATA) == 6


def test_features_of_the_broker() -> None:
    """Bytes of Kafka 4.4.0 with a supported and a finalized feature: levels by name, and their epoch."""
    response = ApiVersionsResponse(
        supported_features=SupportedFeatureKeyCollection(
            [SupportedFeatureKey(name="metadata.version", min_version=7, max_version=27)]
        ),
        finalized_features=FinalizedFeatureKeyCollection(
            [FinalizedFeatureKey(name="metadata.version", min_version_level=25, max_version_level=25)]
        ),
        finalized_features_epoch=9,
    )
    broker = BrokerVersions.from_response(ApiVersionsResponse.read(bytes.fromhex(FEATURES_BODY), 4))
    assert broker == BrokerVersions(
        {3: Versions(0, 12)},
        {"metadata.version": Versions(7, 27)},
        {"metadata.version": Versions(25, 25)},
        9,
    )
    assert BrokerVersions.from_response(response).finalized_features == broker.finalized_features


def test_features_that_are_not_known() -> None:
    """Before version 3 there are none, and -1 as the epoch means that finalized features say nothing."""
    broker = BrokerVersions.from_response(ApiVersionsResponse.read(announced((3, 0, 9)).write(2), 2))
    assert (broker.supported_features, broker.finalized_features, broker.finalized_features_epoch) == ({}, {}, None)


# --- The package


def test_importing_the_protocol_imports_no_message() -> None:
    """Importing one module must stay cheap: messages load when they are used, typing and dataclasses never."""
    code = (
        "import sys, kafka_messages.protocol, kafka_messages.records;"
        "print(sorted(m for m in sys.modules if m.startswith('kafka_messages.messages')"
        " or m in ('typing', 'dataclasses', 'asyncio', 'json', 'socket')))"
    )
    package = str(Path(kafka_messages.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {package!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 8}, "RequestHeader: request_api_version: is 13, but the request has 8"),
        (
            {"message": HeartbeatRequest()},
            "HeartbeatRequest: is not the request of the API Metadata, which is MetadataRequest",
        ),
        (
            {"header": RequestHeader(request_api_key=12, request_api_version=13)},
            "RequestHeader: request_api_key: is 12, but the API Metadata has 3",
        ),
    ],
)
def test_requests_that_contradict_themselves(changes: dict[str, Any], reason: str) -> None:
    """A proxy that edits a request would have the broker read it as another one, of which no error need tell."""
    request = decode_request(encode_request(MetadataRequest(topics=[]), 13, 1, "c", framed=False))
    with pytest.raises(EncodeError) as caught:
        dataclasses.replace(request, **changes).encode()
    assert str(caught.value) == reason


def test_trailing_that_is_no_bytes() -> None:
    """As for all other data, the error says what is wrong with it."""
    request = decode_request(encode_request(MetadataRequest(topics=[]), 13, 1, "c", framed=False))
    with pytest.raises(TypeError, match=r"^trailing must be bytes-like, not str$"):
        dataclasses.replace(request, trailing="x").encode()  # type: ignore[arg-type]
