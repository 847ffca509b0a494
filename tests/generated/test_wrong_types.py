"""Errors for values of the wrong type: elements, arrays and buffers."""

from __future__ import annotations

import array
import importlib
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from uuid import UUID

import kafka_messages
import pytest
from kafka_messages import (
    ApiVersionsResponse,
    DeleteTopicsRequest,
    EncodeError,
    FetchRequest,
    FetchResponse,
    ListTransactionsRequest,
    MetadataRequest,
    MetadataResponse,
    ProduceResponse,
    ShareFetchResponse,
    internal_topics,
    protocol,
)
from kafka_messages.json import to_json
from kafka_messages.messages import fetch_response, share_fetch_response
from kafka_messages.messages.fetch_request import FetchTopic, ReplicaState
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.messages.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from kafka_messages.messages.produce_response import PartitionProduceResponse, TopicProduceResponse
from kafka_messages.schema.descriptors import FieldDescriptor, descriptor_of

from tests.support import vectors
from tests.support.implementations import pure


def produce_response(leader: Any) -> ProduceResponse:
    partition = PartitionProduceResponse(current_leader=leader)
    return ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[partition])])


def with_assigned(message: Any, **fields: Any) -> Any:
    """Return a message with fields assigned after construction."""
    for name, value in fields.items():
        setattr(message, name, value)
    return message


WRONG: list[tuple[Any, int, str]] = [
    (
        MetadataRequest(topics=["orders"]),  # type: ignore[list-item]
        12,
        "MetadataRequest v12: topics[0]: expected MetadataRequestTopic, got str of 6 characters",
    ),
    (
        MetadataRequest(topics=[MetadataRequestTopic(name="t"), "orders" * 40]),  # type: ignore[list-item]
        0,
        "MetadataRequest v0: topics[1]: expected MetadataRequestTopic, got str of 240 characters",
    ),
    (
        MetadataRequest(topics=[None]),  # type: ignore[list-item]
        12,
        "MetadataRequest v12: topics[0]: expected MetadataRequestTopic, got None",
    ),
    (
        MetadataRequest(topics=[{"name": "t", "topic_id": UUID(int=0)}]),  # type: ignore[list-item]
        12,
        "MetadataRequest v12: topics[0]: expected MetadataRequestTopic, got dict of 2 elements",
    ),
    (
        MetadataResponse(topics=["orders"]),  # type: ignore[list-item]
        12,
        "MetadataResponse v12: topics[0]: expected MetadataResponseTopic, got str of 6 characters",
    ),
    (
        MetadataResponse(topics=[MetadataResponseTopic(name="t", partitions=[MetadataResponsePartition(), 7])]),  # type: ignore[list-item]
        1,
        "MetadataResponse v1: topics[0].partitions[1]: expected MetadataResponsePartition, got int (7)",
    ),
    (
        produce_response("broker 1"),
        10,
        "ProduceResponse v10: responses[0].partition_responses[0].current_leader: expected LeaderIdAndEpoch, "
        "got str of 8 characters",
    ),
    (
        FetchRequest(replica_state=FetchTopic()),  # type: ignore[arg-type]
        15,
        "FetchRequest v15: replica_state: expected ReplicaState, got FetchTopic",
    ),
    (
        ShareFetchResponse(
            responses=[
                share_fetch_response.ShareFetchableTopicResponse(partitions=[fetch_response.PartitionData()])  # type: ignore[list-item]
            ]
        ),
        1,
        "ShareFetchResponse v1: responses[0].partitions[0]: expected PartitionData of share_fetch_response, "
        "got PartitionData of fetch_response",
    ),
    (
        with_assigned(MetadataRequest(), topics="orders"),
        12,
        "MetadataRequest v12: topics: expected list, got str of 6 characters",
    ),
    (
        MetadataRequest(topics=[MetadataRequestTopic(name=5)]),  # type: ignore[arg-type]
        12,
        "MetadataRequest v12: topics[0].name: expected str, got int (5)",
    ),
]


@pytest.mark.parametrize(("message", "version", "text"), WRONG, ids=[text for _, _, text in WRONG])
def test_elements_of_wrong_type_raise_encode_error(message: Any, version: int, text: str) -> None:
    for write in (message.write, message.size, lambda version: to_json(message, version)):
        with pytest.raises(EncodeError) as caught:
            write(version)
        assert str(caught.value) == text


def test_wrong_struct_in_a_field_missing_in_the_version_raises_encode_error() -> None:
    with pytest.raises(EncodeError) as caught:
        produce_response("broker 1").write(3)
    place = "ProduceResponse v3: responses[0].partition_responses[0].current_leader"
    assert str(caught.value) == f"{place}: expected LeaderIdAndEpoch, got str of 8 characters"


