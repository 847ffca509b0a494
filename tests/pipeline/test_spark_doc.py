"""docs/spark.md: its examples run, and its table names every option there is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import kafka_messages
from kafka_messages_spark._options import DECODE_OPTIONS
from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "spark.md").read_text()


def test_examples(spark: SparkSession) -> None:
    """One after another, as a reader would type them; every data frame that a line shows is computed."""
    message = kafka_messages.MetadataResponse(cluster_id="here", throttle_time_ms=7).write(12)
    df = spark.createDataFrame([(5, 12, message)], "offset bigint, version int, value binary")
    df.createOrReplaceTempView("responses")
    names = {"spark": spark, "df": df.selectExpr("*", "null AS m")}
    logs = str(ROOT / "examples" / "cluster" / "logs")
    results = []
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        for line in _statements(block.replace("/var/kafka/orders-*", f"{logs}/__consumer_offsets-*")):
            try:
                found = eval(compile(line, "docs/spark.md", "eval"), names)
            except SyntaxError:
                exec(compile(line, "docs/spark.md", "exec"), names)
            else:
                if isinstance(found, DataFrame) or hasattr(found, "collect"):
                    results.append(found.collect())
    assert results[0] == [("here", [])]
    assert results[1][0][0]["bad"] == message  # no FetchResponse
    assert results[3][0]["offset"] == 5
    assert results[4] == [("here",)]
    assert len(results) == 7


def _statements(block: str) -> list[str]:
    """The statements of an example, each by itself."""
    return [ast.unparse(each) for each in ast.parse(block).body]


def test_table_of_options() -> None:
    """An option that is not in the table would be found by nobody; one that is only there is an error."""
    rows = TEXT.split("| option | values | |\n|---|---|---|\n")[1].split("\n\n")[0]
    assert [row.split("`")[1] for row in rows.splitlines()] == list(DECODE_OPTIONS)
