"""error_response and announce, compared with Kafka's own classes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import kafka_messages
import pytest
from kafka_messages import ApiVersionsResponse, FetchResponse, Message, ProduceRequest, RequestHeader
from kafka_messages.connection import announce, error_response, errors, expects_response
from kafka_messages.protocol import Api, ApiKey, DecodedRequest, ErrorCode, UnknownApiError, Versions, api, apis
from kafka_messages.schema import FieldDescriptor, MessageDescriptor, descriptor_of
from kafka_messages.schema.descriptors import class_in

from tests.generated.connection.__main__ import requests
from tests.support.filled import filled
from tests.support.replaced import counting

DATA = Path(__file__).with_name("data")


def recorded_error_responses(name: str = "errors") -> Iterator[tuple[DecodedRequest, int, Message]]:
    for line in gzip.decompress((DATA / f"{name}.txt.gz").read_bytes()).decode().splitlines():
        key, version, asked, code, answer = line.split(" ")
        of = api(int(key))
        message = of.request_class.read(bytes.fromhex(asked), int(version))
        yield decoded_request(message, int(version)), int(code), of.response_class.read(
            bytes.fromhex(answer), int(version)
        )


def decoded_request(message: Any, version: int) -> DecodedRequest:
    header = RequestHeader(request_api_key=int(api(type(message)).key), request_api_version=version)
    return DecodedRequest(header, api(type(message)), version, message)


def comparable(value: Any) -> Any:
    if hasattr(value, "_names"):
        return {name: comparable(getattr(value, name)) for name in value._names if name != "error_message"}
    if isinstance(value, list):
        return sorted(map(comparable, value), key=repr) if value and hasattr(value[0], "_names") else list(value)
    return value


def test_error_responses_equal_kafkas() -> None:
    pairs = set()
    for request, code, kafkas in recorded_error_responses():
        answer = error_response(request, code, "why")
        written = answer.write(request.version)
        assert comparable(type(answer).read(written, request.version)) == comparable(kafkas), (
            request.api,
            request.version,
        )
        assert any(error.code == code for error in errors(answer)) or not list(errors(kafkas))
        pairs.add((request.api.key, request.version))
    assert pairs == {(each.key, version) for each in apis() for version in each.supported_versions}


@pytest.mark.parametrize(("name", "is_older"), [("errors", False), ("older-errors", True)])
def test_recorded_requests_are_up_to_date(name: str, is_older: bool) -> None:
    asked = requests()
    wanted = [each for release in sorted(asked) if bool(release) == is_older for each in asked[release]]
    lines = gzip.decompress((DATA / f"{name}.txt.gz").read_bytes()).decode().splitlines()
    assert [line.split(" ")[:3] for line in lines] == [
        [str(key), str(version), message.write(version).hex()] for key, version, message in wanted
    ]


def without_records(message: Any) -> Any:
    found = comparable(message)
    for topic in found["responses"] if isinstance(message, FetchResponse) else ():
        for partition in topic["partitions"]:
            partition["records"] = partition["records"] or None
    return found


def test_error_responses_of_older_versions_equal_kafkas() -> None:
    pairs = set()
    for request, code, kafkas in recorded_error_responses("older-errors"):
        answer = error_response(request, code, "why")
        again = type(answer).read(answer.write(request.version), request.version)
        assert without_records(again) == without_records(kafkas), (request.api, request.version)
        pairs.add((request.api.key, request.version))
    every = {(each.key, version) for each in apis() for version in each.valid_versions}
    assert pairs == every - {(each.key, version) for each in apis() for version in each.supported_versions}


WITHOUT_CODE = {("DescribeLogDirsRequest", version) for version in range(3)}
"""Responses without an error code: the request names no items; Kafka's classes agree."""


def has_code(descriptor: MessageDescriptor, fields: tuple[FieldDescriptor, ...], version: int) -> bool:
    return any(
        version in each.versions
        and (each.is_error_code or has_code(descriptor, descriptor.structs.get(each.type, ()), version))
        for each in fields
    )


