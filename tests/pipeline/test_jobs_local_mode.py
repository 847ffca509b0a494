"""Local mode for small inputs gives the same results as Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import LongType, StructField, StructType
from pyspark.testing import assertDataFrameEqual

from kafka_messages_spark.jobs import (
    Input,
    Job,
    JobReport,
    _local_mode,
    encodings,
    groups,
    internal_topics,
    metadata_diff,
    parser,
    run,
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
    own_session: Callable[[], None],
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda size: "11" * size)  # instead of the random salt
    read = _watched(monkeypatch)
    job.main([*argv, "--quiet", "--output", str(tmp_path / "usual")])
    usual = capsys.readouterr().out
    assert not read
    own_session()
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
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_session: Callable[[], None]
) -> None:
    argv = ["transaction_state", LOGS, "--quiet"]
    assert internal_topics.main(argv) == 0
    report = capsys.readouterr().out
    own_session()
    monkeypatch.setattr(_local_mode, "MAX_DECODED_BYTES", 100)
    read = _watched(monkeypatch)
    assert internal_topics.main(argv) == 0
    assert capsys.readouterr().out == report
    assert None in read


def sparse_file(path: Path, size: int) -> None:
    path.touch()
    os.truncate(path, size)


def test_input_size_is_compared_with_the_limit(tmp_path: Path, own_session: Callable[[], None]) -> None:
    own_session()
    for number in range(2):
        sparse_file(tmp_path / f"{number:020}.log", 8 << 20)
    sparse_file(tmp_path / "other.txt", 1 << 30)
    several = max(2, os.cpu_count() or 1)

    def partitions(*paths: str, glob: str | None = None) -> int:
        found: list[int] = []
        arguments = ["--glob", glob] if glob else []
        work = lambda job: found.append(job.partitions)  # noqa: E731
        assert run("Title", parser("own", ""), arguments, work, reads=lambda args: [Input(paths)]) == 0
        return found[0]

    assert partitions(str(tmp_path)) == 1
    assert partitions(str(tmp_path), glob="*") == 0
    sparse_file(tmp_path / f"{2:020}.log", 1)
    assert partitions(str(tmp_path)) == several
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
    job: ModuleType,
    argv: list[str],
    want: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    own_session: Callable[[], None],
) -> None:
    own_session()
    for broker in ("b1", "b2"):
        for name, size in (("__consumer_offsets-0", 6), ("__cluster_metadata-0", 6), ("orders-0", 100)):
            (tmp_path / broker / name).mkdir(parents=True)
            sparse_file(tmp_path / broker / name / f"{0:020}.log", size << 20)
    found: list[int] = []
    monkeypatch.setattr(job, "work", lambda made: found.append(made.partitions))
    assert job.main([each.format(tmp_path) for each in argv]) == 0
    assert [count == 1 for count in found] == [want]


ENVIRONMENT = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables that configure how Spark starts: a session is then not one of the program's own."""
PARTITIONS = """
import os, sys
from kafka_messages_spark.jobs import Input, parser, run

for name in ("", *sys.argv[2:]):
    if name:
        os.environ[name] = "x"
    reads = lambda args: [Input(sys.argv[1:2])]
    run("Title", parser("own", ""), [], lambda job: print(name, job.partitions, file=sys.stderr), reads=reads)
    os.environ.pop(name, None)
"""


def test_configured_session_is_used(tmp_path: Path) -> None:
    sparse_file(tmp_path / f"{0:020}.log", 1)
    command = [sys.executable, "-c", PARTITIONS, str(tmp_path), *ENVIRONMENT]
    done = subprocess.run(command, capture_output=True, text=True, env=own_environment(), timeout=120)
    assert done.stderr.splitlines() == [" 1", *(f"{name} 0" for name in ENVIRONMENT)]


def own_environment() -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if name not in (*ENVIRONMENT, "SPARK_TESTING")}
    return {name: value for name, value in given.items() if not name.startswith("SPARK_CONNECT_")}


