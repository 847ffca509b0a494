"""Arguments of native methods: buffers, versions, offsets, positional and keyword."""

from __future__ import annotations

import array
from typing import Any

import pytest
from kafka_messages import FetchRequest, HeartbeatRequest, MetadataResponse, RawTaggedField
from kafka_messages.messages.fetch_request import ReplicaState

from tests.support.implementations import declined, outcome, purely


@pytest.mark.parametrize("code", ["b", "B", "h", "i", "q", "d"])
def test_buffers_of_other_item_types_match_the_pure_code(code: str) -> None:
    data = HeartbeatRequest(group_id="g" * 8).write(0)
    assert len(data) == 16
    for more in (b"", bytes(len(data)), bytes(3 * len(data)), bytes(7 * len(data))):
        for buffer in (array.array(code, data + more), memoryview(array.array(code, data + more))):
            wanted = purely(HeartbeatRequest.read, buffer, 0)
            assert wanted.is_error == bool(more)
            assert outcome(HeartbeatRequest.read, buffer, 0) == wanted
            assert outcome(HeartbeatRequest.read_from, buffer, 0, 0) == purely(HeartbeatRequest.read_from, buffer, 0, 0)


@pytest.mark.parametrize(
    "view",
    [
        memoryview(b""),
        memoryview(bytes(32))[::2],
        memoryview(bytes(32))[::-1],
        memoryview(bytes(16)).cast("B", (4, 4)),
        memoryview(bytes(1)).cast("B", ()),
        "text",
        None,
        16,
        [0] * 16,
        type("Bytes", (bytes,), {})(16),
        type("Array", (bytearray,), {})(16),
    ],
    ids=lambda value: type(value).__name__,
)
def test_unusual_data_and_offsets_match_the_pure_code(view: Any) -> None:
    for version in (0, 4):
        assert outcome(HeartbeatRequest.read, view, version) == purely(HeartbeatRequest.read, view, version)
        for offset in (0, 1, -1, 16, 17, 2**62, 2**64, True, None, "1"):
            arguments = (view, offset, version)
            assert outcome(HeartbeatRequest.read_from, *arguments) == purely(HeartbeatRequest.read_from, *arguments)


@pytest.mark.parametrize("version", [-1, 99, 2**70, -(2**70), True, 4.0, None, "4"], ids=repr)
def test_unusual_versions_match_the_pure_code(version: Any) -> None:
    message = HeartbeatRequest()
    data = message.write(4)
    assert outcome(HeartbeatRequest.read, data, version) == purely(HeartbeatRequest.read, data, version)
    assert outcome(message.write, version) == purely(message.write, version)
    assert outcome(message.size, version) == purely(message.size, version)


def test_argument_forms_match_the_pure_code() -> None:
    data, message = HeartbeatRequest().write(4), HeartbeatRequest()
    forms: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((data, 4), {}),
        ((data,), {"version": 4}),
        ((), {"version": 4, "data": data}),
        ((data, 4, 5), {}),
        ((data,), {}),
        ((), {}),
        ((data, 4), {"version": 4}),
        ((data,), {"versions": 4}),
        ((data, 0, 4), {}),
        ((data,), {"version": 4, "offset": 0}),
    ]
    call: Any
    for args, named in forms:
        for call in (HeartbeatRequest.read, HeartbeatRequest.read_from):
            assert outcome(call, *args, **named) == purely(call, *args, **named)
    for args, named in [
        ((4,), {}),
        ((), {"version": 4}),
        ((), {}),
        ((4, 4), {}),
        ((), {"v": 4}),
        ((4,), {"version": 4}),
    ]:
        for call in (message.write, message.size):
            assert outcome(call, *args, **named) == purely(call, *args, **named)
    for call in (HeartbeatRequest.write, HeartbeatRequest.size):
        for args in ((message, 4), (message,), (None, 4), (5, 4), (MetadataResponse(), 4)):
            wanted = outcome(call.__wrapped__, *args)
            assert outcome(call, *args).kind == wanted.kind


def test_unknown_tags_are_written_sorted() -> None:
    several = [RawTaggedField(tag, bytes([tag % 256])) for tag in (70_000, 9, 5, 300, 2**32 - 1, 7, 8, 6)]
    for fields, is_native in (
        (sorted(several, key=lambda field: field.tag), True),
        (several, False),
        ([RawTaggedField(tag, b"") for tag in range(32, 999)], True),
        ([RawTaggedField(tag, b"") for tag in range(64, 31, -1)], False),
        ([*several, RawTaggedField(5, b"")], False),
        ([*several, RawTaggedField(1, b"")], False),
    ):
        message = FetchRequest(
            cluster_id="c", replica_state=ReplicaState(replica_id=1), unknown_tagged_fields=tuple(fields)
        )
        before = declined(FetchRequest)
        got = outcome(message.write, 17)
        assert (declined(FetchRequest) == before) == is_native
        assert got == purely(message.write, 17)
        if not got.is_error:
            tags = [each.tag for each in FetchRequest.read(got.value, 17).unknown_tagged_fields]
            assert tags == sorted(each.tag for each in fields)
