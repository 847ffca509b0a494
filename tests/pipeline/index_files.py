"""Index files beside segments, as Kafka's LogSegment and ProducerStateManager write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import Any

from kafka_messages import ProducerSnapshot
from kafka_records.crc import checksum
from kafka_records.segments.batch_headers import read_batch_headers

SUFFIXES = (".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint")


def write_indexes(log: Path, interval: int = 0, fill: int = 0) -> list[Path]:
    """Write the index files of all segments of a log, with an entry for the first batch after ``interval`` bytes.

    ``fill`` is the number of bytes of zeros at the end of the last ``.index`` and ``.timeindex``.
    """
    segments = sorted(log.glob("*.log"))
    begun: dict[int, int] = {}
    last: dict[int, int] = {}
    epochs: dict[int, int] = {}
    for file in segments:
        base = int(file.name[:20])
        entries = [producer(each, last[each], begun.get(each, -1)) for each in last]
        file.with_suffix(".snapshot").write_bytes(snapshot(entries))
        offsets, times, aborted, indexed = b"", b"", b"", 0
        highest = written = (-1, 0)
        for batch in batches_of(file):
            if batch["max_timestamp"] is not None:
                highest = max(highest, (int(batch["max_timestamp"].timestamp() * 1000), -batch["last_offset"]))
            if batch["position"] - indexed > interval or (not interval and batch["position"]):
                indexed = batch["position"]
                offsets += pack(">ii", batch["last_offset"] - base, batch["position"])
                if highest > written:
                    written = highest
                    times += pack(">qi", highest[0], -highest[1] - base)
            if batch["leader_epoch"] >= 0:
                epochs.setdefault(batch["leader_epoch"], batch["base_offset"])
            number = batch["producer_id"]
            if number >= 0:
                last[number] = batch["last_offset"]
            if batch["is_transactional"] and not batch["is_control"]:
                begun.setdefault(number, batch["base_offset"])
            elif batch["is_control"]:
                first = begun.pop(number, None)
                if first is not None and batch["control_type"] == "ABORT":
                    aborted += pack(">hqqqq", 0, number, first, batch["last_offset"], batch["last_offset"] + 1)
        zeros = bytes(fill) if file == segments[-1] else b""
        file.with_suffix(".index").write_bytes(offsets + zeros[: fill // 8 * 8])
        file.with_suffix(".timeindex").write_bytes(times + zeros[: fill // 12 * 12])
        if aborted:
            file.with_suffix(".txnindex").write_bytes(aborted)
    lines = [f"{epoch} {offset}\n" for epoch, offset in sorted(epochs.items())]
    (log / "leader-epoch-checkpoint").write_text(f"0\n{len(lines)}\n{''.join(lines)}")
    return [file for file in log.iterdir() if file.suffix != ".log"]


def batches_of(file: Path) -> Iterator[dict[str, Any]]:
    with read_batch_headers(str(file)) as found:
        for batch in found:
            yield from batch.to_pylist()


def producer(number: int, last: int, first: int) -> ProducerSnapshot.ProducerEntry:
    return ProducerSnapshot.ProducerEntry(producer_id=number, last_offset=last, current_txn_first_offset=first)


def snapshot(entries: list[ProducerSnapshot.ProducerEntry]) -> bytes:
    body = ProducerSnapshot(producer_entries=entries).write(1)[4:]
    return pack(">hI", 1, checksum()(body)) + body
