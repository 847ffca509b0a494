"""docs/spark-sources.md: its examples run, and its tables name every option there is."""

from __future__ import annotations

import re
from pathlib import Path

import kafka_messages
from kafka_messages.protocol import encode_request, encode_response
from kafka_messages_spark.sources import _log_options, kafka_frames
from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "spark-sources.md").read_text()


def test_examples(spark: SparkSession, tmp_path: Path) -> None:
    """One after another, as a reader would type them, on the files of a real broker."""
    captures = tmp_path / "captures"
    captures.mkdir()
    (captures / "a.request").write_bytes(encode_request(kafka_messages.MetadataRequest(), 12, 7, "me"))
    (captures / "a.response").write_bytes(encode_response(kafka_messages.MetadataResponse(cluster_id="c"), 12, 7))
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    if not hasattr(__import__("pyspark.sql.streaming", fromlist=["datasource"]), "datasource"):
        blocks = [
            block.replace('.option("maxBytesPerTrigger", "1g")', "") for block in blocks
        ]  # Spark 4.1 has no limits
    names = {"spark": spark, "logs": str(ROOT / "examples" / "cluster" / "logs")}
    names |= {"captures": str(captures), "work": str(tmp_path)}
    for block in blocks:
        exec(compile(block, "docs/spark-sources.md", "exec"), names)
    assert len(blocks) == 7
    read = spark.read.parquet(str(tmp_path / "orders")).count()
    assert read == names["orders"].count() > 0  # type: ignore[attr-defined]  # a name of the examples


def test_tables_of_options() -> None:
    """An option that is not in the tables would be found by nobody; one that is only there is an error."""
    segments, captures = TEXT.split("## Captured connections")
    for part, known in ((segments, _log_options.OPTIONS), (captures, kafka_frames.OPTIONS)):
        rows = part.split("| option | default | |\n|---|---|---|\n")[1].split("\n\n")[0]
        told = [name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
        assert sorted(told) == sorted(known)
