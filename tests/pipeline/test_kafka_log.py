"""The data source kafka_log: columns, options and corrupt files."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructType

from kafka_messages_spark import register
from tests.pipeline.log_files import reader_of, rows_of

batch_writer = pytest.importorskip("kafka_records.segments.batch_writer", reason="kafka_records is not installed")

KAFKA = "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int"
HEADERS = ",headers:array<struct<key:string,value:binary>>"
CODECS = (None, "gzip", "snappy", "lz4", "zstd")


def records(first: int, count: int) -> list[dict[str, Any]]:
    return [
        {
            "key": b"k%d" % at,
            "value": None if at % 4 == 3 else b"v%d" % at,
            "timestamp": 1000 * at,
            "headers": [("h", b"x")],
        }
        for at in range(first, first + count)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for partition in (0, 1):
        place = tmp_path / f"_orders-{partition}"
        place.mkdir()
        codecs = enumerate(CODECS)
        parts = [batch_writer.write_batches(records(20 * n, 20), compression=c, base_offset=20 * n) for n, c in codecs]
        (place / f"{0:020}.log").write_bytes(b"".join(parts))
        for name in (f"{0:020}.index", f"{0:020}.timeindex", "leader-epoch-checkpoint", "partition.metadata"):
            (place / name).write_bytes(b"no segment")
    return tmp_path


@pytest.fixture
def read(spark: SparkSession, folder: Path) -> Any:
    register(spark)

    def read(path: object = folder / "*", **options: str) -> DataFrame:
        return spark.read.format("kafka_log").options(**options).load(str(path))

    return read


def test_default_columns_equal_those_of_the_spark_kafka_source(read: Any) -> None:
    assert read().schema.simpleString() == KAFKA + ">"
    assert read(includeHeaders="true").schema.simpleString() == KAFKA + HEADERS + ">"
    assert read(includeBatchMetadata="true").schema.names[7:11] == ["file", "position", "base_offset", "leader_epoch"]
    assert read(mode="PERMISSIVE").schema.names[7:] == ["corrupt"]


def test_rows_have_keys_values_and_headers(read: Any) -> None:
    rows = read(includeHeaders="true").orderBy("partition", "offset").collect()
    assert [(row.partition, row.offset) for row in rows] == [(p, at) for p in (0, 1) for at in range(100)]
    row = rows[2]
    assert (bytes(row.key), bytes(row.value), row.topic, row.timestampType) == (b"k2", b"v2", "_orders", 0)
    assert rows[3].value is None
    assert row.timestamp.timestamp() % 60 == 2
    assert [(each.key, bytes(each.value)) for each in row.headers] == [("h", b"x")]


def test_file_is_split_into_spark_partitions(read: Any) -> None:
    df = read(maxPartitionBytes="100b")
    assert df.select(F.spark_partition_id()).distinct().count() > 4
    assert sorted(row.offset for row in df.collect()) == sorted([*range(100), *range(100)])


@pytest.mark.parametrize("size", [10, 300_000], ids=["within the lookback", "beyond the lookback of 2 MiB"])
def test_damaged_length_gives_the_same_rows_in_a_split_file(tmp_path: Path, size: int) -> None:
    value = bytes(size)
    rows = [{"value": value, "timestamp": 1000 * at} for at in range(24)]
    parts = [bytes(batch_writer.write_batches([row], base_offset=at)) for at, row in enumerate(rows)]
    sound = b"".join(parts)
    places = [sum(map(len, parts[:n])) for n in range(25)]
    file = tmp_path / "segment.log"
    columns = ["offset", "position", "corrupt"]
    for at, to in [(0, 24), (0, 9), (3, 5), (3, 24), (10, 20), (22, 24)]:
        length = (places[to] - places[at] - 12).to_bytes(4, "big")
        file.write_bytes(sound[: places[at] + 8] + length + sound[places[at] + 12 :])
        whole, split = (
            [
                row
                for part in reader.partitions()
                for batch in reader.read(part)
                for row in batch.select(columns).to_pylist()
            ]
            for most in (len(sound) + 1, len(parts[0]) // 2)
            for reader in [reader_of(file, mode="PERMISSIVE", includeBatchMetadata="true", maxPartitionBytes=str(most))]
        )
        assert split == whole
        assert [row["offset"] for row in whole] == [*range(at), None, *range(at + 1, 24)]


def test_paths_and_globs_select_files(spark: SparkSession, read: Any, folder: Path) -> None:
    file = folder / "_orders-1" / f"{0:020}.log"
    assert read(file).select("partition").distinct().collect() == [(1,)]
    assert read(folder / "_orders-0").count() == 100
    assert read(folder).count() == 0
    assert read(folder, recursiveFileLookup="true").count() == 200
    assert read(folder, recursiveFileLookup="true", pathGlobFilter="*.nothing").count() == 0
    assert read(folder / "_orders-{0,7}").count() == 100
    assert spark.read.format("kafka_log").load([str(file), str(folder / "_orders-0")]).count() == 200
    assert read(file.as_uri()).select("topic").distinct().collect() == [("_orders",)]
    as_hadoop_says_it = read(f"file:{file}", includeBatchMetadata="true").select("topic", "file").distinct()
    assert as_hadoop_says_it.collect() == [("_orders", f"file://{file}")]


def test_files_in_symlinked_folders_are_read_once(tmp_path: Path) -> None:
    logs, other = tmp_path / "logs", tmp_path / "other"
    for place in (logs / "orders-0", other / "orders-1"):
        place.mkdir(parents=True)
        (place / f"{0:020}.log").write_bytes(batch_writer.write_batches(records(0, 1)))
    (logs / "orders-0" / "again").symlink_to(logs)
    (logs / "a-link").symlink_to(logs / "orders-0")
    (logs / "disk").symlink_to(other)
    (other / "back").symlink_to(logs / "disk")
    found = rows_of(reader_of(logs, recursiveFileLookup="true", includeBatchMetadata="true"))
    assert [each["file"] for each in found] == [
        f"{logs}/{place}/{0:020}.log" for place in ("disk/orders-1", "orders-0")
    ]
    (tmp_path / "link").symlink_to(logs)
    assert len(rows_of(reader_of(tmp_path / "link", recursiveFileLookup="true"))) == 2


def test_file_name_of_invalid_utf8_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "orders-0").mkdir()
    with suppress(OSError):  # file systems may reject the name
        (tmp_path / "orders-0" / os.fsdecode(b"\xff.log")).write_bytes(b"")
        with pytest.raises(
            ValueError,
            match=r"^kafka_log: a file name in .*/orders-0 is invalid UTF-8; rename b'.*/orders-0/\\xff\.log'$",
        ):
            reader_of(tmp_path / "orders-0").partitions()


def test_schema_selects_columns(spark: SparkSession, read: Any, folder: Path) -> None:
    reader = spark.read.format("kafka_log")
    df = reader.schema("offset bigint, topic string").load(str(folder / "_orders-0"))
    assert sorted(df.collect())[0] == (0, "_orders")
    with pytest.raises(PySparkException, match=r"kafka_log: unknown column 'ofset'; did you mean 'offset'\?"):
        reader.schema("ofset bigint").load(str(folder)).collect()
    with pytest.raises(PySparkException, match=r"kafka_log: the column 'offset' must be bigint in the schema, not int"):
        reader.schema("offset int").load(str(folder)).collect()
    headers = StructType().add("headers", ArrayType(StructType().add("key", "string", False).add("value", "binary")))
    for name, schema in ("offset", "topic string, offset bigint NOT NULL"), ("headers", headers):
        text = f"kafka_log: the column '{name}' can have nulls; omit NOT NULL in the schema"
        with pytest.raises(PySparkException, match=text):
            reader.option("includeHeaders", "true").schema(schema).load(str(folder)).collect()


def damage(folder: Path) -> Path:
    file = folder / "_orders-0" / f"{0:020}.log"
    data = bytearray(file.read_bytes())
    first = int.from_bytes(data[8:12], "big") + 12
    data[first + 80] ^= 1
    file.write_bytes(data)
    return file


def test_corrupt_batch_is_a_row_in_permissive_mode(read: Any, folder: Path) -> None:
    file = damage(folder)
    with pytest.raises(PySparkException, match=rf"{file.name}.*"):
        read(file).collect()
    df = read(file, mode="PERMISSIVE")
    assert sorted(row.offset for row in df.where("corrupt is null").collect()) == [*range(20), *range(40, 100)]
    (row,) = df.where("corrupt is not null").collect()
    assert (row.topic, row.partition, row.offset, row.value) == ("_orders", 0, None, None)
    assert row.corrupt.position > 0
    assert "CRC" in row.corrupt.reason.upper() or "checksum" in row.corrupt.reason
    assert len(row.corrupt.bytes) == row.corrupt.size


def test_ignore_corrupt_files_skips_the_rest_of_a_file(read: Any, folder: Path) -> None:
    damage(folder)
    df = read(ignoreCorruptFiles="true")
    assert {(row.partition, row["count"]) for row in df.groupBy("partition").count().collect()} == {(0, 20), (1, 100)}


REFUSED = {
    "mode": ({"mode": "DROPMALFORMED"}, "The function `kafka_log` doesn't support the DROPMALFORMED mode. "),
    "unknown": (
        {"includeHeader": "true"},
        "kafka_log: unknown option 'includeheader'; did you mean 'includeHeaders'",
    ),
    "unlike any": ({"owner": "me"}, "kafka_log: unknown option 'owner'. Known are path, paths, "),
    "size": (
        {"maxPartitionBytes": "much"},
        "kafka_log: the option 'maxPartitionBytes' must be a size above 0, such as 128m, not 'much'",
    ),
    "flag": ({"checkCrcs": "1"}, "kafka_log: the option 'checkCrcs' must be one of true, false, not '1'"),
}


@pytest.mark.parametrize(("options", "text"), REFUSED.values(), ids=REFUSED)
def test_invalid_options_are_rejected(read: Any, options: dict[str, str], text: str) -> None:
    with pytest.raises(PySparkException) as caught:
        read(**options).collect()
    assert text in str(caught.value)


def test_missing_path_is_rejected(spark: SparkSession, read: Any, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match=r"\[PATH_NOT_FOUND\] Path does not exist: .*/nowhere\."):
        read(tmp_path / "nowhere").collect()
    with pytest.raises(PySparkException, match=r"no path given; use load\(path\) or the option 'path' or 'paths'"):
        spark.read.format("kafka_log").load().collect()


def test_option_paths_is_a_json_list(spark: SparkSession, read: Any, folder: Path) -> None:
    reader = spark.read.format("kafka_log")
    assert reader.option("paths", f'["{folder}/_orders-0", "{folder}/_orders-1"]').load().count() == 200
    with pytest.raises(
        PySparkException, match=r"kafka_log: the option 'paths' must be a JSON list of paths, not '/a,/b'"
    ):
        reader.option("paths", "/a,/b").load().count()


def test_source_is_usable_in_sql_view(spark: SparkSession, read: Any, folder: Path) -> None:
    spark.sql(f"CREATE OR REPLACE TEMP VIEW segments USING kafka_log OPTIONS (path '{folder}/*')")
    assert spark.sql("SELECT count(*) FROM segments").collect() == [(200,)]


def test_corrupt_column_can_be_renamed(read: Any, folder: Path) -> None:
    df = read(damage(folder), mode="PERMISSIVE", columnNameOfCorruptRecord="_corrupt_record")
    assert df.columns[7:] == ["_corrupt_record"]
    (row,) = df.where("_corrupt_record is not null").collect()
    assert row._corrupt_record.position > 0
    with pytest.raises(PySparkException, match="'columnNameOfCorruptRecord' is 'key', but there is a column of this"):
        read(mode="PERMISSIVE", columnNameOfCorruptRecord="key").count()
    text = "kafka_log: the option 'columnNameOfCorruptRecord' requires mode=PERMISSIVE, not FAILFAST"
    with pytest.raises(PySparkException, match=text):
        read(columnNameOfCorruptRecord="bad").count()


def test_files_are_filtered_by_modification_time(read: Any, folder: Path) -> None:
    old = folder / "_orders-0" / f"{0:020}.log"
    os.utime(old, (1_000_000_000, 1_000_000_000))
    assert read(modifiedBefore="2001-09-09T01:46:41").select("partition").distinct().collect() == [(0,)]
    assert read(modifiedAfter="2001-09-09T03:46:40+02:00").select("partition").distinct().collect() == [(1,)]
    assert read(modifiedBefore="2001-09-09T01:46:40Z").count() == 0
    with pytest.raises(
        PySparkException, match="'modifiedAfter' must be a time such as 2026-03-31T08:00:00Z, not 'today'"
    ):
        read(modifiedAfter="today").count()
