"""Secrets in metadata are redacted everywhere unless requested."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kafka_messages as km
import pytest
from kafka_messages.internal_topics import write_coordinator_record, write_metadata_record
from kafka_messages.messages.alter_user_scram_credentials_request import ScramCredentialUpsertion
from kafka_messages.messages.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kafka_messages.messages.streams_group_topology_value import Subtopology, TopicConfig, TopicInfo
from kafka_messages.protocol import encode_request
from kafka_records.segments.batch_writer import write_batches, write_control_batch
from pyspark.sql import SparkSession

from kafka_messages_spark import cluster_metadata, consumer_offsets, register
from tests.pipeline.job_files import coordinator, data, marker, metadata, segment
from tests.support import job_runs, leaks
from tests.support.job_runs import JOBS
from tests.support.leaks import secret

JAAS, MECHANISM, UNKNOWN, STREAMS, CUT, CORRUPT, NEWER, CAPTURED = map(
    secret, ("jaas", "mechanism", "unknown", "streams", "cut", "corrupt", "newer", "captured")
)
SETTINGS = {
    "sasl.jaas.config": f'org.example.PlainLoginModule required password="{JAAS}";',
    "ssl.keystore.password": secret("keystore"),
    "Ssl.Truststore.Password": secret("capitals"),
    "listener.name.internal.ssl.key.password": secret("listener"),
    "listener.name.internal.scram-sha-256.sasl.jaas.config": f'password="{MECHANISM}"',
    "rsm.config.storage.aws.access": secret("plugin"),
    "acme.endpoint": f"https://ann:{UNKNOWN}@example.org",
}
"""Of every way in which a setting can be secret."""
OPEN = {"log.retention.ms": "604800001", "listener.name.internal.plain.sasl.login.class": "org.example.Login"}
SCRAM: dict[str, Any] = {name: secret(name).encode() for name in ("salt", "stored_key", "server_key")}
OF_CONFIG = [JAAS, *map(secret, ("keystore", "capitals", "listener")), MECHANISM, secret("plugin"), UNKNOWN]
OF_STATE = [*OF_CONFIG, *(value.decode() for value in SCRAM.values())]
PLANTED = [*OF_STATE, CUT, CORRUPT, NEWER, STREAMS, CAPTURED]
SLOW_JOBS = ("groups", "inventory", "metadata_diff", "encodings", "batching", "segments", "replicas")


def leaked(content: bytes) -> list[str]:
    return [plain.decode() for plain in leaks.leaked(content, map(str.encode, PLANTED))]


def test_search_finds_secrets_as_text_hex_and_base64() -> None:
    for text in PLANTED:
        for before in range(4):
            plain = b"x" * before + text.encode() + b"yz"
            for content in (plain, plain.hex().encode(), base64.b64encode(plain)):
                assert leaked(content) == [text]


def records() -> list[Any]:
    configs = {**SETTINGS, **OPEN}
    return [
        km.FeatureLevelRecord(name="metadata.version", feature_level=25),
        km.UserScramCredentialRecord(name="ann", mechanism=1, iterations=4096, **SCRAM),
        km.DelegationTokenRecord(owner="User:ann", token_id="token", renewers=["User:bob"]),
        *(km.ConfigRecord(resource_type=4, resource_name="1", name=name, value=configs[name]) for name in configs),
        km.ConfigRecord(resource_type=2, resource_name="orders", name="acme.topic", value=SETTINGS["acme.endpoint"]),
    ]


def topology() -> km.StreamsGroupTopologyValue:
    config = TopicConfig(key="acme.setting", value=STREAMS)
    topic = TopicInfo(name="changelog", partitions=1, topic_configs=[config])
    return km.StreamsGroupTopologyValue(subtopologies=[Subtopology(state_changelog_topics=[topic])])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("broker")
    logs, log = folder / "logs", "__cluster_metadata-0"
    header = write_control_batch("SNAPSHOT_HEADER", bytes(12), offset=0)
    footer = write_control_batch("SNAPSHOT_FOOTER", bytes(3), offset=1 + len(records()))
    segment(logs, log, header, metadata(1, 0, *records()), footer, name=f"{2:020}-{1:010}.checkpoint")
    config = km.ConfigRecord(resource_type=4, resource_name="1", name="acme.cut", value=CUT)
    cut = write_metadata_record(config, 0)[:-1]
    newer = b"\x01\xe8\x07\x00" + NEWER.encode()
    changed = km.ConfigRecord(resource_type=4, resource_name="1", name="ssl.keystore.password", value="new")
    end = 2 + len(records())
    odd = write_batches([{"value": cut}, {"value": newer}], base_offset=end + 1)
    corrupt = write_batches([{"value": CORRUPT.encode()}], base_offset=end + 3)[:-1] + b"\xff"
    segment(logs, log, metadata(0, 0, *records()), metadata(end, 1, changed), odd, corrupt)
    commit = coordinator(0, 0, km.OffsetCommitKey(group="g", topic="orders"), km.OffsetCommitValue(offset=1), 4)
    streams = coordinator(1, 1, km.StreamsGroupTopologyKey(group_id="s"), topology(), 0)
    segment(logs, "__consumer_offsets-0", commit, streams)
    of_producer = km.TransactionLogKey(transactional_id="t"), km.TransactionLogValue(producer_id=1)
    segment(logs, "__transaction_state-0", coordinator(0, 0, *of_producer, 0))
    segment(logs, "orders-0", data(0, producer=1), marker("COMMIT", 1, 1, 1))
    upsertion = ScramCredentialUpsertion(name="ann", salt=CAPTURED.encode(), salted_password=CAPTURED.encode())
    altered = AlterableConfig(name="acme.key", value=CAPTURED)
    requests = [
        encode_request(km.SaslAuthenticateRequest(auth_bytes=b"\0ann\0" + CAPTURED.encode()), 2, 1, "me"),
        encode_request(km.AlterUserScramCredentialsRequest(upsertions=[upsertion]), 0, 2, "me"),
        encode_request(
            km.IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(configs=[altered])]), 1, 3, "me"
        ),
    ]
    (folder / "captures").mkdir()
    (folder / "captures" / "one.request.bin").write_bytes(b"".join(requests) + CAPTURED.encode() * 3)
    return folder


@pytest.fixture
def plain_tables(spark: SparkSession) -> Iterator[None]:
    name = "spark.sql.parquet.compression.codec"
    spark.conf.set(name, "uncompressed")
    yield
    spark.conf.unset(name)


def arguments(files: Path) -> dict[str, list[list[str]]]:
    logs = str(files / "logs")
    snapshot = str(next(files.rglob("*.checkpoint")))
    return {
        "batching": [[logs]],
        "encodings": [
            ["cluster_metadata", logs],
            ["consumer_offsets", logs],
            ["frames", str(files / "captures")],
        ],
        "groups": [[logs, "--data", logs]],
        "internal_topics": [
            ["cluster_metadata", logs],
            ["consumer_offsets", logs, "--latest"],
            ["transaction_state", logs],
        ],
        "inventory": [[logs]],
        "metadata_diff": [[logs], [snapshot, logs]],
        "segments": [[logs]],
        "replicas": [[logs]],
        "transactions": [[logs]],
    }


def run(job: str, given: list[str], out: Path, capfd: pytest.CaptureFixture[str]) -> Mapping[str, bytes]:
    done = job_runs.run(job, given, out, capfd)
    assert done.exit_status in (0, 1)
    return done.outputs


@pytest.mark.usefixtures("plain_tables")
@pytest.mark.parametrize(
    "job", [pytest.param(job, marks=pytest.mark.nightly) if job in SLOW_JOBS else job for job in JOBS]
)
def test_jobs_redact_secrets(
    job: str, spark: SparkSession, files: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number, given in enumerate(arguments(files)[job]):
        outputs = run(job, given, tmp_path / str(number), capfd)
        assert {place: found for place, content in outputs.items() if (found := leaked(content))} == {}
        assert any(place.endswith(".parquet") for place in outputs)
        assert {"report.md", "report.html", "report.json", "report.txt"} <= outputs.keys()


@pytest.mark.nightly
@pytest.mark.usefixtures("plain_tables")
def test_secrets_are_printed_on_request(
    spark: SparkSession, files: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    outputs = run("internal_topics", ["cluster_metadata", str(files / "logs"), "--show-secrets"], tmp_path / "a", capfd)
    assert leaked(b"".join(text for place, text in outputs.items() if place.endswith(".parquet"))) == [
        *(*OF_STATE, CORRUPT, NEWER),  # a record of a known type with unknown fields has no bytes
    ]
    outputs = run("metadata_diff", [str(files / "logs"), "--show-secrets"], tmp_path / "b", capfd)
    assert leaked(b"".join(text for place, text in outputs.items() if place.endswith(".parquet"))) == OF_STATE
    outputs = run("internal_topics", ["consumer_offsets", str(files / "logs"), "--show-secrets"], tmp_path / "c", capfd)
    assert leaked(b"".join(outputs.values())) == [STREAMS]


def without_bytes(rows: list[Any]) -> bytes:
    return repr([{name: value for name, value in row.asDict().items() if name not in BYTES} for row in rows]).encode()


BYTES = ("key", "value", "corrupt")


def test_functions_redact_secrets(spark: SparkSession, files: Path) -> None:
    register(spark)
    log = spark.read.format("kafka_log").option("mode", "PERMISSIVE").load(str(files / "logs" / "__cluster_metadata-0"))
    rows = log.transform(cluster_metadata).collect()
    assert leaked(without_bytes(rows)) == []
    values = {row.config_record.name: row.config_record.value for row in rows if row.config_record}
    assert {name: value for name, value in values.items() if value != "(redacted)"} == OPEN
    scram = [row.user_scram_credential_record.asDict() for row in rows if row.user_scram_credential_record]
    assert {each[name] for each in scram for name in SCRAM} == {b"(redacted)"}
    assert {(each["name"], each["iterations"]) for each in scram} == {("ann", 4096)}
    marked = log.transform(cluster_metadata, {"secretSalt": "pepper"}).collect()
    assert leaked(without_bytes(marked)) == []
    marks = {row.config_record.value for row in marked if row.config_record} - set(OPEN.values())
    assert len(marks) == len(SETTINGS) + 1
    assert all(mark.startswith("(redacted ") for mark in marks)
    shown = log.transform(cluster_metadata, {"showSecrets": "true"}).collect()
    assert {row.config_record.value for row in shown if row.config_record} > set(SETTINGS.values())
    offsets = spark.read.format("kafka_log").load(str(files / "logs" / "__consumer_offsets-0"))
    assert leaked(without_bytes(offsets.transform(consumer_offsets).collect())) == []
    with pytest.raises(
        ValueError, match=r"^cluster_metadata: the options 'showSecrets' and 'secretSalt' cannot both be set$"
    ):
        cluster_metadata(log, {"showSecrets": "true", "secretSalt": "x"})
    with pytest.raises(ValueError, match=r"^cluster_metadata: the option 'secretSalt' is empty; use random text$"):
        cluster_metadata(log, {"secretSalt": ""})


@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "stream"])
def test_source_redacts_secrets(spark: SparkSession, files: Path, tmp_path: Path, streaming: bool) -> None:
    register(spark)
    folder = str(files / "logs" / "__cluster_metadata-0")
    options = {"decode": "internal", "mode": "PERMISSIVE", "pathGlobFilter": "*.log"}
    for name, more, want in (("hidden", {}, []), ("shown", {"showSecrets": "true"}, OF_STATE)):
        columns = ("offset", "config_record", "user_scram_credential_record")
        if streaming:
            read = spark.readStream.format("kafka_log").options(**options, **more).load(folder).select(*columns)
            place = str(tmp_path / name)
            write = read.writeStream.format("parquet").option("checkpointLocation", f"{place}-state")
            write.trigger(availableNow=True).start(place).awaitTermination()
            rows = spark.read.parquet(place).collect()
        else:
            rows = spark.read.format("kafka_log").options(**options, **more).load(folder).select(*columns).collect()
        assert leaked(repr(rows).encode()) == want


def test_secret_options_require_decode_internal(spark: SparkSession, files: Path) -> None:
    register(spark)
    reader = spark.read.format("kafka_log").option("showSecrets", "true")
    want = r"kafka_log: the options 'showSecrets' and 'secretSalt' are only valid with decode=internal"
    with pytest.raises(Exception, match=want):
        reader.load(str(files / "logs")).collect()


def test_settings_in_topologies_are_redacted(spark: SparkSession) -> None:
    key, value = write_coordinator_record(km.StreamsGroupTopologyKey(group_id="s"), topology(), 0)
    df = spark.createDataFrame([(key, value)], "key binary, value binary")
    (row,) = consumer_offsets(df).select("streams_group_topology.*").collect()
    (topic,) = row.value.subtopologies[0].state_changelog_topics
    assert row.key.group_id == "s"
    assert (topic.topic_configs[0].key, topic.topic_configs[0].value) == ("acme.setting", "(redacted)")
