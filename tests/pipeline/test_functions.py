"""from_kafka, to_kafka, schema_of_kafka and decode, compared with kafka_messages.arrow."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import kafka_messages
import pyarrow as pa
import pytest
from kafka_messages import arrow
from kafka_messages.messages.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark import cluster_metadata, decode, from_kafka, schema_of_kafka, to_kafka
from kafka_messages_spark.analyses import traffic
from tests.support.vectors import COMMITTED

MESSAGES = {
    "clients": ("MetadataResponse", "FetchResponse", "ProduceRequest", "ApiVersionsResponse", "CreateTopicsRequest"),
    "group-coordinator": ("OffsetCommitValue", "ConsumerGroupCurrentMemberAssignmentValue"),
    "metadata": ("PartitionRecord",),
}
GOOD = kafka_messages.MetadataResponse(cluster_id="here", throttle_time_ms=7).write(12)
BAD = b"junk"


def vectors_of(folder: str, message: str) -> list[tuple[int, bytes]]:
    with gzip.open(COMMITTED / f"{folder}.jsonl.gz", "rt") as lines:
        found = [json.loads(line) for line in lines]
    return [(each["version"], bytes.fromhex(each["hex"])) for each in found if each["message"] == message]


def expected(message: str, vectors: list[tuple[int, bytes]]) -> list[dict[str, Any]]:
    rows = pa.array([data for _, data in vectors], pa.binary())
    versions = pa.array([version for version, _ in vectors])
    structs = arrow.decode(rows, getattr(kafka_messages, message), versions).to_pylist()
    return [plain(struct) for struct in structs]


def plain(value: Any) -> Any:
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return bytes(value) if isinstance(value, bytearray) else value


def frame(spark: SparkSession, *values: bytes | None) -> DataFrame:
    return spark.createDataFrame(list(enumerate(values)), "id int, value binary")


def rows(df: DataFrame) -> list[Any]:
    return [plain(row)["r"] for row in df.orderBy("id").collect()]


CASES = [(folder, message) for folder, messages in MESSAGES.items() for message in messages]


@pytest.mark.parametrize(("folder", "message"), CASES)
def test_kafka_vectors_round_trip(spark: SparkSession, folder: str, message: str) -> None:
    vectors = vectors_of(folder, message)
    table = [(row, version, data) for row, (version, data) in enumerate(vectors)]
    df = spark.createDataFrame(table, "id int, version int, value binary").coalesce(1)
    want = expected(message, vectors)

    column = from_kafka("value", message, F.col("version"))
    out = df.select("id", "version", "value", column.alias("r"), F.lit(1).alias("one")).cache()
    assert rows(out) == want
    assert rows(decode(df, message, "version", into="r", keep=["id"])) == want
    assert out.schema["r"].dataType == schema_of_kafka(message)
    again = out.select("id", to_kafka("r", message, F.col("version")).alias("r"))
    assert rows(again) == [data for _, data in vectors]


def test_version_prefix_is_read_and_written(spark: SparkSession) -> None:
    data = kafka_messages.OffsetCommitValue(offset=5, metadata="m").write(4)
    df = frame(spark, b"\x00\x04" + data, None)
    out = df.select("id", from_kafka(F.col("value"), "OffsetCommitValue").alias("r"))
    first, second = rows(out)
    assert (first["offset"], first["metadata"], second) == (5, "m", None)
    again = out.select("id", to_kafka("r", "OffsetCommitValue", 4, {"versionPrefix": "true"}).alias("r"))
    assert rows(again) == [b"\x00\x04" + data, None]


Decoder = Callable[[DataFrame, Mapping[str, str]], DataFrame]


def by_column(df: DataFrame, options: Mapping[str, str]) -> DataFrame:
    return df.select("id", from_kafka("value", "MetadataResponse", 12, options).alias("r"))


def by_frame(df: DataFrame, options: Mapping[str, str]) -> DataFrame:
    return decode(df, "MetadataResponse", 12, options=options, into="r")


@pytest.fixture(params=[by_column, by_frame])
def decoder(request: pytest.FixtureRequest) -> Decoder:
    found: Decoder = request.param
    return found


def column_by_version(df: DataFrame, options: Mapping[str, str]) -> DataFrame:
    return df.select("id", from_kafka("value", "MetadataResponse", F.col("v"), options).alias("r"))


def frame_by_version(df: DataFrame, options: Mapping[str, str]) -> DataFrame:
    return decode(df, "MetadataResponse", "v", options=options, into="r")


@pytest.fixture(params=[column_by_version, frame_by_version])
def decoder_by_version(request: pytest.FixtureRequest) -> Decoder:
    found: Decoder = request.param
    return found


def test_failfast_error_contains_the_row_and_suggests_permissive_mode(spark: SparkSession, decoder: Decoder) -> None:
    with pytest.raises(PySparkException) as caught:
        decoder(frame(spark, GOOD, BAD).coalesce(1), {}).collect()
    text = str(caught.value)
    assert (
        "Malformed Kafka messages are detected in message deserialization. Parse Mode: FAILFAST. To process malformed "
        "messages as null result, try setting the option 'mode' as 'PERMISSIVE'. In this Arrow batch, "
        "row 1: MetadataResponse v12: brokers: UNSIGNED_VARINT: 1 byte needed at offset 4, 0 left"
    ) in text


HEARTBEAT = "struct<group_id:string,generation_id:int,member_id:string,group_instance_id:string>"


def test_struct_without_a_required_value_is_rejected(spark: SparkSession) -> None:
    df = spark.createDataFrame([((name, 1, "m", None),) for name in ("g", None)], f"s {HEARTBEAT}").coalesce(1)
    with pytest.raises(PySparkException) as caught:
        df.select(to_kafka("s", "HeartbeatRequest", 4)).collect()
    # The rest of the text differs between the native core and the Python code.
    start = "A struct cannot be written as a Kafka message. In this Arrow batch, row 1: HeartbeatRequest v4: group_id: "
    assert start in str(caught.value)


def test_permissive_mode_returns_null(spark: SparkSession, decoder: Decoder) -> None:
    first, second, third, last = rows(decoder(frame(spark, GOOD, BAD, None, GOOD), {"mode": "permissive"}))
    assert first["cluster_id"] == last["cluster_id"] == "here"
    assert second is None
    assert third is None


def test_corrupt_record_column_contains_the_bytes(spark: SparkSession, decoder: Decoder) -> None:
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_bad", "fields": "cluster_id"}
    out = rows(decoder(frame(spark, GOOD, BAD, None), options))
    assert out == [{"cluster_id": "here", "_bad": None}, {"cluster_id": None, "_bad": BAD}, None]


def test_fields_option_selects_fields(spark: SparkSession, decoder: Decoder) -> None:
    parts = [MetadataResponsePartition(leader_id=1), MetadataResponsePartition(leader_id=2)]
    topics = [MetadataResponseTopic(name="t", partitions=parts)]
    message = kafka_messages.MetadataResponse(cluster_id="here", topics=topics)
    df = frame(spark, message.write(12), BAD, GOOD)
    out = decoder(df, {"mode": "PERMISSIVE", "fields": "topics.partitions.leader_id, topics.name,cluster_id"})
    assert rows(out) == [
        {"cluster_id": "here", "topics": [{"name": "t", "partitions": [{"leader_id": 1}, {"leader_id": 2}]}]},
        None,
        {"cluster_id": "here", "topics": []},
    ]


def test_trailing_bytes_are_malformed_unless_ignored(spark: SparkSession, decoder: Decoder) -> None:
    df = frame(spark, GOOD + b"more")
    assert rows(decoder(df, {"mode": "PERMISSIVE"})) == [None]
    assert rows(decoder(df, {"trailingBytes": "ignore", "fields": "cluster_id"})) == [{"cluster_id": "here"}]


def test_invalid_utf8_is_malformed_unless_validation_is_off(spark: SparkSession, decoder: Decoder) -> None:
    df = frame(spark, GOOD.replace(b"here", b"h\xffre"))
    assert rows(decoder(df, {"mode": "PERMISSIVE"})) == [None]
    text = decoder(df, {"validateUtf8": "false"}).select("r.cluster_id")
    assert text.select(F.is_valid_utf8("cluster_id"), F.hex("cluster_id")).collect() == [(False, "68FF7265")]


def test_unknown_tagged_fields_are_an_optional_field(spark: SparkSession, decoder: Decoder) -> None:
    df = frame(spark, GOOD[:-1] + b"\x01\x63\x02hi")
    out = rows(decoder(df, {"unknownTaggedFields": "true", "fields": "cluster_id"}))
    assert out == [{"cluster_id": "here", "_unknown_tagged_fields": {99: b"hi"}}]
    assert "_unknown_tagged_fields" not in rows(decoder(df, {}))[0]


def test_decoded_field_can_be_filtered(spark: SparkSession, decoder: Decoder) -> None:
    df = frame(spark, *(kafka_messages.MetadataResponse(throttle_time_ms=i).write(12) for i in range(100)))
    assert decoder(df, {}).where("r.throttle_time_ms >= 90").count() == 10


REFUSED = {
    "dropmalformed": (
        {"mode": "DROPMALFORMED"},
        "[PARSE_MODE_UNSUPPORTED] The function `from_kafka` doesn't support the DROPMALFORMED mode. "
        "Acceptable modes are PERMISSIVE and FAILFAST.",
    ),
    "unknown option": (
        {"mod": "FAILFAST"},
        "from_kafka: unknown option 'mod'; did you mean 'mode'? Known are mode, columnNameOfCorruptRecord, "
        "fields, unknownTaggedFields, trailingBytes, validateUtf8.",
    ),
    "not text": (
        {"unknownTaggedFields": True},
        "from_kafka: options must map str to str, not 'unknownTaggedFields' to True",
    ),
    "no flag": (
        {"unknownTaggedFields": "yes"},
        "from_kafka: the option 'unknownTaggedFields' must be one of true, false, not 'yes'",
    ),
    "no choice": (
        {"trailingBytes": "keep"},
        "from_kafka: the option 'trailingBytes' must be one of error, ignore, not 'keep'",
    ),
    "unknown field": (
        {"fields": "topics.nam"},
        "from_kafka: unknown field topics.nam in the option 'fields'; did you mean 'name'?",
    ),
    "below a scalar": (
        {"fields": "cluster_id.x"},
        "from_kafka: the option 'fields' contains cluster_id.x, but cluster_id has no fields",
    ),
    "no field": (
        {"fields": "topics,"},
        "from_kafka: the option 'fields' must be a comma-separated list of names, not 'topics,'",
    ),
    "corrupt column without PERMISSIVE": (
        {"columnNameOfCorruptRecord": "bad"},
        "from_kafka: the option 'columnNameOfCorruptRecord' requires mode=PERMISSIVE, not FAILFAST",
    ),
    "corrupt column without a name": (
        {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": " "},
        "from_kafka: the option 'columnNameOfCorruptRecord' must be a column name, not ' '",
    ),
    "corrupt column is a field": (
        {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "topics"},
        "from_kafka: the option 'columnNameOfCorruptRecord' is 'topics', but MetadataResponse has a field of this name",
    ),
    "corrupt column is the one of unknown fields": (
        {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_unknown_tagged_fields", "unknownTaggedFields": "true"},
        "from_kafka: the option 'columnNameOfCorruptRecord' is '_unknown_tagged_fields', "
        "but MetadataResponse has a field of this name",
    ),
}


@pytest.mark.parametrize(("options", "text"), REFUSED.values(), ids=REFUSED)
def test_invalid_options_are_rejected(options: Any, text: str) -> None:
    with pytest.raises(PySparkException) as caught:
        from_kafka("value", "MetadataResponse", 12, options)
    assert str(caught.value) == text
    assert isinstance(caught.value, ValueError)


def test_unknown_message_or_version_is_rejected() -> None:
    with pytest.raises(
        ValueError, match=r"^unknown message 'MetadataRespons'; did you mean 'MetadataResponse'\? There"
    ):
        from_kafka("value", "MetadataRespons", 1)
    with pytest.raises(ValueError, match=r"^MetadataResponse has no version 99, only versions 0 to \d+$"):
        from_kafka("value", "MetadataResponse", 99)
    with pytest.raises(ValueError, match=r"^version must be an integer or a column of integers, not 'v'$"):
        from_kafka("value", "MetadataResponse", "v")  # type: ignore[arg-type]  # the invalid argument
    with pytest.raises(ValueError, match=r"^to_kafka: version must be an integer or a column of integers, not None$"):
        to_kafka("value", "MetadataResponse", None)  # type: ignore[arg-type]  # the invalid argument
    with pytest.raises(ValueError, match=r"^schema_of_kafka: version must be an integer, not Column<"):
        schema_of_kafka("MetadataResponse", F.col("v"))  # type: ignore[arg-type]  # the invalid argument


def test_schema_of_a_version_has_only_its_fields() -> None:
    every = schema_of_kafka("MetadataResponse")
    first = schema_of_kafka("MetadataResponse", 0)
    assert first.names == ["brokers", "topics"]
    assert "cluster_id" in every.names
    assert first.simpleString().startswith("struct<brokers:array<struct<node_id:int,host:string,port:int>>")
    assert "rack:string" in every.simpleString()


def test_to_kafka_error_contains_the_field_name(spark: SparkSession) -> None:
    df = frame(spark, GOOD).select("id", from_kafka("value", "MetadataResponse", 12).alias("m"))
    broken = df.withColumn("m", F.col("m").withField("topics", F.lit(None)))
    with pytest.raises(PySparkException, match=r"row 0: MetadataResponse v12: topics: "):
        broken.select(to_kafka("m", "MetadataResponse", 12)).collect()


def test_to_kafka_casts_fields_without_loss(spark: SparkSession) -> None:
    value = "named_struct('metadata', 'm', 'offset', 5, 'commit_timestamp', 0L, 'leader_epoch', {}L, 'topic_id', null)"
    df = frame(spark, GOOD).select("id", F.expr(value.format(-1)).alias("v"))
    out = rows(df.select("id", to_kafka("v", "OffsetCommitValue", 3).alias("r")))
    assert out == [kafka_messages.OffsetCommitValue(offset=5, metadata="m").write(3)]
    wide = frame(spark, GOOD).select("id", F.expr(value.format(1 << 40)).alias("v"))
    with pytest.raises(PySparkException, match=r"leader_epoch cannot be converted from int64 to int32: "):
        wide.select(to_kafka("v", "OffsetCommitValue", 3)).collect()
    with pytest.raises(PySparkException, match=r"unknown field metadat; did you mean 'metadata'\?"):
        frame(spark, GOOD).select(to_kafka(F.expr("named_struct('metadat', 'm')"), "OffsetCommitValue", 3)).collect()


def test_decode_rejects_invalid_arguments(spark: SparkSession) -> None:
    df = frame(spark, GOOD)
    with pytest.raises(ValueError, match=r"^decode: unknown column 'valu'; did you mean 'value'\?$"):
        decode(df, "MetadataResponse", 12, "valu")
    with pytest.raises(ValueError, match=r"^decode: the column 'id' must be binary, not int$"):
        decode(df, "MetadataResponse", 12, "id")
    with pytest.raises(ValueError, match=r"^decode: the column 'id' already exists; choose another name for 'into'$"):
        decode(df, "MetadataResponse", 12, into="id")
    with pytest.raises(ValueError, match=r"^decode: expected a column name, got {'mode': 'PERMISSIVE'}$"):
        decode(df, "MetadataResponse", 12, {"mode": "PERMISSIVE"})  # type: ignore[arg-type]  # the invalid argument
    with pytest.raises(ValueError, match=r"^decode: expected a column name, got Column<"):
        decode(df, "MetadataResponse", 12, F.col("value"))  # type: ignore[arg-type]  # the invalid argument
    with pytest.raises(ValueError, match=r"^decode: keep must be a list of column names, not 'id'$"):
        decode(df, "MetadataResponse", 12, keep="id")
    with pytest.raises(
        ValueError, match=r"^decode: version must be an integer, a column of integers, its name or None, not 1.0$"
    ):
        decode(df, "MetadataResponse", 1.0)  # type: ignore[arg-type]  # the invalid argument


def test_column_names_with_dots_and_spaces_are_accepted(spark: SparkSession) -> None:
    df = frame(spark, GOOD).toDF("row.id", "a value").withColumn("the.version", F.lit(12))
    out = decode(df, "MetadataResponse", "the.version", "a value", into="m")
    assert out.select("`row.id`", "m.cluster_id").collect() == [(0, "here")]
    column = from_kafka("`a value`", "MetadataResponse", F.col("`the.version`"))
    assert df.select(column["cluster_id"]).collect() == [("here",)]
    records = df.select("*", F.lit(b"").alias("key"), F.col("a value").alias("value")).transform(cluster_metadata)
    assert records.select("`row.id`").collect() == [(0,)]
    frames = df.select("*", F.lit("c").alias("connection"), F.lit("response").alias("direction"))
    assert traffic.frames(frames, "a value").select("`row.id`", "correlation_id").collect() == [(0, 7)]


NOT_INTEGERS = {"double": "double", "string": "string", "boolean": "bool", "decimal(10,0)": "decimal128(10, 0)"}


@pytest.mark.parametrize(("kind", "in_arrow"), NOT_INTEGERS.items(), ids=NOT_INTEGERS)
def test_non_integer_version_column_is_rejected(spark: SparkSession, kind: str, in_arrow: str) -> None:
    df = frame(spark, GOOD).withColumn("v", F.lit(12).cast(kind))
    text = f"^decode: version must be a column of integers, not of {re.escape(kind)}; cast it$"
    for version in ("v", F.col("v")):
        with pytest.raises(ValueError, match=text):
            decode(df, "MetadataResponse", version)
    struct = from_kafka("value", "MetadataResponse", 12)
    by_column = from_kafka("value", "MetadataResponse", F.col("v"))
    for name, column in ("from_kafka", by_column), ("to_kafka", to_kafka(struct, "MetadataResponse", F.col("v"))):
        with pytest.raises(PySparkException) as caught:
            df.select(column).collect()
        assert (
            f'[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] The third parameter of `{name}` requires the "INTEGRAL" type, '
            f"however it has the Arrow type {in_arrow}."
        ) in str(caught.value)


def test_version_beyond_int32_is_malformed(spark: SparkSession, decoder_by_version: Decoder) -> None:
    df = frame(spark, GOOD, GOOD).withColumn("v", F.lit(12).cast("long") + F.col("id") * F.lit(1 << 32))
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        out = rows(decoder_by_version(df, {"mode": "PERMISSIVE", "fields": "cluster_id"}))
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert out == [{"cluster_id": "here"}, None]
    for kind in ("byte", "short", "int"):
        some = frame(spark, GOOD).withColumn("v", F.lit(12).cast(kind))
        assert rows(decoder_by_version(some, {"fields": "cluster_id"})) == [{"cluster_id": "here"}]


def test_null_version_is_malformed(spark: SparkSession, decoder_by_version: Decoder) -> None:
    for kind in ("int", "void"):
        nothing = F.lit(None).cast(kind)
        df = frame(spark, None, GOOD).coalesce(1).withColumn("v", nothing)
        assert rows(decoder_by_version(df.where("id = 0"), {})) == [None]
        assert rows(decoder_by_version(df, {"mode": "PERMISSIVE"})) == [None, None]
        with pytest.raises(PySparkException, match=r"In this Arrow batch, row 1: the version is null"):
            decoder_by_version(df, {}).collect()
        assert rows(df.select("id", to_kafka(F.lit(None), "MetadataResponse", nothing).alias("r"))) == [None, None]
        struct = from_kafka("value", "MetadataResponse", 12)
        assert rows(df.select("id", to_kafka(struct, "MetadataResponse", nothing).alias("r"))) == [None, None]


def test_columns_of_wrong_type_are_rejected(spark: SparkSession) -> None:
    df = frame(spark, GOOD)
    text = (
        '[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] The first parameter of `{}` requires the "{}" type, however it has'
    )
    wrong = [
        (from_kafka(F.lit("text"), "MetadataResponse", 12), "from_kafka", "BINARY", "string"),
        (from_kafka("id", "MetadataResponse"), "from_kafka", "BINARY", "int32"),
        (to_kafka("value", "MetadataResponse", 12), "to_kafka", "STRUCT", "binary"),
    ]
    for column, name, required, found in wrong:
        with pytest.raises(PySparkException) as caught:
            df.select(column).collect()
        assert f"{text.format(name, required)} the Arrow type {found}." in str(caught.value)
    assert df.select(from_kafka(F.lit(None), "MetadataResponse", 12)).collect() == [(None,)]
