"""Invalid UTF-8 with ``text="surrogateescape"``, as lossless proxies and mocks need it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_messages import (
    DecodeError,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    EncodeError,
    Message,
    MetadataResponse,
    RequestHeader,
)
from kafka_messages.protocol import (
    ApiKey,
    DecodedRequest,
    api,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    read_request_header,
)
from kafka_messages.schema.escaped import read_escaped, write_escaped
from kafka_messages.testing.message_generator import Chances, MessageGenerator

from tests.support.random_messages import Package, messages, random_message, versions_of

BAD = b"caf\xe9 \xff\xed\xa0\x80"
ESCAPED = "caf\udce9 \udcff\udced\udca0\udc80"


class Escaped(MessageGenerator[Message]):
    def text(self) -> str:
        return self.random.randbytes(self.random.randint(1, 40)).decode(errors="surrogateescape") + "\udcff"


def groups(text: bytes) -> bytes:
    return b"\0\0\0\1" + len(text).to_bytes(2, "big") + text


def test_invalid_utf8_round_trips_with_surrogateescape() -> None:
    data = groups(BAD)
    request = DescribeGroupsRequest.read(data, 1, text="surrogateescape")
    assert request == DescribeGroupsRequest(groups=[ESCAPED])
    assert request.write(1, text="surrogateescape") == data
    assert request.size(1, text="surrogateescape") == len(data)
    assert DescribeGroupsRequest.read_from(b"x" + data + b"y", 1, 1, text="surrogateescape") == (request, len(data) + 1)
    with pytest.raises(DecodeError) as caught:
        DescribeGroupsRequest.read(data, 1)
    assert (
        str(caught.value) == "DescribeGroupsRequest v1: groups[0]: invalid UTF-8 at offset 9: invalid continuation byte"
    )
    with pytest.raises(EncodeError) as refused:
        request.write(1)
    what = "groups[0]: cannot be encoded as UTF-8: surrogates not allowed at character 3"
    assert str(refused.value) == f"DescribeGroupsRequest v1: {what}"


def test_surrogateescape_does_not_change_other_errors() -> None:
    with pytest.raises(DecodeError) as caught:
        DescribeGroupsRequest.read(groups(BAD) + b"!", 1, text="surrogateescape")
    assert str(caught.value) == "DescribeGroupsRequest v1: 1 byte(s) left after the message, at offset 15"
    with pytest.raises(DecodeError) as caught:
        DescribeGroupsRequest.read(groups(BAD)[:-1], 1, text="surrogateescape")
    assert str(caught.value) == "DescribeGroupsRequest v1: groups[0]: STRING: 9 bytes needed at offset 6, 8 left"
    with pytest.raises(EncodeError) as refused:
        DescribeGroupsRequest(groups=["\ud800"]).write(1, text="surrogateescape")
    what = "groups[0]: cannot be encoded as UTF-8: surrogates not allowed at character 0"
    assert str(refused.value) == f"DescribeGroupsRequest v1: {what}"
    with pytest.raises(EncodeError) as refused:
        DescribeGroupsRequest(groups=[ESCAPED], include_authorized_operations=True).write(1, text="surrogateescape")
    what = "include_authorized_operations: is set, but is not supported by version 1"
    assert str(refused.value) == f"DescribeGroupsRequest v1: {what}"


def test_unknown_text_option_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"^text must be 'strict' or 'surrogateescape', not 'replace'$"):
        DescribeGroupsRequest.read(groups(BAD), 1, text="replace")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^text must be 'strict' or 'surrogateescape', not 'ignore'$"):
        DescribeGroupsRequest().write(1, text="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", Package("kafka_messages").message_names)
def test_every_message_keeps_invalid_utf8(name: str) -> None:
    cls = Package("kafka_messages").message(name)
    for version in versions_of(cls):
        message = Escaped(cls, version, random.Random(f"{name} {version}"), Chances(null=0.1, default=0.1)).message()
        data = message.write(version, text="surrogateescape")
        again = cls.read(data, version, text="surrogateescape")
        assert again == message
        assert again.write(version, text="surrogateescape") == data
        assert message.size(version, text="surrogateescape") == len(data)


@pytest.mark.parametrize("name", Package("kafka_messages").message_names)
def test_escaped_codec_equals_generated_codec(name: str) -> None:
    cls = Package("kafka_messages").message(name)
    for version in versions_of(cls):
        for message in messages(cls, version, mixed=1):
            data = message.write(version)
            assert read_escaped(cls, data, 0, version) == (cls.read(data, version), len(data))
            assert write_escaped(message, version) == data
            assert cls.read(data, version, text="surrogateescape") == message
            assert message.write(version, text="surrogateescape") == data


@settings(deadline=None)
@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_round_trip_as_text(one: bytes, other: bytes) -> None:
    data = b"\0\0\0\2" + b"".join(len(text).to_bytes(2, "big") + text for text in (one, other))
    request = DescribeGroupsRequest.read(data, 1, text="surrogateescape")
    assert [group.encode(errors="surrogateescape") for group in request.groups] == [one, other]
    assert request.write(1, text="surrogateescape") == data


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_damaged_bytes_accepted_by_read_round_trip(data: st.DataObject) -> None:
    message = random_message(MetadataResponse, 12, "text")
    written = bytearray(message.write(12))
    written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(128, 255))
    try:
        read = MetadataResponse.read(written, 12, text="surrogateescape")
    except DecodeError:
        return
    again = read.write(12, text="surrogateescape")
    assert MetadataResponse.read(again, 12, text="surrogateescape") == read


def test_headers_and_bodies_keep_invalid_utf8() -> None:
    header = RequestHeader(request_api_key=15, request_api_version=5, correlation_id=7, client_id="c\udcff")
    request = DecodedRequest(header, api(ApiKey.DESCRIBE_GROUPS), 5, DescribeGroupsRequest(groups=[ESCAPED]), b"!")
    data = request.encode(framed=False, text="surrogateescape")
    assert b"\0\x02c\xff" in data
    assert BAD in data
    with pytest.raises(DecodeError, match="client_id: invalid UTF-8"):
        decode_request(data)
    with pytest.raises(DecodeError, match="client_id: invalid UTF-8"):
        read_request_header(data)
    assert decode_request(data, text="surrogateescape") == request
    assert read_request_header(data, text="surrogateescape")[0] == header
    encoded = encode_request(request.message, 5, 7, "c\udcff", framed=False, text="surrogateescape")
    assert encoded + b"!" == data
    response = DescribeGroupsResponse(groups=[DescribeGroupsResponse.DescribedGroup(group_id=ESCAPED)])
    data = encode_response(response, 5, 7, framed=False, text="surrogateescape")
    with pytest.raises(DecodeError, match="group_id: invalid UTF-8"):
        decode_response(data, DescribeGroupsResponse, 5)
    read = decode_response(data, DescribeGroupsResponse, 5, text="surrogateescape")
    assert read.message == response
    assert read.encode(framed=False, text="surrogateescape") == data
