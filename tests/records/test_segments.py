"""Log segments written by Kafka's own classes, invalid batches, other files, and options of ``read_segments``."""

from __future__ import annotations

import gzip
import io
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

import pyarrow as pa
from kafka_records import CorruptSegmentError, _native, segments
from kafka_records.segments.arrays import RepeatedArrays, repeated
from kafka_records.segments.batch_writer import write_batches
from kafka_records.segments.reader import read_segments
from kafka_records.segments.rows import COLUMNS

from tests.support.segments import SEGMENTS, crafted, crafted_record, kafkas_rows, our_rows, some_rows

IDS = [f"{segment.parent.name}/{segment.name}" for segment in SEGMENTS]


def test_sample_segments_cover_every_format() -> None:
    assert IDS == [
        "__cluster_metadata-0/00000000000000000000.log",
        "__cluster_metadata-0/00000000000000000042-0000000003.checkpoint",
        "legacy-3/00000000000000000000.log",
        "orders-0/00000000000000000000.log",
    ]
    rows = [row for segment in SEGMENTS for row in kafkas_rows(segment)]
    assert {(row["magic"], row["compression"]) for row in rows} == {
        *((magic, codec) for magic in (0, 1, 2) for codec in ("none", "gzip", "snappy", "lz4")),
        (2, "zstd"),
    }


@pytest.mark.parametrize("segment", SEGMENTS, ids=IDS)
def test_rows_of_sample_segments_equal_those_of_kafka(segment: Path) -> None:
    expected = kafkas_rows(segment)
    with read_segments(segment, batch_metadata=True) as reader:
        assert our_rows(reader) == expected
        (report,) = reader.reports
    assert report.done
    assert report.records == len(expected)
    assert report.batch_bytes == report.next_position == segment.stat().st_size
    assert (report.incomplete_tail, report.zero_tail, report.corrupt_batches) == (0, 0, 0)
    topic, _, partition = segment.parent.name.rpartition("-")
    assert (report.topic, report.partition) == (topic, int(partition))


FIELDS = "the fields of record 0 do not match its length"
HEADERS = "the headers of record 0 do not match its length"
RECORD = crafted_record(0, 0, -1, 12, b"twelve bytes", 0)
WRONG_FIELDS: list[tuple[str, bytes, str]] = [
    ("magic", crafted(RECORD, 1, magic=3), "unknown magic 3; known formats are 0 to 2"),
    ("negative magic", crafted(RECORD, 1, magic=-1), "unknown magic -1; known formats are 0 to 2"),
    ("compression", crafted(RECORD, 1, attributes=5), "unknown compression 5"),
    ("negative count", crafted(RECORD, -1), "the record count -1 is negative"),
    ("many records", crafted(RECORD, 1 << 30), "1073741824 records do not fit into 80 bytes"),
    ("more records", crafted(RECORD * 4, 5), FIELDS.replace("0", "4")),
    ("fewer records", crafted(RECORD * 4, 3), "19 bytes left after the records"),
    ("negative delta", crafted(RECORD, 1, last_offset_delta=-2), "the last offset delta -2 is negative"),
    (
        "negative offset",
        crafted(RECORD, 1, base_offset=-5),
        "the offset is negative: a damaged batch, or not a batch",
    ),
    (
        "negative length",
        crafted(RECORD + crafted_record(0, 1, length=-9) + RECORD, 3),
        "record 1 has an invalid length",
    ),
    (
        "record too long",
        crafted(RECORD + crafted_record(0, 1, -1, -1, 0, length=99), 2),
        "record 1 has an invalid length",
    ),
    ("long varint", crafted(b"\xff" * 5 + RECORD + RECORD, 2), FIELDS),
    ("varint of 33 bits", crafted(b"\xff\xff\xff\xff\x1f" + RECORD, 1), FIELDS),
    ("timestamp of 11 bytes", crafted(crafted_record(b"\xff" * 10 + b"\1", 0, -1, -1, 0), 1), FIELDS),
    ("key too long", crafted(crafted_record(0, 0, 1 << 30, -1, 0), 1), FIELDS),
    ("value too long", crafted(RECORD + crafted_record(0, 0, -1, 9, b"short", 0), 2), FIELDS.replace("0", "1")),
    ("bytes in a record", crafted(crafted_record(0, 0, -1, -1, 0, b"more"), 1), FIELDS),
    ("negative headers", crafted(crafted_record(0, 0, -1, -1, -1), 1), FIELDS),
    ("many headers", crafted(crafted_record(0, 0, -1, -1, 1 << 30), 1), FIELDS),
    ("null header key", crafted(crafted_record(0, 0, -1, -1, 1, -1, -1), 1), HEADERS),
    ("header too long", crafted(crafted_record(0, 0, -1, -1, 1, 1, b"k", 7, b"v"), 1), HEADERS),
    ("bytes after headers", crafted(crafted_record(0, 0, -1, -1, 1, 1, b"k", -1, b"v"), 1), FIELDS),
    ("invalid compressed data", crafted(b"", 1, attributes=1), "the gzip data is damaged: no header at byte 0"),
    ("invalid snappy", crafted(b"\xff", 1, attributes=2), "truncated snappy length"),
    (
        "short control key",
        crafted(crafted_record(0, 0, 2, b"kk", -1, 0), 1, attributes=32),
        "the key of a control record has fewer than 4 bytes",
    ),
    (
        "negative control version",
        crafted(crafted_record(0, 0, 4, b"\xff\xff\0\0", -1, 0), 1, attributes=32),
        "the key of a control record has a negative version",
    ),
]
SOUND = write_batches(some_rows(3, 1), base_offset=100)


