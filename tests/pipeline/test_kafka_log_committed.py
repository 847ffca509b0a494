"""kafka_log with isolationLevel=read_committed."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kafka_records.segments.batch_writer", reason="kafka_records is not installed")

from kafka_records.writer import write_control_batch

from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource
from tests.pipeline.log_files import batch_of, counted, offsets_of, reader_of, rows_of

CLUSTER = Path(__file__).parents[2] / "examples" / "cluster"
COMMITTED = {"isolationLevel": "read_committed"}


@dataclass
class Broker:
    segments: dict[int, bytes] = field(default_factory=lambda: {0: b""})
    end: int = 0
    outcomes: dict[int, str | None] = field(default_factory=dict)
    """COMMIT or ABORT by offset, for the records of finished transactions."""
    records: list[int] = field(default_factory=list)
    open: dict[int, list[int]] = field(default_factory=dict)

    def append(self, data: bytes, count: int) -> None:
        self.segments[max(self.segments)] += data
        self.end += count

    def send(self, producer: int | None, count: int) -> None:
        offsets = range(self.end, self.end + count)
        options: dict[str, Any] = {}
        if producer is not None:
            options = {"producer_id": producer, "producer_epoch": 0, "is_transactional": True}
        self.records += offsets
        if producer is not None:
            self.open.setdefault(producer, []).extend(offsets)
        self.append(batch_of(offsets, compression="gzip", **options), count)

    def finish(self, producer: int, outcome: str) -> None:
        self.outcomes |= dict.fromkeys(self.open.pop(producer, []), outcome)
        self.append(write_control_batch(outcome, offset=self.end, producer_id=producer, producer_epoch=0), 1)

    def roll(self) -> None:
        self.segments.setdefault(self.end, b"")

    def write(self, folder: Path, first: int = 0) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.iterdir():
            file.unlink()
        for base in sorted(self.segments)[first:]:
            (folder / f"{base:020}.log").write_bytes(self.segments[base])
        return folder

    def committed(self) -> list[int]:
        stable = min((offsets[0] for offsets in self.open.values()), default=self.end)
        return [at for at in self.records if at < stable and self.outcomes.get(at) != "ABORT"]


ACTIONS = st.one_of(
    st.tuples(st.just("send"), st.none() | st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.just("finish"), st.integers(1, 3), st.sampled_from(["COMMIT", "ABORT"])),
    st.tuples(st.just("roll")),
)


@given(st.lists(ACTIONS, max_size=25), st.integers(0, 2), st.sampled_from(["128m", "150b"]))
@settings(max_examples=120, deadline=None)
def test_read_committed_equals_a_model_for_any_transactions(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[Any, ...]], first: int, most: str
) -> None:
    broker = Broker()
    for name, *arguments in actions:
        getattr(broker, name)(*arguments)
    first = min(first, len(broker.segments) - 1)
    folder = broker.write(tmp_path_factory.getbasetemp() / "payments-0", first)
    start = sorted(broker.segments)[first]
    if first:
        # A transaction that began before the first file begins, for the reader, at its first record in the files.
        stable = [[at for at in offsets if at >= start] for offsets in broker.open.values()]
        broker.open = {number: offsets for number, offsets in enumerate(stable) if offsets}
    expected = [at for at in broker.committed() if at >= start]
    assert offsets_of(reader_of(folder, maxPartitionBytes=most, **COMMITTED)) == expected


def write_sample_log(tmp_path: Path) -> Path:
    broker = Broker()
    for producer, outcome in ((1, "COMMIT"), (2, "ABORT"), (3, "COMMIT")):
        broker.send(producer, 2)
        broker.send(None, 1)
        broker.finish(producer, outcome)
        broker.roll()
    broker.send(4, 1)
    broker.send(None, 1)
    return broker.write(tmp_path / "payments-0")


def test_read_committed_combines_with_offsets_and_metadata(tmp_path: Path) -> None:
    log = write_sample_log(tmp_path)
    assert offsets_of(reader_of(log)) == [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13]
    found = rows_of(reader_of(log, includeBatchMetadata="true", **COMMITTED))
    assert [row["offset"] for row in found] == [0, 1, 2, 6, 8, 9, 10]
    assert not any(row["is_control"] for row in found)
    some = reader_of(log, startingOffsets='{"payments":{"0":2}}', endingOffsets='{"payments":{"0":13}}', **COMMITTED)
    assert offsets_of(some) == [2, 6, 8, 9, 10]


def test_start_of_an_open_transaction_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = write_sample_log(tmp_path)
    offsets_of(reader_of(log, **COMMITTED))
    assert caplog.messages == [
        f"{log}: reading stops at offset 12: the marker of a transaction that begins there is not in the files"
    ]
    caplog.clear()
    offsets_of(reader_of(log, pathGlobFilter=f"{4:020}.log", **COMMITTED))
    assert caplog.messages == []


def test_aborted_batches_are_not_decoded(tmp_path: Path) -> None:
    with counted() as work:
        offsets_of(reader_of(write_sample_log(tmp_path), **COMMITTED))
    assert (work.files, work.batches) == (3, 5)


def test_records_written_after_planning_are_not_read(tmp_path: Path) -> None:
    broker = Broker()
    broker.send(None, 2)
    log = broker.write(tmp_path / "payments-0")
    reader = reader_of(log, **COMMITTED)
    planned = reader.partitions()
    broker.send(1, 3)
    broker.write(log)
    found = [at for part in planned for each in reader.read(part) for at in each.column("offset").to_pylist()]
    assert found == [0, 1]
    broker.finish(1, "COMMIT")
    assert offsets_of(reader_of(broker.write(log), **COMMITTED)) == [0, 1, 2, 3, 4]


def test_batch_without_records_opens_no_transaction(tmp_path: Path) -> None:
    log = write_sample_log(tmp_path)
    kept = bytearray(batch_of([14], producer_id=9, producer_epoch=0, is_transactional=True))
    header = bytes(kept[:57]) + (0).to_bytes(4, "big")
    emptied = header[:8] + (61 - 12).to_bytes(4, "big") + header[12:]
    file = log / f"{12:020}.log"
    file.write_bytes(emptied + batch_of([15]))
    assert offsets_of(reader_of(log, checkCrcs="false", **COMMITTED)) == [0, 1, 2, 6, 8, 9, 10, 15]


def test_damaged_marker_leaves_the_transaction_open(tmp_path: Path) -> None:
    log = write_sample_log(tmp_path)
    file = log / f"{4:020}.log"
    data = bytearray(file.read_bytes())
    data[-78 + 16] ^= 0x40  # the magic byte
    file.write_bytes(data)
    assert offsets_of(reader_of(log, mode="PERMISSIVE", **COMMITTED)) == [0, 1, 2]
    with pytest.raises(ValueError, match=f"{4:020}.log: batch at byte"):
        offsets_of(reader_of(log))


@pytest.mark.parametrize("partition", [0, 1])
def test_read_committed_equals_the_dump_of_a_broker_log(partition: int) -> None:
    recorded = json.loads((CLUSTER / "expected.json").read_text())
    producers = recorded["producers"][f"payments-{partition}"]
    stable = min(at for each in producers if (at := each["transaction_start_offset"]) is not None)
    with gzip.open(CLUSTER / "dump.jsonl.gz", "rt") as lines:
        batches = [each for line in lines if (each := json.loads(line))["file"].startswith(f"payments-{partition}/")]
    kept: list[int] = []
    pending: dict[int, list[int]] = {}
    for each in batches:
        offsets = [record["offset"] for record in each["records"]]
        if each["isControl"]:
            rest = pending.pop(each["producerId"], [])
            kept += rest if each["records"][0]["control"]["type"] == "COMMIT" else []
        elif each["isTransactional"]:
            pending.setdefault(each["producerId"], []).extend(offsets)
        else:
            kept += offsets
    expected = sorted(at for at in kept if at < stable)
    assert offsets_of(reader_of(CLUSTER / "logs" / f"payments-{partition}", **COMMITTED)) == expected
    assert 0 < len(expected) < sum(len(each["records"]) for each in batches if not each["isControl"])


def test_invalid_isolation_levels_are_rejected(tmp_path: Path) -> None:
    source = KafkaLogDataSource({"path": str(write_sample_log(tmp_path)), **COMMITTED})
    with pytest.raises(ValueError, match=r".") as caught:
        source.streamReader(source.schema())
    assert str(caught.value) == "kafka_log: isolationLevel=read_committed is not supported by streams"
    with pytest.raises(ValueError, match=r".") as caught:
        reader_of(tmp_path, isolationLevel="serializable")
    assert (
        str(caught.value)
        == "kafka_log: the option 'isolationLevel' must be one of read_uncommitted, read_committed, not 'serializable'"
    )
