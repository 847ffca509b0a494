"""Availability of messages, versions and fields by Kafka release."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kafka_messages import FetchRequest, LeaderAndIsrRequest, ShareFetchRequest, all_messages
from kafka_messages.connection import RequestReceived, ServerConnection, announce
from kafka_messages.history import (
    RELEASES,
    describe_lifetimes,
    error_code_names,
    error_code_since,
    error_code_until,
    field_since,
    field_until,
    fields_since,
    gaps,
    is_older,
    listeners_in,
    missing_in,
    release_of,
    releases_with,
    since,
    unstable_since,
    until,
    versions_in,
)
from kafka_messages.protocol import ErrorCode, Versions, apis, encode_request

from kafka_message_generator.compat.definition_sets import release_sets, set_of_release
from kafka_messages_tools.command._layouts import rows_of
from kafka_messages_tools.package import load
from tests.support.pages import ROOT
from tests.support.vectors import RELEASE

HISTORY = ROOT / "specs" / "history"
SOURCE = str(Path(sys.modules["kafka_messages"].__file__ or "").parents[1])


def test_known_releases_end_with_the_pinned_release() -> None:
    pinned = json.loads((ROOT / "specs" / "kafka" / "SOURCE").read_text(encoding="utf-8"))["release"]
    assert (RELEASES[0], RELEASES[-1], release_of("2.8"), release_of("4.0.1")) == ("2.2.0", pinned, "2.8.2", "4.0.1")


@pytest.mark.parametrize(
    ("release", "suggestion"), [("2.8.9", "; did you mean '2.8.2'?"), ("1.0", ""), ("5.0", ""), ("newest", "")]
)
def test_unknown_release_is_rejected_with_the_known_range(release: str, suggestion: str) -> None:
    known = f"Kafka '{release}' is not in the history of this package, which has 2.2.0 to {RELEASE}"
    with pytest.raises(ValueError, match=f"^{re.escape(known + suggestion)}$"):
        release_of(release)


def test_versions_of_every_release_equal_its_definitions() -> None:
    for side in release_sets(HISTORY):
        release = side.name.removeprefix("Kafka ")
        for api in apis():
            names = [name for name, each in side.messages.items() if each.kind == "request" and each.api_key == api.key]
            valid = list(side.messages[names[0]].valid) if names else []
            stable = valid[:-1] if names and side.unstable(names[0]) is not None else valid
            assert list(versions_in(release, api.request_name)) == stable, (release, api)


def test_versions_removed_in_kafka_4_have_their_last_release() -> None:
    """KIP-896 removed old client API versions."""
    assert (since(FetchRequest), until(FetchRequest)) == ("2.2.0", None)
    assert (since("FetchRequest", 3), until("FetchRequest", 3)) == ("2.2.0", "4.0.0")
    assert (since(LeaderAndIsrRequest, 7), until(LeaderAndIsrRequest)) == ("3.4.0", "4.0.0")
    assert missing_in("FetchRequest", 17) == "before 3.9.0"
    assert missing_in("FetchRequest", 0) == "from 4.0.0 on"
    assert missing_in("AlterPartitionRequest", 1) == "before 3.2.0 and from 4.0.0 on"
    assert missing_in("ApiVersionsRequest", 0) == ""
    assert describe_lifetimes("AlterPartitionRequest")[0].startswith("version 0: since ")
    assert describe_lifetimes("InitProducerIdRequest")[-1] == "version 6: unstable since 4.1.0"
    with pytest.raises(ValueError, match=r"^unknown message 'FetchReqest'; did you mean 'FetchRequest'\?$"):
        since("FetchReqest")


def test_unstable_versions_have_their_first_release() -> None:
    """Kafka 3.9.0 and 4.0.0 define share groups as unstable (KIP-932); 4.1.0 made them stable."""
    assert unstable_since("InitializeShareGroupStateRequest", 0) == "3.9.0"
    assert describe_lifetimes("InitializeShareGroupStateRequest") == [
        "version 0: stable since 4.1.0, unstable since 3.9.0"
    ]
    assert unstable_since("ShareFetchRequest", 0) == "3.9.0"  # removed while it was unstable
    assert (since("ShareFetchRequest", 0), unstable_since("ShareFetchRequest", 1)) == (None, "3.9.0")
    assert describe_lifetimes("ShareFetchRequest")[0] == "version 1: stable since 4.1.0, unstable since 3.9.0"
    assert unstable_since("FetchRequest", 18) is None
    with pytest.raises(ValueError, match=r"^unknown message 'FetchReqest'; did you mean 'FetchRequest'\?$"):
        unstable_since("FetchReqest", 0)
    with pytest.raises(TypeError, match=r"^a version must be an int such as 3, not '0'$"):
        unstable_since("FetchRequest", "0")  # type: ignore[arg-type]


def test_unstable_versions_of_every_release_equal_its_definitions() -> None:
    sets = list(release_sets(HISTORY))
    for name in sorted({name for side in sets for name in side.messages} & {each.name for each in all_messages()}):
        defined = [(side.name.removeprefix("Kafka "), side.unstable(name)) for side in sets if name in side.messages]
        versions = {version for _, version in defined if version is not None}
        begins = {each for each in versions_in(since(name) or RELEASES[0], name) if versions}
        for version in versions | begins:
            same = versions if version in begins else {version}  # the message, or the version
            first = next(release for release, unstable in defined if unstable in same)
            stable = since(name, version)
            expected = first if stable is None or RELEASES.index(first) < RELEASES.index(stable) else None
            assert unstable_since(name, version) == expected, (name, version)


def test_docstring_names_the_first_unstable_release() -> None:
    assert "Stable since Kafka 4.1.0, unstable since 3.9.0." in (ShareFetchRequest.__doc__ or "")


def test_versions_missing_in_one_release_are_gaps() -> None:
    """Kafka 4.0.0 removed JoinGroup 0 and 1; 4.0.1 restored them for librdkafka."""
    assert (gaps("JoinGroupRequest", 1), gaps("JoinGroupRequest", 2), gaps("FetchRequest", 3)) == (("4.0.0",), (), ())
    assert (since("JoinGroupRequest", 1), until("JoinGroupRequest", 1)) == ("2.2.0", None)
    assert missing_in("JoinGroupRequest", 1) == "in 4.0.0"
    assert describe_lifetimes("JoinGroupRequest")[0] == "versions 0-1: since 2.2.0 or before, not in 4.0.0"
    assert "4.0.0" not in releases_with([("JoinGroupRequest", 0)])


def test_fields_added_to_existing_versions_have_their_own_release() -> None:
    """Tagged fields: KIP-584 in ApiVersions 3 (release 2.7), KIP-866 (release 3.4)."""
    assert since("ApiVersionsResponse", 3) == "2.4.0"
    assert field_since("ApiVersionsResponse", "SupportedFeatures", 3) == "2.7.0"
    assert field_since("ApiVersionsResponse", "ZkMigrationReady", 3) == "3.4.0"
    assert field_since("ApiVersionsResponse", "ApiKeys[].ApiKey", 3) == "2.4.0"


def test_fields_of_record_keys_are_as_old_as_the_message() -> None:
    assert (since("ConsumerGroupMetadataKey"), field_since("ConsumerGroupMetadataKey", "GroupId")) == ("3.5.0", "3.5.0")
    for message in all_messages():
        if message.kind == "coordinator-key":
            assert set(fields_since(message.name).values()) <= {since(message.name)}, message.name


def test_renamed_message_keeps_its_first_release() -> None:
    assert (since("SubscriptionInfoData", 6), since("SubscriptionInfoData", 7)) == ("2.5.0", "2.6.0")
    assert field_since("SubscriptionInfoData", "Version", 1) == "2.5.0"


@pytest.mark.parametrize(
    ("message", "version", "then"),
    [
        ("AbortedTxn", 0, "4.4.0"),
        ("ConsumerProtocolSubscription", 1, "2.7.0"),
        ("GroupMetadataKey", 0, "2.8.0"),
        ("OffsetCommitValue", 3, "2.8.0"),
        ("ProducerSnapshot", 1, "4.0.0"),
        ("RequestHeader", 1, "2.4.0"),
        ("SubscriptionInfoData", 5, "2.5.0"),
    ],
)
def test_records_older_than_their_definitions_are_reported_as_older(message: str, version: int, then: str) -> None:
    assert (since(message, version), is_older(message, version), missing_in(message, version)) == (then, True, "")
    assert (
        f"since before {then}, which defines it first"
        in describe_lifetimes(message)[0 if message != "RequestHeader" else 1]
    )


@pytest.mark.parametrize(
    ("message", "version"),
    [("ConsumerProtocolSubscription", 2), ("GroupMetadataValue", 4), ("RequestHeader", 2), ("SubscriptionInfoData", 6)],
)
def test_later_versions_of_older_records_are_not_older(message: str, version: int) -> None:
    assert not is_older(message, version)


def test_table_of_older_records_is_consistent() -> None:
    table = json.loads((HISTORY / "older.json").read_text())
    known = {each.name: each for each in all_messages()}
    for name, (versions, source) in table.items():
        first = int(versions.partition("-")[0])
        assert first in known[name].valid_versions, name
        assert name == "RequestHeader" or first == known[name].valid_versions.lowest
        assert since(name, first) != RELEASES[0], name
        assert " " in source


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: since(3), TypeError, "expected a message class or name, got 3"),  # type: ignore[arg-type]  # rejected
        (lambda: since(int), TypeError, "expected a message class or name, got <class 'int'>"),  # type: ignore[arg-type]  # rejected
        (lambda: versions_in("2.8", "Metadata"), ValueError,
         "unknown message 'Metadata'; did you mean 'MetadataRequest'?"),
        (lambda: versions_in(3.1, "MetadataRequest"), TypeError, "a release must be a str such as '2.8', not 3.1"),  # type: ignore[arg-type]  # rejected
        (lambda: field_since("MetadataResponse", "Brokers[].Rak", 1), ValueError,
         "MetadataResponse has no field 'Brokers[].Rak'; did you mean 'brokers.rack'?"),
        (lambda: field_since("MetadataResponse", "nope", 1), ValueError, "MetadataResponse has no field 'nope'"),
    ],
)  # fmt: skip
def test_unknown_messages_and_fields_raise(call: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text


def test_field_since_is_none_before_its_first_version() -> None:
    assert field_since("MetadataResponse", "Brokers[].Rack", 0) is None
    assert field_since("MetadataResponse", "Brokers[].Rack", 1) == RELEASES[0]
    assert field_since("GroupMetadataValue", "members[].clientId", 0) == since(
        "GroupMetadataValue", 0
    )  # as in the definition


def test_field_since_and_until_cover_all_versions_by_default() -> None:
    assert field_since("ApiVersionsResponse", "api_keys.api_key") == "2.2.0"
    assert field_since("ApiVersionsResponse", "SupportedFeatures[].Name") == "2.7.0"
    assert field_since(FetchRequest, "topics.topic_id") == "3.1.0"
    assert field_since("InitProducerIdRequest", "enable_2_pc") is None  # only in an unstable version
    assert (field_until(FetchRequest, "topics.topic"), field_until("ListOffsetsRequest", "topics.name")) == (None, None)
    assert field_until("ListOffsetsRequest", "Topics[].Partitions[].MaxNumOffsets") == "4.0.0"
    assert field_until("InitProducerIdRequest", "enable_2_pc") is None
    assert fields_since("MetadataRequest") == {
        "topics": "2.2.0",
        "topics.topic_id": "2.8.0",
        "topics.name": "2.2.0",
        "allow_auto_topic_creation": "2.2.0",
        "include_cluster_authorized_operations": "2.3.0",
        "include_topic_authorized_operations": "2.3.0",
    }
    with pytest.raises(ValueError, match=r"^FetchRequest has no field 'topics\.topik'; did you mean '?topics\.topic'?"):
        field_since("FetchRequest", "topics.topik")
    with pytest.raises(ValueError, match=r"^unknown message 'FetchReqest'; did you mean 'FetchRequest'\?$"):
        fields_since("FetchReqest")


def test_every_field_of_stable_messages_has_a_release() -> None:
    unstable = {each.name for each in all_messages() if each.latest_version_unstable}
    unreleased = []
    for each in all_messages():
        rows = {row.path: list(row.types) for row in rows_of(load("kafka_messages"), each.name)}
        releases = fields_since(each.name)
        assert list(releases) == list(rows)
        unreleased += [f"{each.name}.{path}" for path, versions in rows.items() if versions and not releases[path]]
    assert {path.partition(".")[0] for path in unreleased} <= unstable


def test_removed_record_key_has_first_and_removing_release() -> None:
    assert (since("ShareGroupPartitionMetadataKey", 0), until("ShareGroupPartitionMetadataKey")) == ("3.9.0", "4.1.0")
    assert versions_in("4.0.0", "ShareGroupPartitionMetadataKey") == Versions(0, 0)


def test_error_codes_are_found_by_name_and_number() -> None:
    assert {error_code_until(code.name) for code in ErrorCode} == {None}
    assert (error_code_since("NOT_LEADER_FOR_PARTITION"), error_code_until("NOT_LEADER_FOR_PARTITION")) == (
        "2.2.0",
        "2.6.0",
    )
    assert error_code_since("NOT_LEADER_OR_FOLLOWER") == "2.6.0"
    assert (error_code_since(6), error_code_until(6)) == ("2.2.0", None)
    assert error_code_names(6) == ("NOT_LEADER_FOR_PARTITION", "NOT_LEADER_OR_FOLLOWER")
    assert (error_code_names(999), error_code_since(999), error_code_until(999)) == ((), None, None)
    assert error_code_since("UNKNOWN_TOPIC_ID") == "2.8.0"
    assert error_code_since("NO_SUCH_CODE") is None
    assert all(error_code_since(code.name) for code in ErrorCode)
    assert all(error_code_names(code.value)[-1] == code.name for code in ErrorCode)  # two independent sources


def test_every_message_has_a_first_release() -> None:
    for each in all_messages():
        assert since(each.name) is not None or each.latest_version_unstable
        assert (until(each.name) is None) == bool(each.supported_versions), each.name


def test_announce_for_older_release_uses_its_versions() -> None:
    announced = {each.api_key: (each.min_version, each.max_version) for each in announce(release="2.4.1").api_keys}
    messages = set_of_release(HISTORY, "2.4.1").messages.values()
    assert announced == {
        each.api_key: (each.valid.lowest, each.valid.highest) for each in messages if each.kind == "request"
    }
    old = encode_request(FetchRequest(), 2, 7)
    server = ServerConnection(announce(release="2.4"))
    (received,) = server.receive_data(old)
    assert isinstance(received, RequestReceived)
    assert (received.version, received.message) == (2, FetchRequest())


def test_server_rejects_unannounced_version() -> None:
    from kafka_messages.connection import RemoteProtocolError

    with pytest.raises(RemoteProtocolError) as caught:
        list(ServerConnection().receive_data(encode_request(FetchRequest(), 2, 7)))
    what = "unsupported request at offset 0: FetchRequest v2 is not announced"
    assert str(caught.value) == what


def test_listeners_depend_on_the_release() -> None:
    assert listeners_in("2.4.0", "LeaderAndIsrRequest") == ("zkBroker",)
    assert listeners_in("3.9.2", "MetadataRequest") == ("zkBroker", "broker")
    assert listeners_in("4.4.0", "MetadataRequest") == ("broker",)
    assert listeners_in("4.4.0", "LeaderAndIsrRequest") == ()


@pytest.mark.parametrize("release", ["2.2.0", "4.0.0"])
@pytest.mark.parametrize("message", ["FetchResponse", "OffsetCommitValue"])
def test_listeners_of_non_requests_are_empty(release: str, message: str) -> None:
    assert listeners_in(release, message) == ()


VERSION = "a version must be an int such as 3, not "


@pytest.mark.parametrize("ask", [since, until, gaps, missing_in, lambda name, at: field_since(name, "topics", at)])
@pytest.mark.parametrize("version", ["3", 3.0, True, b"3"])
def test_versions_of_wrong_type_are_rejected(ask: Callable[..., object], version: object) -> None:
    with pytest.raises(TypeError) as raised:
        ask("FetchRequest", version)
    assert str(raised.value) == f"{VERSION}{version!r}"


@pytest.mark.parametrize("ask", [gaps, missing_in])
def test_version_none_is_rejected(ask: Callable[..., object]) -> None:
    with pytest.raises(TypeError) as raised:
        ask("FetchRequest", None)
    assert str(raised.value) == f"{VERSION}None"


@pytest.mark.parametrize(
    ("given", "error", "expected"),
    [
        ([("FetchRequest", 99), ("Zzzz", 1)], ValueError, "unknown message 'Zzzz'"),
        ([("FetchRequest", "1")], TypeError, f"{VERSION}'1'"),
        (["FetchRequest"], TypeError, "expected a pair of message and version, got 'FetchRequest'"),
        ("FetchRequest", TypeError, "expected a list of (message, version) pairs, got 'FetchRequest'"),
        (5, TypeError, "expected a list of (message, version) pairs, got 5"),
    ],
)
def test_invalid_pairs_are_rejected(given: object, error: type[Exception], expected: str) -> None:
    ask: Callable[..., object] = releases_with
    with pytest.raises(error) as raised:
        ask(given)
    assert str(raised.value) == expected


def test_pairs_can_be_a_mapping() -> None:
    assert releases_with({"FetchRequest": 12}) == releases_with([("FetchRequest", 12)])


@pytest.mark.parametrize("path", ["topics[0].topic_id", "Topics[].TopicId", "topics[12].topicId", "topics.topic_id"])
def test_field_path_accepts_indices_and_json_names(path: str) -> None:
    assert field_since("FetchRequest", path) == "3.1.0"


@pytest.mark.parametrize("path", [None, 5, ["topics"]])
def test_field_path_of_wrong_type_is_rejected(path: object) -> None:
    ask: Callable[..., object] = field_until
    with pytest.raises(TypeError) as raised:
        ask("FetchRequest", path)
    assert str(raised.value) == f"a field path must be a str such as 'topics.name', not {path!r}"
    by_default, zookeeper, kraft = (
        {each.api_key for each in announce(release="2.8", listener=listener).api_keys}
        for listener in (None, "zkBroker", "broker")
    )
    assert (by_default, 22 in zookeeper, 22 in kraft) == (zookeeper, True, False)  # a preview without InitProducerId
    assert 4 in {each.api_key for each in announce(release="3.9.2").api_keys}
    assert 4 not in {each.api_key for each in announce(release="3.9.2", listener="broker").api_keys}
    assert versions_in("3.9.2", "LeaderAndIsrRequest") == Versions(0, 7)


def test_history_tables_are_imported_lazily() -> None:
    code = (
        "import sys, kafka_messages.connection, kafka_messages.testing.message_generator\n"
        "print([name for name in sys.modules if 'kafka_messages.history' in name])"
    )
    environment = {"PYTHONPATH": SOURCE}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "[]\n"
