"""The demo in the README: examples/decode_response.py."""

from __future__ import annotations

import subprocess
import sys

from tests.support.pages import ROOT


def test_demo_prints_requests_and_responses() -> None:
    line = [sys.executable, "examples/decode_response.py"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Requests of the consumer 'billing', and the broker's responses:"
    assert "  Metadata              13     46 B     171 B" in lines
    assert "  topic 'orders' has 3 partitions, error code NONE" in lines
    assert "            2       1         1        1" in lines
    assert max(map(len, lines)) <= 100