@pytest.mark.parametrize(
    ("damaged", "reason"), [case[1:] for case in WRONG_FIELDS], ids=[case[0] for case in WRONG_FIELDS]
)
@pytest.mark.parametrize("copies", [1, 100])
def test_batches_with_invalid_fields_are_reported_as_corrupt(damaged: bytes, reason: str, copies: int) -> None:
    data = SOUND + damaged * copies + SOUND
    with read_segments(io.BytesIO(data), mode="PERMISSIVE", batch_metadata=True) as reader:
        rows = [row for batch in reader for row in batch.to_pylist()]
    corrupt = [row["corrupt"] for row in rows if row["corrupt"]]
    assert [row["offset"] for row in rows if not row["corrupt"]] == [100, 101, 102] * 2
    if len(corrupt) == 1:  # after an invalid header, the reader searches for the next intact batch
        copies = 1
        assert corrupt[0]["size"] == len(data) - 2 * len(SOUND)
    assert [place["position"] for place in corrupt] == [len(SOUND) + len(damaged) * copy for copy in range(copies)]
    assert {place["reason"] for place in corrupt} == {reason}
    with read_segments(io.BytesIO(data), batch_metadata=True) as reader, pytest.raises(CorruptSegmentError) as caught:
        list(reader)
    assert str(caught.value) == f"<segment>: batch at byte {len(SOUND)}: {reason}"


BOMB = 64 << 20


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd"])
def test_decompression_bombs_are_reported_as_corrupt(compression: str) -> None:
    data = write_batches([{"value": bytes(BOMB)}], compression=compression) + SOUND
    with read_segments(io.BytesIO(data), mode="PERMISSIVE", max_batch_bytes=BOMB // 8) as reader:
        rows = [row for batch in reader for row in batch.to_pylist()]
    assert rows[0]["corrupt"]["reason"] == (
        f"the {compression} data decompresses to more than {BOMB // 8} bytes (max_batch_bytes)"
    )
    assert [row["offset"] for row in rows] == [None, 100, 101, 102]
    with read_segments(io.BytesIO(data), max_batch_bytes=2 * BOMB) as reader:
        assert reader.__next__()["value"][0].as_py() == bytes(BOMB)


FOREIGN: list[tuple[str, bytes, str]] = [
    (
        "png",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(200)),
        "invalid length of 13 bytes; 14 to 134217716 are possible",
    ),
    (
        "text",
        b"In the beginning was the log, and the log was with the broker.\n" * 9,
        "invalid length of 1701276014 bytes; 14 to 134217716 are possible",
    ),
    ("gzip", gzip.compress(bytes(range(256)) * 9, mtime=0), "unknown magic 101; known formats are 0 to 2"),
    (
        "index",
        struct.pack(">ii", 70, 4096) * 200,
        "checksum mismatch: stored 0x00001000, computed 0x0494f0dc over 82 bytes",
    ),
    ("noise", random.Random(5).randbytes(5000), "invalid length of -1715411523 bytes; 14 to 134217716 are possible"),
]


