"""Reports as OpenMetrics, read by the strict parser of the Prometheus client."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from kafka_messages_spark.jobs import Gauge, Job, JobFinding, JobReport, JobRun, parser, run
from tests.support.full_disk import fill_disk

RUN = JobRun("groups", {}, [JobFinding("commit storm", "warning", 2)], 1, datetime(2026, 11, 22, 10, 30, tzinfo=UTC))
NAMES = ("a\nb", 'say "hi"', "back\\slash", "\\n", "é\u202e", '{a="b"} 1 # EOF', "")


def report() -> JobReport:
    made = JobReport("Groups")
    made.figures = {"groups": 8, "lag": (1 << 63) - 1}
    lag = [({"group_id": name, "partition_id": number}, number) for number, name in enumerate(NAMES)]
    made.gauges = [
        Gauge("kminion_lag", "Records to read.", [*lag, ({"group_id": "unknown", "partition_id": 0}, None)]),
        Gauge("age_seconds", "Age.", [({}, 0.25)]),
        Gauge("nothing", "A metric without samples.", [({}, None)]),
    ]
    return made


def test_figures_findings_and_gauges_are_written() -> None:
    text = report().openmetrics(RUN)
    assert text.startswith("""\
# TYPE kafka_messages_spark_findings gauge
# HELP kafka_messages_spark_findings Findings of the last run.
kafka_messages_spark_findings{job="groups",kind="commit storm",severity="warning"} 2
# TYPE kafka_messages_spark_created_timestamp_seconds gauge
# HELP kafka_messages_spark_created_timestamp_seconds Time of the last run.
kafka_messages_spark_created_timestamp_seconds{job="groups"} 1795343400.0
# TYPE kafka_messages_spark_groups_groups gauge
# HELP kafka_messages_spark_groups_groups Figure of the job groups.
kafka_messages_spark_groups_groups 8
# TYPE kafka_messages_spark_groups_lag gauge
# HELP kafka_messages_spark_groups_lag Figure of the job groups.
kafka_messages_spark_groups_lag 9223372036854775807
# TYPE kminion_lag gauge
# HELP kminion_lag Records to read.
kminion_lag{group_id="a\\nb",partition_id="0"} 0
""")
    assert text.endswith("# TYPE age_seconds gauge\n# HELP age_seconds Age.\nage_seconds 0.25\n# EOF\n")
    assert "nothing" not in text


def test_strict_parser_reads_every_label() -> None:
    families = {each.name: each for each in text_string_to_metric_families(report().openmetrics(RUN))}
    assert {each.type for each in families.values()} == {"gauge"}
    samples = families["kminion_lag"].samples
    assert [(each.labels["group_id"], each.value) for each in samples] == [(name, at) for at, name in enumerate(NAMES)]


def test_report_without_figures_and_findings_is_valid() -> None:
    done = JobRun("segments", {}, [], 0, datetime(2026, 11, 22, tzinfo=UTC))
    (family,) = text_string_to_metric_families(JobReport("Segments").openmetrics(done))
    assert family.name == "kafka_messages_spark_created_timestamp_seconds"


@pytest.mark.parametrize("ending", ["prom", "html", "json", "md", "txt"])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_full_disk_leaves_the_earlier_report(
    ending: str, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(job: Job) -> None:
        job.report = report()

    path = tmp_path / f"report.{ending}"
    path.write_text("old")
    path.chmod(0o644)
    fill_disk(monkeypatch)
    arguments = ["--report", f"{scheme}{path}"]
    assert run("Groups", parser("groups", ""), arguments, work) == 2
    assert f"No space left on device: '{path}'" in capsys.readouterr().err
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]
    monkeypatch.undo()
    assert run("Groups", parser("groups", ""), arguments, work) == 0
    assert path.read_text() != "old"
    assert (stat.S_IMODE(path.stat().st_mode), len(list(tmp_path.iterdir()))) == (0o644, 1)


def test_parser_is_strict() -> None:
    text = report().openmetrics(RUN)
    for wrong in (text.removesuffix("# EOF\n"), text.replace('say \\"hi\\"', 'say "hi"'), text + "more 1\n"):
        with pytest.raises(ValueError, match=r".+"):
            list(text_string_to_metric_families(wrong))
