"""Cost of a refused message: no more memory than an accepted one, and each byte is read once more at most."""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest import mock
from uuid import UUID

import pytest
from kafka_messages import (
    DecodeError,
    HeartbeatRequest,
    Message,
    MetadataRequest,
    MetadataResponse,
    RawTaggedField,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    implementation,
)
from kafka_messages.protocol import (
    _requests,
    _responses,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kafka_messages.schema.descriptors import FieldDescriptor, class_in, descriptor_of
from kafka_messages.schema.types import INTEGERS
from kafka_messages.testing import damaged

from tests.support import random_messages
from tests.support.implementations import pure
from tests.support.random_messages import PACKAGES, Package

# The pure code has its own run of all tests.
CODES = [pytest.param(nullcontext, id="native") if implementation() == "native" else pytest.param(pure, id="pure")]
# Objects that do not depend on the size of the message: the error, and iterators.
SLACK = 1 << 15
SCALARS = {"bool": True, "float64": 1.5, "uuid": UUID(int=5), "string": "", "bytes": b"x", "records": b"x"}

# B023 is silenced where a lambda in a loop is called at once.


def wide(message: Any, version: int, most: int = 150) -> Any:
    """Return a message with ``most`` small elements in each outer array, and two in each inner one."""

    def struct(cls: Any, fields: tuple[FieldDescriptor, ...], count: int) -> Any:
        return cls(**{field.name: value(field, count) for field in fields if version in field.versions})

    def value(field: FieldDescriptor, count: int) -> Any:
        inner = 2 if field.is_array else count
        if field.is_struct:
            values = [struct(class_in(message, field.type), field.fields, inner) for _ in range(count)]
        else:
            values = [7 if field.type in INTEGERS else SCALARS[field.type]] * count
        return values if field.is_array else values[0]

    return struct(message, descriptor_of(message).fields, most)


def layouts(message: type[Message]) -> Iterator[tuple[int, bytes]]:
    """Yield a version of each layout with arrays, and a wide message at it."""
    seen: set[int] = set()
    for version, schema in message.schemas().items():
        if id(schema) not in seen and len(data := wide(message, version).write(version)) > 400:
            seen.add(id(schema))
            yield version, data


def peak(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refuse(message: Any, data: bytes, version: int) -> None:
    with pytest.raises(DecodeError):
        message.read(data, version)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", Package("kafka_messages").message_names)
def test_refused_message_takes_no_more_memory_than_an_accepted_one(
    name: str, code: Callable[[], AbstractContextManager[None]]
) -> None:
    message = Package("kafka_messages").message(name)
    with code():
        for version, data in layouts(message):
            refuse(message, data[:1], version)  # builds the schemas
            accepted = peak(lambda: message.read(data, version))  # noqa: B023
            for bad in (data[:-1], data + b"\0"):
                assert peak(lambda: refuse(message, bad, version)) <= accepted + SLACK, version  # noqa: B023


@pytest.mark.parametrize("package", PACKAGES)
def test_walk_finds_the_same_error_and_end_as_reading(package: str) -> None:
    """Every layout, damaged and truncated, in bytes and in a buffer that is not copied."""
    found, source = Package(package), random.Random(package)
    error, escaped = found.module("schema.types").SchemaError, found.module("schema.escaped").escaped_schemas
    for name in found.message_names:
        message = found.message(name)
        for version in {id(schema): version for version, schema in message.schemas().items()}.values():
            for each in random_messages.messages(message, version, mixed=0):
                data = each.write(version)[:2000]
                for bad in (data, data[:-1], *(damaged(source, data) for _ in range(3))):
                    for schema in (message.schemas()[version], escaped(message)[version]):
                        expected = outcome(lambda: schema.read(bad)[1], error)  # noqa: B023
                        assert outcome(lambda: schema.skip(bad, 0), error) == expected  # noqa: B023
                        assert outcome(lambda: schema.skip(memoryview(bad), 0), error) == expected  # noqa: B023


def outcome(call: Callable[[], int], kind: type[Exception]) -> object:
    try:
        return call()
    except kind as error:
        return vars(error)


BLOB = b"x" * (1 << 20)
TOKEN = encode_request(SaslAuthenticateRequest(auth_bytes=BLOB), 2, 1, framed=False)
ANSWER = encode_response(SaslAuthenticateResponse(auth_bytes=BLOB), 2, 1, framed=False)
TAGS = (RawTaggedField(9, BLOB), RawTaggedField(10, b""))


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("text", ["strict", "surrogateescape"])
@pytest.mark.parametrize(
    ("read", "data"),
    [
        (lambda data, text: SaslAuthenticateRequest.read(data, 2, text=text), TOKEN[11:]),
        (
            lambda data, text: HeartbeatRequest.read(data, 4, text=text),
            HeartbeatRequest(unknown_tagged_fields=TAGS).write(4),
        ),
        (lambda data, text: decode_request(data, text=text), TOKEN),
        (lambda data, text: decode_response(data, SaslAuthenticateResponse, 2, text=text), ANSWER),
    ],
    ids=["bytes", "tag", "request", "response"],
)
def test_search_frees_the_message_and_copies_no_value(
    read: Callable[[bytes, Any], object], data: bytes, text: str, code: Callable[[], AbstractContextManager[None]]
) -> None:
    def refused(bad: bytes) -> None:
        with pytest.raises(DecodeError):
            read(bad, text)

    with code():
        read(data, text)
        refused(data[:8])
        accepted, kinds = peak(lambda: read(data, text)), [data[:-1]]
        if data is not TOKEN:  # a request may have bytes after it
            kinds.append(data + b"\0")
        for bad in kinds:
            assert peak(lambda: refused(bad)) <= accepted + SLACK  # noqa: B023


def step_count(call: Callable[[], object]) -> int:
    """Return how many lines of the package's Python code a call runs."""
    count = 0

    def trace(frame: Any, event: str, argument: object) -> Any:
        nonlocal count
        if "kafka_messages" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


TOPIC = MetadataRequest.MetadataRequestTopic
SHORT = (RawTaggedField(9, b"a"),)


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (MetadataRequest(topics=[TOPIC(name="a", unknown_tagged_fields=SHORT)] * 300), 12),
        (HeartbeatRequest(unknown_tagged_fields=tuple(RawTaggedField(tag, b"") for tag in range(100))), 4),
    ],
    ids=["in elements", "many in one section"],
)
def test_search_of_unknown_tags_takes_at_most_twice_the_steps_of_reading(message: Any, version: int) -> None:
    """So that a refused message costs at most three times as much as a sound one."""
    data = message.write(version)
    schema, reader = message.schemas()[version], type(message)._codecs[version][0]
    assert schema.skip(data, 0) == len(data)
    assert step_count(lambda: schema.skip(data, 0)) <= 2 * step_count(lambda: reader(data, 0))


