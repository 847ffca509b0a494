"""Invalid values raise EncodeError with the path of the field; nothing is silently converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    AlterClientQuotasRequest,
    ApiVersionsRequest,
    BrokerHeartbeatRequest,
    ConsumerGroupDescribeRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeTopicPartitionsRequest,
    EncodeError,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    ListTransactionsRequest,
    Message,
    MetadataRequest,
    ProduceRequest,
    ProducerSnapshot,
    RawTaggedField,
    RegisterBrokerRecord,
    SaslAuthenticateRequest,
)
from kafka_messages.messages.alter_client_quotas_request import EntryData, OpData
from kafka_messages.messages.create_topics_request import CreatableReplicaAssignment, CreatableTopic
from kafka_messages.messages.fetch_request import FetchTopic, ReplicaState
from kafka_messages.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.messages.register_broker_record import BrokerEndpoint
from kafka_messages.schema import NullableStruct, Schema
from kafka_messages.schema.arrays import ArrayOf

from tests.support import vectors

MESSAGES = vectors.message_names()


def encode_error_text(message: Message, version: int) -> str:
    with pytest.raises(EncodeError) as caught:
        message.write(version)
    assert caught.value.message == message.NAME
    assert caught.value.version == version
    return str(caught.value).removeprefix(f"{message.NAME} v{version}: ")


def heartbeat(**values: Any) -> HeartbeatRequest:
    return HeartbeatRequest(**values)


LONG = "a" * 32768
RANGE32 = "-2147483648 to 2147483647"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (heartbeat(generation_id=None), "generation_id: expected int for INT32, got None"),
        (heartbeat(generation_id="1"), "generation_id: expected int for INT32, got str of 1 character"),
        (heartbeat(generation_id=1.0), "generation_id: expected int for INT32, got float (1.0)"),
        (heartbeat(generation_id=2**31), f"generation_id: 2147483648 is out of range for INT32, {RANGE32}"),
        (heartbeat(generation_id=-(2**31) - 1), f"generation_id: -2147483649 is out of range for INT32, {RANGE32}"),
        (heartbeat(generation_id=10**5000), f"generation_id: an unprintable int is out of range for INT32, {RANGE32}"),
        (heartbeat(group_id=None), "group_id: must not be None in this version"),
        (heartbeat(group_id=b"g"), "group_id: expected str, got 1 byte"),
        (heartbeat(group_id=10**5000), "group_id: expected str, got an unprintable int"),
        (heartbeat(group_id=["x" * 80]), "group_id: expected str, got list of 1 element"),
        (heartbeat(member_id=LONG), "member_id: has 32768 bytes of UTF-8, at most 32767 allowed"),
        (heartbeat(member_id="é" * 16384), "member_id: has 32768 bytes of UTF-8, at most 32767 allowed"),
        (
            heartbeat(member_id="ab\ud800"),
            "member_id: cannot be encoded as UTF-8: surrogates not allowed at character 2",
        ),
        (heartbeat(group_instance_id=5), "group_instance_id: expected str, got int (5)"),
        (
            heartbeat(group_instance_id=LONG),
            "group_instance_id: has 32768 bytes of UTF-8, at most 32767 allowed",
        ),
    ],
    ids=lambda value: value.split(" ")[0] if isinstance(value, str) else "",
)
@pytest.mark.parametrize("version", [3, 4], ids=["classic", "compact"])
def test_wrong_strings_and_integers_raise_encode_error(message: HeartbeatRequest, version: int, text: str) -> None:
    assert encode_error_text(message, version) == text


def test_longest_string_round_trips() -> None:
    for version in (3, 4):
        message = heartbeat(group_id="a" * 32767)
        assert HeartbeatRequest.read(message.write(version), version) == message


def test_string_is_rejected_as_list_of_strings() -> None:
    with pytest.raises(TypeError, match=r"^topic_names: expected list of str, got str of 6 characters$"):
        DeleteTopicsRequest(topic_names="orders")
    assert DeleteTopicsRequest(topic_names=iter(("orders",))).topic_names == ["orders"]
    for version in (1, 5):
        request: Any = DeleteTopicsRequest()
        request.topic_names = "orders"
        assert encode_error_text(request, version) == "topic_names: expected list, got str of 6 characters"
        with pytest.raises(
            EncodeError, match=r"^DeleteTopicsRequest v\d: topic_names: expected list, got str of 6 characters$"
        ):
            request.size(version)


INTEGERS: list[tuple[Callable[[int], Message], int, str, str, int, int]] = [
    (lambda n: FetchRequest(isolation_level=n), 4, "isolation_level", "INT8", -128, 127),
    (lambda n: ProduceRequest(acks=n), 9, "acks", "INT16", -32768, 32767),
    (
        lambda n: RegisterBrokerRecord(end_points=[BrokerEndpoint(port=n)]),
        0,
        "end_points[0].port",
        "UINT16",
        0,
        65535,
    ),
    (lambda n: ProducerSnapshot(crc=n), 1, "crc", "UNSIGNED_INT32", 0, 2**32 - 1),
    (lambda n: RegisterBrokerRecord(broker_epoch=n), 0, "broker_epoch", "INT64", -(2**63), 2**63 - 1),
    (
        lambda n: ListTransactionsRequest(producer_id_filters=[5, n]),
        0,
        "producer_id_filters[1]",
        "INT64",
        -(2**63),
        2**63 - 1,
    ),
    (
        lambda n: FetchRequest(replica_state=ReplicaState(replica_id=n)),
        15,
        "replica_state.replica_id",
        "INT32",
        -(2**31),
        2**31 - 1,
    ),
]


@pytest.mark.parametrize(("make", "version", "path", "kind", "lowest", "highest"), INTEGERS)
def test_integers_out_of_range_raise_encode_error(
    make: Callable[[int], Message], version: int, path: str, kind: str, lowest: int, highest: int
) -> None:
    for number in (lowest, highest):
        message = make(number)
        assert type(message).read(message.write(version), version) == message
    for number in (lowest - 1, highest + 1):
        text = f"{path}: {number} is out of range for {kind}, {lowest} to {highest}"
        assert encode_error_text(make(number), version) == text


def quota(value: Any) -> AlterClientQuotasRequest:
    return AlterClientQuotasRequest(entries=[EntryData(ops=[OpData(value=value)])])


def with_values(cls: Any, **values: Any) -> Any:
    message = cls()
    for name, value in values.items():
        setattr(message, name, value)
    return message


@pytest.mark.parametrize(
    ("message", "version", "text"),
    [
        (quota("1"), 1, "entries[0].ops[0].value: expected float, got str of 1 character"),
        (quota(None), 1, "entries[0].ops[0].value: expected float, got None"),
        (quota(2**1024), 1, f"entries[0].ops[0].value: {str(2**1024)[:57]}... is out of range for FLOAT64"),
        (
            with_values(MetadataRequest, allow_auto_topic_creation=None),
            4,
            "allow_auto_topic_creation: expected bool, got None",
        ),
        (
            with_values(MetadataRequest, allow_auto_topic_creation=2),
            4,
            "allow_auto_topic_creation: expected bool, got int (2)",
        ),
        (with_values(MetadataRequest, topics=5), 4, "topics: expected list, got int (5)"),
        (with_values(MetadataRequest, topics=[5]), 4, "topics[0]: expected MetadataRequestTopic, got int (5)"),
        (with_values(MetadataRequest, topics=[None]), 4, "topics[0]: expected MetadataRequestTopic, got None"),
        (with_values(MetadataRequest, topics=None), 0, "topics: must not be None in this version"),
        (
            MetadataRequest(topics=[with_values(MetadataRequestTopic, topic_id="x")]),
            12,
            "topics[0].topic_id: expected UUID, got str of 1 character",
        ),
        (
            MetadataRequest(topics=[with_values(MetadataRequestTopic, topic_id=None)]),
            12,
            "topics[0].topic_id: expected UUID, got None",
        ),
        (
            MetadataRequest(topics=[MetadataRequestTopic(name=None)]),
            9,
            "topics[0].name: must not be None in this version",
        ),
        (with_values(SaslAuthenticateRequest, auth_bytes=None), 1, "auth_bytes: must not be None in this version"),
        (with_values(SaslAuthenticateRequest, auth_bytes=None), 2, "auth_bytes: must not be None in this version"),
        (with_values(SaslAuthenticateRequest, auth_bytes="x"), 2, "auth_bytes: expected bytes, got str of 1 character"),
        (with_values(SaslAuthenticateRequest, auth_bytes=7), 1, "auth_bytes: expected bytes, got int (7)"),
        (
            FetchResponse(responses=[FetchableTopicResponse(partitions=[with_values(PartitionData, records="x")])]),
            12,
            "responses[0].partitions[0].records: expected bytes, got str of 1 character",
        ),
        (
            CreateTopicsRequest(
                topics=[CreatableTopic(assignments=[with_values(CreatableReplicaAssignment, broker_ids=[1, "2"])])]
            ),
            5,
            "topics[0].assignments[0].broker_ids[1]: expected int for INT32, got str of 1 character",
        ),
        (
            CreateTopicsRequest(topics=[CreatableTopic(name="a"), with_values(CreatableTopic, name=None)]),
            2,
            "topics[1].name: must not be None in this version",
        ),
        (
            with_values(ConsumerGroupDescribeRequest, group_ids=["a", None]),
            0,
            "group_ids[1]: must not be None in this version",
        ),
        (
            with_values(ConsumerGroupDescribeRequest, group_ids=[LONG]),
            0,
            "group_ids[0]: has 32768 bytes of UTF-8, at most 32767 allowed",
        ),
        (
            with_values(BrokerHeartbeatRequest, offline_log_dirs=[UUID(int=1), 2]),
            1,
            "offline_log_dirs[1]: expected UUID, got int (2)",
        ),
        (with_values(DescribeTopicPartitionsRequest, cursor=5), 0, "cursor: expected Cursor, got int (5)"),
    ],
    ids=lambda value: value.split(": ")[0] if isinstance(value, str) else "",
)
def test_wrong_values_raise_encode_error_with_path(message: Message, version: int, text: str) -> None:
    assert encode_error_text(message, version) == text


def test_none_for_a_struct_raises_encode_error() -> None:
    message = FetchRequest()
    message.replica_state = None  # type: ignore[assignment]  # that is the point
    assert encode_error_text(message, 17) == "replica_state: must not be None in this version"


@pytest.mark.parametrize(
    ("message", "version", "path"),
    [
        (heartbeat(group_instance_id=""), 2, "group_instance_id"),
        (MetadataRequest(allow_auto_topic_creation=False), 3, "allow_auto_topic_creation"),
        (FetchRequest(replica_state=ReplicaState(replica_epoch=0)), 14, "replica_state"),
        (BrokerHeartbeatRequest(cordoned_log_dirs=[]), 1, "cordoned_log_dirs"),
        (BrokerHeartbeatRequest(offline_log_dirs=[UUID(int=0)]), 0, "offline_log_dirs"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_set_field_missing_in_the_version_raises_encode_error(message: Message, version: int, path: str) -> None:
    assert encode_error_text(message, version) == f"{path}: is set, but is not supported by version {version}"
    assert message.write(version + 1)


def test_ignorable_field_missing_in_the_version_is_dropped() -> None:
    message = FetchRequest(session_id=5, rack_id="r", topics=[FetchTopic(topic_id=UUID(int=1))])
    again = FetchRequest.read(message.write(4), 4)

    assert (again.session_id, again.rack_id) == (0, "")


def tagged(*fields: Any) -> ApiVersionsRequest:
    return ApiVersionsRequest(unknown_tagged_fields=fields)


def raw(tag: Any, data: Any) -> RawTaggedField:
    return RawTaggedField(tag, data)


FIVE = RawTaggedField(5, b"")


@pytest.mark.parametrize(
    ("message", "version", "text"),
    [
        (tagged(FIVE), 2, "unknown_tagged_fields: is set, but this version does not support tagged fields"),
        (
            MetadataRequest(topics=[MetadataRequestTopic(unknown_tagged_fields=(FIVE,))]),
            8,
            "topics[0].unknown_tagged_fields: is set, but this version does not support tagged fields",
        ),
        (tagged(FIVE, RawTaggedField(7, b""), FIVE), 3, "unknown_tagged_fields[2]: duplicate tag 5"),
        (
            tagged(RawTaggedField(-1, b"")),
            3,
            "unknown_tagged_fields[0]: -1 is out of range for UNSIGNED_VARINT, 0 to 4294967295",
        ),
        (
            tagged(RawTaggedField(2**32, b"")),
            3,
            "unknown_tagged_fields[0]: 4294967296 is out of range for UNSIGNED_VARINT, 0 to 4294967295",
        ),
        (tagged(FIVE, 5), 3, "unknown_tagged_fields[1]: expected RawTaggedField, got int (5)"),
        (tagged(raw(5, None)), 3, "unknown_tagged_fields[0]: expected bytes, got None"),
        (tagged(raw(5, "x")), 3, "unknown_tagged_fields[0]: expected bytes, got str of 1 character"),
        (
            tagged(raw("5", b"")),
            3,
            "unknown_tagged_fields[0]: expected int for UNSIGNED_VARINT, got str of 1 character",
        ),
        (
            FetchRequest(unknown_tagged_fields=(RawTaggedField(1, b""),)),
            15,
            "unknown_tagged_fields[0]: tag 1 is a field of the definition",
        ),
        (
            FetchRequest(unknown_tagged_fields=(RawTaggedField(1, b""),)),
            14,
            "unknown_tagged_fields[0]: tag 1 is a field of the definition",
        ),
        (
            BrokerHeartbeatRequest(unknown_tagged_fields=(RawTaggedField(0, b""),)),
            0,
            "unknown_tagged_fields[0]: tag 0 is a field of the definition",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_unknown_tagged_fields_raise_encode_error(message: Message, version: int, text: str) -> None:
    assert encode_error_text(message, version) == text


# --- values: every field of every layout ------------------------------------------------------------------------------


class Nothing:
    pass


@pytest.mark.parametrize("name", MESSAGES)
def test_every_field_rejects_values_of_a_wrong_type(name: str) -> None:
    for vector in vectors.layouts(name):
        version, schema = vector.version, vector.cls.schemas()[vector.version]
        message = vector.cls.read(vector.data, version)
        for struct, field, path in fields_of(schema, message):
            old = getattr(struct, field)
            for value in (Nothing(), Nothing, 10**5000):
                setattr(struct, field, value)
                with pytest.raises(EncodeError) as caught:
                    message.write(version)
                # The error may be at a nested path: Nothing lacks the struct's fields.
                assert caught.value.path.startswith(path), f"{vector}: {path}: {caught.value}"
                assert "Error: " not in caught.value.reason, f"{vector}: {path}: {caught.value}"
                with pytest.raises(EncodeError) as of_size:
                    message.size(version)
                assert str(of_size.value) == str(caught.value)
            setattr(struct, field, old)
        assert message.write(version) == vector.data


def fields_of(schema: Schema, struct: Any, path: str = "") -> Iterator[tuple[Any, str, str]]:
    """Yield struct, name and path of every field of a message; of arrays only the first element."""
    for field in (*schema.fields, *(schema.tags.fields.values() if schema.tags else ())):
        where = f"{path}.{field.name}".removeprefix(".")
        yield struct, field.name, where
        kind, value = field.type, getattr(struct, field.name)
        if isinstance(kind, ArrayOf) and value:
            kind, value, where = kind.element, value[0], f"{where}[0]"
        if isinstance(kind, NullableStruct):
            kind = kind.schema
        if isinstance(kind, Schema) and value is not None:
            yield from fields_of(kind, value, where)
