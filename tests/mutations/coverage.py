"""Tests that run each line, from the contexts of coverage."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import cache

from coverage import CoverageData

from tests.mutations.copy import COPY, ENVIRONMENT, PARTS, WORK

Tests = dict[str, dict[int, list[str]]]
"""Ids of tests by file and line."""


@cache
def read(part: str, end: float) -> Tests:
    """Return the tests by line; collect them first if needed, at most until ``end``, a monotonic time."""
    folder = PARTS[part][1]
    file = WORK / f"coverage-{folder}"
    if not file.exists():
        settings = WORK / "coverage.ini"
        settings.write_text("[run]\nrelative_files = true\n")
        command = (
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-m",
            "not nightly",
            "--cov-report=",
            f"tests/{folder}",
        )
        sources = (f"--cov={name}" for name in ("kafka_message_generator", "kafka_messages", "kafka_records"))
        options = ("--cov=kafka_messages_spark", f"--cov-config={settings}", "--cov-context=test")
        words = [sys.executable, *command, *sources, *options]
        environment = ENVIRONMENT | {"COVERAGE_FILE": str(file)}
        try:
            subprocess.run(words, cwd=COPY, env=environment, timeout=end - time.monotonic(), check=False)
        except subprocess.TimeoutExpired:
            return {}
    data = CoverageData(str(file))
    data.read()
    return {name: _by_line(data, name) for name in data.measured_files()}


def _by_line(data: CoverageData, name: str) -> dict[int, list[str]]:
    return {
        line: sorted({context.partition("|")[0] for context in contexts if context})
        for line, contexts in data.contexts_by_lineno(name).items()
    }
