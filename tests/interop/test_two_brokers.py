"""All jobs on the files of two brokers, healthy and after kill -9.

No output of any job contains a secret of these files.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.testing import assertDataFrameEqual

from tests.interop.busy import ABORTED, COMMITTED
from tests.interop.two import DELETED, DELETED_LATER, LEFT_BEHIND, Two, in_files, planted, two
from tests.support.job_runs import JOBS, Outcome, files, findings, places, run
from tests.support.leaks import leaked

FINE, FINDINGS = 0, 1
"""Exit statuses of a job."""
TOPICS = ("consumer_offsets", "transaction_state", "share_group_state", "cluster_metadata")
STORM = ("--storm", "1000000")
"""Threshold above the commit rate of the steady producers, which is more than 30 per minute."""
PROGRAM_SECONDS = 300
UNCOMPRESSED = {"spark.sql.parquet.compression.codec": "uncompressed", "spark.sql.orc.compression.codec": "none"}
DIFFER = {"differing copies"}
"""Finding for batches that only the killed broker had, and that the other broker replaced."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Two]:
    with two() as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def plain_tables(spark: SparkSession) -> Iterator[None]:
    """Write tables without compression, so that secrets in them are found."""
    before = {name: spark.conf.get(name) or "" for name in UNCOMPRESSED}
    for name, value in UNCOMPRESSED.items():
        spark.conf.set(name, value)
    yield
    for name, old in before.items():
        spark.conf.set(name, old)


def assert_no_secrets(done: Outcome) -> None:
    """Assert that every kind of output exists and contains no secret."""
    secrets = planted()
    assert {place: found for place, content in done.outputs.items() if (found := leaked(content, secrets))} == {}
    assert {"report.md", "report.html", "report.json", "report.txt"} <= done.outputs.keys()
    assert any(place.startswith("tables/") for place in done.outputs)
    assert done.outputs["stdout"]


def test_files_contain_planted_secrets_and_records_of_the_killed_broker(cluster: Two) -> None:
    for logs in (cluster.healthy, cluster.killed):
        for broker in ("1", "2"):
            (log,) = logs.glob(f"{broker}/__cluster_metadata-0/*.log")
            assert leaked(log.read_bytes(), in_files()) == in_files()
    lost = {"__transaction_state-*": cluster.names.lost.encode(), "input-*": b"a lost record"}
    for topic, text in lost.items():
        here, there = (
            b"".join(path.read_bytes() for path in cluster.killed.glob(f"{broker}/{topic}/*.log")) for broker in "12"
        )
        assert text not in here
        assert text in there


HEALTHY = [
    ("groups", ["--data", "{logs}", *STORM]),
    ("segments", []),
    ("replicas", []),
    ("batching", []),
    ("inventory", []),
    *((job, [topic]) for job in ("internal_topics", "encodings") for topic in TOPICS),
]


