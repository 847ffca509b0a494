"""Workers run the Python of an environment that is not activated."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_messages_spark._core import worker_python

LOGS = Path(__file__).parents[2] / "examples" / "cluster" / "logs"
SCRIPT = """
import sys
from pyspark.sql import SparkSession

from kafka_messages_spark import register
from kafka_messages_spark.java import ensure_java

ensure_java()
builder = SparkSession.builder.remote("local[1]") if sys.argv[2:] else SparkSession.builder.master("local[1]")
builder = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
try:
    register(spark)
    print(spark.read.format("kafka_log").load(sys.argv[1]).count())
except ValueError as error:
    print(error)
finally:
    spark.stop()
"""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in (Path("/bin"), Path("/usr/bin")):
        for tool in place.iterdir():
            if not tool.name.startswith("python") and not (folder / tool.name).exists():
                (folder / tool.name).symlink_to(tool)
    python = folder / "python3"
    python.write_text(f"#!/bin/sh\nexec '{sys.base_prefix}/bin/python3' -S \"$@\"\n", encoding="utf-8")
    python.chmod(0o755)
    return folder


def output_lines(other: Path, *arguments: str, script: str = SCRIPT) -> list[str]:
    variables = (
        "PYTHONPATH",
        "PYSPARK_PYTHON",
        "PYSPARK_DRIVER_PYTHON",
        "PYSPARK_GATEWAY_PORT",
        "SPARK_REMOTE",
        "VIRTUAL_ENV",
    )
    env = {name: value for name, value in os.environ.items() if name not in variables}
    env |= {"PATH": str(other), "SPARK_TESTING": "1"}
    command = [sys.executable, "-c", script, str(LOGS / "orders-0"), *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False, cwd=other)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_script_runs_without_an_activated_environment(other: Path) -> None:
    assert [int(line) for line in output_lines(other)] == [30]


def test_first_spark_page_sample_runs_without_an_activated_environment(other: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "spark.md").read_text(encoding="utf-8")
    make, use = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[:2]
    assert "register" not in make + use
    setup = "from kafka_messages_spark.java import ensure_java\nensure_java()\n"
    assert any("here" in line for line in output_lines(other, script=setup + make + use))


def test_local_connect_server_without_the_package_is_rejected(other: Path) -> None:
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio (pyspark[connect])")
    assert output_lines(other, "connect") == [
        f"register: the Python of Spark's workers, {other}/python3, has no module 'kafka_messages_spark': set "
        f"PYSPARK_PYTHON={sys.executable} before the session starts, or activate the environment"
    ]


def test_jobs_set_the_worker_python_if_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "python3").touch(mode=0o755)
    for name in ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    worker_python.use_for_next_session()
    assert "PYSPARK_PYTHON" not in os.environ
    monkeypatch.setenv("PATH", str(tmp_path))
    worker_python.use_for_next_session()
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    monkeypatch.setenv("PYSPARK_PYTHON", "other")
    worker_python.use_for_next_session()
    assert os.environ["PYSPARK_PYTHON"] == "other"


@pytest.mark.parametrize(
    ("master", "python", "expected"),
    [
        ("local[*]", "python3", sys.executable),
        ("local[*]", "python3.11", "python3.11"),
        ("spark://elsewhere:7077", "python3", "python3"),
    ],
)
def test_python_is_set_only_in_local_sessions_with_the_default_python(
    master: str, python: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "python3").touch(mode=0o755)
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    context = SimpleNamespace(master=master, pythonExec=python)
    session: Any = SimpleNamespace(sparkContext=context)
    worker_python.use_for_session(session)
    assert context.pythonExec == expected
