"""docs/spark-jobs.md names every job, table, column and option."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pyspark.sql import DataFrame, SparkSession

from kafka_messages_spark import consumer_offsets, register
from kafka_messages_spark.analyses import (
    batching,
    encodings,
    groups,
    inventory,
    metadata,
    replicas,
    segments,
    transactions,
)
from kafka_messages_spark.analyses.batches import read_batches
from kafka_messages_spark.analyses.internal_topics import cluster_metadata, share_group_state, transaction_state
from kafka_messages_spark.analyses.rebalances import rebalances
from kafka_messages_spark.analyses.share_groups import share_offsets, topic_names
from kafka_messages_spark.jobs import _output, parser
from kafka_messages_spark.jobs import groups as groups_job
from kafka_messages_spark.sources._segment_ranges import ranges

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "spark-jobs.md").read_text()
JOBS = (
    *("transactions", "groups", "metadata_diff", "segments", "replicas", "encodings", "inventory", "batching"),
    "internal_topics",
)


def section(job: str) -> str:
    return TEXT.split(f"\n## `{job}`")[1].split("\n## ")[0]


def tables(spark: SparkSession) -> dict[str, dict[str, DataFrame]]:
    register(spark)
    logs = str(ROOT / "examples" / "cluster" / "logs")
    log = spark.read.format("kafka_log").option("includeBatchMetadata", "true").option("mode", "PERMISSIVE").load(logs)
    batches = read_batches(spark, [logs])
    found, partitions = transactions.find_transactions(batches), transactions.partition_offsets(batches)
    states = transactions.coordinator_states(transaction_state(log))
    offsets = consumer_offsets(log)
    commits = groups.offset_commits(offsets)
    history = groups.offset_history(commits, offsets)
    replay = metadata.replay(metadata.records_of(cluster_metadata(log)), start=1)
    image = metadata.image(replay)
    checks = segments.check_segments(spark, [logs])
    files = ranges(spark, [logs], owner="test")
    compared = replicas.compare_replicas(spark, [logs])
    sums, keys = batching.sums(batching.sized_batches(files)), batching.by_key(batching.keyed_records(files), {})
    dead = batching.dead(keys)
    measured = encodings.measure(encodings.messages_of(log, "__consumer_offsets"))
    job: Any = SimpleNamespace(keep=lambda rows: rows)
    unreadable = {"unreadable": _output.corrupt_batches(batches)}
    of_groups = {
        "commits": commits,
        "history": history,
        "offsets": groups_job._offsets(job, history, None, None),
        "resets": groups.resets(history),
        "storms": groups.commit_storms(commits),
        "removed_offsets": groups.removed_offsets(history),
        "rebalances": rebalances(offsets),
        "share_offsets": share_offsets(share_group_state(log), topic_names(offsets), partitions),
    }
    return {
        "transactions": unreadable
        | {
            "open_transactions": transactions.open_transactions(found, partitions, states, as_of=0),
            "completed_transactions": found,
            "partitions": transactions.stable_offsets(found, partitions),
            "producers": transactions.producers(found, states),
            "coordinator_states": states,
        },
        "groups": unreadable | of_groups | {"groups": groups_job._groups(offsets, of_groups, None)},
        "metadata_diff": unreadable
        | {
            "before": image,
            "after": image,
            "differences": metadata.differences(image, image),
            "changes": metadata.changes(replay),
            "unhandled": metadata.unhandled(cluster_metadata(log)),
        },
        "segments": {"files": segments.files(checks), "findings": segments.findings(checks)},
        "replicas": unreadable | {name: getattr(compared, name) for name in ("replicas", "findings", "lost_records")},
        "encodings": unreadable
        | {
            "fields": encodings.fields(measured),
            "histogram": encodings.histogram(measured),
            "messages": encodings.totals(measured),
        },
        "inventory": unreadable | {"topics": inventory.inventory(files, batches, None, None, as_of=0)},
        "batching": unreadable
        | {level: batching.at_level(sums, level) for level in batching.LEVELS if level != "all"}
        | {
            "dead": dead,
            "offsets_by_group": batching.offsets_by_group(keys),
            "findings": batching.findings(sums, dead),
        },
    }


@pytest.mark.nightly
def test_every_table_column_is_documented(spark: SparkSession) -> None:
    for job, of_job in tables(spark).items():
        assert sorted(of_job) == sorted(import_module(f"kafka_messages_spark.jobs.{job}").TABLES)
        documented: dict[str, list[str]] = {}
        for line in section(job).splitlines():
            if found := re.match(r"\| `(\w+)`(?:, `(\w+)`)? \| .* \| (`.*) \|$", line):
                documented |= {name: re.findall(r"`(\w+)`", found[3]) for name in found.groups()[:2] if name}
        for name, table in of_job.items():
            assert sorted(documented[name]) == sorted(table.columns), f"{job}: {name}"


@pytest.mark.parametrize("job", JOBS)
def test_every_option_is_documented(job: str) -> None:
    of_job = import_module(f"kafka_messages_spark.jobs.{job}")._parser()
    common = {name for action in parser("x", "x")._actions for name in action.option_strings}
    own = {name for action in of_job._actions for name in action.option_strings} - common
    documented = set(re.findall(r"`(--[a-z-]+)", section(job)))
    assert documented >= own
    general = set(re.findall(r"`(--[a-z-]+)", TEXT.split("\n## Running the jobs\n")[1].split("\n## ")[0]))
    assert general >= common - {"-h", "--help"}


@pytest.mark.nightly
@pytest.mark.parametrize("job", JOBS[:-1])
@pytest.mark.usefixtures("spark")
def test_documented_report_matches_the_output(job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(
        rf"```sh\npython -m kafka_messages_spark\.jobs\.{job} (.*)\n```\n\n```\n((?:.*\n)*?)```\n", section(job)
    )
    assert found
    # The workers of Spark Connect run in a folder of their own.
    arguments = [str(ROOT / each) if each.startswith("examples/") else each for each in found[1].split()]
    reports = [word for ending in ("html", "json") for word in ("--report", str(tmp_path / f"report.{ending}"))]
    status = import_module(f"kafka_messages_spark.jobs.{job}").main([*arguments, *reports, "--quiet"])
    page = (tmp_path / "report.html").read_text()
    assert (
        page.count("<figure>")
        == page.count("</figure>")
        == int(f"| `{job}` | " in TEXT.split("| job | chart |")[1].split("\n\n")[0])
    )
    content = json.loads((tmp_path / "report.json").read_text())
    Draft202012Validator(
        json.loads(files("kafka_messages_spark.jobs").joinpath("_report/report.schema.json").read_text())
    ).validate(content)
    assert (content["job"], content["exit_status"]) == (job, status)
    documented = TEXT.split("| job | figures |")[1].split(f"\n| `{job}` | ")[1].split("|")[0]
    assert re.findall(r"`([a-z_]+)`", documented) == list(content["figures"])
    assert any(each["severity"] != "info" for each in content["findings"]) == bool(status)
    assert "other" not in {each["kind"] for each in content["findings"]}
    report = capsys.readouterr().out.replace(f"{ROOT}/", "").split("\n\n", 1)[1]
    assert normalized_words(report)[: len(normalized_words(found[2]))] == normalized_words(found[2])


def normalized_words(report: str) -> list[str]:
    alike = re.sub(r"\S*/([^/\s]+/\d{20}\.log)", r"\1", report)
    alike = re.sub(r'"[^"]*"', '"id"', alike)
    alike = re.sub(r"\b\d+(?:ms|[smhd])\b(?: \d+[smhd]\b)?", "0", alike)
    return re.sub(r"-{2,}", "--", re.sub(r"[\d.]*\d", "0", alike)).split()


@pytest.mark.parametrize(("job", "checks"), [("segments", segments.CHECKS), ("replicas", replicas.CHECKS)])
def test_every_check_is_documented(job: str, checks: Mapping[str, str]) -> None:
    for name, what in checks.items():
        assert f"| `{name}` | {what}" in section(job)
