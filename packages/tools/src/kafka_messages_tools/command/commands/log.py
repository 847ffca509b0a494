"""Subcommand ``log``: records of log segments and snapshots, entries of index files and checkpoints."""

from __future__ import annotations

import os
import sys

from ...text import counted, safe
from .._errors import InputError, UsageError
from .._output import Output, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

    from ...logs.files import AbortedBatches
    from ...package import Package

EXAMPLES = ("log orders-0/00000000000000000000.log", "log orders-0", "log --batches orders-0", "log orders-0/*index")
MORE = (
    "Keys and values are shown as strings if they are UTF-8, else as base64. Those of internal topics are decoded.\n"
    "A folder stands for the segments and snapshots in it and in the folders below it."
)

# Number of names and suffixes of other files that the note about a folder has.
_MOST_NAMES = 8


def add_arguments(parser: ArgumentParser) -> None:
    about = "segments (.log), snapshots, index files and checkpoints, also gzipped; folders; - for standard input"
    parser.add_argument("file", nargs="+", help=about)
    about = "topic of the records; by default taken from the directory name"
    parser.add_argument("--topic", metavar="TOPIC", help=about)
    about = "batches instead of records: offsets, position, producer, sequence, compression, checksum"
    parser.add_argument("--batches", action="store_true", help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    from ...logs.files import AbortedBatches

    paths, status = _paths(given.file)
    aborted = AbortedBatches(paths)
    if paths == given.file and len(paths) == 1:
        return _one(package, paths[0], given, out, aborted, {})
    for number, path in enumerate(paths):
        if not out.is_json:
            out.line(f"{chr(10) if number else ''}{out.styled(path, 'title')}")
        try:
            status = max(status, _one(package, path, given, out, aborted, {"file": path}))
        except InputError as error:
            note(f"{path}: {error}")
            status = max(status, 1)
        except BrokenPipeError:
            raise
        except OSError as error:
            note(f"{path}: {error.strerror}")
            status = 2
    return status


def _paths(words: list[str]) -> tuple[list[str], int]:
    """Return the files, those of folders in order, and the exit status: 1 if a folder has no records."""
    from ...logs.files import record_files

    paths, status = [], 0
    for word in words:
        found, others = record_files(word) if os.path.isdir(word) else ([word], [])
        paths += found
        if others or not found:
            names = sorted({os.path.splitext(each)[1] or os.path.basename(each) for each in others})
            names[_MOST_NAMES:] = [f"and {left} more"] if (left := len(names) - _MOST_NAMES) > 0 else []
            what = counted(len(others), "other file") + (f" ({', '.join(names)})" if names else "")
            note(f"{word}: {counted(len(found), 'file')} with records; {what} not printed: name files to print them")
            status = status if found else 1
    return paths, status


def _one(
    package: Package, path: str, given: Namespace, out: Output, aborted: AbortedBatches, names: dict[str, object]
) -> int:
    from ...logs.files import GZIP_ERRORS, RECORDS, entries, opened, plain_name

    if path == "-" and sys.stdin is None:
        raise UsageError("standard input is closed; give a file name")
    failed = False
    try:
        with opened(path) as file:
            rows = entries(file, path)
            for row in _records(package, file, path, given, out, aborted) if rows is None else rows:
                failed |= row.get("is_valid") is False or "error" in row
                if out.is_json:
                    out.record(names | row)
                else:
                    out.line(_line(row, out))
    except GZIP_ERRORS as error:
        raise InputError(f"the gzip data is damaged: {error}") from None
    except UnicodeDecodeError as error:  # of a checkpoint
        raise InputError(f"at byte {error.start}: not UTF-8 text") from None
    except ValueError as error:  # also those of the packages
        is_named = path == "-" or plain_name(path).endswith(RECORDS)
        what = str(error).replace("RecordBatch: at byte 0:", "this is not a log segment: at byte 0:", not is_named)
        raise InputError(what) from None
    return int(failed)


def _records(
    package: Package, file: Any, path: str, given: Namespace, out: Output, aborted: AbortedBatches
) -> Iterator[dict[str, object]]:
    from kafka_records.segments.names import topic_of

    from ...logs.files import batches, plain_name
    from ...logs.records import TopicDecoder, batch_row

    is_snapshot = plain_name(path).endswith(".checkpoint")
    found = package.module("secrets").METADATA_TOPIC if is_snapshot else topic_of(os.path.abspath(path))[0]
    topic = given.topic or (None if path == "-" else found)
    decoder = TopicDecoder(package, topic, out.show_secrets, is_sure=given.topic is not None)
    with out.progress("bytes", os.fstat(file.fileno()).st_size) as progress:
        for at, batch in batches(file, verify=not given.batches):
            progress.step(batch.size)
            more = {"aborted": True} if aborted.has(batch, path) else {}
            for row in [batch_row(batch, at)] if given.batches else decoder.rows(batch):
                yield row | more


def _line(row: dict[str, object], out: Output) -> str:
    import json

    if "time" not in row:
        return " ".join(f"{name}: {safe(str(value))}" for name, value in row.items())
    rest = {name: value for name, value in row.items() if name not in ("offset", "time", "base_offset", "last_offset")}
    text = json.dumps(rest, ensure_ascii=False)
    offset = row["offset"] if "offset" in row else f"{row['base_offset']}-{row['last_offset']}"
    return f"{out.styled(str(offset), 'number')}  {out.styled(str(row['time'] or '-'), 'dim')}  {text}"
