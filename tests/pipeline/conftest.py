"""The Spark session that all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.growing_log import Log

NEEDED = ("pyspark", "kafka_messages_spark", "pyarrow", "numpy")
ON_CONNECT = os.environ.get("TESTS_ON_CONNECT") == "1"
"""True if the tests start a Spark Connect server and use it as clients."""
if not all(map(find_spec, NEEDED)):
    collect_ignore_glob = ["test_[!i]*.py", "test_internal*.py"]  # test_installed.py reports what is missing
elif ON_CONNECT:
    collect_ignore_glob = [
        f"test_{name}.py" for name in ("connect", "demo", "discovery", "java", "worker_python")
    ]  # these tests create their own sessions
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}
# Many small queries spend most of their time on planning and compilation. The nightly tests, without Connect, use the
# defaults.
FAST_START = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
FAST_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kafka_messages_spark.java import ensure_java

    ensure_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Workers import functions of the test modules by name.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(Path(__file__).parents[2]), str(Path(__file__).parent), os.environ.get("PYTHONPATH")])
    )
    builder = SparkSession.builder.appName("tests/pipeline")
    builder = builder.remote("local[2]") if ON_CONNECT else builder.master("local[2]")
    if ON_CONNECT:
        os.environ.setdefault("SPARK_SUBMIT_OPTS", FAST_JVM)
        SparkContext._ensure_initialized()
        # A Spark Connect server then uses any free port. Set after the JVM has started, in which this variable makes Spark
        # optimize each plan twice to check its own rules.
        os.environ["SPARK_TESTING"] = "1"
    for name, value in (SETTINGS | (FAST_START if ON_CONNECT else {})).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    assert ("connect" in type(session).__module__) == ON_CONNECT
    if not ON_CONNECT:
        session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Return a growing log in its own folder."""
    from tests.pipeline.growing_log import Log

    return Log(tmp_path / "orders-0")


@pytest.fixture
def own_session(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that makes jobs treat the session of all tests as their own, and read small inputs locally."""
    from kafka_messages_spark.jobs import _cli, _job

    def own() -> None:
        for module in (_cli, _job):
            monkeypatch.setattr(module, "is_ours", lambda: True)

    return own