@pytest.mark.usefixtures("spark")
def test_existing_session_is_used(tmp_path: Path) -> None:
    sparse_file(tmp_path / f"{0:020}.log", 1)
    found: list[int] = []
    work = lambda job: found.append(job.partitions)  # noqa: E731
    assert run("Title", parser("own", ""), [], work, reads=lambda args: [Input([str(tmp_path)])]) == 0
    assert found == [0]


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
    ("limits", "partitions", "quiet", "is_terminal"),
    [
        ("", 1, True, True),
        ("_local_mode.MAX_BYTES = 1", 2, False, False),
        ("_local_mode.MAX_BYTES = _local_mode.MAX_LOCAL_BYTES = 1", 0, False, True),
    ],
    ids=["small", "medium", "large"],
)
def test_spark_settings_depend_on_the_input_size(
    limits: str, partitions: int, quiet: bool, is_terminal: bool, tmp_path: Path
) -> None:
    """Bars of progress appear only on a terminal, and without ``--quiet``."""
    before = f"import os\nfrom kafka_messages_spark.jobs import _local_mode\nos.cpu_count = lambda: 2\n{limits}\n"
    before += f"import sys\nsys.stderr.isatty = lambda: {is_terminal}\n"
    command = [sys.executable, "-c", before + SCRIPT, "internal_topics", "transaction_state", LOGS]
    command += ["--quiet"] if quiet else []
    done = subprocess.run(command, capture_output=True, text=True, env=own_environment(), timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (_local_mode.JAVA in found["spark.driver.extraJavaOptions"]) == (partitions > 0)
    wanted = _local_mode.settings(partitions)
    names = _local_mode.SETTINGS.keys() | {"spark.sql.shuffle.partitions"}
    assert {name: found[name] for name in names if name in found} == wanted
    shows_bars = is_terminal and not quiet
    assert found.get("spark.ui.showConsoleProgress") == (None if shows_bars else "false")


class BatchSource(DataSource):
    """Yields empty batches among others."""

    def schema(self) -> str | StructType:
        return StructType([StructField("number", LongType())])

    def reader(self, schema: StructType) -> DataSourceReader:
        return BatchReader([int(size) for size in self.options["sizes"].split(",") if size])


class BatchReader(DataSourceReader):
    def __init__(self, sizes: list[int]) -> None:
        self._sizes = sizes

    def read(self, partition: InputPartition) -> Iterator[Any]:
        for size in self._sizes:
            yield pa.RecordBatch.from_arrays([pa.array(range(size), pa.int64())], ["number"])


def local_rows(*sizes: int) -> DataFrame:
    """Return the rows of batches of these sizes, which a local run reads in this process."""
    job = Job("own", parser("own", "").parse_args(["--quiet"]), JobReport("Title"), partitions=1)
    return job.source(BatchSource, {"sizes": ",".join(map(str, sizes))})


@CLASSIC
@pytest.mark.usefixtures("spark")
def test_empty_batches_hide_no_rows() -> None:
    assert [row.number for row in local_rows(0, 2, 0, 1, 0).collect()] == [0, 1, 0]


@CLASSIC
@pytest.mark.parametrize(("count", "generated"), [(20_000, True), (19_999, False)])
def test_sources_with_many_rows_turn_on_generated_code(spark: SparkSession, count: int, generated: bool) -> None:
    names = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
    with one_partition(spark):
        assert [spark.conf.get(name) for name in names] == ["false", "NO_CODEGEN"]
        local_rows(count - 5, 5)
        assert [spark.conf.get(name) for name in names] == (
            ["true", "FALLBACK"] if generated else ["false", "NO_CODEGEN"]
        )


@CLASSIC
@pytest.mark.usefixtures("spark")
def test_empty_sources_keep_their_columns() -> None:
    rows = local_rows()
    assert (rows.schema.simpleString(), rows.collect()) == ("struct<number:bigint>", [])
