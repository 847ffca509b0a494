"""Jobs with ``--state``, ``--since`` and ``--topic`` give the rows of a full run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import kafka_messages
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark.jobs import transactions
from tests.pipeline.job_files import coordinator, data, marker
from tests.pipeline.test_jobs_local_mode import CLASSIC, LOGS, ROOT, one_partition

SINCE = "2026-11-21T11:48:52.5Z"
JOBS = ("transactions", "segments", "groups", "batching")
Runner = Callable[..., tuple[str, dict[str, DataFrame]]]


def module(job: str) -> ModuleType:
    return import_module(f"kafka_messages_spark.jobs.{job}")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    place = tmp_path / "logs"
    shutil.copytree(LOGS, place)
    return place


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path, logs: Path, capsys: pytest.CaptureFixture[str]) -> Runner:
    numbers = iter(range(100))

    def run(job: str, *options: str) -> tuple[str, dict[str, DataFrame]]:
        out = tmp_path / f"out-{next(numbers)}"
        of_job = ["--data", str(logs)] if job == "groups" else []
        status = module(job).main([str(logs), *of_job, *options, "--output", str(out), "--quiet"])
        printed = capsys.readouterr()
        assert status in (0, 1), printed.err
        return printed.out, {name: spark.read.parquet(str(out / name)) for name in sorted(module(job).TABLES)}

    return run


def rows(df: DataFrame) -> list[Any]:
    return sorted(df.collect(), key=repr)


def change(logs: Path) -> None:
    """Append to active segments, with an incomplete batch, roll one, and remove, replace and create others."""
    (active,) = (logs / "payments-1").glob("*.log")
    with active.open("ab") as file:
        file.write(marker("ABORT", 15, 10**7, 13) + data(16, 10**7, count=3, producer=12)[:-5])
    offsets = max((logs / "__consumer_offsets-1").glob("*.log"))
    key, value = commit()
    with offsets.open("ab") as file:
        file.write(coordinator(10_000, 10**7, key, value, 4))
    (orders,) = (logs / "orders-0").glob("*.log")
    (orders.parent / f"{1000:020}.log").write_bytes(data(1000, 10**7))
    (logs / "orders-1" / orders.name).write_bytes(data(0, 10**7, count=4))
    shutil.rmtree(logs / "clicks-0")
    (logs / "new-0").mkdir()
    (logs / "new-0" / orders.name).write_bytes(data(0, 10**7))


def commit() -> tuple[Any, Any]:
    key = kafka_messages.OffsetCommitKey(group="billing", topic="orders", partition=0)
    return key, kafka_messages.OffsetCommitValue(offset=1, commit_timestamp=1_799_000_000_000)


@CLASSIC
@pytest.mark.parametrize("is_local", [True, pytest.param(False, marks=pytest.mark.nightly)], ids=["local", "workers"])
@pytest.mark.parametrize("job", JOBS)
def test_run_with_state_equals_a_full_run(
    job: str,
    is_local: bool,
    run: Runner,
    logs: Path,
    tmp_path: Path,
    spark: SparkSession,
    own_session: Callable[[], None],
) -> None:
    if is_local:
        own_session()
    else:  # the time zone of the rows that workers write
        spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    state = str(tmp_path / "state")
    with one_partition(spark) if is_local else nullcontext():
        first = run(job, "--state", state)
        change(logs)
        report, found = run(job, "--state", state)
        wanted, tables = run(job)
        assert report == wanted != first[0]
        for name, table in tables.items():
            assert rows(found[name]) == rows(table), name
    spark.conf.set("spark.sql.session.timeZone", "UTC")


@CLASSIC
@pytest.mark.parametrize("job", JOBS)
def test_since_filters_the_tables_of_a_full_run(
    job: str, run: Runner, spark: SparkSession, own_session: Callable[[], None]
) -> None:
    own_session()
    with one_partition(spark):
        _, tables = run(job)
        _, found = run(job, "--since", SINCE)
        times = documented_times(job)
        assert times
        for name, table in tables.items():
            if job == "batching" and name == "findings":
                continue
            if job == "segments" and name == "findings":
                kept = tables["files"].where(
                    F.col("last_timestamp").isNull() | (F.col("last_timestamp") >= F.lit(SINCE))
                )
                assert rows(found[name]) == rows(table.join(kept.select("file"), "file").select(table.columns))
                continue
            wanted = table.where(F.col(times[name]) >= F.lit(SINCE).cast("timestamp")) if name in times else table
            assert rows(found[name]) == rows(wanted), name


def documented_times(job: str) -> dict[str, str]:
    text = (ROOT / "docs" / "spark-jobs.md").read_text()
    found = re.findall(rf"^\| `{job}` \| ([^|]*) \| `(\w+)` \|", text, re.MULTILINE)
    return {name: column for names, column in found for name in re.findall(r"`(\w+)`", names)}


@CLASSIC
@pytest.mark.parametrize("job", JOBS)
def test_topic_selects_files(
    job: str, run: Runner, logs: Path, spark: SparkSession, own_session: Callable[[], None]
) -> None:
    own_session()
    options = ["--topic", "pay*", "--topic", "{clicks,x}"]
    log = {"groups": "__consumer_offsets-", "transactions": "__transaction_state-"}.get(job, "payments-")
    kept = ("payments-", "clicks-", log)
    with one_partition(spark):
        _, found = run(job, *options)
        for folder in logs.iterdir():
            if folder.is_dir() and not folder.name.startswith(kept) and folder.name != "__share_group_state-0":
                shutil.rmtree(folder)
        _, tables = run(job)
    for name, table in tables.items():
        if job == "groups" and name in ("rebalances", "unreadable", "groups", "share_offsets"):
            continue
        if "topic" in table.columns:
            table = table.where("topic like 'payments' or topic like 'clicks'")
            assert rows(found[name]) == rows(table), name


@CLASSIC
@pytest.mark.parametrize(("state", "above"), [("logs/state", "logs"), ("logs", "logs"), ("logs/a/b", "logs/*")])
def test_state_inside_the_input_is_rejected(
    state: str, above: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").mkdir()
    arguments = [str(tmp_path / above), "--state", str(tmp_path / state)]
    assert module("segments").main(arguments) == 2
    assert capsys.readouterr().err == f"segments: error: --state: {tmp_path / state} is inside {tmp_path / above}\n"


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01T01:00:01+01:00", 1000),
        ("17", 17),
        ("1970-01-01T00:00:00.0011Z", 2),
    ],
)
def test_times_have_a_zone_and_milliseconds(text: str, milliseconds: int) -> None:
    assert transactions._parser().parse_args(["logs", "--since", text]).since == milliseconds
