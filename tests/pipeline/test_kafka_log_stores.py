"""kafka_log on S3 and other file systems of pyarrow."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark import register
from kafka_messages_spark.sources import _files
from kafka_messages_spark.sources.kafka_log import _batch_scan

batch_writer = pytest.importorskip("kafka_records.segments.batch_writer", reason="kafka_records is not installed")

SECRET = "se%2Fcret"
SECONDS = 120


def batches(first: int, count: int, size: int = 10) -> bytes:
    rows = [
        [{"value": bytes(50), "timestamp": at} for at in range(n, n + 10)] for n in range(first, first + 10 * count, 10)
    ]
    return b"".join(batch_writer.write_batches(each, base_offset=first + 10 * n) for n, each in enumerate(rows))


@dataclass
class Store:
    port: int
    bucket: str

    @property
    def options(self) -> str:
        return f"endpoint_override=127.0.0.1:{self.port}&scheme=http&region=us-east-1"

    def uri(self, path: str) -> str:
        return f"s3://me:{SECRET}@{self.bucket}/{path}?{self.options}"

    def write(self, path: str, data: bytes) -> None:
        filesystem, inner = fs.FileSystem.from_uri(self.uri(path) + "&allow_bucket_creation=true")
        if filesystem.get_file_info(self.bucket).type == fs.FileType.NotFound:
            filesystem.create_dir(self.bucket)
        with filesystem.open_output_stream(inner) as file:
            file.write(data)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    if find_spec("moto") is None:
        pytest.skip("there is no S3 server: it needs moto[server] (dependency group stores)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    log = (tmp_path_factory.mktemp("server") / "log").open("wb")
    with log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            until = time.monotonic() + SECONDS
            while time.monotonic() < until and process.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.2)
            else:
                pytest.fail(f"the S3 server did not start: {Path(log.name).read_text()}")
            yield port
        finally:
            process.terminate()


@pytest.fixture
def store(server: int, request: pytest.FixtureRequest) -> Store:
    return Store(server, request.node.name.replace("_", "-"))


def test_segments_on_s3_are_read(spark: SparkSession, store: Store) -> None:
    register(spark)
    store.write(f"logs/orders-0/{0:020}.log", batches(0, 100))
    store.write(f"logs/orders-0/{0:020}.index", b"no segment")
    store.write(f"logs/orders-1/{0:020}.log", batches(0, 1))
    store.write(f"logs/other-1/{0:020}.log", batches(0, 1))
    reader = spark.read.format("kafka_log").options(includeBatchMetadata="true", maxPartitionBytes="10k")
    df = reader.load(store.uri("logs/orders-{0,1}"))
    assert df.select(F.spark_partition_id()).distinct().count() > 5
    rows = df.select("topic", "partition", "offset", "file").collect()
    assert sorted(row[:3] for row in rows) == [("orders", 0, at) for at in range(1000)] + [
        ("orders", 1, at) for at in range(10)
    ]
    assert {row.file for row in rows} == {f"s3://{store.bucket}/logs/orders-{n}/{0:020}.log" for n in (0, 1)}


@pytest.mark.nightly
def test_stream_reads_from_s3(spark: SparkSession, store: Store, tmp_path: Path) -> None:
    register(spark)

    def run() -> list[int]:
        stream = spark.readStream.format("kafka_log").load(store.uri("logs/*")).select("offset")
        writer = stream.writeStream.format("parquet").option("path", str(tmp_path / "table"))
        query = writer.trigger(availableNow=True).option("checkpointLocation", str(tmp_path)).start()
        try:
            assert query.awaitTermination(SECONDS)
        finally:
            query.stop()
        rows = sorted(row.offset for row in spark.read.parquet(str(tmp_path / "table")).collect())
        new, known[:] = rows[len(known) :], rows
        return new

    known: list[int] = []
    data = batches(0, 5)
    store.write(f"logs/orders-0/{0:020}.log", data[:-100])
    assert run() == list(range(40))
    store.write(f"logs/orders-0/{0:020}.log", data)
    store.write(f"logs/orders-0/{50:020}.log", batches(50, 1))
    assert run() == list(range(40, 60))
    assert run() == []
    recorded = "".join(file.read_text() for file in (tmp_path / "offsets").iterdir() if file.name.isdecimal())
    assert f"s3://{store.bucket}/logs/orders-0/*.log" in recorded
    assert SECRET not in recorded


def test_s3_errors_contain_no_credentials(spark: SparkSession, store: Store) -> None:
    register(spark)
    store.write("here", b"")
    reader = spark.read.format("kafka_log")
    with pytest.raises(PySparkException) as caught:
        reader.load(store.uri("nowhere")).collect()
    assert f"[PATH_NOT_FOUND] Path does not exist: s3://{store.bucket}/nowhere." in str(caught.value)
    assert SECRET not in str(caught.value)
    with pytest.raises(PySparkException) as caught:
        reader.load(store.uri("here") + "&color=red").collect()
    assert f"kafka_log: cannot open the file system of s3://{store.bucket}/here: " in str(caught.value)
    assert "color" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_file_uris_are_read_and_unknown_schemes_rejected(tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "orders-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(b"")
    for path in (f"file://{tmp_path}/a b/orders-[0-9]", f"file://{tmp_path}/a%20b/*", f"{tmp_path}/a b/orders-{{0,1}}"):
        (file,) = _files.FileSelection((path,)).find("kafka_log")
        assert (file.path, file.base_name) == (str(folder / file.base_name), f"{0:020}.log")
        assert _files.open_file(file.root, file.path).read() == b""
        assert [each.path for each in _files.FileSelection((file.uri,)).find("kafka_log")] == [file.path]
    with pytest.raises(ValueError, match=r"^kafka_log: cannot open the file system of nope://a/b: .*nope"):
        _files.FileSelection(("nope://user:secret@a/b?key=secret",)).find("kafka_log")
    with pytest.raises(ValueError, match=r"^kafka_log: \[PATH_NOT_FOUND\] Path does not exist: mock:///nothing\.$"):
        _files.FileSelection(("mock:///nothing",)).find("kafka_log")


class Remote:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.bytes = 0
        self.folder = folder
        self.filesystem = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        for module in (_files, _batch_scan):
            monkeypatch.setattr(module, "open_filesystem", lambda root, owner=None: (self.filesystem, root, ""))
        monkeypatch.setattr(_batch_scan, "open_file", self._open)

    def _open(self, root: str, path: str) -> Any:
        remote = self

        class Counted:
            def __init__(self) -> None:
                self._file = remote.filesystem.open_input_file(path)
                self.readinto, self.close, self.seek = self._readinto, self._file.close, self._file.seek

            def read(self, size: int) -> bytes:
                data: bytes = self._file.read(size)
                remote.bytes += len(data)
                return data

            def _readinto(self, place: Any) -> int:
                size = int(self._file.readinto(place))
                remote.bytes += size
                return size

        return Counted()

    def file(self, name: str) -> _files.File:
        (found,) = _files.FileSelection((name,)).find("kafka_log")
        return found


def test_end_of_large_object_is_found_without_reading_all_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = [{"value": bytes(1 << 20), "timestamp": 1}]
    parts = [batch_writer.write_batches(record, base_offset=at) for at in range(48)]
    whole = b"".join(parts)
    (tmp_path / "x.log").write_bytes(whole + parts[0][:1000])
    remote = Remote(monkeypatch, tmp_path)
    found = _batch_scan.scan_batches(remote.file("x.log"), 0)
    assert (found.end, found.next_offset) == (len(whole), 48)
    assert 0 < remote.bytes < 12 << 20
    remote.bytes = 0
    near = len(b"".join(parts[:46]))
    assert _batch_scan.scan_batches(remote.file("x.log"), near).end == len(whole)
    assert remote.bytes < 5 << 20
    cut = _batch_scan.scan_batches(remote.file("x.log"), 0, 3 << 20)
    assert (cut.end, cut.next_offset, cut.is_cut) == (len(b"".join(parts[:2])), 2, True)
