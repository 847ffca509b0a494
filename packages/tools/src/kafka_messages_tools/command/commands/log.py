"""Subcommand ``log``: records of log segments and snapshots."""

from __future__ import annotations

import os
import sys

from .._errors import UsageError
from .._output import Output, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from ...package import Package

_OVERHEAD = 12
_MOST = 128 << 20

EXAMPLES = ("log orders-0/00000000000000000000.log", "log orders-*/*.log", "log --batches orders-0/*.log")
MORE = "Keys and values are shown as strings if they are UTF-8, else as base64. Those of internal topics are decoded."


def add_arguments(parser: ArgumentParser) -> None:
    about = "segments (.log) and snapshots (.checkpoint), - for standard input"
    parser.add_argument("file", nargs="+", help=about)
    about = "topic of the records; by default taken from the directory name"
    parser.add_argument("--topic", metavar="TOPIC", help=about)
    about = "batches instead of records: offsets, position, producer, sequence, compression, checksum"
    parser.add_argument("--batches", action="store_true", help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    paths = given.file
    if len(paths) == 1:
        return _one(package, paths[0], {}, given, out)
    status = 0
    for number, path in enumerate(paths):
        if not out.is_json:
            out.line(f"{chr(10) if number else ''}{out.styled(path, 'title')}")
        try:
            status = max(status, _one(package, path, {"file": path}, given, out))
        except package.root.KafkaMessageError as error:
            note(f"{path}: {error}")
            status = max(status, 1)
        except BrokenPipeError:
            raise
        except OSError as error:
            note(f"{path}: {error.strerror}")
            status = 2
    return status


def _one(package: Package, path: str, names: dict[str, object], given: Namespace, out: Output) -> int:
    from .._records import TopicDecoder, batch_row

    named = given.topic
    metadata_topic = package.module("secrets").METADATA_TOPIC
    decoder = TopicDecoder(
        package, named or topic_of(path, metadata_topic), out.show_secrets, is_sure=named is not None
    )
    failed = False
    with _opened(path) as file, out.progress("bytes", _size(file)) as progress:
        for at, batch in _batches(package, file, verify=not given.batches):
            progress.step(batch.size)
            for row in [batch_row(batch, at)] if given.batches else decoder.rows(batch):
                failed |= row.get("is_valid") is False
                if out.is_json:
                    out.record(names | row)
                else:
                    out.line(_line(row, out))
    return int(decoder.failed or failed)


def _opened(path: str) -> BinaryIO:
    if path != "-":
        return open(path, "rb")
    if sys.stdin is None:
        raise UsageError("standard input is closed; give a file name")
    return open(sys.stdin.fileno(), "rb", closefd=False)


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def topic_of(path: str, metadata_topic: str) -> str | None:
    """Return the metadata topic for a ``.checkpoint`` file, else the topic of the directory ``orders-0``, or None."""
    if path == "-":
        return None
    if path.endswith(".checkpoint"):
        return metadata_topic
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    if not folder.rpartition("-")[2].isdigit():
        folder = folder.partition(".")[0]  # suffix of a moved or deleted partition
    topic, _, number = folder.rpartition("-")
    return topic if topic and number.isdigit() else None


def _batches(package: Package, file: BinaryIO, verify: bool) -> Iterator[tuple[int, Any]]:
    from kafka_records import BatchDecodeError, read_batches

    decode_error = package.root.DecodeError
    at = 0
    while head := file.read(_OVERHEAD):
        size = int.from_bytes(head[8:], "big", signed=True) if len(head) == _OVERHEAD else 0
        if len(head) == _OVERHEAD and not any(head):
            _only_zeros(decode_error, file, at, at + _OVERHEAD)
            return
        data = head + (file.read(size) if 0 <= size <= _MOST else b"")
        reader = read_batches(data, verify=verify)
        try:
            yield from ((at, batch) for batch in reader)
        except BatchDecodeError as error:
            reason = error.reason.removeprefix("batch at byte 0: ")
            raise decode_error(f"at byte {at}: {reason}", "RecordBatch", offset=at) from None
        if reader.incomplete:
            whole = f" of {size + _OVERHEAD}" if len(head) == _OVERHEAD else ""
            what = f"at byte {at}: incomplete batch: {len(data)}{whole} bytes"
            raise decode_error(what, "RecordBatch", offset=at)
        at += len(data)


def _only_zeros(decode_error: Any, file: BinaryIO, at: int, read: int) -> None:
    while zeros := file.read(1 << 20):
        read += len(zeros)
        if any(zeros):
            found = read - len(zeros.lstrip(b"\0"))
            what = f"zeros from byte {at} on are followed by other bytes at {found}"
            raise decode_error(what, "RecordBatch", offset=at)


def _line(row: dict[str, object], out: Output) -> str:
    import json

    rest = {name: value for name, value in row.items() if name not in ("offset", "time", "base_offset", "last_offset")}
    text = json.dumps(rest, ensure_ascii=False)
    offset = row["offset"] if "offset" in row else f"{row['base_offset']}-{row['last_offset']}"
    return f"{out.styled(str(offset), 'number')}  {out.styled(str(row['time'] or '-'), 'dim')}  {text}"
