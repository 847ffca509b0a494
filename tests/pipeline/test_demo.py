"""The demo of the README, run as a newcomer runs it, on the files of a real broker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parents[2] / "examples" / "pipeline_demo.py"


def test_demo(tmp_path: Path) -> None:
    """Typed tables of the internal topics, and the one transaction that hangs, are in what it prints."""
    done = subprocess.run(
        [sys.executable, str(DEMO)], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]
    assert ["exactly-once", "orders", "1", "11", "in a transaction"] in [row[1:] for row in cells]
    assert ["clicks", "compression.type", "NULL"] in [row[2:] for row in cells]
    assert [line[:6] for line in lines if line[:1] == ["hanging"]] == [
        ["hanging", "payments", "1", "13", "0", "pay-late"]
    ]
