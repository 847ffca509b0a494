"""SQL functions: named decoders and kafka_message_json."""

from __future__ import annotations

import json
import re
from typing import Any

import kafka_messages
import pytest
from kafka_messages import MetadataResponse
from kafka_messages.json import to_json
from pyspark.errors import PySparkException, PySparkValueError
from pyspark.sql import SparkSession

from kafka_messages_spark import register
from kafka_messages_spark.columns.sql import _text

GOOD = MetadataResponse(cluster_id="hier, Köln", throttle_time_ms=7)
OFFSET = kafka_messages.OffsetCommitValue(offset=42, metadata="x")


def test_registered_functions_work_in_sql(spark: SparkSession) -> None:
    functions = {
        "metadata_response": (MetadataResponse, 12),
        "Offsets": ("OffsetCommitValue", None, {"mode": "PERMISSIVE", "fields": "offset"}),
    }
    register(spark, functions=functions)
    prefixed = (4).to_bytes(2, "big") + OFFSET.write(4)
    rows = [(GOOD.write(12), prefixed), (None, b"junk"), (GOOD.write(12), None)]
    spark.createDataFrame(rows, "value binary, committed binary").createOrReplaceTempView("messages")
    found = spark.sql("SELECT metadata_response(value).cluster_id, offsets(committed).offset FROM messages").collect()
    assert [tuple(row) for row in found] == [("hier, Köln", 42), (None, None), ("hier, Köln", None)]
    texts = spark.sql(
        "SELECT kafka_message_json('MetadataResponse', 12, value), "
        "try_kafka_message_json('OffsetCommitValue', 4, substr(committed, 3)), "
        "kafka_message_json('MetadataResponse', NULL, value), kafka_message_json(NULL, 12, value) FROM messages"
    ).collect()
    want = json.dumps(to_json(GOOD, 12), ensure_ascii=False, separators=(",", ":"))
    assert [row[0] for row in texts] == [want, None, want]
    assert json.loads(texts[0][1]) == to_json(OFFSET, 4)
    assert texts[1][1] is None
    assert {row[place] for row in texts for place in (2, 3)} == {None}
    assert spark.sql("SELECT try_kafka_message_json('MetadataResponse', 99, X'00')").collect()[0][0] is None
    with pytest.raises(PySparkException) as caught:
        spark.sql("SELECT kafka_message_json('MetadataResponse', 12, X'00')").collect()
    assert (
        "Malformed Kafka messages are detected in message deserialization. To process malformed messages as null result, "
        "use the function 'try_kafka_message_json'. In this Arrow batch, row 0: MetadataResponse: "
    ) in str(caught.value)
    for query, text in {
        "try_kafka_message_json('MetadataRespons', 12, X'00')": (
            "unknown message 'MetadataRespons'; did you mean 'MetadataResponse'"
        ),
        "kafka_message_json('MetadataResponse', 12, 'text')": (
            'The third parameter of `kafka_message_json` requires the "BINARY" type'
        ),
        # Errors of Spark and of Python contain the name that the user registered.
        "metadata_response('text')": 'The first parameter of `metadata_response` requires the "BINARY" type',
        "metadata_response(value, 12) FROM messages": (
            "TypeError: metadata_response() takes 1 positional argument but 2 were"
        ),
    }.items():
        with pytest.raises(PySparkException, match=re.escape(text)):
            spark.sql(f"SELECT {query}").collect()


@pytest.mark.parametrize(
    ("functions", "text"),
    [
        (
            {"a-b": (MetadataResponse, 12)},
            "register: a function name must be an ASCII identifier, not 'a-b'",
        ),
        (
            {"Kafka_Message_JSON": (MetadataResponse, 12)},
            "register: the function 'kafka_message_json' is built in; choose another name",
        ),
        (
            {"f": "MetadataResponse"},
            "register: functions['f'] must be (message, version) or (message, version, options), not 'MetadataResponse'",
        ),
        (
            {"f": ("MetadataResponse", "12")},
            "register: the version of the function 'f' must be an integer or None, not '12'",
        ),
        (
            {"f": (MetadataResponse, 99)},
            "MetadataResponse has no version 99, only versions 0 to 13",
        ),
        (
            {"f": (int, 1)},
            f"expected the name of a message, such as 'MetadataResponse', got {int!r}",
        ),
        (
            {5: (MetadataResponse, 12)},
            "register: a function name must be an ASCII identifier, not 5",
        ),
        (
            {"Responses": (MetadataResponse, 12), "responses": (MetadataResponse, 9)},
            "register: the function 'responses' is defined twice; SQL names are case-insensitive",
        ),
        (
            {"f": (MetadataResponse, 12, "PERMISSIVE")},
            "register: the options of the function 'f' must map str to str, not 'PERMISSIVE'",
        ),
        (
            [("f", MetadataResponse, 12)],
            f"register: functions must map names to (message, version), not {[('f', MetadataResponse, 12)]!r}",
        ),
    ],
)
def test_invalid_functions_are_rejected(functions: Any, text: str) -> None:
    from kafka_messages_spark.columns.sql import register_functions

    with pytest.raises(PySparkValueError) as caught:
        register_functions(None, functions)  # type: ignore[arg-type]  # no session needed
    assert str(caught.value) == text


def test_non_finite_floats_are_json_strings() -> None:
    text = _text({"a": [float("nan"), float("inf")], "b": {"c": -float("inf")}, "d": 0.5})
    assert text == '{"a":["NaN","Infinity"],"b":{"c":"-Infinity"},"d":0.5}'
