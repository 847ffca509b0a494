"""Pairs of requests and responses, from captures and from tables of frames."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import kafka_messages
import pytest
from kafka_messages.protocol import encode_request, encode_response
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafka_messages_spark import register
from kafka_messages_spark.analyses import traffic

START = datetime(2026, 1, 1, tzinfo=UTC)


def request(message: Any, version: int, correlation: int) -> bytes:
    return encode_request(message, version, correlation, "me", framed=False)


def response(message: Any, version: int, correlation: int) -> bytes:
    return encode_response(message, version, correlation, framed=False)


PRODUCE = kafka_messages.ProduceRequest(acks=0)
METADATA = kafka_messages.MetadataRequest()


def answer(name: str) -> Any:
    return kafka_messages.MetadataResponse(cluster_id=name)


FRAMES = [
    ("one", "request", request(METADATA, 12, 7)),
    ("one", "request", request(PRODUCE, 11, 8)),
    ("one", "response", response(answer("first"), 12, 7)),
    ("two", "request", request(METADATA, 1, 7)),
    ("two", "response", response(answer("other"), 1, 7)),
    ("one", "request", request(METADATA, 8, 7)),
    ("one", "response", response(answer("second"), 8, 7)),
    ("one", "response", response(answer("orphan"), 8, 99)),
    ("one", "request", b"\0\3"),
]


def table(spark: SparkSession, frames: list[Any] = FRAMES) -> DataFrame:
    rows = [(*frame, START + number * timedelta(milliseconds=10)) for number, frame in enumerate(frames)]
    return spark.createDataFrame(rows, "connection string, direction string, data binary, timestamp timestamp")


def test_headers_of_frames_in_a_table_are_parsed(spark: SparkSession) -> None:
    df = traffic.frames(table(spark), "data")
    names = [
        "connection",
        "direction",
        "timestamp",
        "api_key",
        "api_name",
        "api_version",
        "correlation_id",
        "client_id",
    ]
    assert df.columns == [*names, "header_size", "problem", "frame"]
    rows = df.orderBy("timestamp").collect()
    assert [bytes(row.frame) for row in rows] == [data for _, _, data in FRAMES]
    assert [row.correlation_id for row in rows] == [7, 8, 7, 7, 7, 7, 7, 99, None]
    assert [row.problem is None for row in rows] == [True] * 8 + [False]
    with pytest.raises(PySparkException) as caught:
        traffic.frames(table(spark), "data", options={"mode": "FAILFAST"}).collect()
    start = (
        "Malformed frames are detected. Parse Mode: FAILFAST. To keep them as rows with the error, set the option "
        "'mode' to 'PERMISSIVE'. In this Arrow batch, row"
    )
    assert re.search(rf"{re.escape(start)} \d: RequestHeader v0: request_api_version", str(caught.value))


def test_length_prefix_must_match_the_frame(spark: SparkSession) -> None:
    data = request(METADATA, 12, 7)
    frames: list[tuple[str, str, bytes | None]] = [
        ("a", "request", len(data).to_bytes(4, "big") + data),
        ("a", "request", b"\0\0\0\1xy"),
        ("a", "request", b"\0"),
    ]
    frames += [("a", "request", None), ("a", "in", b"\0\0\0\1x")]
    rows = traffic.frames(table(spark, frames), "data", has_length=True).orderBy("timestamp").collect()
    assert (bytes(rows[0].frame), rows[0].api_name, rows[0].problem) == (data, "Metadata", None)
    for row, each in zip(rows[1:3], frames[1:3], strict=True):
        assert row.problem == "the length prefix does not match the size of the frame"
        assert bytes(row.frame) == each[2]
    assert (rows[3].frame, rows[3].problem) == (None, None)
    assert rows[4].problem == "the direction must be request or response, not 'in'"


def seconds(time: datetime | None) -> float | None:
    return None if time is None else time.timestamp()


@pytest.fixture
def pairs(spark: SparkSession) -> DataFrame:
    return traffic.pair(traffic.frames(table(spark), "data"))


def test_responses_are_paired_with_requests(pairs: DataFrame) -> None:
    rows = {(row.connection, seconds(row.request_timestamp)): row for row in pairs.collect()}
    assert len(rows) == 6
    names = ("api_name", "api_version", "correlation_id", "response_version", "response_header_size", "latency_ms")

    def at(number: int) -> Any:
        row = rows[(FRAMES[number][0], seconds(START + number * timedelta(milliseconds=10)))]
        assert bytes(row.request) == FRAMES[number][2]
        return tuple(row[name] for name in names), row.response and bytes(row.response)

    assert at(0) == (("Metadata", 12, 7, 12, 5, 20.0), FRAMES[2][2])
    assert at(1) == (("Produce", 11, 8, None, None, None), None)
    assert at(3) == (("Metadata", 1, 7, 1, 4, 10.0), FRAMES[4][2])
    assert at(5) == (("Metadata", 8, 7, 8, 4, 10.0), FRAMES[6][2])
    assert at(8)[1] is None
    orphan = rows[("one", None)]
    assert (orphan.correlation_id, orphan.api_name, bytes(orphan.response)) == (99, None, FRAMES[7][2])
    problems = [row.request_problem for row in rows.values() if row.request_problem]
    assert problems == ["RequestHeader v0: request_api_version: INT16: 2 bytes needed at offset 2, 0 left"]


def test_messages_of_pairs_are_decoded(spark: SparkSession, pairs: DataFrame) -> None:
    found = traffic.decode_responses(pairs, "MetadataResponse", keep=["connection", "api_version"])
    assert found.columns == ["connection", "api_version", "message"]
    rows = {(row.connection, row.api_version, row.message.cluster_id) for row in found.collect()}
    assert rows == {("one", 12, "first"), ("two", 1, None), ("one", 8, "second")}
    of_pairs = traffic.decode_requests(pairs, "ProduceRequest", into="produce").collect()
    of_frames = traffic.decode_requests(traffic.frames(table(spark), "data"), "ProduceRequest").collect()
    assert [row.produce.acks for row in of_pairs] == [row.message.acks for row in of_frames] == [0]


TRAILING = bytes.fromhex("0003000d00000004000772646b61666b610000000000010000")
"""A MetadataRequest for all topics as librdkafka 2.16.0 sends it: three bytes more than the request has."""


def test_trailing_bytes_of_requests_are_a_column(spark: SparkSession) -> None:
    frames = [
        ("c", "request", TRAILING),
        ("c", "request", request(METADATA, 13, 5)),
        ("c", "request", request(METADATA, 1, 6) + b"\xff"),
        ("c", "request", request(METADATA, 13, 7)[:-1]),
        ("c", "response", response(answer("ok"), 13, 4)),
    ]
    wanted = {4: b"\1\0\0", 5: None, 6: b"\xff", 7: None}
    df = traffic.frames(table(spark, frames), "data")
    for each in (df, traffic.pair(df)):
        found = traffic.decode_requests(
            each, "MetadataRequest", {"mode": "PERMISSIVE"}, keep=["correlation_id", "client_id"]
        )
        assert found.columns == ["correlation_id", "client_id", "message", "trailing"]
        rows = {row.correlation_id: row for row in found.collect()}
        assert {number: row.trailing and bytes(row.trailing) for number, row in rows.items()} == wanted
        assert (rows[4].client_id, rows[4].message.topics, rows[6].message.topics) == ("rdkafka", None, [])
        assert [number for number, row in rows.items() if row.message is None] == [7]
    strict = {"trailingBytes": "error"}
    with pytest.raises(
        PySparkException, match=r"MetadataRequest v\d+: \d byte\(s\) left after the message, at offset \d+"
    ):
        traffic.decode_requests(df.where("correlation_id <> 7"), "MetadataRequest", strict).collect()
    with pytest.raises(
        ValueError, match=r"^decode: the column 'trailing' already exists; choose another name for 'trailing'$"
    ):
        traffic.decode_requests(df.withColumn("trailing", df.frame), "MetadataRequest")


def test_response_with_trailing_bytes_is_malformed(spark: SparkSession) -> None:
    frames = [("c", "request", request(METADATA, 12, 1)), ("c", "response", response(answer("x"), 12, 1) + b"\0")]
    df = traffic.pair(traffic.frames(table(spark, frames), "data"))
    (row,) = traffic.decode_responses(df, "MetadataResponse", {"mode": "PERMISSIVE"}).collect()
    assert row.message is None
    assert "trailing" not in row
    with pytest.raises(
        PySparkException, match=r"MetadataResponse v12: 1 byte\(s\) left after the message, at offset 13"
    ):
        traffic.decode_responses(df, "MetadataResponse").collect()


def test_api_versions_error_response_is_decoded_as_version_0(spark: SparkSession) -> None:
    refused = kafka_messages.ApiVersionsResponse(error_code=35)
    frames = [
        ("a", "request", request(kafka_messages.ApiVersionsRequest(), 4, 1)),
        ("a", "response", response(refused, 0, 1)),
    ]
    df = traffic.decode_responses(traffic.pair(traffic.frames(table(spark, frames), "data")), "ApiVersionsResponse")
    (row,) = df.collect()
    assert (row.api_version, row.response_version, row.message.error_code) == (4, 0, 35)


def test_requests_and_responses_of_a_capture_are_paired(spark: SparkSession, tmp_path: Path) -> None:
    for direction in ("request", "response"):
        data = [each for connection, kind, each in FRAMES if (connection, kind) == ("two", direction)]
        (tmp_path / f"two.{direction}s").write_bytes(b"".join(len(each).to_bytes(4, "big") + each for each in data))
    register(spark)
    (row,) = spark.read.format("kafka_frames").load(str(tmp_path)).transform(traffic.pair).collect()
    assert (row.connection, row.request_position, row.response_position) == ("two", 0, 0)
    assert row.request_file.endswith("two.requests")
    assert row.response_file.endswith("two.responses")
    assert "latency_ms" not in row


def test_invalid_data_frames_are_rejected(spark: SparkSession, pairs: DataFrame) -> None:
    df = table(spark)
    with pytest.raises(ValueError, match=r"^frames: unknown column 'frame'"):
        traffic.frames(df)
    with pytest.raises(ValueError, match=r"^frames: the column 'direction' must be binary, not string$"):
        traffic.frames(df, "direction")
    with pytest.raises(ValueError, match=r"^frames: the column 'problem' already exists; rename it first$"):
        traffic.frames(df.selectExpr("*", "1 AS problem"), "data")
    with pytest.raises(ValueError, match=r"^pair: unknown column 'correlation_id'"):
        traffic.pair(df)
    with pytest.raises(
        ValueError, match=r"^pair: a column 'position' or 'timestamp' is required for the order of frames"
    ):
        traffic.pair(traffic.frames(df.drop("timestamp"), "data"))
    with pytest.raises(ValueError, match=r"^decode_responses: the type .*; pair the frames first$") as caught:
        traffic.decode_responses(traffic.frames(df, "data"), "MetadataResponse")
    assert str(caught.value) == (
        "decode_responses: the type of a response depends on its request; pair the frames first"
    )
    with pytest.raises(
        ValueError, match=r"^MetadataResponse is not a request; the request of Metadata is MetadataRequest$"
    ):
        traffic.decode_requests(pairs, "MetadataResponse")
    with pytest.raises(ValueError, match=r"^RequestHeader is neither the request nor the response of an API$"):
        traffic.decode_requests(pairs, "RequestHeader")
