"""docs/spark-sources.md names every option."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_messages_spark.sources import kafka_frames, kafka_log

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "spark-sources.md").read_text()


def test_every_source_option_is_documented() -> None:
    segments, captures = TEXT.split("## Captured connections")
    for part, known in ((segments, kafka_log.OPTIONS), (captures, kafka_frames.OPTIONS)):
        rows = part.split("| option | default | |\n|---|---|---|\n")[1].split("\n\n")[0]
        documented = [name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
        assert sorted(documented) == sorted(known)
