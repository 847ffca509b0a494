"""The job encodings, compared with the codec's sizes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import kafka_messages as km
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages.messages.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from kafka_messages.protocol import encode_request, encode_response
from kafka_records.segments.batch_writer import write_batches
from pyspark.sql import SparkSession

from kafka_messages_spark import register
from kafka_messages_spark._charts.document import document
from kafka_messages_spark.analyses import encodings
from kafka_messages_spark.analyses.encodings._sums import Sums, varint_sizes
from kafka_messages_spark.jobs._charts.encodings import pictures
from kafka_messages_spark.jobs.encodings import main
from tests.pipeline.job_files import coordinator, segment


def plain_size(value: int, bits: int, *, zigzag: bool) -> int:
    number = (value << 1 if value >= 0 else -2 * value - 1) if zigzag else value & (1 << bits) - 1
    return max(1, -(-number.bit_length() // 7))


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_varint_sizes_at_powers_of_two_are_exact(bits: int) -> None:
    powers = [1 << power for power in range(bits - 1)]
    values = sorted({sign * power + delta for power in powers for sign in (1, -1) for delta in (-1, 0)} | {0})
    values += [-(1 << bits - 1), (1 << bits - 1) - 1]
    for zigzag in (True, False):
        found = varint_sizes(np.array(values, np.int64), bits, zigzag=zigzag).tolist()
        assert found == [plain_size(value, bits, zigzag=zigzag) for value in values]


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=50), st.booleans())
def test_varint_sizes_of_any_values_are_exact(values: list[int], zigzag: bool) -> None:
    found = varint_sizes(np.array(values, np.int64), 64, zigzag=zigzag).tolist()
    assert found == [plain_size(value, 64, zigzag=zigzag) for value in values]


def response(count: int) -> km.MetadataResponse:
    partitions = [
        MetadataResponsePartition(partition_index=number, leader_id=number % 2 - 1, replica_nodes=[1, 300])
        for number in range(count)
    ]
    return km.MetadataResponse(topics=[MetadataResponseTopic(name="orders", partitions=partitions)])


ROWS = [
    ("MetadataResponse", 12, response(200).write(12)),
    ("MetadataResponse", 9, response(3).write(9)),
    ("MetadataResponse", 12, response(1).write(12)[:-1]),
    ("MetadataResponse", 99, b"?"),
    ("NoSuchMessage", 0, b"??"),
    (None, None, b"???"),
    ("Heartbeat", None, None),
]


def test_field_and_message_sizes_are_summed() -> None:
    sums = Sums()
    columns = [list(column) for column in zip(*ROWS, strict=True)]
    for part in (slice(0, 3), slice(3, None)):
        sums.add(
            pa.array(columns[0][part], pa.string()),
            pa.array(columns[1][part], pa.int32()),
            pa.array(columns[2][part], pa.binary()),
        )
    rows = sums.batch().to_pylist()
    leaders = [row for row in rows if row["path"] == "topics[].partitions[].leader_id" and row["version"] == 12]
    assert {(row["packed"], row["upacked"], row["count"], row["lowest"], row["highest"]) for row in leaders} == {
        (1, 1, 100, 0, 0),
        (1, 5, 100, -1, -1),
    }
    replicas = [row for row in rows if row["path"] == "topics[].partitions[].replica_nodes[]" and row["version"] == 9]
    assert {(row["packed"], row["count"], row["highest"]) for row in replicas} == {(1, 3, 1), (2, 3, 300)}
    # Only version 9 has the field cluster_authorized_operations.
    assert {row["version"] for row in rows if row["path"] == "cluster_authorized_operations"} == {9}
    counts = {
        (row["message"], row["version"], row["type"]): (row["count"], row["bytes"]) for row in rows if not row["path"]
    }
    assert counts == {
        ("MetadataResponse", 12, None): (1, len(ROWS[0][2] or b"")),
        ("MetadataResponse", 12, "malformed"): (1, len(ROWS[2][2] or b"")),
        ("MetadataResponse", 9, None): (1, len(ROWS[1][2] or b"")),
        ("MetadataResponse", 99, "malformed"): (1, 1),
        ("NoSuchMessage", 0, "malformed"): (1, 2),
        ("", None, "malformed"): (1, 3),
    }


def test_trailing_bytes_make_only_responses_malformed() -> None:
    sums = Sums()
    data = km.MetadataRequest().write(13)
    sums.add(pa.array(["MetadataRequest"] * 2), pa.array([13, 13]), pa.array([data, data + b"\1\0\0"]))
    sums.add(pa.array(["MetadataResponse"]), pa.array([9]), pa.array([response(1).write(9) + b"\0"]))
    counts = {
        (row["message"], row["type"]): (row["count"], row["bytes"])
        for row in sums.batch().to_pylist()
        if not row["path"]
    }
    assert counts == {
        ("MetadataRequest", None): (2, 2 * len(data)),
        ("MetadataResponse", "malformed"): (1, len(response(1).write(9)) + 1),
    }


def test_tagged_field_at_its_default_is_not_counted() -> None:
    for leader, want in ((-2, 0), (5, 1)):
        record = km.PartitionChangeRecord(partition_id=1, leader=leader)
        sums = Sums()
        sums.add(pa.array(["PartitionChangeRecord"]), pa.array([2]), pa.array([record.write(2)]))
        assert sum(row["count"] for row in sums.batch().to_pylist() if row["path"] == "leader") == want


def test_table_of_messages_is_measured(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = str(tmp_path / "captured"), str(tmp_path / "out")
    spark.createDataFrame(ROWS, "api string, v int, bytes binary").repartition(3).write.parquet(source)
    assert main(["table", source, "--columns", "api, v,bytes", "--output", out, "--quiet", "--limit", "3"]) == 1
    report = capsys.readouterr().out
    fields = {row.path: row for row in spark.read.parquet(f"{out}/fields").collect()}
    leader = fields["topics[].partitions[].leader_id"]
    assert (leader["values"], leader.lowest, leader.highest, leader.type) == (203, -1, 0, "int32")
    assert (leader.defined, leader.fixed16, leader.fixed32, leader.fixed64) == (812, 406, 812, None)
    assert (leader.packed, leader.upacked) == (203, 101 + 102 * 5)
    assert (leader.smallest, leader.saved) == ("packed", 609)
    index = fields["topics[].partitions[].partition_index"]
    assert (index.packed, index.upacked, index.smallest) == (64 + 136 * 2 + 3, 128 + 72 * 2 + 3, "upacked")
    sizes = spark.read.parquet(f"{out}/histogram").where("path = 'topics[].partitions[].leader_id'").collect()
    assert {(row.encoding, row.bytes, row["values"]) for row in sizes} == {
        ("packed", 1, 203),
        ("upacked", 1, 101),
        ("upacked", 5, 102),
    }
    whole = {row.message: row for row in spark.read.parquet(f"{out}/messages").collect()}["MetadataResponse"]
    assert (whole.messages, whole.malformed, whole.versions) == (2, 2, [9, 12, 99])
    assert whole.bytes == len(ROWS[0][2] or b"") + len(ROWS[1][2] or b"")
    assert whole.integer_bytes == sum(row.defined for row in fields.values())
    assert whole.smallest == whole.bytes - sum(row.saved for row in fields.values())
    assert "undecodable                  4\n" in report
    assert "... and " in report


@pytest.mark.nightly
def test_internal_topic_is_measured(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = km.OffsetCommitKey(group="g", topic="t", partition=70)
    batches = [coordinator(0, 0, key, km.OffsetCommitValue(offset=1 << 40), 4), coordinator(1, 0, key)]
    bad = coordinator(3, 0, key)
    batches += [write_batches([{"key": b"\0\x63", "value": b"\0\1?"}], base_offset=2), bad[:-1] + b"\xff"]
    segment(tmp_path, "__consumer_offsets-0", *batches)
    assert main(["consumer_offsets", str(tmp_path), "--output", str(tmp_path / "out"), "--quiet"]) == 1
    report = capsys.readouterr().out
    fields = {(row.message, row.path): row for row in spark.read.parquet(str(tmp_path / "out" / "fields")).collect()}
    partition = fields["OffsetCommitKey", "partition"]
    assert (partition["values"], partition.packed, partition.upacked) == (2, 4, 2)
    assert fields["OffsetCommitValue", "offset"].packed == 6
    whole = {row.message: row for row in spark.read.parquet(str(tmp_path / "out" / "messages")).collect()}
    assert {name: (row.messages, row.malformed) for name, row in whole.items()} == {
        "OffsetCommitKey": (2, 0),
        "OffsetCommitValue": (1, 0),
        "": (0, 2),
    }
    assert "Unreadable\n" in report
    assert "checksum mismatch: stored 0x" in report


def test_captures_are_measured(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    partitions = response(70)
    requests = [encode_request(km.ApiVersionsRequest(), 3, 1, "me"), encode_request(km.MetadataRequest(), 12, 2, "me")]
    responses = [
        encode_response(km.ApiVersionsResponse(), 3, 1),
        encode_response(partitions, 12, 2),
        encode_response(partitions, 12, 99),
    ]
    (tmp_path / "192.168.001.010.51234-010.000.000.001.09092").write_bytes(b"".join(requests))
    (tmp_path / "010.000.000.001.09092-192.168.001.010.51234").write_bytes(b"".join(responses))
    out = tmp_path / "out"
    assert main(["frames", str(tmp_path), "--output", str(out), "--quiet", "--glob", "*-*"]) == 1
    assert "undecodable                  1\n" in capsys.readouterr().out
    whole = {row.message: row for row in spark.read.parquet(str(out / "messages")).collect()}
    assert {name: (row.messages, row.versions) for name, row in whole.items() if name} == {
        "ApiVersionsRequest": (1, [3]),
        "ApiVersionsResponse": (1, [3]),
        "MetadataRequest": (1, [12]),
        "MetadataResponse": (1, [12]),
    }
    assert whole["MetadataResponse"].bytes == len(partitions.write(12))


@pytest.mark.nightly
def test_corrupt_captures_are_reported(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = encode_request(km.ApiVersionsRequest(), 3, 1, "me")
    (tmp_path / "one.request.bin").write_bytes(request + b"\xff" * 40)
    (tmp_path / "two.request.bin").write_bytes(request * 2 + request[:-1])
    out = tmp_path / "out"
    assert main(["frames", str(tmp_path), "--output", str(out), "--quiet", "--limit", "9"]) == 1
    report = capsys.readouterr().out
    assert "messages                     3\n" in report
    assert "undecodable                  0\n" in report
    assert "Unreadable\n----------\n" in report
    rows = spark.read.parquet(str(out / "unreadable")).orderBy("file").collect()
    assert [(Path(row.file).name, row.position, row.reason.partition(",")[0]) for row in rows] == [
        (
            "one.request.bin",
            len(request),
            "invalid frame length -1; expected 0 to 104857600; later frames cannot be located",
        ),
        (
            "two.request.bin",
            2 * len(request),
            f"the stream ends after {len(request) - 5} of the {len(request) - 4} bytes of a frame",
        ),
    ]


def test_invalid_columns_are_rejected(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spark.range(3).write.parquet(str(tmp_path / "t"))
    assert main(["table", str(tmp_path / "t"), "--columns", "id", "--quiet"]) == 2
    want = "encodings: error: --columns must be three comma-separated names, not 'id'\n"
    assert capsys.readouterr().err.endswith(want)
    with pytest.raises(ValueError, match=r"^measure: messages must be binary, not bigint$"):
        encodings.measure(spark.range(1), "id", "id", "id")
    with pytest.raises(
        ValueError, match=r"^messages_of: '__consumer_offset' is not an internal topic; did you mean '__c"
    ):
        encodings.messages_of(spark.range(1), "__consumer_offset")


def test_plot_requires_svg_name(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    register(spark)
    source = str(tmp_path / "captured")
    command = ["table", source, "--columns", "api,v,bytes", "--quiet", "--exit-zero", "--plot"]
    assert main([*command, str(tmp_path / "fields.png")]) == 2
    want = "encodings: error: --plot writes SVG, so the file name must end in .svg\n"
    assert capsys.readouterr().err.endswith(want)
    spark.createDataFrame(ROWS[:2], "api string, v int, bytes binary").write.parquet(source)
    picture = tmp_path / "fields.svg"
    assert main([*command, str(picture)]) == 0
    titles = [each.text for each in svg(picture.read_text("utf-8")) if each.get("class") == "title"]
    assert titles == ["Integer fields in each encoding", "Packed sizes of the values of each field"]


def svg(text: str) -> list[Element]:
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return list(root.iter())


@pytest.mark.parametrize("largest", [50, 5_000_000], ids=["even", "logarithmic"])
def test_chart_shows_all_bars(largest: int) -> None:
    fields = [
        {"message": "M", "path": f"f{each}", "defined": size, "packed": max(size // 8, 1), "upacked": max(size // 5, 1)}
        for each, size in enumerate((largest, 40, 8))
    ]
    elements = svg(document("Fields", pictures(fields, {("M", "f0"): {1: 3, 2: 1}})))
    bars = [each for each in elements if (each.get("class") or "").startswith("mark ") and float(each.attrib["x"]) > 0]
    widths = [float(each.attrib["width"]) for each in bars]
    assert len(bars) == 9 + 2 + 2  # two fields have no values
    assert min(widths[:9]) > 5
    assert all(float(each.attrib["x"]) + width < 1000 for each, width in zip(bars, widths, strict=True))
    shares = widths[9:11]
    assert shares[0] == pytest.approx(3 * shares[1], abs=0.5)
    texts = {each.text for each in elements if each.tag.endswith("text")}
    assert texts >= {f"{largest:,}", "40", "8", "4 values", "0 values"}
    axis = "bytes of all values" + (", logarithmic" if largest > 50 else "")
    assert axis in texts
