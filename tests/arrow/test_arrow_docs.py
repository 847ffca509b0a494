"""The examples of docs/arrow.md do what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

GUIDE = Path(__file__).parents[2] / "docs" / "arrow.md"


def test_the_examples_run_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each block of Python goes on from the one before; what a comment says is printed is printed."""
    text = GUIDE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert len(blocks) > 8
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(GUIDE), "exec"), names)
    assert capsys.readouterr().out.splitlines() == re.findall(r"^ *print\(.*\)  # (.*)$", text, re.MULTILINE)
    assert names["copied"]
