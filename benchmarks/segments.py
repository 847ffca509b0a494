"""Measure ``read_segments`` with and without the native core, and the Spark source ``kafka_log``.

    python benchmarks/segments.py [--samples N] [--records N] [--only PART] [--output FILE]

``read_segments`` runs in a fresh process per sample, to measure peak memory, and in one process with and without the
core. On Spark (``local[2]``), ``kafka_log`` is compared with ``binaryFile`` and with a source of prepared rows.
"""

from __future__ import annotations

import io
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from kafka_records import _native
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.reader import read_segments
from markdown import number, table
from process_tree import is_python, peak_bytes, tree
from rounds import rotated
from segment_files import Shape, write_segment
from spark_runs import COLUMNS, Query, measure, run, schema

CODECS = (None, "gzip", "snappy", "lz4", "zstd")
SHAPES = (
    *(Shape(200, 64, codec) for codec in CODECS),
    Shape(200, 100, headers=True),
    Shape(200, 30),
    Shape(10, 64),
    Shape(1, 64),
    Shape(5000, 64),
    Shape(16, 1000),
)
SPARK_SHAPES = (
    *(Shape(200, 64, codec) for codec in CODECS),
    Shape(200, 30),
    Shape(10, 64),
    Shape(5000, 64),
    Shape(16, 1000),
)
CORE_SHAPES = (
    *(Shape(500, 64, codec) for codec in CODECS),
    Shape(20, 64),
    Shape(500, 64, headers=True),
    Shape(500, 4096),
    Shape(500, 4096, "lz4"),
)
GIGABYTE = 1 << 30
# Shapes and stored sizes for memory: ordinary batches, 1 MiB that decompresses to 20 MiB, 50 KiB to 1 MiB.
LARGE = (
    (Shape(200, 64), GIGABYTE),
    (Shape(16, 1000), GIGABYTE),
    (Shape(21000, 1000, "zstd", repeats=20), GIGABYTE // 8),
    (Shape(1000, 1000, "gzip", repeats=20), GIGABYTE // 8),
)
FILES = 4
PEER = "binaryFile"
MOST_BYTES = 125 << 20
MEBIBYTE = 1 << 20


def fewer(records: int, shape: Shape) -> int:
    return min(records, MOST_BYTES // (shape.value + 32))


# ---- Without Spark ----------------------------------------------------------------------------------------------


def read_alone(path: str, columns: Sequence[str]) -> None:
    next(read_segments(path, columns=columns)).validate()
    start = resource.getrusage(resource.RUSAGE_SELF)
    wall = time.perf_counter()
    rows = sum(batch.num_rows for batch in read_segments(path, columns=columns))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage.ru_utime + usage.ru_stime - start.ru_utime - start.ru_stime
    print(json.dumps([rows, time.perf_counter() - wall, cpu, usage.ru_maxrss * 1024]))


def alone(path: Path, columns: Sequence[str] = tuple(COLUMNS)) -> tuple[int, float, float, int]:
    """Return records, wall and CPU seconds, and peak resident bytes of a fresh process."""
    command = [sys.executable, __file__, "--read", str(path), ",".join(columns)]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", timeout=600)
    rows, wall, cpu, peak = json.loads(done.stdout)
    return rows, wall, cpu, peak


ALONE = ("batches", "MB", "M records/s", "stored MB/s", "offset alone, M records/s", "peak MiB")


def alone_rows(arguments: Namespace, folder: Path) -> Iterator[Sequence[str]]:
    for shape in SHAPES:
        print(f"read_segments: {shape.title}", file=sys.stderr)
        path = folder / "alone-0" / "00000000000000000000.log"
        records = write_segment(path, shape, records=fewer(arguments.records, shape))
        size = path.stat().st_size
        runs = [alone(path) for _ in range(arguments.samples)]
        if any(run[0] != records for run in runs):
            raise SystemExit(f"{records} records were written, {runs[0][0]} read")
        cpu = median(run[2] for run in runs)
        offsets = median(alone(path, ["offset"])[2] for _ in range(arguments.samples))
        cells = (size / 1e6, records / cpu / 1e6, size / cpu / 1e6, records / offsets / 1e6)
        yield shape.title, *map(number, cells), str(max(run[3] for run in runs) // MEBIBYTE)
        path.unlink()


# ---- With and without the core ----------------------------------------------------------------------------------


CORE = ("batches", "what is read", "core, M records/s", "without", "ratio")


def tasks(data: bytes) -> dict[str, Callable[[], int]]:
    def rows(**options: Any) -> int:
        return sum(batch.num_rows for batch in read_segments(io.BytesIO(data), **options))

    return {
        "all columns": rows,
        "all columns, no checksums": lambda: rows(check_crcs=False),
        "value": lambda: rows(columns=["value"]),
        "headers of batches": lambda: sum(batch.num_rows for batch in read_batch_headers(io.BytesIO(data))),
    }


def core_rows(arguments: Namespace, folder: Path) -> Iterator[Sequence[str]]:
    if _native.core is None:
        raise SystemExit("the native core is not installed: pip install ./packages/native")
    for shape in CORE_SHAPES:
        print(f"core: {shape.title}", file=sys.stderr)
        path = folder / "core-0" / "00000000000000000000.log"
        records = write_segment(path, shape, records=fewer(arguments.records // 3, shape))
        data = path.read_bytes()
        measured = {what: core_samples(task, arguments.samples) for what, task in tasks(data).items()}
        measured["records alone"] = {
            name: [
                whole - headers for whole, headers in zip(seconds, measured["headers of batches"][name], strict=True)
            ]
            for name, seconds in measured["all columns"].items()
        }
        for what, seconds in measured.items():
            native, pure = (records / median(seconds[name]) / 1e6 for name in ("native", "pure"))
            ratio = median(slow / fast for fast, slow in zip(seconds["native"], seconds["pure"], strict=True))
            yield shape.title, what, number(native), number(pure), number(ratio)
        path.unlink()


def core_samples(task: Callable[[], int], samples: int) -> dict[str, list[float]]:
    measured: dict[str, list[float]] = {"native": [], "pure": []}
    found = set()
    core = _native.core
    for turn in range(-1, samples):
        for name in rotated(("native", "pure"), turn):
            _native.core = core if name == "native" else None
            start = time.process_time()
            found.add(task())
            if turn >= 0:
                measured[name].append(time.process_time() - start)
    _native.core = core
    if len(found) != 1:
        raise SystemExit(f"different numbers of rows: {found}")
    return measured


# ---- On Spark ---------------------------------------------------------------------------------------------------


def queries(spark: Any, folder: str, records: int) -> dict[str, Query]:
    def ready(*columns: str) -> Any:
        reader = spark.read.format("ready_batches").schema(schema(*columns))
        path = min(Path(folder).iterdir())
        return reader.options(path=str(path), rows=records // FILES, partitions=FILES).load()

    def log(*columns: str) -> Any:
        return spark.read.format("kafka_log").schema(schema(*columns)).load(folder)

    return {
        PEER: lambda: spark.read.format("binaryFile").load(folder),
        "kafka_log, all columns": lambda: log(*COLUMNS),
        "kafka_log, key and value": lambda: log("key", "value"),
        "kafka_log, offset": lambda: log("offset"),
        "prepared rows, all columns": lambda: ready(*COLUMNS),
        "prepared rows, key and value": lambda: ready("key", "value"),
    }


IN_SPARK = ("batches", "way", "MB", "wall s", "CPU s", "M records/s", f"wall to {PEER}", f"CPU to {PEER}")


def spark_rows(arguments: Namespace, folder: Path, spark: Any) -> Iterator[Sequence[str]]:
    for shape in SPARK_SHAPES:
        print(f"Spark: {shape.title}", file=sys.stderr)
        log = folder / "spark-0"
        records = 0
        for place in range(FILES):
            records += write_segment(log / f"{place:020}.log", shape, records=fewer(arguments.records, shape))
        size = sum(path.stat().st_size for path in log.iterdir())
        candidates = queries(spark, str(log), records)
        if (found := candidates["kafka_log, all columns"]().count()) != records:
            raise SystemExit(f"{records} records were written, {found} read")
        measured = measure(candidates, arguments.samples)
        for name, samples in measured.items():
            wall, cpu = (median(getattr(one, what) for one in samples) for what in ("wall", "cpu"))
            ratios = (
                median(getattr(a, what) / getattr(b, what) for a, b in zip(samples, measured[PEER], strict=True))
                for what in ("wall", "cpu")
            )
            speed = "" if name == PEER else number(records / wall / 1e6)
            yield shape.title, name, number(size / 1e6), number(wall), number(cpu), speed, *map(number, ratios)
        for path in log.iterdir():
            path.unlink()


# ---- Memory -----------------------------------------------------------------------------------------------------


MEMORY = ("batches", "stored MiB", "records", "read_segments s", "its peak MiB", "peak MiB of a worker so far")


def memory_rows(folder: Path, spark: Any) -> Iterator[Sequence[str]]:
    for shape, size in LARGE:
        print(f"memory: {shape.title}", file=sys.stderr)
        path = folder / "large-0" / "00000000000000000000.log"
        write_segment(path, shape, size=size)
        records, wall, _, peak = alone(path)
        frame = spark.read.format("kafka_log").option("maxPartitionBytes", "2g").load(str(path))
        run(frame)
        cells = (str(path.stat().st_size // MEBIBYTE), f"{records:,}", number(wall), str(peak // MEBIBYTE))
        yield shape.title, *cells, str(max(worker_peaks()) // MEBIBYTE)
        path.unlink()


def worker_peaks() -> list[int]:
    found = []
    for pid in tree(os.getpid()):
        if pid != os.getpid() and is_python(pid):
            found.append(peak_bytes(pid))
    return found


# ---- Report -----------------------------------------------------------------------------------------------------


def installed_versions() -> str:
    parts = []
    for name in ("pyspark", "pyarrow", "numpy", "crc32c"):
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            parts.append(f"no {name}")
    return ", ".join((f"Python {sys.version.split()[0]}", *parts))


def parse(argv: Sequence[str] | None = None) -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=7, help="rounds (default 7)")
    parser.add_argument("--records", type=int, default=1_300_000, help="records of a segment (default 1,300,000)")
    parser.add_argument("--only", choices=("alone", "core", "spark", "memory"), help="one part of the report")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there too")
    return parser.parse_args(argv)


def report(arguments: Namespace) -> Iterator[str]:
    command = shlex.join(["python", "benchmarks/segments.py", *sys.argv[1:]])
    yield f"`{command}`: {installed_versions()}"
    with tempfile.TemporaryDirectory() as folder:
        if arguments.only in (None, "alone"):
            yield ""
            yield from table(ALONE, alone_rows(arguments, Path(folder)))
        if arguments.only == "core" or (arguments.only is None and _native.core is not None):
            yield ""
            yield from table(CORE, core_rows(arguments, Path(folder)), texts=2)
        if arguments.only in ("alone", "core"):
            return
        import ready_batches
        from pyspark import cloudpickle
        from spark_session import local_session

        from kafka_messages_spark import register

        cloudpickle.register_pickle_by_value(ready_batches)  # workers cannot import it
        with local_session() as spark:
            register(spark)
            spark.dataSource.register(ready_batches.ReadyBatches)
            if arguments.only in (None, "spark"):
                yield ""
                yield from table(IN_SPARK, spark_rows(arguments, Path(folder), spark), texts=2)
            if arguments.only in (None, "memory"):
                yield ""
                yield from table(MEMORY, memory_rows(Path(folder), spark))


def main() -> None:
    """Measure and report; with ``--read`` run as the measured process."""
    if sys.argv[1:2] == ["--read"]:
        read_alone(sys.argv[2], sys.argv[3].split(","))
        return
    arguments = parse()
    lines = []
    for line in report(arguments):
        print(line, flush=True)
        lines.append(line + "\n")
    if arguments.output:
        arguments.output.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
