"""Files of older brokers and of tiered storage, with the source and all jobs."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark import register

RELEASES = Path(__file__).with_name("data") / "releases"
TOPIC_ID, SEGMENT_ID = "8L3dPtjDSAmpjQSoLM6LBw", "T-2mNAqDR0WqSxCEh7lOgA"
RECORD = ("topic", "partition", "offset", "timestamp", "key", "value")
SEGMENT = f"{0:020}.log"


def log(spark: SparkSession, folder: Path, **options: str) -> DataFrame:
    register(spark)
    return spark.read.format("kafka_log").options(recursiveFileLookup="true", **options).load(str(folder))


def rows(records: DataFrame) -> list[tuple[Any, ...]]:
    millis = records.withColumn("timestamp", F.unix_millis("timestamp"))
    texts = millis.withColumns({name: F.col(name).cast("string") for name in ("key", "value")})
    return sorted(tuple(row) for row in texts.select(*RECORD).collect())


@pytest.fixture(params=["2.8", "3.9"])
def release(request: pytest.FixtureRequest) -> Path:
    return RELEASES / str(request.param)


@pytest.fixture
def expected(release: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((release / "expected.json").read_text())
    return found


def test_records_of_older_brokers_are_read(spark: SparkSession, release: Path, expected: dict[str, Any]) -> None:
    written = log(spark, release / "logs").where("topic is not null and not startswith(topic, '__')")
    assert rows(written) == sorted(tuple(each) for each in expected["records"])


def report(job: str, place: Path, *arguments: str) -> dict[str, Any]:
    file = place / f"{job}.json"
    import_module(f"kafka_messages_spark.jobs.{job}").main(
        [*arguments, "--report", str(file), "--quiet", "--limit", "99"]
    )
    content: dict[str, Any] = json.loads(file.read_text())
    return content


def table(content: dict[str, Any], title: str) -> list[dict[str, Any]]:
    return [
        row for part in content["sections"] if part["title"] == title for each in part["tables"] for row in each["rows"]
    ]


@pytest.mark.nightly
def test_jobs_read_files_of_older_brokers(
    spark: SparkSession, release: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    logs = str(release / "logs")
    assert report("segments", tmp_path, logs)["findings"] == []
    found = report("transactions", tmp_path, logs)
    assert (found["figures"]["committed"], found["figures"]["aborted"], found["exit_status"]) == (1, 1, 0)
    opened = [
        (row["verdict"], row["transactional_id"], row["first_offset"]) for row in table(found, "Open transactions")
    ]
    assert opened == [("ongoing", "stays-open", 6)] * 2
    found = report("groups", tmp_path, logs, "--data", logs, "--output", f"{tmp_path}/groups")
    assert found["findings"] == []
    offsets = spark.read.parquet(f"{tmp_path}/groups/offsets").where("committed_offset is not null")
    names = ("group", "topic", "partition", "committed_offset")
    assert sorted(map(list, offsets.select(*names).collect())) == sorted(expected["committed"])
    assert {row.place for row in offsets.collect()} == {"within"}
    found = report("batching", tmp_path, logs)
    dead = {row["topic"] for row in table(found, "Dead records in compacted topics")}
    assert (found["findings"], dead) == ([], {"__consumer_offsets", "__transaction_state"})
    topics = {row["topic"]: row["records"] for row in table(found, "Topics")}
    assert topics["codecs"] == 40
    assert {topics[topic] for topic in topics if topic.startswith("format-")} <= {32}
    for topic in ("consumer_offsets", "transaction_state"):
        assert report("encodings", tmp_path, topic, logs)["figures"]["malformed"] == 0
        found = report("internal_topics", tmp_path, topic, logs)
        assert (found["findings"], "unreadable" in found["figures"]) == ([], False)


@pytest.mark.nightly
def test_metadata_log_of_kafka_3_9_is_compared_with_an_empty_cluster(spark: SparkSession, tmp_path: Path) -> None:
    found = report("metadata_diff", tmp_path, str(RELEASES / "3.9" / "logs"))
    assert {each["kind"] for each in found["findings"]} == {"added"}
    topics = {row["name"] for row in table(found, "Differences") if row["entity"] == "topic" and "name" in row}
    assert topics == {"codecs", "payments", "settings", "__consumer_offsets", "__transaction_state"}


FOLDERS = {
    "LocalTieredStorage": f"codecs-0-{TOPIC_ID}",
    "Aiven": f"codecs-{TOPIC_ID}/0",
}
BESIDE = {
    "LocalTieredStorage": ("index", "timeindex", "txnindex", "leader_epoch_checkpoint", "snapshot"),
    "Aiven": ("indexes", "rsm-manifest"),
}


def tiered(folder: Path, plugin: str, content: bytes) -> Path:
    place = folder / FOLDERS[plugin]
    place.mkdir(parents=True)
    for ending in BESIDE[plugin]:
        (place / f"{0:020}-{SEGMENT_ID}.{ending}").write_bytes(b"\0" * 100)
    file = place / f"{0:020}-{SEGMENT_ID}.log"
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("plugin", ["LocalTieredStorage", pytest.param("Aiven", marks=pytest.mark.nightly)])
def test_tiered_copies_equal_the_original(plugin: str, spark: SparkSession, tmp_path: Path) -> None:
    original = RELEASES / "3.9" / "logs" / "codecs-0"
    file = tiered(tmp_path / "tier", plugin, (original / SEGMENT).read_bytes())
    want = rows(log(spark, original))
    assert len(want) == 40
    assert rows(log(spark, tmp_path / "tier")) == want
    figures = report("batching", tmp_path, str(tmp_path / "tier"), str(original))["figures"]
    assert (figures["topics"], figures["partitions"], figures["batches"], figures["records"]) == (1, 1, 5, 40)
    assert report("segments", tmp_path, str(file.parent))["figures"]["files_without_a_finding"] == 1


@pytest.mark.nightly
def test_undecodable_tiered_copies_are_corrupt_rows(spark: SparkSession, tmp_path: Path) -> None:
    content = (RELEASES / "3.9" / "logs" / "codecs-0" / SEGMENT).read_bytes()
    file = tiered(tmp_path / "tier", "Aiven", bytes(each ^ 0x5A for each in content))
    (row,) = log(spark, tmp_path / "tier", mode="PERMISSIVE").collect()
    assert (row.topic, row.partition, row.corrupt.position, row.corrupt.size) == ("codecs", 0, 0, len(content))
    found = report("batching", tmp_path, str(tmp_path / "tier"))
    assert [(each["kind"], each["count"]) for each in found["findings"]] == [("unreadable", 1)]
    assert table(found, "Unreadable")[0]["file"] == str(file)


def test_release_files_are_below_100_kb() -> None:
    assert sum(path.stat().st_size for path in RELEASES.rglob("*") if path.is_file()) < 100_000


def test_copy_excludes_empty_segments_and_other_files(tmp_path: Path) -> None:
    from tests.interop.releases import _copy

    source = tmp_path / "logs"
    for name in (
        "t-0/0.log",
        "t-0/0.index",
        "t-0/leader-epoch-checkpoint",
        "cleaner-offset-checkpoint",
        "meta.properties",
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("x")
    (source / "t-0" / "1.log").touch()
    _copy(source, tmp_path / "kept")
    kept = {str(path.relative_to(tmp_path / "kept")) for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert kept == {"t-0/0.log", "cleaner-offset-checkpoint"}
    shutil.rmtree(tmp_path / "kept")
