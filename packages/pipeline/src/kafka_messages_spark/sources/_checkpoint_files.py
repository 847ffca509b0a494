"""Data source of checkpoint files in brokers' log directories and in the folders of partitions.

The entries are topic, partition and offset, or leader epoch and offset in the file ``leader-epoch-checkpoint`` of a
partition; see ``kafka_records.index_files``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from kafka_records.index_files import LEADER_EPOCH, read_checkpoint, read_file
from kafka_records.segments.names import topic_of
from pyspark.sql.datasource import InputPartition

from ._files import File, open_file
from ._listings import Listing, ListingReader
from ._segment_ranges import LEFT_OUT, is_of_topics

SCHEMA = pa.schema(
    [
        pa.field("file", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("problem", pa.string()),
        pa.field("leader_epoch", pa.int32()),
    ]
)
# Files per task.
_FILES = 256


@dataclass
class _Places(InputPartition):
    places: list[tuple[str, str, str]]


@dataclass
class _CheckpointsReader(ListingReader):
    name: str
    # Patterns of topics; none means all. Only files beside segments of these topics are read.
    topics: list[str] = field(default_factory=list)

    def partitions(self) -> Sequence[InputPartition]:
        files = [file for file in self.files() if is_of_topics(file.name, self.topics)]
        places = places_of(files, self.name)
        return [_Places(places[at : at + _FILES]) for at in range(0, len(places), _FILES)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        if isinstance(partition, _Places):
            rows = [row for place in partition.places for row in _rows(*place)]
            yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


class CheckpointFiles(Listing):
    format = "kafka_checkpoint_files"
    columns = SCHEMA
    reader_class = _CheckpointsReader


def places_of(files: Iterable[File], name: str) -> list[tuple[str, str, str]]:
    found = {}
    for file in files:
        if name == LEADER_EPOCH and file.ending in LEFT_OUT:  # not read; a new topic may have the same name
            continue
        path, shown = (_checkpoint_path(each, name) for each in (file.path, file.name))
        if path and shown and ("/" in path or "://" not in file.root):  # a bucket has no parent directory
            found[shown] = file.root, path
    return [(shown, *place) for shown, place in sorted(found.items())]


def _checkpoint_path(path: str, name: str) -> str | None:
    folder, slash, _ = path.rpartition("/")
    if name == LEADER_EPOCH:
        return f"{folder}{slash}{name}"
    above, slash, _ = folder.rpartition("/")
    if folder:
        return f"{above}{slash}{name}"
    return None if path.startswith("/") else f"../{name}"


def _rows(shown: str, root: str, path: str) -> list[dict[str, Any]]:
    epochs = shown.endswith(LEADER_EPOCH)
    log = dict(zip(("file", "topic", "partition"), (shown, *(topic_of(path) if epochs else (None, None))), strict=True))
    try:
        with open_file(root, path) as file:
            data = read_file(file)
        entries = read_checkpoint(data.decode(), epochs=epochs)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [log | {"problem": f"the checkpoint cannot be read: {error}"}]
    except UnicodeDecodeError:
        return [log | {"problem": "damaged checkpoint, ignored: invalid UTF-8"}]
    except ValueError as error:
        return [log | {"problem": f"damaged checkpoint, ignored: {error}"}]
    if epochs:
        return [log | {"leader_epoch": epoch, "offset": offset} for _, epoch, offset in entries]
    return [
        {"file": shown, "topic": topic, "partition": partition, "offset": offset}
        for topic, partition, offset in entries
    ]
