"""The package on Spark Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="Spark Connect needs grpcio (pyspark[connect])")
pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status (pyspark[connect])")


def test_functions_and_sources_work_on_spark_connect(tmp_path: Path) -> None:
    env = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1"}
    client = Path(__file__).with_name("connect_client.py")
    command = [sys.executable, str(client), str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "session": "pyspark.sql.connect.session",
        "from_kafka": ["here", "here"],
        "to_kafka": 2,
        "decode": [7, 7],
        "problem": "group-coordinator has no record type 99",
        "kafka_log": 6,
        "stream": [3, 6],
        "pairs": ["here"],
    }
