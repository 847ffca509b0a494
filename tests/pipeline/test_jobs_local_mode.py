"""Local mode for small inputs gives the same results as Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import LongType, StructField, StructType
from pyspark.testing import assertDataFrameEqual

from kafka_messages_spark.jobs import (
    _cli,
    _job,
    _local_mode,
    _session,
    encodings,
    groups,
    internal_topics,
    metadata_diff,
    segments,
    transactions,
)

ROOT = Path(__file__).parents[2]
LOGS = str(ROOT / "examples" / "cluster" / "logs")
CLASSIC = pytest.mark.skipif(
    os.environ.get("TESTS_ON_CONNECT") == "1", reason="a session of Spark Connect is never one of the program's own"
)


@contextmanager
def one_partition(spark: SparkSession) -> Iterator[None]:
    settings = {name: value for name, value in _local_mode.SETTINGS.items() if spark.conf.isModifiable(name)}
    # Fixed when a session starts.
    fixed = {"spark.ui.enabled", "spark.python.sql.dataFrameDebugging.enabled"}
    assert _local_mode.SETTINGS.keys() - settings.keys() == fixed
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name, old in before.items():
        if old is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, old)


@CLASSIC
@pytest.mark.parametrize(
    ("job", "argv"),
    [
        (transactions, [LOGS]),
        (groups, [LOGS, "--data", LOGS]),
        (metadata_diff, [LOGS, "--before-offset", "78"]),
        (segments, [LOGS]),
        (encodings, ["consumer_offsets", LOGS]),
        (internal_topics, ["transaction_state", LOGS, "--latest"]),
    ],
    ids=lambda value: value.__name__.rpartition(".")[2] if isinstance(value, ModuleType) else "",
)
def test_local_mode_gives_equal_reports_and_tables(
    job: ModuleType,
    argv: list[str],
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda size: "11" * size)  # instead of the random salt
    read = _watched(monkeypatch)
    job.main([*argv, "--quiet", "--output", str(tmp_path / "usual")])
    usual = capsys.readouterr().out
    assert not read
    for module in (_cli, _job):
        monkeypatch.setattr(module, "is_ours", lambda: True)
    with one_partition(spark):
        job.main([*argv, "--quiet", "--output", str(tmp_path / "small")])
    assert read
    assert None not in read
    assert capsys.readouterr().out == usual
    names = sorted(place.name for place in (tmp_path / "usual").iterdir())
    assert names == sorted(place.name for place in (tmp_path / "small").iterdir())
    for name in names:
        small, wanted = (spark.read.parquet(str(tmp_path / way / name)) for way in ("small", "usual"))
        assertDataFrameEqual(small, wanted)


def _watched(monkeypatch: pytest.MonkeyPatch) -> list[DataFrame | None]:
    given: list[DataFrame | None] = []
    rows = _local_mode.rows

    def watched(spark: SparkSession, source: DataSource, partitions: int) -> DataFrame | None:
        given.append(rows(spark, source, partitions))
        return given[-1]

    monkeypatch.setattr(_local_mode, "rows", watched)
    return given


@CLASSIC
@pytest.mark.usefixtures("spark")
def test_inputs_with_many_decoded_bytes_are_read_by_spark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["transaction_state", LOGS, "--quiet"]
    assert internal_topics.main(argv) == 0
    report = capsys.readouterr().out
    for module in (_cli, _job):
        monkeypatch.setattr(module, "is_ours", lambda: True)
    monkeypatch.setattr(_local_mode, "MAX_DECODED_BYTES", 100)
    read = _watched(monkeypatch)
    assert internal_topics.main(argv) == 0
    assert capsys.readouterr().out == report
    assert None in read


def test_input_size_is_compared_with_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(2):
        (tmp_path / f"{number:020}.log").write_bytes(bytes(50))
    (tmp_path / "other.txt").write_bytes(bytes(1000))
    monkeypatch.setattr(_local_mode, "MAX_BYTES", 100)
    monkeypatch.setattr(_local_mode, "MAX_LOCAL_BYTES", 1000)
    monkeypatch.setattr("os.cpu_count", lambda: 5)

    def partitions(*paths: str, glob: str | None = None) -> int:
        return _local_mode.partitions_for([_local_mode.Input(paths)], glob)

    assert partitions(str(tmp_path)) == 1
    assert partitions(str(tmp_path), glob="*") == 0
    (tmp_path / f"{2:020}.log").write_bytes(b"1")
    assert partitions(str(tmp_path)) == 5
    assert partitions(str(tmp_path / "*2.log")) == 1
    assert partitions(str(tmp_path / "*2.log"), "s3://bucket/orders-0") == 0
    assert partitions(str(tmp_path / "*2.log"), str(tmp_path / "missing")) == 0
    assert partitions() == 0


@pytest.mark.parametrize(
    ("job", "argv", "want"),
    [
        (internal_topics, ["consumer_offsets", "{}/b1", "{}/b2"], True),
        (encodings, ["consumer_offsets", "{}/b1", "{}/b2"], True),
        (groups, ["{}/b1", "{}/b2"], True),
        (groups, ["{}/b1", "--data", "{}/b1/*"], False),
        (metadata_diff, ["{}/b1", "{}/b2"], True),
        (transactions, ["{}/b1"], False),
        (segments, ["{}/b1"], False),
    ],
    ids=lambda value: value.__name__.rpartition(".")[2] if isinstance(value, ModuleType) else "",
)
def test_input_size_includes_only_files_of_the_job_topics(
    job: ModuleType, argv: list[str], want: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for broker in ("b1", "b2"):
        for name, size in (("__consumer_offsets-0", 40), ("__cluster_metadata-0", 40), ("orders-0", 1000)):
            (tmp_path / broker / name).mkdir(parents=True)
            (tmp_path / broker / name / f"{0:020}.log").write_bytes(bytes(size))
    found: list[int] = []
    monkeypatch.setattr(_local_mode, "MAX_BYTES", 100)
    for module in (_cli, _job):
        monkeypatch.setattr(module, "is_ours", lambda: True)
    monkeypatch.setattr(job, "work", lambda made: found.append(made.partitions))
    assert job.main([each.format(tmp_path) for each in argv]) == 0
    assert [count == 1 for count in found] == [want]


@pytest.mark.parametrize(("quiet", "terminal", "want"), [(0, 0, "false"), (0, 1, None), (1, 1, "false")])
def test_progress_bar_appears_only_on_a_terminal(
    quiet: int, terminal: int, want: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(name: str, settings: dict[str, str], java: str) -> None:
        assert settings.get("spark.ui.showConsoleProgress") == want
        raise PySparkValueError("started")

    for module in (_cli, _job):
        monkeypatch.setattr(module, "is_ours", lambda: True)
    monkeypatch.setattr(_job, "use_for_next_session", lambda: None)
    monkeypatch.setattr(_job, "start", start)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: bool(terminal), raising=False)
    args = _cli.parser("job", "").parse_args(["--quiet"] * quiet)
    with pytest.raises(PySparkValueError, match=r"^started$"):
        _ = _job.Job("job", args, _job.JobReport("")).spark


def test_existing_session_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_session.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(_session, "is_remote", lambda: False)
    for name in (*_session._ENVIRONMENT, "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    assert _session.is_ours()
    for name in (*_session._ENVIRONMENT, "SPARK_REMOTE"):
        monkeypatch.setenv(name, "x")
        assert not _session.is_ours()
        monkeypatch.delenv(name)
    monkeypatch.setattr(_session.SparkSession, "getActiveSession", object)
    assert not _session.is_ours()


SCRIPT = """
import json, sys
from kafka_messages_spark.__main__ import main
from pyspark.sql import SparkSession

main(sys.argv[1:])
context = SparkSession.active().sparkContext
print(json.dumps(dict(context.getConf().getAll())))
"""


@CLASSIC
@pytest.mark.parametrize(
    ("limits", "partitions"),
    [("", 1), ("_local_mode.MAX_BYTES = 1", 2), ("_local_mode.MAX_BYTES = _local_mode.MAX_LOCAL_BYTES = 1", 0)],
    ids=["small", "medium", "large"],
)
def test_spark_settings_depend_on_the_input_size(limits: str, partitions: int, tmp_path: Path) -> None:
    before = f"import os\nfrom kafka_messages_spark.jobs import _local_mode\nos.cpu_count = lambda: 2\n{limits}\n"
    given = {name: value for name, value in os.environ.items() if name not in (*_session._ENVIRONMENT, "SPARK_TESTING")}
    command = [sys.executable, "-c", before + SCRIPT, "internal_topics", "transaction_state", LOGS, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, env=given, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (_local_mode.JAVA in found["spark.driver.extraJavaOptions"]) == (partitions > 0)
    wanted = _local_mode.settings(partitions)
    names = _local_mode.SETTINGS.keys() | {"spark.sql.shuffle.partitions"}
    assert {name: found[name] for name in names if name in found} == wanted


class BatchSource(DataSource):
    """Yields empty batches among others."""

    def schema(self) -> str | StructType:
        return StructType([StructField("number", LongType())])

    def reader(self, schema: StructType) -> DataSourceReader:
        return BatchReader()


class BatchReader(DataSourceReader):
    def read(self, partition: InputPartition) -> Iterator[Any]:
        for numbers in ([], [1, 2], [], [3], []):
            yield pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64())], ["number"])


@CLASSIC
def test_empty_batches_hide_no_rows(spark: SparkSession) -> None:
    rows = _local_mode.rows(spark, BatchSource({}), 1)
    assert rows is not None
    assert [row.number for row in rows.collect()] == [1, 2, 3]


@CLASSIC
@pytest.mark.parametrize(("limit", "generated"), [(3, True), (4, False)])
def test_sources_with_many_rows_turn_on_generated_code(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, limit: int, generated: bool
) -> None:
    monkeypatch.setattr(_local_mode, "MANY_ROWS", limit)
    names = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
    with one_partition(spark):
        assert [spark.conf.get(name) for name in names] == ["false", "NO_CODEGEN"]
        assert _local_mode.rows(spark, BatchSource({}), 1) is not None
        assert [spark.conf.get(name) for name in names] == (
            ["true", "FALLBACK"] if generated else ["false", "NO_CODEGEN"]
        )


@CLASSIC
def test_empty_sources_keep_their_columns(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BatchReader, "read", lambda *_: iter(()))
    rows = _local_mode.rows(spark, BatchSource({}), 1)
    assert rows is not None
    assert (rows.schema.simpleString(), rows.collect()) == ("struct<number:bigint>", [])
