"""Data source, options and reader of ``kafka_frames``."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from io import BufferedReader
from typing import Any

import numpy as np
import pyarrow as pa
from kafka_messages.protocol import MAX_FRAME_SIZE
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from ..._core.errors import invalid_argument
from ..._core.options import Options
from ..._core.spark_types import chosen_schema, struct_type
from ...columns._headers import HEADER_FIELDS, REQUEST, RESPONSE, headers_of
from .._files import FILE_OPTIONS, FileSelection, open_file
from .._shares import MAX_PARTITION_BYTES, Share, shares
from ._captures import CORRUPT_BYTES, FrameBlock, Naming, frame_blocks, not_a_frame
from ._tshark import HexLines, NotTsharkTextError, nodes

NAME = "kafka_frames"
OPTIONS = (
    *FILE_OPTIONS,
    "layout",
    "direction",
    "brokerPorts",
    "fileNamePattern",
    "maxFrameBytes",
    "mode",
    "columnNameOfCorruptRecord",
    "ignoreCorruptFiles",
)
# Default of brokerPorts: Kafka's default port.
BROKER_PORTS = "9092"

# Maximum length of a line before the hex lines.
_MAX_LINE = 1 << 16

_log = logging.getLogger(__name__)


class FramesError(ValueError):
    """Invalid frame or header; ``position`` is its offset in the stream in bytes."""

    def __init__(self, file: str, position: int, reason: str) -> None:
        super().__init__(file, position, reason)
        self.file, self.position, self.reason = file, position, reason

    def __str__(self) -> str:
        return f"{self.file}: frame at byte {self.position}: {self.reason}"


@dataclass(frozen=True)
class FramesOptions:
    files: FileSelection
    naming: Naming
    is_followed: bool
    max_frame: int
    failfast: bool
    corrupt_column: str | None
    ignore_corrupt: bool

    @classmethod
    def parse(cls, options: dict[str, str]) -> FramesOptions:
        given = Options(NAME, options, OPTIONS)
        direction = given.text("direction")
        mode = given.mode()
        is_followed = given.choice("layout", "raw", ("raw", "follow")) == "follow"
        for name in ("direction", "fileNamePattern") if is_followed else ():
            if given.text(name) is not None:
                raise invalid_argument(f"{NAME}: the option {name!r} is only valid with layout=raw")
        return cls(
            files=FileSelection.parse(given, default_glob="*"),
            naming=Naming(
                direction=None if direction is None else given.choice("direction", "", (REQUEST, RESPONSE)),
                pattern=_pattern(given.text("fileNamePattern")),
                broker_ports=_ports(given.text("brokerPorts") or BROKER_PORTS),
            ),
            is_followed=is_followed,
            max_frame=min(given.size("maxFrameBytes", MAX_FRAME_SIZE), 2**31 - 1),
            failfast=mode == "FAILFAST",
            corrupt_column=given.corrupt_column(mode),
            ignore_corrupt=given.flag("ignoreCorruptFiles", False),
        )

    def schema(self) -> pa.Schema:
        fields = [
            pa.field("connection", pa.string()),
            pa.field("direction", pa.string()),
            pa.field("file", pa.string()),
            pa.field("position", pa.int64()),
            pa.field("size", pa.int32()),
            *HEADER_FIELDS,
            pa.field("frame", pa.binary()),
        ]
        if self.corrupt_column is not None:
            if self.corrupt_column in (each.name for each in fields):
                raise invalid_argument(
                    f"{NAME}: the option 'columnNameOfCorruptRecord' is {self.corrupt_column!r}, "
                    "but there is a column of this name"
                )
            fields.append(pa.field(self.corrupt_column, pa.binary()))
        return pa.schema(fields)


def _pattern(text: str | None) -> re.Pattern[str] | None:
    if text is None:
        return None
    try:
        found = re.compile(text)
    except re.error as error:
        raise invalid_argument(
            f"{NAME}: the option 'fileNamePattern' must be a regular expression, not {text!r}: {error}"
        ) from None
    if not set(found.groupindex) <= {"connection", "direction"} or not found.groupindex:
        raise invalid_argument(
            f"{NAME}: the option 'fileNamePattern' must have the group (?P<connection>...) or "
            f"(?P<direction>...), or both, and no other named group; {text!r} has "
            f"{', '.join(found.groupindex) or 'none'}"
        )
    return found


def _ports(text: str) -> tuple[int, ...]:
    ports = [each.strip() for each in text.split(",")]
    if not all(each.isascii() and each.isdecimal() and int(each) < 1 << 16 for each in ports):
        raise invalid_argument(
            f"{NAME}: the option 'brokerPorts' must be a comma-separated list of ports, such as '9092, 9093', "
            f"not {text!r}"
        )
    return tuple(map(int, ports))


class KafkaFramesDataSource(DataSource):
    """Rows of requests and responses; options are in docs/spark-sources.md."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        return struct_type(FramesOptions.parse(dict(self.options)).schema())

    def reader(self, schema: StructType) -> DataSourceReader:
        return KafkaFramesReader(FramesOptions.parse(dict(self.options)), schema)


