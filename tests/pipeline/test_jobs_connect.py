"""Every job on Spark Connect, where there is no JVM to reach into."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cluster import COMMITTED, Cluster

pytest.importorskip("grpc", reason="Spark Connect needs grpcio (pyspark[connect])")
pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status (pyspark[connect])")


def test_connect(tmp_path: Path) -> None:
    """The jobs read a real broker's files, report, and write tables for a client that has nothing but Connect."""
    env = os.environ | {"PYSPARK_PYTHON": sys.executable}
    client = Path(__file__).with_name("jobs_connect_client.py")
    command = [sys.executable, str(client), str(Cluster(COMMITTED).logs), str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["session"] == "pyspark.sql.connect.session"
    assert found["transactions"].startswith("1 Transactions\n")
    assert "1 hanging, 2 ongoing" in found["transactions"]
    assert found["table"] == "1"
    assert "Commit storms" in found["groups"]
    assert found["segments"].startswith("0 Integrity of log segments\n")
    assert "Changes in the order of the log" in found["metadata_diff"]
    assert "TransactionLogValue" in found["encodings"]
