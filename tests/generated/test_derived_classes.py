"""Subclasses of message classes."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

import kafka_messages
import pytest
from kafka_messages import (
    ApiVersionsResponse,
    DecodeError,
    EncodeError,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    OffsetCommitKey,
    OffsetCommitValue,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    TopicRecord,
    UnsupportedVersionError,
)
from kafka_messages.connection import RequestReceived, ServerConnection, entities, error_response
from kafka_messages.explain import explain
from kafka_messages.history import describe_lifetimes, since
from kafka_messages.internal_topics import write_coordinator_record, write_metadata_record
from kafka_messages.json import from_json, to_json
from kafka_messages.protocol import (
    DecodedRequest,
    api,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kafka_messages.schema import fields_of
from kafka_messages.secrets import redacted, secrets_of
from kafka_messages.testing import random_messages

from tests.support.implementations import pure

if TYPE_CHECKING:
    from typing import Self


Topic = MetadataRequest.MetadataRequestTopic


Text = Literal["strict", "surrogateescape"]


class Asked(MetadataRequest):
    """A request that knows its topics by name."""

    @property
    def names(self) -> list[str | None]:
        return [topic.name for topic in self.topics or ()]


@pytest.fixture(params=["native", "pure"])
def implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "native" and kafka_messages.implementation() == "pure":
        pytest.skip("the native core is not installed")
    with pure() if request.param == "pure" else nullcontext():
        yield


def asked_for_topic(name: str = "orders") -> Asked:
    return Asked(topics=[Topic(name=name)])


@pytest.mark.usefixtures("implementation")
def test_subclass_is_written_downgraded_and_read_from_json() -> None:
    plain = MetadataRequest(topics=[Topic(name="orders")])
    assert asked_for_topic().write(12) == plain.write(12)
    assert to_json(asked_for_topic(), 12) == to_json(plain, 12)
    assert asked_for_topic("caf\udce9").write(12, text="surrogateescape")[2:9] == b"\0" * 7
    downgraded = asked_for_topic().downgraded(3)
    assert (type(downgraded), downgraded.names) == (Asked, ["orders"])
    assert asked_for_topic().unsupported_fields(0) == ()
    read = from_json(Asked, to_json(plain, 12), 12)
    assert (type(read), read.names) == (Asked, ["orders"])
    assert [type(each) for each in random_messages(Asked, 12, mixed=0)] == [Asked, Asked]


@pytest.mark.usefixtures("implementation")
def test_errors_of_subclasses_contain_the_path_of_the_field() -> None:
    with pytest.raises(EncodeError) as caught:
        Asked(topics=["orders"]).write(12)  # type: ignore[list-item]
    assert str(caught.value) == "MetadataRequest v12: topics[0]: expected MetadataRequestTopic, got str of 6 characters"


@pytest.mark.usefixtures("implementation")
def test_subclass_instance_is_encoded_as_request() -> None:
    request = decode_request(encode_request(asked_for_topic(), 12, 1, framed=False))
    assert type(request.message) is MetadataRequest
    assert [entity.value for entity in entities(asked_for_topic(), "topicName")] == ["orders"]
    assert error_response(request, 3).write(12)


class Other(MetadataRequest):
    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.note = "made"

    @classmethod
    def read(
        cls,
        data: bytes | bytearray | memoryview,
        version: int,
        *,
        text: Literal["strict", "surrogateescape"] = "strict",
    ) -> Self:
        found = super().read(data, version, text=text)
        found.note += ", read"
        return found


@pytest.mark.usefixtures("implementation")
def test_subclass_read_returns_the_subclass() -> None:
    data, escaped = asked_for_topic().write(12), asked_for_topic("caf\udce9").write(12, text="surrogateescape")
    for _ in range(2):  # the first use has a separate code path
        read = Asked.read(data, 12)
        assert (type(read), read.names, read) == (Asked, ["orders"], asked_for_topic())
        assert read.write(12) == data
        assert Asked.read(escaped, 12, text="surrogateescape").names == ["caf\udce9"]
        begun, end = Asked.read_from(b"ab" + data + b"c", 2, 12)
        assert (type(begun), begun.names, end) == (Asked, ["orders"], len(data) + 2)
        begun, end = Asked.read_from(b"ab" + escaped, 2, 12, text="surrogateescape")
        assert (type(begun), begun.names, end) == (Asked, ["caf\udce9"], len(escaped) + 2)
        assert (type(Other.read(data, 12)), Other.read(data, 12).note) == (Other, "made, read")
        assert Other.read_from(data, 0, 12)[0].note == "made"
        assert type(MetadataRequest.read(data, 12)) is MetadataRequest


@pytest.mark.usefixtures("implementation")
def test_subclass_created_after_first_read_is_returned_by_read() -> None:
    data = HeartbeatRequest(group_id="g").write(4)
    assert type(HeartbeatRequest.read(data, 4)) is HeartbeatRequest

    class Beat(HeartbeatRequest):
        NAME = "Beat"  # not a message name

    class Later(Beat):
        pass

    for _ in range(2):
        assert [type(each.read(data, 4)) for each in (HeartbeatRequest, Beat, Later)] == [HeartbeatRequest, Beat, Later]
        odd = data.replace(b"g", b"\xe9")
        assert [type(each.read(odd, 4, text="surrogateescape")) for each in (Beat, Later)] == [Beat, Later]


@pytest.mark.parametrize("version", [True, 12.0, "12", None])
def test_invalid_versions_are_rejected(version: Any) -> None:
    message = MetadataRequest(topics=[Topic(name="orders")])
    refused = f"MetadataRequest has no version {version!r}, only versions 0 to 13"
    for call in (
        message.unsupported_fields,
        message.downgraded,
        message.write,
        lambda v: to_json(message, v),
        lambda v: from_json(MetadataRequest, {}, v),
        lambda v: list(random_messages(MetadataRequest, v)),
    ):
        with pytest.raises(UnsupportedVersionError) as caught:
            call(version)
        assert str(caught.value) == refused


def test_object_with_index_is_accepted_as_version() -> None:
    class Number:
        def __index__(self) -> int:
            return 12

    message = MetadataRequest(topics=[Topic(name="orders")])
    version: int = Number()  # type: ignore[assignment]
    assert message.downgraded(version) == message
    assert message.unsupported_fields(version) == ()
    assert from_json(MetadataRequest, to_json(message, version), version) == message


class Named(SaslAuthenticateRequest):
    NAME = "My"


def test_renamed_subclass_is_redacted() -> None:
    assert redacted(Named(auth_bytes=b"pw")) == Named(auth_bytes=b"(redacted)")
    assert secrets_of(Named) == secrets_of(SaslAuthenticateRequest)
    assert "pw" not in str(explain(Named(auth_bytes=b"pw").write(2), Named, 2))


def test_renamed_subclass_redacts_kraft_records() -> None:
    class Fetched(FetchResponse):
        NAME = "My"

    partition = FetchResponse.PartitionData(records=b"pw")
    topic = FetchResponse.FetchableTopicResponse(topic="__cluster_metadata", partitions=[partition])
    assert redacted(Fetched(responses=[topic])).responses[0].partitions[0].records == b"(redacted)"


def test_renamed_subclass_redacts_damaged_kraft_records() -> None:
    class Fetched(FetchResponse):
        NAME = "My"

    partition = FetchResponse.PartitionData(records=b"PLANTED" * 3)
    topic = FetchResponse.FetchableTopicResponse(topic="__cluster_metadata", partitions=[partition])
    data = FetchResponse(responses=[topic]).write(11)
    for damaged in (data[:-4], data[:34] + b"\0\0\0\x7f" + data[38:]):
        plain, named = explain(damaged, FetchResponse, 11), explain(damaged, Fetched, 11)
        assert plain.error is not None
        assert [leaf.is_secret for leaf in named.root.leaves()] == [leaf.is_secret for leaf in plain.root.leaves()]
        assert "PLANTED" not in str(named)


def test_server_accepts_renamed_api_versions_response() -> None:
    class Announced(ApiVersionsResponse):
        NAME = "My"

    assert ServerConnection(Announced()).receive_data(b"") is not None


def test_renamed_subclass_behaves_like_its_base() -> None:
    plain, named = SaslAuthenticateRequest(auth_bytes=b"pw"), Named(auth_bytes=b"pw")
    assert api(Named) is api(SaslAuthenticateRequest)
    sent = encode_request(named, 2, 1, framed=False)
    assert sent == encode_request(plain, 2, 1, framed=False)
    received = decode_request(sent)
    assert DecodedRequest(received.header, received.api, 2, named).encode(framed=False) == sent
    assert error_response(named, 58, version=2) == error_response(plain, 58, version=2)
    assert since(Named) == since(SaslAuthenticateRequest)
    assert fields_of(Named) == fields_of(SaslAuthenticateRequest)
    assert describe_lifetimes(Named) == describe_lifetimes(SaslAuthenticateRequest)


def test_subclasses_of_structs_and_messages_keep_fields() -> None:
    class Part(MetadataRequest.MetadataRequestTopic):
        pass

    assert fields_of(Asked) == fields_of(MetadataRequest)
    assert fields_of(Part) == fields_of(MetadataRequest.MetadataRequestTopic)
    assert (Part.__doc__, Asked.__doc__) == (None, "A request that knows its topics by name.")


def test_server_sends_renamed_response_subclass() -> None:
    class Derived(SaslHandshakeResponse):
        NAME = "My"

    server = ServerConnection()
    received = server.receive_data(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1))
    request = next(each for each in received if isinstance(each, RequestReceived))
    assert server.send(request, Derived(mechanisms=["PLAIN"])) == encode_response(Derived(mechanisms=["PLAIN"]), 0, 1)
    assert server.send_token(b"token") == b"\0\0\0\5token"


def test_renamed_record_subclasses_are_written() -> None:
    class Topic(TopicRecord):
        NAME = "My"

    class Key(OffsetCommitKey):
        NAME = "My"

    class Value(OffsetCommitValue):
        NAME = "My"

    assert write_metadata_record(Topic(name="a"), 0) == write_metadata_record(TopicRecord(name="a"), 0)
    written = write_coordinator_record(Key(group="a"), Value(offset=3), 3)
    assert written == write_coordinator_record(OffsetCommitKey(group="a"), OffsetCommitValue(offset=3), 3)


class Strange(MetadataRequest):
    def __init__(self, names: list[str]) -> None:
        super().__init__(topics=[Topic(name=name) for name in names])


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize(
    "read",
    [
        lambda data: Strange.read(data, 12),
        lambda data: Strange.read_from(data, 0, 12),
        lambda data: Strange.read(data.replace(b"orders", b"order\xe9"), 12, text="surrogateescape"),
        lambda data: from_json(Strange, to_json(MetadataRequest.read(data, 12), 12), 12),
        lambda data: list(random_messages(Strange, 12)),
    ],
    ids=["read", "read_from", "escaped", "from_json", "random_messages"],
)
def test_subclass_with_incompatible_constructor_raises_on_read(read: Callable[[bytes], object]) -> None:
    with pytest.raises(TypeError) as caught:
        read(asked_for_topic().write(12))
    summary, _, detail = str(caught.value).partition(" (")
    assert summary == (
        "cannot create Strange from field values: its constructor must accept every field of MetadataRequest by "
        "name and have defaults for its own fields"
    )
    assert detail.startswith("Strange.__init__() got an unexpected keyword argument '")


def use_messages(derived: type[HeartbeatResponse]) -> None:
    derived().downgraded(4)
    derived.schemas()
    derived().write(4, text="surrogateescape")
    with pytest.raises(DecodeError):
        derived.read(b"", 4, text="surrogateescape")
    with pytest.raises(EncodeError):
        derived(error_code="\udce9").write(4, text="surrogateescape")  # type: ignore[arg-type]  # what is refused
    from_json(derived, to_json(derived(), 4), 4)
    fields_of(derived)
    decode_response(encode_response(derived(), 4, 1, framed=False), derived, 4)
    assert api(derived).response_class is HeartbeatResponse


def use_columns(derived: type[HeartbeatResponse]) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    pytest.importorskip("numpy", reason="the extra `arrow` is not installed")
    from kafka_messages.arrow import decode

    decode(pa.array([derived().write(4)]), derived, 4)


@pytest.mark.parametrize("use", [use_messages, use_columns])
def test_unused_subclass_is_garbage_collected(use: Callable[[type[HeartbeatResponse]], None]) -> None:
    def used() -> weakref.ref[type]:
        class Short(HeartbeatResponse):
            pass

        use(Short)
        return weakref.ref(Short)

    gone = used()
    gc.collect()
    assert gone() is None
