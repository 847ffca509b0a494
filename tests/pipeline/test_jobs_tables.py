"""Jobs write tables of a catalog; tests/interop covers Iceberg and Delta."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_messages_spark.jobs import Job, groups, metadata_diff, parser, run, segments
from tests.pipeline.job_files import data, segment

HINT = "choose another place, or use --mode overwrite, append or ignore"


@pytest.fixture
def schema(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    spark.sql(f"CREATE SCHEMA jobs LOCATION '{tmp_path / 'warehouse'}'")
    yield "jobs"
    spark.sql("DROP SCHEMA jobs CASCADE")


@pytest.mark.nightly
def test_catalog_tables_equal_the_output_files(
    spark: SparkSession, schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path, "orders-0", data(0, count=3))
    arguments = [str(tmp_path / "orders-0"), "--tables", schema]
    assert segments.main([*arguments, "--output", str(tmp_path / "out")]) == 0
    reported = capsys.readouterr().err
    shown = spark.sql(f"SHOW TABLES IN {schema}").where("not isTemporary").collect()
    tables = [row.tableName for row in shown]
    assert sorted(tables) == sorted(each.name for each in (tmp_path / "out").iterdir()) != []
    for table in tables:
        assert f"written: jobs.{table}\n" in reported
        found, files = spark.table(f"jobs.{table}"), spark.read.parquet(str(tmp_path / "out" / table))
        assert found.schema == files.schema
        assert sorted(map(str, found.collect())) == sorted(map(str, files.collect()))

    assert segments.main([*arguments, "--quiet"]) == 2
    assert capsys.readouterr().err == f"segments: error: --tables: the table jobs.files exists; {HINT}\n"
    assert segments.main([*arguments, "--quiet", "--mode", "overwrite"]) == 0


@pytest.fixture
def nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **more: object) -> None:
        raise AssertionError("read")

    monkeypatch.setattr(Job, "_reading", refuse)


@pytest.mark.usefixtures("spark", "nothing_is_read")
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--output", "{}/out"], f"--output: {{}}/out/findings exists; {HINT}"),
        (["--output", "{}/new", "--format", "nosuch"], "--format: unknown format 'nosuch'"),
    ],
    ids=["exists", "format"],
)
def test_invalid_output_is_rejected_before_reading(
    arguments: list[str], error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path, "orders-0", data(0))
    (tmp_path / "out" / "findings").mkdir(parents=True)
    given = [each.format(tmp_path) for each in arguments]
    assert segments.main([str(tmp_path / "orders-0"), *given]) == 2
    assert capsys.readouterr() == ("", f"segments: error: {error.format(tmp_path)}\n")


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("nowhere/x.html", "--report: folder not found: {}/nowhere"),
        ("nowhere", None),
        ("orders-0", "--report: {}/orders-0 is a folder, but must be a file"),
    ],
)
def test_invalid_report_path_is_rejected_before_spark_starts(
    place: str, error: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path, "orders-0", data(0))
    status = run("Title", parser("own", ""), ["--report", str(tmp_path / place)], lambda job: None)
    assert status == (2 if error else 0)
    if error:
        message = f"own: error: {error.format(tmp_path)}\n"
        assert capsys.readouterr() == ("", message)


def test_arguments_are_rejected_before_spark_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(segment(tmp_path / name, "orders-0", data(0))) for name in "abc"]
    assert metadata_diff.main(paths) == 2
    assert capsys.readouterr() == ("", "metadata_diff: error: expected one log, or two paths to compare, got 3 paths\n")
    with pytest.raises(SystemExit):
        groups.main([paths[0], "--since", "soon"])
    text = "expected a time such as 2026-11-21T10:00:00Z, or milliseconds since the epoch, got 'soon'"
    assert capsys.readouterr().err.endswith(f"argument --since: {text}\n")
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    assert groups.main([paths[0], "--state", str(tmp_path / "state")]) == 2
    text = "--state is not supported on Spark Connect, whose client may not have the files"
    assert capsys.readouterr() == ("", f"groups: error: {text}\n")


@pytest.mark.parametrize("name", ["nowhere", "nowhere.jobs", "a.b.c.d", "a b", ""])
def test_missing_schema_is_rejected(
    spark: SparkSession, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path, "orders-0", data(0))
    assert segments.main([str(tmp_path), "--tables", name]) == 2
    error = f"segments: error: --tables: unknown schema {name!r}; create the schema first\n"
    assert capsys.readouterr() == ("", error)
