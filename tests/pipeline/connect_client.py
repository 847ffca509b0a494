"""A Spark Connect client with its own server; prints its results as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import kafka_messages
from kafka_messages.internal_topics import write_coordinator_record
from kafka_messages.protocol import encode_request, encode_response
from kafka_records.segments.batch_writer import write_batches
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark import consumer_offsets, decode, from_kafka, register, to_kafka
from kafka_messages_spark.analyses import traffic

spark = (
    SparkSession.builder.remote("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
message = kafka_messages.MetadataResponse(cluster_id="here", throttle_time_ms=7)
table = [(version, message.write(version)) for version in (10, 12)]
df = spark.createDataFrame(table, "version int, value binary")
struct = from_kafka("value", "MetadataResponse", F.col("version"))
again = to_kafka(struct, "MetadataResponse", F.col("version"))
offsets = spark.sql("SELECT X'00630001' AS key, X'0001' AS value").transform(consumer_offsets)
register(spark)
folder = Path(sys.argv[1])


def segment(base: int) -> None:
    key = kafka_messages.OffsetCommitKey(group="g", topic="orders", partition=1)
    records = [
        write_coordinator_record(key, kafka_messages.OffsetCommitValue(offset=at), 4) for at in range(base, base + 3)
    ]
    rows = [{"key": key, "value": value, "timestamp": 1} for key, value in records]
    place = folder / "__consumer_offsets-7"
    place.mkdir(exist_ok=True)
    (place / f"{base:020}.log").write_bytes(write_batches(rows, base_offset=base))


def stream() -> int:
    rows = spark.readStream.format("kafka_log").option("decode", "internal").load(str(folder / "__consumer_offsets-*"))
    writer = rows.select("offset", "offset_commit.value.offset").toDF("at", "committed").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    writer.start(str(folder / "table")).awaitTermination(120)
    return spark.read.parquet(str(folder / "table")).where("at = committed").count()


segment(0)
first = stream()
segment(3)
captures = folder / "captures"
captures.mkdir()
(captures / "a.request").write_bytes(encode_request(kafka_messages.MetadataRequest(), 12, 7, "me"))
(captures / "a.response").write_bytes(encode_response(message, 12, 7))
pairs = traffic.pair(spark.read.format("kafka_frames").load(str(captures)))
out = {
    "session": type(spark).__module__,
    "from_kafka": [row[0] for row in df.select(struct["cluster_id"]).collect()],
    "to_kafka": df.where(again == F.col("value")).count(),
    "decode": [
        row[0] for row in decode(df, "MetadataResponse", "version").select("message.throttle_time_ms").collect()
    ],
    "problem": offsets.select("problem").collect()[0][0],
    "kafka_log": spark.read.format("kafka_log").load(str(folder / "__consumer_offsets-7")).count(),
    "stream": [first, stream()],
    "pairs": [
        row[0] for row in traffic.decode_responses(pairs, "MetadataResponse").select("message.cluster_id").collect()
    ],
}
spark.stop()
print(json.dumps(out))
