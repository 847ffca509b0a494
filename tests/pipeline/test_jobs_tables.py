"""Jobs write into the tables of a catalog, as Iceberg needs it; tests/interop has Iceberg and Delta themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka_messages_spark.jobs import segments
from pyspark.sql import SparkSession

from tests.pipeline.job_files import data, segment


@pytest.fixture
def schema(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A schema of the session's catalog, with its files in a folder of the test."""
    spark.sql(f"CREATE SCHEMA jobs LOCATION '{tmp_path / 'warehouse'}'")
    yield "jobs"
    spark.sql("DROP SCHEMA jobs CASCADE")


def test_tables_of_a_catalog(
    spark: SparkSession, schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables could be written to folders only, which Iceberg takes for names below some warehouse."""
    segment(tmp_path, "orders-0", data(0, count=3))
    arguments = [str(tmp_path / "orders-0"), "--tables", schema]
    assert segments.main([*arguments, "--output", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().err
    shown = spark.sql(f"SHOW TABLES IN {schema}").where("not isTemporary").collect()
    tables = [row.tableName for row in shown]
    assert sorted(tables) == sorted(each.name for each in (tmp_path / "out").iterdir()) != []
    for table in tables:
        assert f"written: jobs.{table}\n" in said
        found, files = spark.table(f"jobs.{table}"), spark.read.parquet(str(tmp_path / "out" / table))
        assert found.schema == files.schema
        assert sorted(map(str, found.collect())) == sorted(map(str, files.collect()))

    assert segments.main([*arguments, "--quiet"]) == 2
    assert "[TABLE_OR_VIEW_ALREADY_EXISTS] " in capsys.readouterr().err
    assert segments.main([*arguments, "--quiet", "--mode", "overwrite"]) == 0


@pytest.mark.parametrize("name", ["nowhere", "nowhere.jobs", "a.b.c.d", "a b", ""])
def test_a_schema_that_is_not_there(
    spark: SparkSession, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told before files are read, not when a long job has come to its end."""
    segment(tmp_path, "orders-0", data(0))
    assert segments.main([str(tmp_path), "--tables", name]) == 2
    error = f"segments: error: --tables: this session has no schema {name!r}\n"
    assert capsys.readouterr() == ("", error)
