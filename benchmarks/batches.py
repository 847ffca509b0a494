"""Compare record batches with kafka-python's ``kafka.record`` in one process, with and without a checksum package.

    python benchmarks/batches.py [--samples N] [--output FILE]

Both codecs must write the same bytes and read the same records. Reading verifies the checksum and creates all record
objects; kafka-python's fields stay encoded.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, cast

import environments
from markdown import number, table
from rounds import in_turns

CHECKSUM = "crc32c==2.7.1"
COUNTS = (1, 20, 1000)
START = 1_700_000_000_000
HEADERS = (("trace", b"0123456789abcdef"),)
SECONDS = 0.04

# Number of records, and True if they have a header.
Case = tuple[int, bool]


def fields(case: Case) -> list[tuple[int, bytes, bytes, tuple[tuple[str, bytes], ...]]]:
    count, has_headers = case
    headers = HEADERS if has_headers else ()
    return [(START + 3 * number, b"key-%06d" % number, b"v" * 100, headers) for number in range(count)]


def operations(case: Case) -> dict[str, dict[str, Callable[[], Any]]]:
    from kafka_records import Record, read_batches, write_batch

    peer = import_module("kafka.record")
    wanted = fields(case)
    records = [Record(timestamp=time, key=key, value=value, headers=headers) for time, key, value, headers in wanted]

    def write_theirs() -> bytearray:
        builder = peer.MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 30)
        append = builder.append
        for each in wanted:
            append(*each)
        builder.close()
        buffer: bytearray = builder.buffer()
        return buffer

    def read_theirs(data: bytes) -> list[Any]:
        found: list[Any] = []
        batches = peer.MemoryRecords(data)
        while batches.has_next():
            batch = batches.next_batch()
            if not batch.validate_crc():
                raise SystemExit("kafka-python refuses the checksum")
            found += batch
        return found

    def read_ours(data: bytes) -> list[Record]:
        return list(read_batches(data).records())

    data = write_batch(records)
    epoch = slice(12, 16)  # leader epoch, unknown to producers: one writes -1, the other 0
    if data[: epoch.start] + data[epoch.stop :] != bytes(write_theirs()[: epoch.start] + write_theirs()[epoch.stop :]):
        raise SystemExit(f"{case}: the bytes differ")
    if [tuple(each) for each in read_ours(data)] != [
        (each.offset, each.timestamp, each.key, each.value, tuple(each.headers)) for each in read_theirs(data)
    ]:
        raise SystemExit(f"{case}: the records differ")
    return {
        "read": {"ours": partial(read_ours, data), "kafka-python": partial(read_theirs, data)},
        "write": {"ours": partial(write_batch, records), "kafka-python": write_theirs},
    }


def timed(call: Callable[[], Any], loops: int) -> float:
    begin = time.process_time()
    for _ in range(loops):
        call()
    return time.process_time() - begin


def measure(samples: int, with_package: bool) -> list[dict[str, Any]]:
    if not with_package:
        sys.modules["crc32c"] = cast(Any, None)  # makes the import fail for both codecs
    found = []
    for case in ((count, has_headers) for has_headers in (False, True) for count in COUNTS):
        for direction, calls in operations(case).items():
            times = in_turns({side: partial(timed, call) for side, call in calls.items()}, samples, SECONDS)
            found.append({"case": case, "direction": direction, "times": times})
    return found


def inside(arguments: Namespace, with_package: bool) -> list[dict[str, Any]]:
    peer = next(codec for codec in environments.PEERS if codec.name == "kafka-python")
    python = environments.installed(arguments.work / "batches", peer.requirement, CHECKSUM)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables |= {"PYTHONPATH": str(Path(arguments.package).resolve())}
    command = [str(python), __file__, "--inside", str(int(with_package)), "--samples", str(arguments.samples)]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        raise SystemExit(f"the measuring process ended with status {done.returncode}")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def rows(found: list[dict[str, Any]], sums: str) -> list[list[str]]:
    lines = []
    for each in found:
        count, has_headers = each["case"]
        ours, theirs = each["times"]["ours"], each["times"]["kafka-python"]
        ratio = median(other / own for own, other in zip(ours, theirs, strict=True))
        what = f"{count:,} with a header" if has_headers else f"{count:,}"
        times = [number(median(side) * 1e6) for side in (ours, theirs)]
        lines.append([each["direction"], what, sums, *times, f"**{ratio:.2f}**"])
    return lines


def parse() -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=11, help="rounds per case (default 11)")
    parser.add_argument(
        "--package", default=str(environments.HERE.parent / "packages" / "records" / "src"), metavar="PATH"
    )
    parser.add_argument("--work", type=Path, default=environments.HERE / ".venvs", metavar="DIR")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there too")
    parser.add_argument("--inside", type=int, choices=(0, 1), help="internal: measure in this process")
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    if arguments.inside is not None:
        print(json.dumps(measure(arguments.samples, bool(arguments.inside))))
        return
    lines = [
        line for sums in (1, 0) for line in rows(inside(arguments, bool(sums)), CHECKSUM if sums else "no package")
    ]
    header = ("direction", "records", "checksum", "ours µs", "kafka-python µs", "ratio")
    command = shlex.join(["python", "benchmarks/batches.py", *sys.argv[1:]])
    text = "\n".join([f"`{command}`, CPython {sys.version.split()[0]}, CPU time, {arguments.samples} rounds", ""])
    text += "\n" + "\n".join(table(header, lines, texts=3))
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