WIDE = wide(MetadataResponse, 12).write(12)[:-1]
ASKED = wide(MetadataRequest, 12).write(12)[:-1]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    ("message", "read"),
    [
        (MetadataResponse, lambda: MetadataResponse.read(WIDE, 12)),
        (MetadataResponse, lambda: MetadataResponse.read_from(b"x" + WIDE, 1, 12)),
        (MetadataResponse, lambda: decode_response(bytes(5) + WIDE, MetadataResponse, 12)),
        (MetadataRequest, lambda: decode_request(encode_request(MetadataRequest(), 12, 1, framed=False)[:11] + ASKED)),
    ],
)
def test_python_code_reads_a_refused_message_once_and_not_after_the_core(
    message: Any, read: Callable[[], object], code: Callable[[], AbstractContextManager[None]]
) -> None:
    count, reader = 0, message._codecs[12][0]

    def counted(data: bytes, pos: int) -> tuple[Message, int]:
        nonlocal count
        count += 1
        return reader(data, pos)  # type: ignore[no-any-return]

    codecs = mock.patch.dict(message._codecs, {12: (counted, message._codecs[12][1])})
    routes = [mock.patch.dict(each, clear=True) for each in (_requests._requests, _responses._responses)]
    with code(), codecs, routes[0], routes[1]:  # routes keep their codecs
        decode_response(encode_response(MetadataResponse(), 12, 1, framed=False), MetadataResponse, 12)
        decode_request(encode_request(MetadataRequest(), 12, 1, framed=False))
        count = 0
        with pytest.raises(DecodeError) as caught:
            read()
        assert count == (code is pure)
    assert caught.value.__cause__ is None
    assert caught.value.message == message.NAME


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_read_from_a_buffer_copies_only_the_message(
    kind: Callable[[bytes], Any], code: Callable[[], AbstractContextManager[None]]
) -> None:
    data = HeartbeatRequest(group_id="g", member_id="m").write(3)
    big = wide(MetadataRequest, 9, 100_000)
    buffer = kind(data * 2 + big.write(9) + bytes(8 << 20))
    with code():
        MetadataRequest.read_from(buffer, 2 * len(data), 9)  # imports modules
        found, end = HeartbeatRequest.read_from(buffer, len(data), 3)
        assert (found.member_id, end) == ("m", 2 * len(data))
        assert peak(lambda: HeartbeatRequest.read_from(buffer, len(data), 3)) < 1 << 15
        assert MetadataRequest.read_from(buffer, end, 9)[0] == big
        with pytest.raises(DecodeError) as caught:
            HeartbeatRequest.read_from(buffer, 1, 3)
        expected = str(caught.value)
        with pytest.raises(DecodeError) as caught:
            HeartbeatRequest.read_from(bytes(buffer), 1, 3)
        assert expected == str(caught.value)
        refused = peak(lambda: refuse_from(buffer))
        assert refused < 1 << 20


def refuse_from(buffer: Any) -> None:
    with pytest.raises(DecodeError):
        HeartbeatRequest.read_from(buffer, 1, 3)


@pytest.mark.parametrize("code", CODES)
def test_error_keeps_no_view_of_a_buffer(code: Callable[[], AbstractContextManager[None]]) -> None:
    buffer = bytearray(b"\0\5abc")
    with code(), pytest.raises(DecodeError) as caught:
        HeartbeatRequest.read_from(buffer, 0, 3)
    buffer.clear()  # raises BufferError while a view exists
    assert str(caught.value).startswith("HeartbeatRequest v3: group_id: STRING: 5 bytes needed")
