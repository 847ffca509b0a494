"""Secrets in messages: the rule for settings, the listed fields, and redacted copies."""

from __future__ import annotations

import copy
import json
import pickle
import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from uuid import UUID

import kafka_messages as km
import kafka_messages_proposals as proposals
import pytest
from kafka_messages import Message, RawTaggedField
from kafka_messages.explain import explain
from kafka_messages.json import from_json
from kafka_messages.messages import streams_group_heartbeat_request
from kafka_messages.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_messages.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kafka_messages.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_messages.messages.fetch_snapshot_response import PartitionSnapshot, TopicSnapshot
from kafka_messages.schema.descriptors import FieldDescriptor, descriptor_of
from kafka_messages.secrets import REDACTED, Secrets, Setting, is_secret_setting, marks, redacted, revealed, secrets_of
from kafka_messages_proposals import secrets as of_proposals

from kafka_protocol_upstream.kafka.decisions import could_be_secret
from tests.support.implementations import pure, script
from tests.support.planting import PLANTED, WITH_SECRETS, planted
from tests.support.random_messages import messages, versions_of

SPECS = Path(__file__).parents[2] / "specs" / "kafka"
KAFKAS: list[dict[str, Any]] = json.loads((SPECS / "settings.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("setting", KAFKAS, ids=lambda setting: setting["name"])
def test_only_password_settings_of_kafka_are_secret(setting: dict[str, Any]) -> None:
    secret = setting["type"] == "PASSWORD"
    for name in (setting["name"], setting["name"].upper(), f"listener.name.sasl_ssl.{setting['name']}"):
        assert is_secret_setting(name) is secret


def test_settings_file_covers_every_component() -> None:
    assert {of for setting in KAFKAS for of in setting["of"]} == {
        *("admin client", "broker", "client metrics", "consumer", "group", "producer", "streams", "topic"),
    }
    passwords = {setting["name"] for setting in KAFKAS if setting["type"] == "PASSWORD"}
    assert passwords > {"sasl.jaas.config", "ssl.keystore.password", "ssl.key.password", "delegation.token.secret.key"}
    assert len(KAFKAS) > 500


RULE = [
    ("listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config", True),
    ("listener.name.sasl_ssl.plain.sasl.jaas.config", True),
    ("Listener.Name.X.Plain.Sasl.Login.Class", False),
    ("listener.name.x.gssapi.connections.max.reauth.ms", False),
    ("listener.name.x.oauthbearer.sasl.oauthbearer.jwks.endpoint.url", False),
    ("listener.name.x.plain.log.dirs", True),
    ("listener.name.x.y.z.sasl.login.class", True),
    ("listener.name.x.", True),
    ("listener.name.x", True),
    ("listener.name.", True),
    ("plain.sasl.login.class", True),
    ("log.dirs.", True),
    (".log.dirs", True),
    ("log.dirs", False),
    ("", True),
    ("rsm.config.storage.aws.secret.access.key", True),
    ("rsm.config.chunk.size", True),
    ("my.plugin.endpoint", True),
    ("SCRAM-SHA-256", True),
]


@pytest.mark.parametrize(("name", "secret"), RULE, ids=[name for name, _ in RULE])
def test_config_names_are_classified_as_secret_or_not(name: str, secret: bool) -> None:
    assert is_secret_setting(name) is secret


def test_logger_levels_are_not_secret() -> None:
    assert not is_secret_setting("kafka.server.KafkaApis", 8)
    assert is_secret_setting("kafka.server.KafkaApis", 4)
    assert redacted(km.ConfigRecord(resource_type=8, name="kafka", value="INFO")).value == "INFO"


@pytest.mark.parametrize("name", WITH_SECRETS)
def test_every_secret_of_every_message_is_redacted(name: str) -> None:
    message = getattr(km, name)
    found = set()
    for version in versions_of(message):
        for drawn in messages(message, version):
            count = planted(drawn)
            before = revealed(drawn)
            copy = redacted(drawn)
            assert revealed(drawn) == before
            assert PLANTED not in repr(drawn)
            assert PLANTED not in revealed(copy)
            assert PLANTED.encode() not in copy.write(version)
            assert revealed(copy).count(REDACTED) == count + sum(1 for _ in unknown_fields_of(drawn))
            planted(copy)  # so that only unknown fields differ
            assert [raw.tag for raw in unknown_fields_of(copy)] == [raw.tag for raw in unknown_fields_of(drawn)]
            assert all(raw.data == REDACTED.encode() for raw in unknown_fields_of(copy))
            for each, was in zip(unknown_fields_of(copy), unknown_fields_of(drawn), strict=True):
                each.data = was.data
            assert revealed(copy) == before  # text, because NaN differs from itself
            found.add(count > 0)
    assert True in found


def unknown_fields_of(struct: Any) -> Iterator[RawTaggedField]:
    yield from getattr(struct, "unknown_tagged_fields", ())
    for name in struct._names:
        value = getattr(struct, name)
        inner = [value] if hasattr(value, "unknown_tagged_fields") else value if hasattr(value, "__iter__") else ()
        yield from (raw for each in inner if hasattr(each, "unknown_tagged_fields") for raw in unknown_fields_of(each))


def test_known_settings_are_not_redacted() -> None:
    configs = [
        CreatableTopicConfig(name="retention.ms", value="1"),
        CreatableTopicConfig(name="plugin.key", value=PLANTED),
        CreatableTopicConfig(name="plugin.token", value=None),
    ]
    message = km.CreateTopicsRequest(topics=[CreatableTopic(name="orders", configs=configs)])
    (topic,) = redacted(message).topics
    assert [(each.name, each.value) for each in topic.configs] == [
        ("retention.ms", "1"),
        ("plugin.key", "(redacted)"),
        ("plugin.token", None),
    ]
    found = topic.configs.find("plugin.key")
    assert found is not None
    assert found.value == REDACTED


def test_config_synonyms_are_redacted_according_to_their_own_names() -> None:
    synonyms = [
        DescribeConfigsSynonym(name="log.retention.ms", value="5"),
        DescribeConfigsSynonym(name="x", value=PLANTED),
    ]
    config = DescribeConfigsResourceResult(name="retention.ms", value="5", synonyms=synonyms)
    message = km.DescribeConfigsResponse(results=[DescribeConfigsResult(resource_type=2, configs=[config])])
    (copy,) = redacted(message).results[0].configs
    assert (copy.value, [each.value for each in copy.synonyms]) == ("5", ["5", REDACTED])


def test_marks_are_equal_for_equal_secrets() -> None:
    mark = marks(b"salt")
    secrets = [b"a", b"b", b"a", b"a" * 9999]
    records = [km.UserScramCredentialRecord(salt=each, stored_key=b"", server_key=b"") for each in secrets]
    found = [redacted(record, mark).salt for record in records]
    assert found[0] == found[2] != found[1]
    assert {len(each) for each in found} == {len("(redacted 1a2b3c4d)")}
    assert found[0] != redacted(records[0], marks(b"other")).salt
    assert {redacted(record).salt for record in records} == {b"(redacted)"}
    assert redacted(records[0], "-").salt == b"-"
    assert redacted(km.ConfigRecord(name="x", value="a"), mark).value == found[0].decode()
    assert found[0].startswith(b"(redacted ")


def test_secrets_of_lists_secret_fields_and_settings() -> None:
    assert secrets_of(km.UserScramCredentialRecord) == Secrets(("salt", "server_key", "stored_key"), ())
    setting = Setting("resources.configs.name", "resources.configs.value", "resources.resource_type")
    assert secrets_of(km.AlterConfigsRequest) == Secrets((), (setting,))
    assert secrets_of(km.MetadataResponse) == Secrets((), ())


def test_messages_without_secrets_are_copied_unchanged() -> None:
    message = km.MetadataResponse(unknown_tagged_fields=(RawTaggedField(99, b"x"),))
    copy = redacted(message)
    assert copy == message
    assert copy is not message


def test_kraft_metadata_records_are_redacted() -> None:
    topics = [
        FetchableTopicResponse(topic="__cluster_metadata", partitions=[PartitionData(records=b"secret")]),
        FetchableTopicResponse(topic_id=UUID(int=1), partitions=[PartitionData(records=b"secret")]),
        FetchableTopicResponse(topic="orders", partitions=[PartitionData(records=b"open")]),
    ]
    topics[0].unknown_tagged_fields = topics[2].unknown_tagged_fields = (RawTaggedField(99, b"x"),)
    found = redacted(km.FetchResponse(responses=topics)).responses
    assert [topic.partitions[0].records for topic in found] == [b"(redacted)", b"(redacted)", b"open"]
    assert found[0].unknown_tagged_fields == (RawTaggedField(99, b"(redacted)"),)
    assert found[2].unknown_tagged_fields == (RawTaggedField(99, b"x"),)
    assert topics[0].partitions[0].records == b"secret"
    snapshot = TopicSnapshot(name="__cluster_metadata", partitions=[PartitionSnapshot(unaligned_records=b"secret")])
    copy = redacted(km.FetchSnapshotResponse(topics=[snapshot]))
    assert copy.topics[0].partitions[0].unaligned_records == b"(redacted)"


def test_definitions_without_secrets_redact_nothing() -> None:
    for name, module in proposals._MODULES.items():
        if module.startswith("messages."):
            message = getattr(proposals, name)
            assert of_proposals.secrets_of(message) == of_proposals.Secrets((), ())
            drawn: Any
            for drawn in messages(message, message.HIGHEST_SUPPORTED_VERSION, mixed=1):
                assert repr(of_proposals.redacted(drawn)) == repr(drawn)
    assert of_proposals.is_secret_setting("log.dirs")


def fields_of(message: type[Message]) -> Iterator[tuple[str, FieldDescriptor, tuple[FieldDescriptor, ...]]]:
    descriptor = descriptor_of(message)

    def inside(
        fields: tuple[FieldDescriptor, ...], above: str
    ) -> Iterator[tuple[str, FieldDescriptor, tuple[FieldDescriptor, ...]]]:
        for field in fields:
            yield above + field.name, field, fields
            if field.is_struct:
                yield from inside(descriptor.structs[field.type], f"{above}{field.name}.")

    yield from inside(descriptor.fields, "")


def reviewed_fields() -> set[tuple[str, str]]:
    """Return message and field of all entries that were reviewed, in normalized spelling."""
    annotations = json.loads(
        "\n".join(line for line in (SPECS / "secrets.json").read_text().splitlines() if "//" not in line)
    )
    found = {
        (each["message"], path) for part in ("secrets", "open") for each in annotations[part] for path in each["fields"]
    }
    found |= {(each["message"], each["value"]) for each in annotations["settings"]}
    return {(message, path.lower()) for message, path in found}


def test_every_possibly_secret_field_is_reviewed() -> None:
    names = sorted(name for name, module in km._MODULES.items() if module.startswith("messages."))
    looked_at, missing = reviewed_fields(), []
    for name in names:
        for path, field, beside in fields_of(getattr(km, name)):
            names_beside = frozenset(each.name for each in beside)
            if could_be_secret(field.name, field.type, names_beside) and (name, path.replace("_", "")) not in looked_at:
                missing.append(f"{name}: {path}")
    assert missing == []


WRONG: Any = "planted"  # a string where bytes are expected
TEXTS = [
    (km.UserScramCredentialRecord(name="u", salt=b"planted"), "UserScramCredentialRecord(name='u', mechanism=0, "
     "salt=?, stored_key=b'', server_key=b'', iterations=0)", "b'planted'"),
    (km.SaslAuthenticateRequest(auth_bytes=WRONG), "SaslAuthenticateRequest(auth_bytes=?)", "'planted'"),
    (DescribeConfigsSynonym(name="ssl.key.password", value="planted"), "DescribeConfigsSynonym(name='ssl.key.password', "
     "value=?, source=0)", "'planted'"),
    (km.ConfigRecord(resource_type=4, name="my.plugin", value="planted"),
     "ConfigRecord(resource_type=4, resource_name='', name='my.plugin', value=?)", "'planted'"),
    (km.SaslAuthenticateRequest(unknown_tagged_fields=(RawTaggedField(5, b"planted"),)),
     "SaslAuthenticateRequest(auth_bytes=b'', unknown_tagged_fields=?)", "(RawTaggedField(tag=5, data=b'planted'),)"),
]  # fmt: skip


@pytest.mark.parametrize(("struct", "text", "value"), TEXTS, ids=lambda each: type(each).__name__)
def test_repr_of_messages_redacts_secrets(struct: Any, text: str, value: str) -> None:
    for printed in (repr(struct), str(struct), f"{struct}"):
        assert printed == text.replace("?", "'(redacted)'")
    assert revealed(struct) == text.replace("?", value)
    for copied in (pickle.loads(pickle.dumps(struct)), copy.copy(struct), copy.deepcopy(struct)):
        assert copied == struct
        assert revealed(copied) == revealed(struct)


def test_revealed_works_with_custom_repr_and_tuples() -> None:
    class Named(km.AlterUserScramCredentialsRequest):
        def __repr__(self) -> str:
            return "Named"

    upsertion = Named.ScramCredentialUpsertion(salt=b"planted")
    message = Named(upsertions=[upsertion])
    text = revealed(upsertion)
    assert "salt=b'planted'" in text
    assert revealed(message) == f"Named(deletions=[], upsertions=[{text}])"
    message.upsertions = (upsertion,)  # type: ignore[assignment]
    assert revealed(message) == f"Named(deletions=[], upsertions=({text},))"
    assert (repr(message), "planted" in repr(upsertion)) == ("Named", False)


def test_concurrent_first_repr_redacts_secrets() -> None:
    code = """
import json
from kafka_messages import SaslAuthenticateRequest
message, loads = SaslAuthenticateRequest(auth_bytes=b"planted"), json.loads
def meanwhile(text):  # another thread prints the message while the first one reads which fields are secret
    json.loads = loads
    print(message)
    return loads(text)
json.loads = meanwhile
print(message)
"""
    assert script(code) == "SaslAuthenticateRequest(auth_bytes='(redacted)')\n" * 2


@pytest.mark.parametrize("value", [None, "", "1000"])
def test_repr_redacts_only_values_that_may_be_secret(value: str | None) -> None:
    config = CreatableTopicConfig(name="retention.ms", value=value)
    assert repr(config) == revealed(config) == f"CreatableTopicConfig(name='retention.ms', value={value!r})"
    password = CreatableTopicConfig(name="my.password", value=value or None)
    assert ("(redacted)" in repr(password)) is bool(value)
    logger = km.IncrementalAlterConfigsRequest.AlterableConfig(name="kafka.log", value="DEBUG")
    assert "value='(redacted)'" in repr(logger)
    for kind, shown in ((8, "'DEBUG'"), (4, "'(redacted)'")):
        resource = km.IncrementalAlterConfigsRequest.AlterConfigsResource(resource_type=kind, configs=[logger])
        assert f"value={shown})" in repr(km.IncrementalAlterConfigsRequest(resources=[resource]))
    tag = streams_group_heartbeat_request.KeyValue(key="zone", value="b")
    assert repr(tag) == "KeyValue(key='zone', value='(redacted)')"
    assert "value='b'" in repr(km.StreamsGroupHeartbeatRequest(client_tags=[tag]))


def test_repr_of_subclasses_redacts_secrets() -> None:
    class Mine(km.SaslAuthenticateRequest):
        NAME = "Mine"

    class Setting(CreatableTopicConfig):
        pass

    mine = Mine.read(km.SaslAuthenticateRequest(auth_bytes=b"planted").write(2), 2)
    assert repr(mine) == "Mine(auth_bytes='(redacted)')"
    assert revealed(mine) == "Mine(auth_bytes=b'planted')"
    request = km.CreateTopicsRequest(topics=[CreatableTopic(configs=[Setting(name="x.password", value="planted")])])
    assert "Collection([Setting(name='x.password', value='(redacted)')])" in repr(request)
    assert "Collection([Setting(name='x.password', value='planted')])" in revealed(request)


def test_repr_redacts_without_the_secrets_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kafka_messages.secrets", None)  # as in a package without this component
    record = km.UserScramCredentialRecord(salt=b"planted")
    assert "salt='(redacted)'" in repr(record)
    for name in ("retention.ms", "my.password"):
        config = CreatableTopicConfig(name=name, value="planted")
        assert repr(config) == f"CreatableTopicConfig(name='{name}', value='(redacted)')"


def test_field_descriptors_mark_secrets() -> None:
    fields = {field.name: field.secret for field in descriptor_of(km.UserScramCredentialRecord).fields}
    assert [name for name, secret in fields.items() if secret] == ["salt", "stored_key", "server_key"]
    assert [field.name for field in descriptor_of(km.ConfigRecord).fields if field.secret] == ["value"]
    assert not any(field.secret for field in descriptor_of(km.MetadataRequest).fields)


@pytest.mark.parametrize("is_pure", [False, True], ids=["native", "pure"])
def test_errors_contain_no_secrets(is_pure: bool) -> None:
    planted_as_str: Any = {"auth_bytes": PLANTED, "salt": PLANTED}
    request = km.SaslAuthenticateRequest(auth_bytes=planted_as_str["auth_bytes"])
    config = CreatableTopicConfig(name="my.password", value=planted_as_str["salt"].encode())
    topics = km.CreateTopicsRequest(topics=[CreatableTopic(name="t", configs=[config])])
    length = len(PLANTED)
    bad = km.CreateTopicsRequest(topics=[CreatableTopic(name="t", configs=[CreatableTopicConfig(value=PLANTED)])])
    no_utf8 = bad.write(7).replace(PLANTED.encode(), PLANTED.encode()[:-1] + b"\xff")
    surrogate = km.ConfigRecord(name="my.password", value=PLANTED + "\ud800")
    calls: list[tuple[Any, str]] = [
        (lambda: request.write(2),
         f"SaslAuthenticateRequest v2: auth_bytes: expected bytes, got str of {length} characters"),
        (lambda: topics.write(7), f"CreateTopicsRequest v7: topics[0].configs[0].value: expected str, got {length} bytes"),
        (lambda: from_json(km.SaslAuthenticateRequest, {"authBytes": PLANTED + "!"}, 2),
         "SaslAuthenticateRequest v2: authBytes: expected bytes as base64, "
         f"got a string of {length + 1} characters"),
        (lambda: km.UserScramCredentialRecord.schemas()[0].write(bytearray(), {"name": "u", "mechanism": PLANTED}),
         f"mechanism: expected int for INT8, got str of {length} characters"),
        (lambda: km.CreateTopicsRequest.read(no_utf8, 7), "CreateTopicsRequest v7: topics[0].configs[0].value: "
         f"invalid UTF-8 at offset {no_utf8.index(0xff)}: invalid start byte"),
        (lambda: surrogate.write(0),
         f"ConfigRecord v0: value: cannot be encoded as UTF-8: surrogates not allowed at character {length}"),
    ]  # fmt: skip
    with pure() if is_pure else nullcontext():
        for call, text in calls:
            with pytest.raises(ValueError, match=f"^{re.escape(text)}$") as caught:
                call()
            error: BaseException | None = caught.value
            while error is not None:
                assert PLANTED[:-1] not in f"{error!r} {error} {vars(error)} {getattr(error, 'object', '')}"
                error = error.__cause__ or error.__context__


def test_structs_of_schemas_and_spans_print_no_secrets() -> None:
    data = km.UserScramCredentialRecord(name="u", salt=PLANTED.encode(), iterations=4096).write(0)
    struct, _ = km.UserScramCredentialRecord.schemas()[0].read(data)
    assert repr(struct) == (
        "Struct(name='u', mechanism=0, salt='(redacted)', stored_key=b'', server_key=b'', iterations=4096)"
    )
    leaves = explain(data, km.UserScramCredentialRecord, 0).leaves()
    texts = [repr(span) for span in leaves if span.path == "salt"]
    assert texts == [f"<Span 3-{4 + len(PLANTED)} salt: COMPACT_BYTES (redacted)>"]


@pytest.mark.parametrize(
    ("name", "printed"),
    [("log.retention.ms", "'1000'"), ("ssl.keystore.password", "'(redacted)'"), ("mine", "'(redacted)'")],
)
def test_structs_of_schemas_print_configs_by_their_name(name: str, printed: str) -> None:
    record = km.ConfigRecord(resource_type=4, resource_name="1", name=name, value="1000")
    struct, _ = km.ConfigRecord.schemas()[0].read(record.write(0))
    assert repr(struct) == f"Struct(resource_type=4, resource_name='1', name='{name}', value={printed})"
    assert f"value={printed}" in repr(record)
