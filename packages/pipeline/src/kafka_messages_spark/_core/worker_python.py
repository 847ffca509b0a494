"""Run Spark's local workers with the current Python instead of the ``python3`` of the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import invalid_argument

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DEFAULT = "python3"
_MODULE = "kafka_messages_spark"
_SECONDS = 60
# If any is set, workers may run on other machines; then only ``use_for_session``, given a session, sets the Python.
_ENVIRONMENT = {"SPARK_REMOTE", "SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"}


def use_for_next_session() -> None:
    if not _ENVIRONMENT & os.environ.keys() and _needs_python():
        os.environ["PYSPARK_PYTHON"] = sys.executable


def use_for_session(spark: SparkSession) -> None:
    """Let the workers of a local session run the current Python, unless ``PYSPARK_PYTHON`` is set.

    Raises PySparkValueError if the workers of a local Connect server use a Python without the package.
    """
    if not _needs_python():
        return
    if "connect" not in type(spark).__module__:
        context = spark.sparkContext
        if str(context.master).startswith("local") and context.pythonExec == _DEFAULT:
            context.pythonExec = sys.executable
    elif "SPARK_LOCAL_REMOTE" in os.environ and not _has_package(shutil.which(_DEFAULT)):
        raise invalid_argument(
            f"register: the Python of Spark's workers, {shutil.which(_DEFAULT) or _DEFAULT}, has no module {_MODULE!r}: set "
            f"PYSPARK_PYTHON={sys.executable} before the session starts, or activate the environment"
        )


def use_for_functions() -> None:
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import is_remote

    if not is_remote() and _needs_python() and (spark := SparkSession.getActiveSession()) is not None:
        use_for_session(spark)


def _needs_python() -> bool:
    if {"PYSPARK_GATEWAY_PORT", "PYSPARK_PYTHON"} & os.environ.keys():
        return False
    usual = shutil.which(_DEFAULT)
    return usual is None or Path(usual).parent != Path(sys.executable).parent


def _has_package(python: str | None) -> bool:
    if python is None:
        return False
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({_MODULE!r}) is None)"
    try:
        return subprocess.run([python, "-c", code], timeout=_SECONDS, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
