"""docs/spark.md names every option."""

from __future__ import annotations

from pathlib import Path

from kafka_messages_spark._core.options import DECODE_OPTIONS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "spark.md").read_text()


def test_every_decode_option_is_documented() -> None:
    rows = TEXT.split("| option | values | |\n|---|---|---|\n")[1].split("\n\n")[0]
    assert [row.split("`")[1] for row in rows.splitlines()] == list(DECODE_OPTIONS)
