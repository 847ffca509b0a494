"""Run the Python samples of the Spark pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support import pages

HAS_LIMITS = find_spec("pyspark.sql.streaming.datasource") is not None
LIMIT = '.option("maxBytesPerTrigger", "1g")'
"""An option that Spark 4.1 rejects, because it does not pass the current offset to a source."""


@pytest.mark.parametrize("page", pages.about_spark())
def test_python_blocks_run(
    page: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(pages.ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    pages.run(page, names, leave_out="" if HAS_LIMITS else LIMIT)
    shown = capsys.readouterr().out
    assert len(re.findall(r"^\+[-+]+\+$", shown, re.MULTILINE)) == 3 * pages.module(page).count(".show(")
    assert names["spark"] is spark
    CHECKS[page](shown, names)


def jobs(shown: str, _: Mapping[str, Any]) -> None:
    assert sorted(re.findall(r"\bpay-\w+", shown)) == ["pay-late", "pay-ongoing", "pay-ongoing"]


def messages(_: str, names: Mapping[str, Any]) -> None:
    (row,) = names["messages"].collect()
    assert (row.m.cluster_id, row.m.throttle_time_ms) == ("here", 7)


def sources(_: str, names: Mapping[str, Any]) -> None:
    written = names["spark"].read.parquet(f"{names['work']}/orders")
    assert written.count() == names["orders"].count() > 0


CHECKS = {"docs/spark.md": messages, "docs/spark-sources.md": sources, "docs/spark-jobs.md": jobs}
"""Of each page, what must be true of what it shows and of the names that it has made."""
