"""The same on Spark Connect, where there is no JVM to reach into."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="Spark Connect needs grpcio (pyspark[connect])")
pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status (pyspark[connect])")


def test_connect(tmp_path: Path) -> None:
    """Columns, frames, internal topics and the data source work for a Connect client; its process has no other session."""
    (tmp_path / "orders-0").mkdir()
    env = os.environ | {"PYSPARK_PYTHON": sys.executable}
    client = Path(__file__).with_name("connect_client.py")
    command = [sys.executable, str(client), str(tmp_path / "orders-0")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "session": "pyspark.sql.connect.session",
        "from_kafka": ["here", "here"],
        "to_kafka": 2,
        "decode": [7, 7],
        "problem": "group-coordinator has no record type 99",
        "kafka_log": 0,
    }
