"""Calls the JavaScript codec of the pages in Node; questions and answers are JSON objects."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.pages import ROOT

ASSETS = ROOT / "packages" / "pages" / "src" / "kafka_protocol_pages" / "assets"
PROGRAM = ROOT / "tests" / "pages" / "answer.js"
SECONDS = 300
OLDEST = 18


@cache
def missing() -> str:
    """Return the reason why Node cannot be used, or an empty string."""
    node = shutil.which("node")
    if node is None:
        return "node is not installed; apt-get install nodejs"
    shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    return "" if int(shown[1:].split(".")[0]) >= OLDEST else f"node {shown} is older than {OLDEST}"


def ask(protocol: Path, questions: Iterable[Mapping[str, object]]) -> list[dict[str, Any]]:
    """Return the answers in the order of the questions; ``protocol`` is the path of a ``protocol.json``."""
    asked = "".join(json.dumps(question) + "\n" for question in questions)
    command = ["node", str(PROGRAM), str(ASSETS), str(protocol)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.split("\n")]