@pytest.mark.parametrize(
    ("data", "reason"), [foreign[1:] for foreign in FOREIGN], ids=[foreign[0] for foreign in FOREIGN]
)
def test_other_file_types_are_reported_as_corrupt(data: bytes, reason: str) -> None:
    reason += "; this does not look like a log segment"
    with read_segments(io.BytesIO(data), mode="PERMISSIVE") as reader:
        rows = [row for batch in reader for row in batch.to_pylist()]
    assert [row["corrupt"] for row in rows] == [{"position": 0, "size": len(data), "reason": reason, "bytes": data}]
    with read_segments(io.BytesIO(data)) as reader, pytest.raises(CorruptSegmentError) as caught:
        list(reader)
    assert caught.value.reason == reason


@pytest.mark.parametrize("size", [0, 1, 11, 12, 61, 5000, 20 << 20])
def test_empty_and_zero_filled_files_have_no_records(size: int) -> None:
    for mode in ("PERMISSIVE", "FAILFAST"):
        with read_segments(io.BytesIO(bytes(size)), mode=mode) as reader:
            assert list(reader) == []
        (report,) = reader.reports
        assert (report.zero_tail, report.incomplete_tail, report.next_position, report.done) == (size, 0, 0, True)


def test_segment_modules_are_imported_lazily() -> None:
    code = (
        "import sys; from kafka_messages.arrow import decode\n"
        "assert not [name for name in sys.modules if name.startswith('kafka_records.segments')]\n"
        "from kafka_records import segments\n"
        "assert not [name for name in sys.modules if name.startswith('kafka_records.segments.')]\n"
        "assert set(segments.__all__) <= set(dir(segments))\n"
        "print(*(getattr(segments, name).__name__ for name in segments.__all__))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.split() == segments.__all__


def test_native_read_does_not_import_pandas(tmp_path: Path) -> None:
    if _native.core is None:
        pytest.skip("the native core is not installed, or switched off")
    (tmp_path / "pandas.py").write_text("raise SystemExit('pandas is imported')")
    (tmp_path / "orders-0").mkdir()
    segment = tmp_path / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(write_batches([{"key": b"k", "value": b"v"}] * 3))
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from kafka_records.segments import read_segments\n"
        f"print(sum(batch.num_rows for batch in read_segments({str(segment)!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("3\n", "")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("örders", pa.string()),
        ("", pa.string()),
        (None, pa.string()),
        (None, pa.int32()),
        (-7, pa.int8()),
        (-7, pa.int16()),
        (1 << 30, pa.int32()),
        (-(1 << 62), pa.int64()),
        (True, pa.bool_()),
        (False, pa.bool_()),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 9])
def test_repeated_value_equals_pyarrow_repeat(value: Any, kind: Any, count: int) -> None:
    made = repeated(value, kind, count)
    made.validate(full=True)
    assert made.equals(pa.repeat(pa.scalar(value, kind), count))


def test_repeated_values_are_cached_immutably() -> None:
    kept = RepeatedArrays()
    first = kept.of("position", 1, pa.int64(), 9)
    assert kept.of("position", 1, pa.int64(), 5).buffers()[1].address == first.buffers()[1].address
    for position in range(1000):
        assert kept.of("position", position, pa.int64(), 9).to_pylist() == [position] * 9
        assert kept.of("topic", str(position), pa.string(), 2).to_pylist() == [str(position)] * 2
    assert len(kept._last) == 2
    for value, kind in ((1, pa.int64()), (True, pa.bool_()), ("orders", pa.string())):
        buffers = kept.of("any", value, kind, 3).buffers()
        assert not any(buffer.is_mutable for buffer in buffers if buffer is not None)


