"""Starting and ending offsets and timestamps of kafka_log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka_records.segments.batch_writer", reason="kafka_records is not installed")

from pyspark.sql import SparkSession

from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource
from tests.pipeline.growing_log import plan
from tests.pipeline.log_files import batch_of, counted, offsets_of, reader_of, rows_of, segment


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "orders-0"
    for base in (20, 40, 60):
        segment(folder, base, 4, compression="gzip")
    return folder


def offsets(**partitions: int) -> str:
    return json.dumps({"orders": {name[1:]: at for name, at in partitions.items()}})


def test_starting_and_ending_offsets_limit_the_rows(log: Path) -> None:
    assert offsets_of(reader_of(log)) == list(range(20, 80))
    found = reader_of(log, startingOffsets=offsets(p0=43), endingOffsets=offsets(p0=52))
    assert offsets_of(found) == list(range(43, 52))
    assert offsets_of(reader_of(log, startingOffsets=offsets(p0=-2), endingOffsets=offsets(p0=-1))) == [*range(20, 80)]
    assert offsets_of(reader_of(log, startingOffsets=" Earliest ", endingOffsets="LATEST")) == [*range(20, 80)]
    assert offsets_of(reader_of(log, startingOffsets=offsets(p0=80))) == []
    assert offsets_of(reader_of(log, startingOffsets=offsets(p0=50), endingOffsets=offsets(p0=50))) == []


def test_batches_outside_the_offsets_are_not_read(log: Path) -> None:
    with counted() as all_of_it:
        offsets_of(reader_of(log))
    assert (all_of_it.files, all_of_it.batches) == (3, 12)
    with counted() as some:
        assert offsets_of(reader_of(log, startingOffsets=offsets(p0=43), endingOffsets=offsets(p0=52))) == [
            *range(43, 52)
        ]
    assert (some.files, some.batches) == (1, 3)
    assert some.bytes == all_of_it.bytes / 3


def test_starting_and_ending_timestamps_limit_the_rows(log: Path) -> None:
    found = reader_of(log, startingTimestamp="43000", endingTimestamp="52000")
    assert offsets_of(found) == list(range(43, 52))
    assert offsets_of(reader_of(log, startingTimestamp="42001")) == list(range(43, 80))
    by_partition = reader_of(
        log, startingOffsetsByTimestamp=offsets(p0=30000), endingOffsetsByTimestamp=offsets(p0=99000)
    )
    assert offsets_of(by_partition) == list(range(30, 80))
    (log / f"{80:020}.log").write_bytes(batch_of(range(80, 85), [70, 95, 71, 99, 72]))
    assert offsets_of(reader_of(log, startingTimestamp="79001")) == [81, 82, 83, 84]
    assert offsets_of(reader_of(log, startingTimestamp="0", endingTimestamp="96000"))[-1] == 82


@pytest.mark.parametrize("time", [(1 << 63) - 1, 10**18, 9223372036854776])
def test_timestamp_after_the_log_selects_the_log_end(log: Path, time: int) -> None:
    assert offsets_of(reader_of(log, endingTimestamp=str(time))) == list(range(20, 80))
    assert offsets_of(reader_of(log, endingOffsetsByTimestamp=offsets(p0=time))) == list(range(20, 80))
    latest = {"startingOffsetsByTimestampStrategy": "latest"}
    assert offsets_of(reader_of(log, startingTimestamp=str(time), **latest)) == []


def test_timestamp_options_take_precedence_over_starting_offsets(log: Path) -> None:
    all_three: dict[str, Any] = {
        "startingTimestamp": "70000",
        "startingOffsetsByTimestamp": offsets(p0=60000),
        "startingOffsets": offsets(p0=50),
    }
    assert offsets_of(reader_of(log, **all_three))[0] == 70
    del all_three["startingTimestamp"]
    assert offsets_of(reader_of(log, **all_three))[0] == 60


def test_starting_timestamp_after_all_records_is_rejected(log: Path) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        reader_of(log, startingTimestamp="80000").partitions()
    assert str(caught.value) == (
        "kafka_log: No offset matched from request of topic-partition orders-0 and timestamp 80000. To start such "
        "partitions at their end, set the option 'startingOffsetsByTimestampStrategy' to 'latest'."
    )
    latest = reader_of(log, startingTimestamp="80000", startingOffsetsByTimestampStrategy="latest")
    assert offsets_of(latest) == []
    assert offsets_of(reader_of(log, endingTimestamp="80000")) == list(range(20, 80))


def test_offset_options_apply_to_older_message_formats(tmp_path: Path) -> None:
    folder = tmp_path / "orders-0"
    folder.mkdir()
    parts = [batch_of(range(at, at + 5), magic=1, compression="gzip") for at in (0, 5, 10)]
    (folder / f"{0:020}.log").write_bytes(b"".join(parts))
    with counted() as work:
        found = offsets_of(reader_of(folder, startingOffsets=offsets(p0=7), endingOffsets=offsets(p0=9)))
    assert (found, work.batches) == ([7, 8], 2)
    assert offsets_of(reader_of(folder, startingTimestamp="7000", endingTimestamp="9000")) == [7, 8]


def test_offsets_apply_to_files_without_segment_names(log: Path) -> None:
    for number, file in enumerate(sorted(log.iterdir())):
        file.rename(log / f"part{number}.log")
    with counted() as work:
        found = offsets_of(reader_of(log, startingOffsets=offsets(p0=43), endingOffsets=offsets(p0=52)))
    assert (found, work.files, work.batches) == ([*range(43, 52)], 3, 3)
    assert offsets_of(reader_of(log, startingTimestamp="43000", endingTimestamp="52000")) == [*range(43, 52)]


def test_corrupt_batches_are_not_filtered_by_offset(log: Path) -> None:
    file = log / f"{40:020}.log"
    data = bytearray(file.read_bytes())
    data[70] ^= 1
    file.write_bytes(data)
    found = rows_of(reader_of(log, mode="PERMISSIVE", startingOffsets=offsets(p0=50), endingOffsets=offsets(p0=53)))
    assert [row["offset"] for row in found] == [None, 50, 51, 52]
    with pytest.raises(ValueError, match="checksum"):
        offsets_of(reader_of(log, startingOffsets=offsets(p0=50)))


REFUSED = [
    ({"startingOffsets": "latest"}, "starting offset can't be latest for batch queries"),
    ({"startingOffsets": offsets(p0=-1)}, "startingOffsets for orders-0 can't be latest for batch queries"),
    ({"endingOffsets": "earliest"}, "ending offset can't be earliest for batch queries"),
    ({"endingOffsets": offsets(p0=-2)}, "ending offset for orders-0 can't be earliest for batch queries"),
    (
        {"startingOffsets": offsets(p1=30)},
        "If startingOffsets contains specific offsets, you must specify all TopicPartitions. Use -1 for latest, -2 for "
        "earliest, if you don't care. Specified: orders-1 Assigned: orders-0",
    ),
    (
        {"endingOffsetsByTimestamp": "{}"},
        "If endingOffsetsByTimestamp contains specific offsets, you must specify all TopicPartitions. "
        "Specified: none Assigned: orders-0",
    ),
    (
        {"startingTimestamp": "2026-03-31"},
        "the option 'startingTimestamp' is in milliseconds. Expected a single long value, got 2026-03-31",
    ),
    (
        {"endingTimestamp": "9223372036854775808"},
        "the option 'endingTimestamp' is in milliseconds. Expected a single long value, got 9223372036854775808",
    ),
    *(
        (
            {"endingOffsets": text},
            "invalid option 'endingOffsets'. Expected e.g. "
            f'{{"topicA":{{"0":23,"1":-1}},"topicB":{{"0":-2}}}}, got {text}',
        )
        for text in ("soon", '{"orders":5}', '{"orders":{"a":5}}', '{"orders":{"0":-3}}', '{"orders":{"0":1,"0":2}}')
    ),
    (
        {"startingOffsetsByTimestamp": '{"orders":{"0":-1}}'},
        "invalid option 'startingOffsetsByTimestamp'. Expected e.g. "
        '{"topicA": {"0": 123456789, "1": 123456789}, "topicB": {"0": 123456789, "1": 123456789}}, '
        'got {"orders":{"0":-1}}',
    ),
    (
        {"startingOffsetsByTimestampStrategy": "first"},
        "the option 'startingOffsetsByTimestampStrategy' must be one of error, latest, not 'first'",
    ),
]


@pytest.mark.parametrize(("options", "text"), REFUSED)
def test_invalid_options_are_rejected(log: Path, options: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        reader_of(log, **options).partitions()
    assert str(caught.value) == f"kafka_log: {text}"


def test_offsets_of_partitions_need_a_folder_that_names_one(log: Path) -> None:
    copy = log.rename(log.with_name("copy"))
    with pytest.raises(ValueError, match=r".") as caught:
        reader_of(copy, startingOffsets=offsets(p0=50)).partitions()
    assert str(caught.value) == (
        "kafka_log: the option 'startingOffsets' lists partitions, but the folder of "
        f"{copy}/{20:020}.log does not name one"
    )


def test_snapshots_are_rejected_with_starting_offsets(log: Path) -> None:
    (log / f"{60:020}-0000000001.checkpoint").write_bytes(b"")
    with pytest.raises(ValueError, match=r".") as caught:
        reader_of(log, startingOffsets=offsets(p0=50)).partitions()
    assert str(caught.value) == (
        f"kafka_log: the option 'startingOffsets' is not supported for the snapshot {log}/{60:020}-0000000001.checkpoint, "
        "which has its own offsets; set the option 'pathGlobFilter' to '*.log' to exclude snapshots"
    )
    assert offsets_of(reader_of(log, startingOffsets=offsets(p0=75), pathGlobFilter="*.log")) == [*range(75, 80)]


LOST = (
    ". Some data may have been lost: records may have been removed by retention, or with their topic, before they were "
    "read. To get a warning instead of this error, set the option 'failOnDataLoss' to 'false'."
)


def test_empty_last_segment_determines_the_log_end(log: Path) -> None:
    (log / f"{90:020}.log").write_bytes(b"")
    assert offsets_of(reader_of(log, startingOffsets=offsets(p0=90))) == []
    assert offsets_of(reader_of(log, endingOffsets=offsets(p0=90))) == list(range(20, 80))
    with pytest.raises(
        ValueError, match=r"startingOffsets of orders-0 is 91, but the log in .+ ends before offset 90\."
    ):
        reader_of(log, startingOffsets=offsets(p0=91)).partitions()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"startingOffsets": offsets(p0=7)},
            "startingOffsets of orders-0 is 7, but the log in {log} begins at 20",
        ),
        (
            {"startingOffsets": offsets(p0=81)},
            "startingOffsets of orders-0 is 81, but the log in {log} ends before offset 80",
        ),
        (
            {"endingOffsets": offsets(p0=81)},
            "endingOffsets of orders-0 is 81, but the log in {log} ends before offset 80",
        ),
    ],
)
def test_offset_outside_the_log_is_rejected(log: Path, options: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        reader_of(log, **options).partitions()
    assert str(caught.value) == f"kafka_log: {text.format(log=log)}{LOST}"
    there = [] if options == {"startingOffsets": offsets(p0=81)} else [*range(20, 80)]
    assert offsets_of(reader_of(log, failOnDataLoss="false", **options)) == there


def test_ending_offset_beyond_one_replica_is_rejected(log: Path) -> None:
    copy = log.parent / "b2" / "orders-0"
    segment(copy, 20, 4)
    with pytest.raises(ValueError, match=r".") as caught:
        reader_of(log.parent, recursiveFileLookup="true", endingOffsets=offsets(p0=60)).partitions()
    assert (
        str(caught.value)
        == f"kafka_log: endingOffsets of orders-0 is 60, but the log in {copy} ends before offset 40{LOST}"
    )


def open_stream(log: Path, **options: str) -> Any:
    source = KafkaLogDataSource({"path": str(log), **options})
    return source.streamReader(source.schema())


def read(stream: Any, start: Any, end: Any) -> list[int]:
    parts = stream.partitions(start, end)
    return [at for part in parts for each in stream.read(part) for at in each.column("offset").to_pylist()]


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({"startingOffsets": offsets(p0=43)}, 43),
        ({"startingOffsets": offsets(p0=-2)}, 20),
        ({"startingOffsets": offsets(p0=-1)}, 80),
        ({"startingTimestamp": "67000"}, 67),
        ({"startingOffsetsByTimestamp": offsets(p0=21000)}, 21),
        ({"startingTimestamp": "90000", "startingOffsetsByTimestampStrategy": "latest"}, 80),
    ],
)
def test_stream_starts_at_the_given_offset_or_timestamp(log: Path, options: dict[str, str], first: int) -> None:
    stream = open_stream(log.parent / "orders-*", **options)
    start = json.loads(json.dumps(stream.initialOffset()))
    end = json.loads(json.dumps(plan(stream, start, files=1)))
    found = read(stream, start, end)
    assert read(open_stream(log.parent / "orders-*", **options), start, end) == found
    segment(log, 80, 1)
    segment(log.parent / "orders-1", 0, 1)
    later = open_stream(log.parent / "orders-*", startingOffsets="earliest")
    while (after := json.loads(json.dumps(plan(later, end, files=1)))) != end:
        found += read(later, end, after)
        end = after
    assert sorted(found) == sorted([*range(first, 85), *range(5)])


@pytest.mark.parametrize("options", [{"startingOffsets": "latest"}, {"startingOffsets": offsets(p0=-1)}])
def test_first_stream_batch_is_repeatable(log: Path, options: dict[str, str]) -> None:
    before = open_stream(log, **options)
    start = before.initialOffset()
    segment(log, 80, 2)
    assert before.initialOffset() == start
    end = json.loads(json.dumps(plan(before, start)))
    segment(log, 90, 1)
    restarted = open_stream(log, **options)
    assert read(restarted, restarted.initialOffset(), end) == list(range(80, 90))
    after = plan(restarted, end)
    assert read(restarted, end, after) == list(range(90, 95))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"endingOffsets": "latest"}, "ending offset not valid in streaming queries; remove 'endingOffsets'"),
        (
            {"endingOffsetsByTimestamp": offsets(p0=5)},
            "ending timestamp not valid in streaming queries; remove 'endingOffsetsByTimestamp'",
        ),
        ({"endingTimestamp": "5"}, "ending timestamp not valid in streaming queries; remove 'endingTimestamp'"),
    ],
)
def test_ending_options_are_rejected_for_streams(log: Path, options: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        open_stream(log, **options)
    assert str(caught.value) == f"kafka_log: {text}"


def test_offset_options_apply_in_spark(spark: SparkSession, log: Path) -> None:
    frame = spark.read.format("kafka_log").schema("value binary").option("startingOffsets", offsets(p0=43))
    found = frame.option("endingTimestamp", "52000").load(str(log)).collect()
    assert [bytes(row.value) for row in found] == [b"v%d" % at for at in range(43, 52)]