@dataclass(frozen=True)
class CaptureFile:
    name: str
    root: str
    path: str
    connection: str
    direction: str
    size: int


class KafkaFramesReader(DataSourceReader):
    def __init__(self, options: FramesOptions, schema: StructType) -> None:
        self._options = options
        self._schema = chosen_schema(NAME, options.schema(), schema)

    def partitions(self) -> Sequence[InputPartition]:
        options = self._options
        streams = [
            CaptureFile(file.name, file.root, file.path, *self._connection_of(file.name), file.size)
            for file in options.files.find(NAME)
            if file.size
        ]
        return shares(streams, MAX_PARTITION_BYTES)

    def _connection_of(self, name: str) -> tuple[str, str]:
        return ("", "") if self._options.is_followed else self._options.naming.parse(NAME, name)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        for stream in partition.pieces if isinstance(partition, Share) else ():
            if isinstance(stream, CaptureFile):
                yield from self._stream(stream)

    def _stream(self, stream: CaptureFile) -> Iterator[pa.RecordBatch]:
        try:
            for each, piece in self._followed(stream) if self._options.is_followed else self._raw(stream):
                batch, problem = self._batch(each, piece)
                if problem is None:
                    yield batch
                    continue
                yield batch.slice(0, problem[0])
                raise FramesError(stream.name, *problem[1:])
        except (FramesError, NotTsharkTextError, OSError) as error:
            if not self._options.ignore_corrupt:
                raise
            _log.warning("Skipped the rest of the content in the corrupted file: %s: %s", stream.name, error)

    def _raw(self, stream: CaptureFile) -> Iterator[tuple[CaptureFile, FrameBlock]]:
        with closing(open_file(stream.root, stream.path)) as file:
            for piece in frame_blocks(file, self._options.max_frame):
                yield stream, piece

    def _followed(self, stream: CaptureFile) -> Iterator[tuple[CaptureFile, FrameBlock]]:
        with closing(BufferedReader(open_file(stream.root, stream.path))) as file:
            try:
                followed = nodes(NAME, stream.name, _lines(file), self._options.naming.broker_ports)
            except NotTsharkTextError as error:
                if self._options.failfast:
                    raise
                file.seek(0)
                yield stream, not_a_frame(0, None, f"the file {error.reason}", file.read(CORRUPT_BYTES))
                return
            for direction in (REQUEST, RESPONSE):
                one = replace(stream, connection=followed.connection, direction=direction)
                file.seek(0)
                lines = HexLines(file, followed.indented(direction))
                is_reported = False
                for piece in frame_blocks(lines, self._options.max_frame):
                    if piece.problem is not None and lines.error is not None:
                        piece = replace(piece, problem=f"{piece.problem}; {lines.error}")
                        is_reported = True
                    yield one, piece
                if lines.error is not None and not is_reported:
                    yield one, not_a_frame(lines.position, None, str(lines.error), b"")

    def _batch(self, stream: CaptureFile, piece: FrameBlock) -> tuple[pa.RecordBatch, tuple[int, int, str] | None]:
        count = len(piece.frame)
        is_request = np.full(count, stream.direction == REQUEST)
        headers = dict(zip((each.name for each in HEADER_FIELDS), headers_of(piece.frame, is_request), strict=True))
        if piece.problem is not None:
            headers["problem"] = pa.array([piece.problem])
        problem = headers["problem"]
        first: tuple[int, int, str] | None = None
        if self._options.failfast and problem.null_count < count:
            row = int(np.flatnonzero(np.asarray(problem.is_valid()))[0])
            first = row, piece.position[row].as_py(), problem[row].as_py()
        columns = {
            "connection": pa.repeat(pa.scalar(stream.connection or None, pa.string()), count),
            "direction": pa.repeat(pa.scalar(stream.direction or None, pa.string()), count),
            "file": pa.repeat(pa.scalar(stream.name), count),
            "position": piece.position,
            "size": piece.size,
            **headers,
            "frame": piece.frame,
        }
        if (corrupt := self._options.corrupt_column) in self._schema.names:
            rows = np.where(np.asarray(problem.is_valid()), np.arange(count), -1)
            of_frames = piece.frame if piece.problem is None else pa.array([piece.data])
            columns[str(corrupt)] = of_frames.take(pa.array(rows, mask=rows < 0))
        arrays = [columns[name] for name in self._schema.names]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema), first


def _lines(file: BufferedReader) -> Iterator[bytes]:
    return iter(lambda: file.readline(_MAX_LINE), b"")