def test_repeated_string_too_large_for_one_column_raises() -> None:
    with pytest.raises(
        OverflowError, match=r"^4,096 rows of a string of 1,048,576 bytes are too many for one string column$"
    ):
        repeated("a" * (1 << 20), pa.string(), 1 << 12)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mode": "DROPMALFORMED"}, "mode must be PERMISSIVE or FAILFAST, not 'DROPMALFORMED'"),
        ({"max_batch_bytes": 9}, "max_batch_bytes must be 61 to 1073741824, not 9"),
        ({"max_rows": 0}, "max_rows must be at least 1, not 0"),
        ({"start": 5, "end": 3}, "expected 0 <= start <= end, got start 5 and end 3"),
        ({"source": [], "end": 3}, "start and end require exactly one file, got 0"),
        ({"source": b"x"}, "source must be a path or binary file, not bytes; wrap bytes in io.BytesIO"),
        ({"columns": "key"}, "columns must be a list of at least one column name, not 'key'"),
        ({"columns": ["key", "ofset"]}, f"unknown columns ofset; expected some of {', '.join(COLUMNS)}"),
        ({"columns": ["key", "key"]}, "columns has a duplicate name: key, key"),
    ],
)
def test_invalid_options_raise(options: dict[str, Any], text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        read_segments(**{"source": io.BytesIO(), **options})
    assert str(caught.value) == text


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'kafka_records\.segments' has no attribute 'read_segment'"):
        segments.read_segment  # noqa: B018


def misleading_records(records: int, seed: int) -> list[dict[str, Any]]:
    """Return records with values that contain many zeros and bytes that resemble records."""
    random_ = random.Random(seed)
    lure = b"".join(crafted_record(0, number, -1, 3, b"abc", 0) for number in range(40))
    values = [bytes(50), lure, lure[5:], random_.randbytes(300), b"", None, b"plain text " * 12]
    return [{"offset": at * 3, "timestamp": at, "value": random_.choice(values)} for at in range(records)]


@pytest.mark.parametrize("records", [1999, 2000, 12_345])
@pytest.mark.parametrize("compression", [None, "lz4"])
def test_batches_of_many_records_are_read(records: int, compression: str | None) -> None:
    rows = misleading_records(records, records)
    plain = [{"offset": at, "timestamp": at, "value": b"value %d" % at} for at in range(records)]
    batches = [write_batches(some, compression=compression, max_records=records) for some in (rows, plain, rows[:5])]
    with read_segments(io.BytesIO(b"".join(batches)), columns=["offset", "value"]) as reader:
        found = [row for batch in reader for row in batch.to_pylist()]
    assert found == [{"offset": row["offset"], "value": row["value"]} for row in (*rows, *plain, *rows[:5])]


def test_wrong_length_among_many_records_is_reported() -> None:
    body = [crafted_record(0, at, -1, 5, b"value", 0) for at in range(5000)]
    body[4321] = crafted_record(0, 4321, -1, 5, b"value", 0, length=400)
    with pytest.raises(CorruptSegmentError) as caught:
        list(read_segments(io.BytesIO(crafted(b"".join(body), 5000))))
    assert caught.value.reason == FIELDS.replace("0", "4321")


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_batches_excluded_by_wanted_are_not_decoded(compression: str | None) -> None:
    parts = [
        write_batches([{"value": b"v%d" % at}] * 3, base_offset=3 * at, compression=compression) for at in range(4)
    ]
    data = bytearray(b"".join(parts))
    data[-1] ^= 1
    with read_segments(
        io.BytesIO(bytes(data)),
        columns=["offset", "corrupt"],
        mode="PERMISSIVE",
        wanted=lambda headers: headers.base_offset == 3,
    ) as batches:
        rows = [row for batch in batches for row in batch.to_pylist()]
        (report,) = batches.reports
    assert [row["offset"] for row in rows] == [3, 4, 5, None]
    assert rows[-1]["corrupt"]["position"] == len(b"".join(parts[:3]))
    assert (report.batches, report.decoded_batches, report.corrupt_batches) == (3, 1, 1)


@pytest.mark.filterwarnings("error")
def test_largest_int64_offset_is_read() -> None:
    data = struct.pack(">q", (1 << 63) - 1) + write_batches([{"value": b"v"}])[8:]
    with read_segments(io.BytesIO(data)) as batches:
        assert [row["offset"] for batch in batches for row in batch.to_pylist()] == [(1 << 63) - 1]
        (report,) = batches.reports
    assert report.next_offset == 1 << 63
