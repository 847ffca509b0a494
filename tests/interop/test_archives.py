"""The commands of docs/spark-jobs.md that ship an environment to a cluster, run with separate executors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.interop.kafka import ROOT

SECONDS = 900
JOB = "environment/lib/python3.*/site-packages/kafka_messages_spark/jobs/transactions.py"
LOGS = ROOT / "examples" / "cluster" / "logs"
SCRIPT = """
import json
import runpy
import sys

import pyarrow as pa
from pyspark.sql import SparkSession


def implementations(batches):
    import kafka_messages
    from kafka_messages._core.native import native_columns

    columns = getattr(native_columns(), "__file__", None)
    for _ in batches:
        yield pa.record_batch({"all": [json.dumps([sys.executable, kafka_messages.implementation(), columns])]})


spark = SparkSession.builder.getOrCreate()
print("IMPLEMENTATIONS", spark.range(1).mapInArrow(implementations, "all string").collect()[0][0], flush=True)
job, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = job
runpy.run_path(job, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("page", "job"),
    [
        ("spark-jobs.md", "environment/lib/python3.*/site-packages"),
        ("spark.md", "--archives environment.tar.gz#environment"),
    ],
)
def test_documented_commands_run_a_job_in_an_archived_environment(tmp_path: Path, page: str, job: str) -> None:
    for project in ("generated", "packages/native", "packages/pipeline", "packages/records"):
        shutil.copytree(ROOT / project, tmp_path / project, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.master local-cluster[1,1,1024]\n", encoding="utf-8")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (commands,) = (block for block in text.split("```") if block.startswith("sh\n") and "--archives" in block)
    assert commands.count(job) == 1
    commands = commands.removeprefix("sh\n")
    if page == "spark-jobs.md":
        commands = commands.replace(job, f"script.py {job}").replace("s3://copies/kafka", f"{LOGS} --exit-zero")
    else:
        commands = commands.replace("script.py", f"script.py {JOB} {LOGS} --exit-zero")

    out = run(commands, tmp_path)
    (line,) = (line for line in out.splitlines() if line.startswith("IMPLEMENTATIONS "))
    python, implementation, columns = json.loads(line.removeprefix("IMPLEMENTATIONS "))
    assert Path(python).parts[-3:] == ("environment", "bin", "python")
    assert not python.startswith(str(tmp_path / "environment"))
    assert implementation == "native"
    assert columns.startswith(python.removesuffix("bin/python"))
    assert "hanging" in out


def run(commands: str, folder: Path) -> str:
    """Run a shell script with only this Python and spark-submit on PATH; return its output."""
    home = Path(pyspark.__file__).parent
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))}
    env |= {"SPARK_HOME": str(home), "SPARK_CONF_DIR": str(folder / "conf"), "SPARK_WORKER_DIR": str(folder / "work")}
    env |= {"SPARK_LOCAL_IP": "127.0.0.1", "PATH": f"{Path(sys.executable).parent}:{home / 'bin'}:{env['PATH']}"}
    command = ["bash", "-euc", commands]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout
