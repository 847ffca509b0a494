"""The checkpoint files in a broker's log directories: where its logs begin, and where its cleaner has been.

A broker writes one of each kind into every log directory, beside the folders of the partitions: the line ``0`` (its
format), the number of entries, and an entry a line, ``topic partition offset`` (Kafka's OffsetCheckpointFile).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from ._errors import wrong
from ._logs import NAME_OFFSET
from ._types import struct_type
from .sources._files import File, Selection, open_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["CLEANER_OFFSET", "LOG_START_OFFSET", "log_start_offsets", "read_checkpoints"]

LOG_START_OFFSET = "log-start-offset-checkpoint"
"""Partitions whose log begins behind the first offset of their first segment, as DeleteRecords leaves them."""
CLEANER_OFFSET = "cleaner-offset-checkpoint"
"""Partitions that the cleaner has compacted, up to the offset."""

SCHEMA = pa.schema(
    [
        pa.field("file", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("problem", pa.string()),
    ]
)
_FORMAT = "kafka_checkpoint_files"
_FORMAT_VERSION = "0"
_MOST_BYTES = 64 << 20
"""A longer file is no checkpoint; with the longest names Kafka has room for 250,000 partitions in that."""
_ENTRY = re.compile(r"(\S+)\s+(\d{1,10})\s+(\d{1,19})")

Entry = tuple[str, int, int]


def read_checkpoints(
    spark: SparkSession,
    paths: Sequence[str],
    name: str = LOG_START_OFFSET,
    *,
    glob: str | None = None,
    recursive: bool = True,
    owner: str = "read_checkpoints",
) -> DataFrame:
    """The entries of the checkpoint files ``name`` in the log directories that the segments of some paths lie in.

    ``paths`` are files, folders or patterns as ``kafka_log`` takes them: of segments, or of folders with segments. The
    log directory of a segment is the folder above its own. Columns: ``file``, ``topic``, ``partition``, ``offset``, and
    ``problem``. Where there is no such file there are no rows. Of one that is damaged nothing is believed: it is one row
    with nothing but ``file`` and ``problem``. Only a path that is not there ends the query.
    """
    if isinstance(paths, str) or not paths:
        raise wrong(f"{owner}: paths is a list of at least one path, not {paths!r}")
    spark.dataSource.register(CheckpointsDataSource)
    told = {"owner": owner, "paths": list(paths), "name": name, "glob": glob, "recursive": recursive}
    return spark.read.format(_FORMAT).option("told", json.dumps(told)).load()


def log_start_offsets(files: DataFrame, checkpoints: DataFrame) -> DataFrame:
    """Where logs begin and end by the names of their files and by checkpoints; for ``transactions.partition_offsets``.

    ``files`` has the columns ``path``, ``topic`` and ``partition``, ``checkpoints`` is ``read_checkpoints``. A row for
    each partition with a name: ``topic``, ``partition``, ``checkpoint`` (null: none), ``first_segment`` and
    ``last_segment``, the lowest and the highest offset in the name of a file.

    Of several replicas the highest checkpoint counts. The leader decides where a log begins, the others hear of it later,
    each writes it down once a minute, and it never goes back: the highest is the newest.
    """
    name = F.regexp_extract("path", NAME_OFFSET, 1)
    named = files.select("topic", "partition", F.when(name != "", name.cast("long")).alias("name_offset"))
    segments = named.groupBy("topic", "partition").agg(
        F.min("name_offset").alias("first_segment"), F.max("name_offset").alias("last_segment")
    )
    entries = checkpoints.where("problem is null").groupBy("topic", "partition")
    highest = entries.agg(F.max("offset").alias("checkpoint"))
    known = segments.where("topic is not null and partition is not null")
    return known.join(highest, ["topic", "partition"], "left")


def parsed(text: str) -> list[Entry]:
    """The entries of a checkpoint file. Raises ValueError, which says what is wrong with it.

    An empty file has no entries, as Kafka reads it. A topic and partition stand there once.
    """
    if not text:
        return []
    *lines, rest = text.replace("\r\n", "\n").split("\n")
    if rest:
        raise ValueError(f"line {len(lines) + 1} is {_short(rest)} and has no end")
    if lines[0] != _FORMAT_VERSION:
        raise ValueError(f"line 1 is {_short(lines[0])}, not the format version {_FORMAT_VERSION}")
    if len(lines) < 2 or not re.fullmatch(r"\d{1,9}", lines[1]):
        raise ValueError(f"line 2 is {_short(lines[1]) if len(lines) > 1 else 'missing'}, not the number of entries")
    count, entries = int(lines[1]), lines[2:]
    if len(entries) != count:
        raise ValueError(f"line 2 says {count} entries, but there are {len(entries)}")
    found: dict[tuple[str, int], int] = {}
    for number, line in enumerate(entries, 3):
        match = _ENTRY.fullmatch(line)
        if match is None or int(match[2]) >= 1 << 31 or int(match[3]) >= 1 << 63:
            raise ValueError(f"line {number} is {_short(line)}, not topic, partition and offset")
        if (match[1], int(match[2])) in found:
            raise ValueError(f"line {number}: {match[1]}-{match[2]} is there twice")
        found[match[1], int(match[2])] = int(match[3])
    return [(*key, offset) for key, offset in found.items()]


def _short(line: str) -> str:
    return repr(line if len(line) <= 40 else f"{line[:39]}…")


class CheckpointsDataSource(DataSource):
    """Entries of checkpoint files as rows. It is for this package; ``read_checkpoints`` uses it."""

    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def schema(self) -> StructType:
        return struct_type(SCHEMA)

    def reader(self, schema: StructType) -> DataSourceReader:
        return _CheckpointsReader(**json.loads(self.options["told"]))


@dataclass
class _Places(InputPartition):
    """Checkpoint files that may be there: how they are shown, the root that opens them, and the path there."""

    places: list[tuple[str, str, str]]


class _CheckpointsReader(DataSourceReader):
    def __init__(self, owner: str, paths: list[str], name: str, glob: str | None, recursive: bool) -> None:
        self._owner, self._paths, self._name, self._glob, self._recursive = owner, paths, name, glob, recursive

    def partitions(self) -> Sequence[InputPartition]:
        files = Selection(tuple(self._paths), self._glob, recursive=self._recursive).find(self._owner)
        return [_Places(places_of(files, self._name))]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        if isinstance(partition, _Places):
            rows = [row for place in partition.places for row in _rows(*place)]
            yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def places_of(files: Iterable[File], name: str) -> list[tuple[str, str, str]]:
    """Where a checkpoint of this name would be: how it is shown, the root that opens it, its path; each once."""
    found = {}
    for file in files:
        path, shown = (_beside_folder(each, name) for each in (file.path, file.name))
        if path and shown and ("/" in path or "://" not in file.root):  # above the bucket of a store there is nothing
            found[shown] = file.root, path
    return [(shown, *place) for shown, place in sorted(found.items())]


def _beside_folder(path: str, name: str) -> str | None:
    """What lies beside the folder of a file; None if there is nothing above that folder."""
    folder = path.rpartition("/")[0]
    above, slash, _ = folder.rpartition("/")
    if folder:
        return f"{above}{slash}{name}"
    return None if path.startswith("/") else f"../{name}"


def _rows(shown: str, root: str, path: str) -> list[dict[str, Any]]:
    """The rows of one file, if it is there."""
    try:
        with open_file(root, path) as file:
            data = _all(file)
        entries = parsed(data.decode())
    except FileNotFoundError:
        return []
    except OSError as error:
        return [_problem(shown, f"the checkpoint cannot be read: {error}")]
    except UnicodeDecodeError:
        return [_problem(shown, "the checkpoint is damaged, and not used: it is no text")]
    except ValueError as error:
        return [_problem(shown, f"the checkpoint is damaged, and not used: {error}")]
    names = ("topic", "partition", "offset")
    return [{"file": shown, **dict(zip(names, entry, strict=True)), "problem": None} for entry in entries]


def _all(file: Any) -> bytes:
    """All bytes of a file that may give fewer than it is asked for."""
    data = bytearray()
    while piece := file.read(1 << 20):
        data += piece
        if len(data) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES} bytes")
    return bytes(data)


def _problem(shown: str, text: str) -> dict[str, Any]:
    return {"file": shown, "topic": None, "partition": None, "offset": None, "problem": text}
