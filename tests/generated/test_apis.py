"""Table of APIs and error codes, compared with Kafka 4.4.0."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, assert_type

import kafka_messages
import pytest
from kafka_messages import (
    ApiVersionsResponse,
    KafkaMessageError,
    MetadataRequest,
    MetadataResponse,
    PartitionRecord,
    RequestHeader,
)
from kafka_messages.protocol import (
    Api,
    ApiKey,
    BrokerVersions,
    DecodedRequest,
    ErrorCode,
    UnknownApiError,
    Versions,
    api,
    apis,
    is_retriable,
)

from tests.support.kafka_protocol import KNOWN_KEYS, kafka_errors, oracle


def test_api_keys_equal_kafkas() -> None:
    assert {key.name: int(key) for key in ApiKey} == {row["name"]: row["id"] for row in oracle()}


def test_apis_are_sorted_by_key_and_include_removed_ones() -> None:
    assert [each.key for each in apis()] == [row["id"] for row in oracle()]


@pytest.mark.parametrize("row", oracle(), ids=lambda row: row["name"])
def test_api_agrees_with_kafka(row: dict[str, Any]) -> None:
    each = api(row["id"])
    assert (each.key, each.key.name, each.name, str(each)) == (row["id"], row["name"], row["title"], row["title"])
    assert each.is_removed is not row["hasValidVersion"]
    assert each.supported_versions == Versions(row["oldestVersion"], row["latestVersion"])
    assert each.stable_versions.highest == row["latestStableVersion"]
    assert each.latest_version_unstable == row["latestVersionUnstable"]
    assert each.deprecated_versions == Versions(row["oldestDeprecatedVersion"], row["latestDeprecatedVersion"])
    listeners = [] if each.is_removed else each.listeners  # a removed API has those of its last release
    assert sorted(listeners) == sorted(listener.lower() for listener in row["listeners"])


@pytest.mark.parametrize("row", oracle(), ids=lambda row: row["name"])
def test_header_versions_agree_with_kafka_for_every_version(row: dict[str, Any]) -> None:
    each = api(row["id"])
    request = {str(version): each.request_header_version(version) for version in each.supported_versions}
    response = {str(version): each.response_header_version(version) for version in each.supported_versions}
    assert request == row["requestHeaderVersions"]
    assert response == row["responseHeaderVersions"]


def test_header_versions_are_defined_for_unsupported_versions() -> None:
    metadata = api(ApiKey.METADATA)
    assert [metadata.request_header_version(version) for version in (-1, 99)] == [1, 2]
    assert metadata.response_header_version(99) == 1
    assert api(ApiKey.API_VERSIONS).response_header_version(99) == 0
    assert [api(ApiKey.CONTROLLED_SHUTDOWN).request_header_version(version) for version in (0, 1)] == [0, 1]


@pytest.mark.parametrize("each", apis(), ids=str)
def test_classes_of_an_api_match_its_name_key_and_versions(each: Api) -> None:
    request, response = each.request_class, each.response_class
    assert f"{each.name}Request" == request.NAME
    assert f"{each.name}Response" == response.NAME
    assert request.API_KEY == response.API_KEY == each.key
    assert each.valid_versions == Versions(request.LOWEST_SUPPORTED_VERSION, request.HIGHEST_SUPPORTED_VERSION)
    assert set(response._codecs) == set(request._codecs) == set(each.valid_versions)


def test_api_is_found_by_key_name_class_and_itself() -> None:
    names = ("Metadata", "MetadataRequest", "MetadataResponse")
    found = [api(which) for which in (3, ApiKey.METADATA, *names, MetadataRequest, MetadataResponse, api(3))]
    assert all(each is found[0] for each in found)
    assert api("LeaderAndIsr").is_removed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("metadata", "unknown API 'metadata'; did you mean 'Metadata'?"),
        ("MetadataRespons", "unknown API 'MetadataRespons'; did you mean 'MetadataResponse'?"),
        ("", "unknown API ''"),
        ("RequestHeader", "unknown API 'RequestHeader'"),
    ],
)
def test_unknown_api_name_raises_with_suggestion(name: str, text: str) -> None:
    with pytest.raises(UnknownApiError) as caught:
        api(name)
    assert str(caught.value) == text


@pytest.mark.parametrize("which", [True, 3.0, None, b"Metadata"])
def test_api_lookup_rejects_other_types(which: Any) -> None:
    with pytest.raises(TypeError) as caught:
        api(which)
    assert str(caught.value) == f"expected an API key, an API name or a message class, got {which!r}"


def test_removed_api_keeps_its_classes() -> None:
    removed = api(ApiKey.LEADER_AND_ISR)
    assert (removed.is_removed, str(removed.supported_versions), str(removed.stable_versions)) == (
        True,
        "no version",
        "no version",
    )
    assert (removed.valid_versions, removed.listeners) == (Versions(0, 7), ("zkBroker",))
    assert removed.request_class.NAME == "LeaderAndIsrRequest"


def test_valid_versions_include_removed_versions() -> None:
    older = {str(each): [v for v in each.valid_versions if v not in each.supported_versions] for each in apis()}
    assert {name: versions for name, versions in older.items() if versions and len(versions) < 3} == {
        "ListOffsets": [0],
        "OffsetCommit": [0, 1],
        "OffsetFetch": [0],
        "CreateTopics": [0, 1],
        "DeleteTopics": [0],
        "OffsetForLeaderEpoch": [0, 1],
        "WriteTxnMarkers": [0],
        "DescribeAcls": [0],
        "CreateAcls": [0],
        "DeleteAcls": [0],
        "DescribeConfigs": [0],
        "AlterReplicaLogDirs": [0],
        "DescribeLogDirs": [0],
        "CreateDelegationToken": [0],
        "RenewDelegationToken": [0],
        "ExpireDelegationToken": [0],
        "DescribeDelegationToken": [0],
        "AlterPartition": [0, 1],
    }
    assert {name: len(versions) for name, versions in older.items() if len(versions) > 2} == {
        "Produce": 3,
        "Fetch": 4,
        "LeaderAndIsr": 8,
        "StopReplica": 5,
        "UpdateMetadata": 9,
        "ControlledShutdown": 4,
    }


@pytest.mark.parametrize("key", [999, -1])
def test_unknown_api_key_raises(key: int) -> None:
    with pytest.raises(UnknownApiError) as caught:
        api(key)
    assert str(caught.value) == f"unknown API key {key}; {KNOWN_KEYS}"
    assert isinstance(caught.value, KafkaMessageError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.header is None


def test_api_of_a_record_class_raises() -> None:
    assert PartitionRecord.API_KEY == ApiKey.METADATA
    with pytest.raises(UnknownApiError) as caught:
        api(PartitionRecord)
    assert str(caught.value) == "PartitionRecord is neither the request nor the response of an API"


def test_versions_behave_like_a_range() -> None:
    assert 5 in Versions(3, 13)
    assert 2 not in Versions(3, 13)
    assert "5" not in Versions(3, 13)
    assert (list(Versions(3, 5)), len(Versions(3, 5)), len(Versions(0, -1))) == ([3, 4, 5], 3, 0)
    assert [str(each) for each in (Versions(3, 13), Versions(4, 4), Versions(0, -1))] == [
        "versions 3 to 13",
        "version 4",
        "no version",
    ]


def test_value_classes_support_dataclass_functions() -> None:
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
    for arguments, named, text in (
        ((3,), {}, "missing 1 required positional argument: 'highest'"),
        ((1, 2, 3), {}, "takes 3 positional arguments but 4 were given"),
        ((1, 2), {"other": 3}, "got an unexpected keyword argument 'other'"),
        ((3,), {"lowest": 3}, "got multiple values for argument 'lowest'"),
    ):
        with pytest.raises(TypeError) as caught:
            Versions(*arguments, **named)
        assert str(caught.value) == f"Versions.__init__() {text}"


def test_subclass_of_a_value_class_uses_its_constructor() -> None:
    class Fresh(BrokerVersions):
        pass

    made = Fresh({}, {}, finalized_features={}, finalized_features_epoch=None)
    assert (made.versions, made.finalized_features_epoch) == ({}, None)
    assert BrokerVersions.__init__ is Fresh.__init__
    assert "__init__" not in vars(Fresh)


def test_value_class_fields_can_have_defaults() -> None:
    header = RequestHeader(request_api_key=3, request_api_version=12, correlation_id=77)
    plain = DecodedRequest(header, api(3), 12, MetadataRequest())
    assert plain == DecodedRequest(header=header, api=api(3), version=12, message=MetadataRequest(), trailing=b"")
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
    wrong: tuple[Any, ...] = ((header, api(3), 12), (header, api(3), 12, MetadataRequest(), b"", None))
    for arguments in wrong:
        with pytest.raises(
            TypeError, match=r"^DecodedRequest\.__init__\(\) (missing 1 required|takes from 5 to 6) positional "
        ):
            DecodedRequest(*arguments)
    match longer:
        case DecodedRequest(_, _, _, _, trailing):
            assert_type(trailing, bytes)
            assert trailing == b"\1"


def test_error_codes_equal_kafkas() -> None:
    assert {error.name: int(error) for error in ErrorCode} == {row["name"]: row["code"] for row in kafka_errors()}
    assert [is_retriable(row["code"]) for row in kafka_errors()] == [row["retriable"] for row in kafka_errors()]


def test_unknown_error_codes_become_unknown_members() -> None:
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


def test_error_code_fields_compare_equal_to_members() -> None:
    response = ApiVersionsResponse(error_code=35)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert is_retriable(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert not is_retriable(ErrorCode.NONE)


def test_importing_the_protocol_imports_no_message() -> None:
    code = (
        "import sys, kafka_messages.protocol, kafka_messages.internal_topics;"
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
