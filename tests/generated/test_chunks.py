"""Chunks of encoded messages, and invalid versions."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from kafka_messages import (
    EncodeError,
    FetchResponse,
    MetadataRequest,
    PushTelemetryRequest,
    RawTaggedField,
    UnsupportedVersionError,
)
from kafka_messages.protocol import (
    decode_request,
    decode_response,
    encode_request,
    encode_request_chunks,
    encode_response,
    encode_response_chunks,
)

from tests.support.random_messages import messages, versions_of
from tests.support.vectors import message_class, message_names

LONG = 16384


def fetch_response_with(*records: bytes | None) -> FetchResponse:
    partitions = [
        FetchResponse.PartitionData(partition_index=index, records=each) for index, each in enumerate(records)
    ]
    return FetchResponse(responses=[FetchResponse.FetchableTopicResponse(partitions=partitions)])


@pytest.mark.parametrize("name", message_names())
def test_joined_chunks_equal_write(name: str) -> None:
    cls = message_class(name)
    for version in versions_of(cls):
        for message in messages(cls, version):
            assert b"".join(message.chunks(version)) == message.write(version)


@pytest.mark.parametrize("version", [4, 12, 18])
def test_long_fields_are_not_copied(version: int) -> None:
    long, short = bytes(LONG), bytes(LONG - 1)
    message = (
        fetch_response_with(long, b"", short, long + b"x", None)
        if version < 12
        else fetch_response_with(long, b"", short, long + b"x")
    )
    chunks = message.chunks(version)
    assert b"".join(chunks) == message.write(version)
    kept = [chunk for chunk in chunks if len(chunk) >= LONG]
    assert [chunk is each.records for chunk, each in zip(kept[:1], message.responses[0].partitions, strict=False)] == [
        True
    ]
    assert any(chunk is message.responses[0].partitions[3].records for chunk in chunks)
    assert not any(chunk is short for chunk in chunks)


def test_mutable_buffers_are_copied() -> None:
    data = bytearray(LONG)
    message: Any = PushTelemetryRequest(metrics=bytes(data))
    message.metrics = data
    chunks = message.chunks(0)
    data[0] = 1
    assert b"".join(chunks) == PushTelemetryRequest(metrics=bytes(LONG)).write(0)


def test_chunks_with_long_tagged_fields_equal_write() -> None:
    raw = RawTaggedField(99, bytes(3 * LONG))
    message = MetadataRequest(unknown_tagged_fields=(raw,))
    assert b"".join(message.chunks(12)) == message.write(12)


def test_chunks_raises_the_same_error_types_as_write() -> None:
    for version, error in ((99, UnsupportedVersionError), (True, UnsupportedVersionError), (12, EncodeError)):
        message: Any = MetadataRequest(allow_auto_topic_creation=5)  # type: ignore[arg-type]
        for call in (message.write, message.chunks):
            with pytest.raises(error):
                call(version)


class Version(enum.IntEnum):
    TWELVE = 12


@pytest.mark.parametrize("version", [True, False, 12.0, "12", None, 12 + 0j])
def test_non_integer_versions_are_rejected(version: Any) -> None:
    text = f"MetadataRequest has no version {version!r}, only versions 0 to 13"
    message = MetadataRequest()
    data = message.write(12)
    for call in (message.write, message.size, message.chunks, lambda v: MetadataRequest.read(data, v)):
        with pytest.raises(UnsupportedVersionError) as caught:
            call(version)
        assert str(caught.value) == text
    with pytest.raises(UnsupportedVersionError) as caught:
        MetadataRequest.read_from(data, 0, version)
    assert str(caught.value) == text


def test_int_enum_is_accepted_as_version() -> None:
    assert MetadataRequest().write(Version.TWELVE) == MetadataRequest().write(12)


def test_chunks_with_header_equal_the_encoded_message() -> None:
    message = fetch_response_with(bytes(LONG))
    for framed in (True, False):
        chunks = encode_response_chunks(message, 12, 7, framed=framed)
        assert b"".join(chunks) == encode_response(message, 12, 7, framed=framed)
        assert any(chunk is message.responses[0].partitions[0].records for chunk in chunks)
        response = decode_response(encode_response(message, 12, 7, framed=False), "Fetch", 12)
        assert b"".join(response.encode_chunks(framed=framed)) == b"".join(chunks) == response.encode(framed=framed)
        wanted = encode_request(MetadataRequest(), 12, 7, "me", framed=framed)
        assert b"".join(encode_request_chunks(MetadataRequest(), 12, 7, "me", framed=framed)) == wanted
        request = decode_request(encode_request(MetadataRequest(), 12, 7, "me", framed=False) + b"rest")
        assert b"".join(request.encode_chunks(framed=framed)) == request.encode(framed=framed)
        assert request.encode_chunks(framed=framed)[-1] == b"rest"