def value(field: FieldDescriptor) -> Any:
    values = {"uuid": UUID(int=7), "string": "n", "bytes": b"b", "records": b"r"}
    return values.get(field.type, 0) if field.is_array or field.type in values else None


def test_every_request_has_an_error_response_at_every_version() -> None:
    without, count = set(), 0
    for each in apis():
        descriptor = descriptor_of(each.response_class) if each.valid_versions else None
        for version in each.valid_versions:
            asked = filled(each.request_class, value).downgraded(version)
            answer = error_response(asked, 41, "why", version=version)
            written = answer.write(version)
            again = type(answer).read(written, version)
            assert again.write(version) == written
            assert descriptor is not None
            assert has_code(descriptor, descriptor.fields, version), (each, version)
            if ErrorCode(41) not in {error.code for error in errors(again)}:
                without.add((each.request_name, version))
            empty = error_response(each.request_class().downgraded(version), 41, version=version)
            assert empty.write(version)
            count += 1
    assert without == WITHOUT_CODE
    assert count > 360


@pytest.mark.parametrize("text", ["why", None])
def test_error_responses_have_the_given_message(text: str | None) -> None:
    explained = 0
    for request, code, _ in recorded_error_responses():
        for error in errors(error_response(request, code, text)):
            assert error.code is ErrorCode(code)
            assert error.message in (text, None, "")  # None or "" if the struct or version has no message field
            explained += error.message == text is not None
    assert explained > 100 or text is None


def test_error_response_with_code_0_is_rejected() -> None:
    request = decoded_request(kafka_messages.MetadataRequest(), 12)
    with pytest.raises(ValueError, match=r"^error code 0 means success; pass the code of an error$"):
        error_response(request, ErrorCode.NONE)


def test_only_produce_without_acks_expects_no_response() -> None:
    assert not expects_response(ProduceRequest(acks=0))
    assert expects_response(ProduceRequest(acks=1))
    assert expects_response(ProduceRequest(acks=-1))
    assert expects_response(kafka_messages.HeartbeatRequest())
    with pytest.raises(UnknownApiError, match=r"^MetadataResponse is a response; pass the request$"):
        expects_response(kafka_messages.MetadataResponse())


@pytest.mark.parametrize("line", (DATA / "announced.txt").read_text().splitlines())
def test_announce_equals_kafkas_api_versions(line: str) -> None:
    listener, unstable, telemetry, encoded = line.split()
    ours = announce(listener=listener, allow_unstable=unstable == "true", has_telemetry=telemetry == "true")
    assert ours.write(4).hex() == encoded


def test_produce_is_announced_from_version_0() -> None:
    [produce, _] = announce([ApiKey.PRODUCE]).api_keys
    assert (produce.api_key, produce.min_version, produce.max_version) == (0, 0, 13)
    [produce, _] = announce([ProduceRequest], versions={"Produce": Versions(3, 7)}).api_keys
    assert (produce.min_version, produce.max_version) == (3, 7)


def test_features_are_announced() -> None:
    response = announce(
        [ApiKey.API_VERSIONS],
        supported_features={"metadata.version": Versions(7, 30)},
        finalized_features={"metadata.version": Versions(7, 25)},
        finalized_features_epoch=5,
        zk_migration_ready=True,
    )
    again = ApiVersionsResponse.read(response.write(3), 3)
    assert again == response
    [supported], [finalized] = again.supported_features, again.finalized_features
    assert (supported.name, supported.min_version, supported.max_version) == ("metadata.version", 7, 30)
    assert (finalized.min_version_level, finalized.max_version_level) == (7, 25)
    assert (again.finalized_features_epoch, again.zk_migration_ready) == (5, True)


