"""Bytes after a response, and frame lengths before a message."""

from __future__ import annotations

from typing import Any

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DecodeError,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    Request,
)
from kafka_messages.connection import ClientConnection, RemoteProtocolError, ResponseReceived, VersionFallback
from kafka_messages.protocol import (
    ApiKey,
    UnknownApiError,
    UnsupportedRequestError,
    apis,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    frame,
    split_frames,
)

HINT = "; the data starts with a frame length: omit the first 4 bytes, as split_frames does"


def test_lenient_client_accepts_trailing_bytes() -> None:
    payload = encode_response(HeartbeatResponse(error_code=27), 4, 0, framed=False) + b"\1\2"
    lenient, strict = ClientConnection(lenient=True), ClientConnection()
    sent = lenient.send(HeartbeatRequest(), 4)
    [event] = lenient.receive_data(frame(payload))
    assert isinstance(event, ResponseReceived)
    assert (event.trailing, sent.response) == (b"\1\2", HeartbeatResponse(error_code=27))
    strict.send(HeartbeatRequest(), 4)
    reason = (
        r"^the response to HeartbeatRequest v4 with correlation id 0 cannot be read at offset 0: HeartbeatResponse v4:"
        r" 2 byte\(s\) left after the message, at offset 12$"
    )
    with pytest.raises(RemoteProtocolError, match=reason):
        list(strict.receive_data(frame(payload)))
    sent = lenient.send(HeartbeatRequest(), 4)
    [event] = lenient.receive_data(encode_response(HeartbeatResponse(), 4, 1))
    assert isinstance(event, ResponseReceived)
    assert event.trailing == b""


def test_trailing_bytes_of_any_response_are_kept() -> None:
    for api in apis():
        for version in api.valid_versions:
            client = ClientConnection(lenient=True)
            request: Any = api.request_class()
            if api.key == ApiKey.PRODUCE:
                request.acks = -1
            sent: Any = client.send(request, version)
            payload = encode_response(api.response_class(), version, 0, framed=False)
            [event] = client.receive_data(frame(payload + b"\1\0\0"))
            assert isinstance(event, ResponseReceived)
            assert (sent.response, event.trailing) == (api.response_class(), b"\1\0\0")


def test_api_versions_fallback_accepts_trailing_bytes() -> None:
    client = ClientConnection(lenient=True)
    sent = client.send(ApiVersionsRequest(client_software_name="n", client_software_version="1"))
    payload = encode_response(ApiVersionsResponse(error_code=35), 0, 0, framed=False)
    [again] = client.receive_data(frame(payload + b"x"))
    assert isinstance(again, VersionFallback)
    assert sent.version == 0


LARGE = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="n" * 30000)] * 220)
REQUESTS = [
    (MetadataRequest(), 13, UnsupportedRequestError, "ProduceRequest has no version 16, only versions 0 to 13"),
    (HeartbeatRequest(), 3, UnsupportedRequestError, "ProduceRequest has no version 21, only versions 0 to 13"),
    (LARGE, 8, UnknownApiError, "unknown API key 100; known keys are 0 to 94"),
]


@pytest.mark.parametrize("text", ["strict", "surrogateescape"])
@pytest.mark.parametrize(("request_", "version", "error", "reason"), REQUESTS, ids=lambda value: str(value)[:20])
def test_frame_length_before_a_request_is_mentioned_in_the_error(
    request_: Request, version: int, error: type[Exception], reason: str, text: Any
) -> None:
    wire = encode_request(request_, version, 1, "x")
    with pytest.raises(error) as caught:
        decode_request(wire, text=text)
    assert str(caught.value) == reason + HINT
    assert decode_request(split_frames(wire)[0], text=text).message == request_


def test_frame_length_before_a_response_is_mentioned_in_the_error() -> None:
    for response, version, reason in (
        (MetadataResponse(), 12, "MetadataResponse v12: brokers: unexpected null at offset 9 in this version"),
        (HeartbeatResponse(), 4, "HeartbeatResponse v4: 4 byte(s) left after the message, at offset 12"),
    ):
        with pytest.raises(DecodeError) as caught:
            decode_response(encode_response(response, version, 1), type(response), version)
        assert (str(caught.value), caught.value.reason.endswith(HINT)) == (reason + HINT, True)


def test_bytes_resembling_a_frame_length_are_not_mentioned() -> None:
    data = encode_response(HeartbeatResponse(), 0, 9, framed=False) + b"\1\0\0"
    with pytest.raises(DecodeError, match=r"^HeartbeatResponse v0: 3 byte\(s\) left after the message, at offset 6$"):
        decode_response(data, HeartbeatResponse, 0)
