"""The pages about Spark: their Python runs as a reader types it, on the files of a real broker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.docs.test_pages import NEEDS_SPARK
from tests.support import pages


@pytest.mark.parametrize("page", NEEDS_SPARK)
def test_python_runs(
    page: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each block goes on from the one before, in the session that is there already; every table of a page is shown."""
    (tmp_path / "examples").symlink_to(pages.ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    pages.run(page, names)
    shown = capsys.readouterr().out
    assert len(re.findall(r"^\+[-+]+\+$", shown, re.MULTILINE)) == 3 * pages.module(page).count(".show(")
    assert names["spark"] is spark
    CHECKS[page](shown, names)


def jobs(shown: str, _: Mapping[str, Any]) -> None:
    """The open transactions are those of the report on the page."""
    assert sorted(re.findall(r"\bpay-\w+", shown)) == ["pay-late", "pay-ongoing", "pay-ongoing"]


def messages(_: str, names: Mapping[str, Any]) -> None:
    """What is decoded is the message that was written."""
    (row,) = names["messages"].collect()
    assert (row.m.cluster_id, row.m.throttle_time_ms) == ("here", 7)


def sources(_: str, names: Mapping[str, Any]) -> None:
    """The stream writes each record that the batch before it read."""
    written = names["spark"].read.parquet(f"{names['work']}/orders")
    assert written.count() == names["orders"].count() > 0


CHECKS = {"docs/spark.md": messages, "docs/spark-sources.md": sources, "docs/spark-jobs.md": jobs}
"""Of each page, what must be true of what it shows and of the names that it has made."""