def test_removed_api_cannot_be_announced() -> None:
    removed = next(each for each in apis() if each.is_removed)
    assert isinstance(removed, Api)
    with pytest.raises(
        UnknownApiError, match=rf"^{removed} has no version to announce; skip it with only_present=True$"
    ):
        announce([removed])


def test_api_versions_is_always_announced() -> None:
    assert [each.api_key for each in announce([ApiKey.METADATA]).api_keys] == [3, 18]
    assert [each.api_key for each in announce([ApiKey.METADATA, ApiKey.API_VERSIONS]).api_keys] == [3, 18]


def test_announce_rejects_unknown_listener_and_api() -> None:
    with pytest.raises(ValueError, match=r"^listener must be 'broker' or 'controller', not 'brokr'$"):
        announce(listener="brokr")
    with pytest.raises(UnknownApiError, match=r"^unknown API 'Metdata'; did you mean 'Metadata'\?$"):
        announce(versions={"Metdata": Versions(0, 5)})


def test_error_response_accepts_message_and_version() -> None:
    asked = kafka_messages.MetadataRequest(topics=[kafka_messages.MetadataRequest.MetadataRequestTopic(name="t")])
    assert error_response(asked, 3, version=12) == error_response(decoded_request(asked, 12), 3)


@pytest.mark.parametrize(("version", "name"), [(10, ""), (11, ""), (12, None)])
def test_error_response_for_a_topic_id_has_no_topic_name(version: int, name: str | None) -> None:
    topic = kafka_messages.MetadataRequest.MetadataRequestTopic(name=None, topic_id=UUID(int=7))
    answer = error_response(kafka_messages.MetadataRequest(topics=[topic]), 3, version=version)
    assert isinstance(answer, kafka_messages.MetadataResponse)
    assert [(each.name, each.topic_id) for each in answer.topics] == [(name, UUID(int=7))]
    assert kafka_messages.MetadataResponse.read(answer.write(version), version) == answer


@pytest.mark.parametrize("code", [True, 40000, "3", 3.0, None])
def test_invalid_error_codes_are_rejected(code: object) -> None:
    with pytest.raises(ValueError, match=rf"^an error code must be an int16, not {code!r}$"):
        error_response(kafka_messages.MetadataRequest(), code, version=12)  # type: ignore[arg-type]  # what is refused


def test_error_response_rejects_invalid_requests() -> None:
    asked = kafka_messages.MetadataRequest()
    with pytest.raises(TypeError) as caught:
        error_response(asked, 3)
    needed = "a request message needs its version: error_response(MetadataRequest(...), code, version=...)"
    assert str(caught.value) == needed
    with pytest.raises(TypeError) as caught:
        error_response("Metadata", 3)  # type: ignore[arg-type]  # what is refused
    needed = "expected a decoded request, or a request message and its version, got 'Metadata'"
    assert str(caught.value) == needed
    with pytest.raises(TypeError, match=r"got MetadataResponse\("):
        error_response(kafka_messages.MetadataResponse(), 3, version=12)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(TypeError) as caught:
        error_response(decoded_request(asked, 12), 3, version=5)
    assert str(caught.value) == "the request has version 12; omit the argument version"


def test_error_response_can_lack_an_error_code() -> None:
    everything = kafka_messages.MetadataRequest(topics=None)
    assert list(errors(error_response(everything, 3, version=12))) == []
    assert [error.path for error in errors(error_response(everything, 3, version=13))] == ["error_code"]


def test_element_classes_are_looked_up_once() -> None:
    def looks(count: int) -> int:
        asked = kafka_messages.DescribeGroupsRequest(groups=["g"] * count)
        with counting(class_in) as counts:
            answer = error_response(asked, 3, version=5)
        assert isinstance(answer, kafka_messages.DescribeGroupsResponse)
        assert [(group.group_id, group.error_code) for group in answer.groups] == [("g", 3)] * count
        return counts["class_in"]

    assert looks(1) == looks(1000) == 2