@pytest.mark.parametrize(
    ("job", "more"), HEALTHY, ids=lambda value: value if isinstance(value, str) else "-".join(value)
)
def test_job_before_the_kill_has_no_warnings_or_errors(
    job: str, more: list[str], cluster: Two, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logs = str(cluster.healthy)
    done = run(job, [*(each.format(logs=logs) for each in more), logs], tmp_path / "out", capfd)
    assert findings(done) == {}
    assert done.exit_status == FINE
    assert_no_secrets(done)


def test_transactions_before_the_kill_are_counted(
    cluster: Two, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done = run("transactions", [str(cluster.healthy)], tmp_path / "out", capfd)
    assert (done.exit_status, findings(done)) == (FINE, {})
    assert_no_secrets(done)
    figures = json.loads(done.outputs["report.json"])["figures"]
    assert (figures["committed"], figures["aborted"]) == (COMMITTED, ABORTED)
    starts = spark.read.parquet(f"{done.tables}/partitions").where("topic = 'input'").orderBy("partition")
    assert [row.log_start_offset for row in starts.collect()] == [DELETED, 0]


def test_metadata_of_both_brokers_is_equal_before_the_kill(
    cluster: Two, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    one, other = (str(cluster.healthy / broker) for broker in "12")
    done = run("metadata_diff", [one, other], tmp_path / "both", capfd)
    assert (done.exit_status, findings(done)) == (FINE, {})
    assert_no_secrets(done)
    done = run("metadata_diff", [str(cluster.healthy)], tmp_path / "whole", capfd)
    assert (done.exit_status, set(findings(done))) == (FINDINGS, {"added"})
    assert_no_secrets(done)
    added = spark.read.parquet(f"{done.tables}/differences").groupBy("entity").count().collect()
    assert {"broker": 2, "scram credential": 1, "topic": 9}.items() <= dict(map(tuple, added)).items()


def test_hanging_transaction_is_found_after_a_broker_is_killed(
    cluster: Two, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    both = run("transactions", [str(cluster.killed)], tmp_path / "both", capfd)
    assert (both.exit_status, findings(both)) == (FINDINGS, {"hanging": 1})
    assert_no_secrets(both)
    (row,) = spark.read.parquet(f"{both.tables}/open_transactions").collect()
    late = cluster.late
    assert (row.topic, row.partition, row.first_offset) == (late.topic, late.partition, late.offset)
    assert (row.transactional_id, row.producer_id) == (late.transactional_id, late.producer_id)
    alone = run("transactions", [str(cluster.killed / "1")], tmp_path / "alone", capfd)
    for table in ("coordinator_states", "open_transactions", "completed_transactions", "producers"):
        assert_same_rows(spark, table, both, alone)
    ids = spark.read.parquet(f"{both.tables}/coordinator_states").select("transactional_id").collect()
    assert cluster.names.lost not in {row.transactional_id for row in ids}


def test_committed_offset_below_the_log_start_is_found_after_a_broker_is_killed(
    cluster: Two, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    both, alone = (
        run("groups", [str(logs), "--data", str(logs), *STORM], tmp_path / name, capfd)
        for name, logs in (("both", cluster.killed), ("alone", cluster.killed / "1"))
    )
    assert (both.exit_status, findings(both)) == (FINDINGS, {"offset outside the log": 1})
    assert_no_secrets(both)
    (row,) = spark.read.parquet(f"{both.tables}/offsets").where("place <> 'within'").collect()
    assert (row.group, row.topic, row.committed_offset) == ("left-behind", "input", LEFT_BEHIND)
    assert (row.start_offset, row.place) == (DELETED_LATER, "below the log")
    for table in ("history", "offsets", "groups", "rebalances"):
        assert_same_rows(spark, table, both, alone)
    moved = spark.read.parquet(f"{both.tables}/history").where(F.col("group") == cluster.names.group)
    assert moved.count() == 11


def assert_same_rows(spark: SparkSession, table: str, both: Outcome, alone: Outcome) -> None:
    """Assert that the files of both brokers give the same rows as those of the surviving broker alone."""
    found, expected = (spark.read.parquet(f"{each.tables}/{table}") for each in (both, alone))
    assertDataFrameEqual(found, expected)


@pytest.mark.parametrize(
    ("job", "more", "want"),
    [
        ("segments", [], set()),
        ("replicas", [], {"diverged"}),
        ("batching", [], set()),
        ("internal_topics", ["consumer_offsets"], DIFFER),
        ("internal_topics", ["transaction_state"], DIFFER),
        ("internal_topics", ["cluster_metadata"], set()),
        ("encodings", ["consumer_offsets"], DIFFER),
        ("encodings", ["transaction_state"], DIFFER),
        ("encodings", ["cluster_metadata"], set()),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(sorted(value)),
)
def test_job_after_kill_has_only_expected_findings(
    job: str,
    more: list[str],
    want: set[str],
    cluster: Two,
    spark: SparkSession,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    done = run(job, [*more, str(cluster.killed)], tmp_path / "out", capfd)
    assert (done.exit_status, set(findings(done))) == (FINDINGS if want else FINE, want)
    assert_no_secrets(done)


def test_lost_records_are_listed_after_a_broker_is_killed(
    cluster: Two, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done = run("replicas", [str(cluster.killed / broker) for broker in "12"], tmp_path / "out", capfd)
    rows = spark.read.parquet(f"{done.tables}/lost_records").collect()
    counts = Counter(row.topic for row in rows)
    # The steady producers may have written to input, too, without an acknowledgment.
    assert counts.pop("input") >= 1
    assert counts == {"__consumer_offsets": 1, "__transaction_state": 1}
    for row in rows:
        assert row.leader_epoch < row.replaced_by_epoch
        assert row.replicas == [str(cluster.killed / "2" / f"{row.topic}-{row.partition}")]


def test_metadata_changes_are_found_after_a_broker_is_killed(
    cluster: Two, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    old, new = (str(cluster.killed / broker) for broker in "21")
    done = run("metadata_diff", [old, new], tmp_path / "out", capfd)
    assert done.exit_status == FINDINGS
    assert_no_secrets(done)
    rows = spark.read.parquet(f"{done.tables}/differences").orderBy("entity", "name").collect()
    others = [(row.change, row.entity, row.name) for row in rows if row.entity != "partition"]
    assert others == [
        ("changed", "broker", "2"),
        ("added", "config", "broker 1: listener.name.external.ssl.keystore.password"),
    ]
    partitions = [row for row in rows if row.entity == "partition"]
    assert len(partitions) == 2 * 9
    assert {row.change for row in partitions} == {"changed"}
    assert findings(done) == {"added": 1, "changed": 1 + len(partitions)}


@pytest.mark.parametrize("form", ["json", "orc"])
def test_other_table_formats_contain_no_secrets(
    form: str, cluster: Two, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = ["cluster_metadata", str(cluster.killed), "--format", form]
    done = run("internal_topics", given, tmp_path / "out", capfd)
    assert any(place.endswith(f".{form}") for place in done.outputs)
    assert_no_secrets(done)


@pytest.mark.parametrize("job", ["internal_topics", "metadata_diff"])
def test_command_redacts_secrets_without_show_secrets(job: str, cluster: Two, tmp_path: Path) -> None:
    given = ["cluster_metadata"] if job == "internal_topics" else []
    command = [sys.executable, "-m", "kafka_messages_spark", job, *given, str(cluster.killed), "--format", "json"]
    for more in ([], ["--show-secrets"]):
        where = tmp_path / ("shown" if more else "hidden")
        ended = subprocess.run(
            [*command, *places(where), *more],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=PROGRAM_SECONDS,
            check=False,
        )
        printed = {"stdout": ended.stdout, "stderr": ended.stderr}
        done = Outcome(ended.returncode, {**printed, **files(where)}, where)
        assert done.exit_status == (FINDINGS if job == "metadata_diff" else FINE), ended.stderr.decode()
        if more:
            everything = b"".join(done.outputs.values())
            assert leaked(everything, in_files()) == in_files()
        else:
            assert_no_secrets(done)


def test_every_job_is_tested() -> None:
    assert {job for job, _ in HEALTHY} | {"transactions", "metadata_diff"} == set(JOBS)