def struct_fields() -> list[tuple[str, FieldDescriptor]]:
    found = []
    for name in vectors.message_names():
        fields = [field for field in descriptor_of(vectors.message_class(name)).fields if field.is_struct]
        found += [(name, field) for field in fields[:1]]
    return found


@pytest.mark.parametrize(("name", "field"), struct_fields(), ids=[name for name, _ in struct_fields()])
def test_every_message_rejects_wrong_structs(name: str, field: FieldDescriptor) -> None:
    cls = vectors.message_class(name)
    version = field.versions.lowest if field.versions.lowest in cls.schemas() else cls.LOWEST_SUPPORTED_VERSION
    message = cls(**{field.name: ["?"] if field.is_array else "?"})
    with pytest.raises(EncodeError) as caught:
        message.write(version)
    place = f"{field.name}[0]" if field.is_array else field.name
    assert str(caught.value) == f"{name} v{version}: {place}: expected {field.type}, got str of 1 character"


class LooksLikeTopic:
    def __init__(self, name: object) -> None:
        self.name = name
        self.topic_id = UUID(int=0)
        self.unknown_tagged_fields = ()


def test_duck_typed_elements_are_written() -> None:
    topics: list[Any] = [LooksLikeTopic("t"), MetadataResponseTopic(name="u")]
    wanted = MetadataRequest(topics=[MetadataRequestTopic(name="t"), MetadataRequestTopic(name="u")])
    assert MetadataRequest(topics=topics).write(12) == wanted.write(12)
    with pytest.raises(EncodeError) as caught:
        MetadataRequest(topics=[*topics, MetadataRequestTopic(name="x" * 40000)]).write(12)
    assert caught.value.path == "topics[2].name"
    with pytest.raises(EncodeError) as caught:
        MetadataRequest(topics=[*topics, LooksLikeTopic(5)]).write(12)  # type: ignore[list-item]
    assert str(caught.value) == ("MetadataRequest v12: topics[2]: expected MetadataRequestTopic, got LooksLikeTopic")


class SpecialTopic(MetadataRequestTopic):
    pass


def test_elements_of_subclasses_are_written() -> None:
    assert MetadataRequest(topics=[SpecialTopic(name="t")]).write(1) == b"\0\0\0\1\0\1t"
    with pytest.raises(EncodeError) as caught:
        MetadataRequest(topics=[SpecialTopic(name=5)]).write(12)  # type: ignore[arg-type]
    assert str(caught.value) == "MetadataRequest v12: topics[0].name: expected str, got int (5)"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda value: MetadataRequest(topics=value), "topics: expected list of MetadataRequestTopic, got {}"),
        (lambda value: MetadataResponse(topics=value), "topics: expected list of MetadataResponseTopic, got {}"),
        (lambda value: DeleteTopicsRequest(topic_names=value), "topic_names: expected list of str, got {}"),
    ],
    ids=["structs", "keyed", "strings"],
)
def test_strings_and_mappings_are_rejected_as_arrays(make: Callable[[Any], object], text: str) -> None:
    for value, words in (
        ("orders", "str of 6 characters"),
        ("", "str of 0 characters"),
        (b"orders", "6 bytes"),
        (bytearray(b"x" * 99), "bytearray of 99 bytes"),
        ({"orders": 1}, "dict of 1 element"),
    ):
        with pytest.raises(TypeError) as caught:
            make(value)
        assert str(caught.value) == text.format(words)


def test_arrays_accept_other_iterables() -> None:
    topic, topics = MetadataRequestTopic(name="t"), [MetadataRequestTopic(name="t")]
    for values in ((topic,), iter([topic]), {"t": topic}.values(), (each for each in [topic])):
        assert MetadataRequest(topics=values).topics == [topic]
    assert MetadataRequest(topics=topics).topics is topics
    assert MetadataRequest(topics=None).topics is None
    response = MetadataResponse(topics=(MetadataResponseTopic(name=name) for name in "ab"))
    assert [each.name for each in response.topics] == ["a", "b"]
    assert response.topics.find("b") is response.topics[1]


