"""Runs in its own process, as a Spark Connect client with a server of its own; prints what it got as JSON."""

from __future__ import annotations

import json
import sys

import kafka_messages
from kafka_messages_spark import consumer_offsets, decode, from_kafka, register, to_kafka
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

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
out = {
    "session": type(spark).__module__,
    "from_kafka": [row[0] for row in df.select(struct["cluster_id"]).collect()],
    "to_kafka": df.where(again == F.col("value")).count(),
    "decode": [
        row[0] for row in decode(df, "MetadataResponse", "version").select("message.throttle_time_ms").collect()
    ],
    "problem": offsets.select("problem").collect()[0][0],
    "kafka_log": spark.read.format("kafka_log").load(sys.argv[1]).count(),
}
spark.stop()
print(json.dumps(out))