READERS: dict[str, Callable[[Any], object]] = {
    "read": lambda data: MetadataRequest.read(data, 12),
    "read_from": lambda data: MetadataRequest.read_from(data, 0, 12),
    "schema": lambda data: MetadataRequest.schemas()[12].read(data),
    "read_request_header": protocol.read_request_header,
    "decode_request": protocol.decode_request,
    "decode_response": lambda data: protocol.decode_response(data, 3, 12),
    "split_frames": protocol.split_frames,
    "feed": lambda data: protocol.FrameReader().feed(data),
    "read_metadata_record": internal_topics.read_metadata_record,
    "read_versioned": lambda data: internal_topics.read_versioned(MetadataRequest, data),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("data", ["abc", None, 5, [1, 2], 1.5], ids=repr)
def test_readers_reject_non_bytes(reader: str, data: Any) -> None:
    with pytest.raises(TypeError) as caught:
        READERS[reader](data)
    assert str(caught.value) == f"data must be bytes-like, not {type(data).__name__}"


def test_keys_and_payloads_reject_non_bytes() -> None:
    wrong: Any = "abc"
    with pytest.raises(TypeError, match=r"^key must be bytes-like, not str$"):
        internal_topics.read_coordinator_record("__consumer_offsets", wrong, None)
    with pytest.raises(TypeError, match=r"^payload must be bytes-like, not str$"):
        protocol.frame(wrong)


def test_any_buffer_is_read() -> None:
    data = MetadataRequest(topics=[MetadataRequestTopic(name="t")]).write(12)
    padded = b"".join(bytes((byte, 0)) for byte in data)
    for given in (bytearray(data), memoryview(data), memoryview(padded)[::2], array.array("B", data)):
        readable: Any = given
        assert MetadataRequest.read(readable, 12).write(12) == data
        assert MetadataRequest.read_from(readable, 0, 12)[1] == len(data)
        assert MetadataRequest.schemas()[12].read(readable)[1] == len(data)
        assert protocol.frame(readable) == len(data).to_bytes(4, "big") + data
    numbers: Any = array.array("i", [1, 2])
    assert protocol.frame(numbers) == b"\0\0\0\x08" + numbers.tobytes()


def test_every_struct_has_a_class_in_its_module() -> None:
    for name in vectors.message_names():
        cls = vectors.message_class(name)
        module = importlib.import_module(cls.__module__)
        for struct in descriptor_of(cls).structs:
            assert isinstance(getattr(module, struct), type)
    assert ReplicaState is kafka_messages.messages.fetch_request.ReplicaState


@pytest.mark.parametrize(
    ("value", "display"),
    [(5, "int (5)"), (None, "None"), (MetadataResponseTopic, "type"), (object(), "object")],
)
def test_non_iterables_are_rejected_as_arrays(value: Any, display: str) -> None:
    with pytest.raises(TypeError) as caught:
        MetadataResponse(topics=value)
    assert str(caught.value) == f"topics: expected list of MetadataResponseTopic, got {display}"


def test_assigned_iterators_raise_encode_error() -> None:
    for elements in (["orders"], [MetadataRequestTopic(name="orders")]):
        message = MetadataRequest()
        message.topics = iter(elements)  # type: ignore[assignment]
        for use in (message.write, message.size):
            with pytest.raises(EncodeError) as caught:
                use(12)
            assert str(caught.value) == ("MetadataRequest v12: topics: expected list, got list_iterator")


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ("", "str of 0 characters"),
        (b"", "0 bytes"),
        (bytearray(), "bytearray of 0 bytes"),
        (memoryview(b""), "memoryview"),
        ({}, "dict of 0 elements"),
    ],
)
@pytest.mark.parametrize("is_native", [True, False])
def test_empty_non_list_is_rejected_as_array(value: Any, got: str, is_native: bool) -> None:
    if is_native and kafka_messages.implementation() == "pure":
        pytest.skip("the native core is not installed")
    topic = with_assigned(MetadataResponseTopic(name="t"), partitions=value)
    cases: list[tuple[Any, int, str]] = [
        *((with_assigned(MetadataRequest(), topics=value), version, "topics") for version in range(14)),
        *((with_assigned(DeleteTopicsRequest(), topic_names=value), version, "topic_names") for version in (1, 5)),
        *(
            (with_assigned(ListTransactionsRequest(), state_filters=value), version, "state_filters")
            for version in (0, 1)
        ),
        *((MetadataResponse(topics=[topic]), version, "topics[0].partitions") for version in (0, 8, 9, 12)),
        (with_assigned(ApiVersionsResponse(), supported_features=value), 3, "supported_features"),
        (with_assigned(FetchResponse(), node_endpoints=value), 16, "node_endpoints"),
    ]
    with pure() if not is_native else nullcontext():
        for message, version, place in cases:
            with pytest.raises(EncodeError) as caught:
                message.write(version)
            assert str(caught.value) == f"{type(message).__name__} v{version}: {place}: expected list, got {got}"
