"""Check one range of a segment file in the workers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.names import topic_of
from kafka_records.segments.reader import SegmentReport, read_segments

from ...columns._bytes import Bools, Ints
from ...sources._files import base_name, display_path
from ...sources._segment_ranges import reading_of
from ._sequences import Producers

# Maximum rows per check and range; further findings are counted in one row.
MAX_FINDINGS = 100
# Highest possible offset.
_LAST = (1 << 63) - 1
_NAME = re.compile(r"([0-9]{20})(-[A-Za-z0-9_-]{22})?\.log(\..*)?")

FINDING = pa.struct(
    [
        pa.field("check", pa.string()),
        pa.field("severity", pa.string()),
        pa.field("position", pa.int64()),
        pa.field("offset", pa.int64()),
        pa.field("count", pa.int64()),
        pa.field("detail", pa.string()),
    ]
)
# First and last state of a producer in a range; -1 for no sequence.
PRODUCER = pa.struct(
    [
        pa.field("producer_id", pa.int64()),
        pa.field("first_epoch", pa.int32()),
        pa.field("first_sequence", pa.int64()),
        pa.field("first_offset", pa.int64()),
        pa.field("last_epoch", pa.int32()),
        pa.field("last_sequence", pa.int64()),
        pa.field("next_sequence", pa.int64()),
    ]
)
_COUNTS = (
    "batches",
    "control_batches",
    "records",
    "batch_bytes",
    "corrupt",
    "incomplete_tail",
    "zero_tail",
    "next_position",
    "empty_batches",
    "missing_in_batches",
    "delete_horizons",
    "unordered_timestamps",
)
# Facts about a range; timestamps are in milliseconds.
SUMMARY = pa.struct(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("name_offset", pa.int64()),
        *(pa.field(name, pa.int64()) for name in _COUNTS),
        pa.field("first_offset", pa.int64()),
        pa.field("next_offset", pa.int64()),
        pa.field("first_leader_epoch", pa.int32()),
        pa.field("last_leader_epoch", pa.int32()),
        pa.field("first_timestamp", pa.int64()),
        pa.field("last_timestamp", pa.int64()),
        pa.field("magic", pa.int32()),
        pa.field("compressions", pa.list_(pa.field("element", pa.string()))),
        # State after the last batch, with which a later check goes on.
        pa.field("after_last", pa.int64()),
        pa.field("append_time", pa.int64()),
        pa.field("append_epoch", pa.int64()),
    ]
)
# Each row has a summary, a finding or a producer. Beside the summary, position and base_offset are those of the last batch,
# and corrupt is true or null.
SCHEMA = pa.schema(
    [
        pa.field("file", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("start", pa.int64()),
        pa.field("position", pa.int64()),
        pa.field("base_offset", pa.int64()),
        pa.field("corrupt", pa.bool_()),
        pa.field("summary", SUMMARY),
        pa.field("finding", FINDING),
        pa.field("producer", PRODUCER),
    ]
)


@dataclass
class _Last:
    next_offset: int = -1
    leader_epoch: int = -1
    timestamp: int = -1
    # Highest log append time; append_epoch is its leader epoch.
    append_time: int = -1
    append_epoch: int = -1
    behind_corrupt: bool = False


@dataclass
class RangeCheck:
    path: str
    size: int
    start: int
    end: int | None
    with_records: bool
    base: int | None = None
    resume: int | None = None
    findings: list[dict[str, Any]] = field(default_factory=list)
    left_out: dict[tuple[str, str], int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(SUMMARY.names) | dict.fromkeys(_COUNTS, 0))
    # Position and base offset of the last batch.
    mark: tuple[int | None, int | None] = (None, None)
    producers: Producers = field(init=False)
    last: _Last = field(default_factory=_Last)
    compressions: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.producers = Producers(topic_of(self.path)[0])

    def restore(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Continue an earlier check of the range, from its rows."""
        for row in rows:
            if (summary := row["summary"]) is not None:
                self.summary, self.mark = dict(summary), (row["position"], row["base_offset"])
                self.compressions = set(summary["compressions"])
                places = ("after_last", "last_leader_epoch", "last_timestamp", "append_time", "append_epoch")
                after, epoch, time, append, of_append = (-1 if summary[n] is None else summary[n] for n in places)
                self.last = _Last(after, epoch, time, append, of_append)
            elif (finding := row["finding"]) is None:
                self.producers.restore(row["producer"])
            elif finding["position"] is None:
                self.left_out[finding["check"], finding["severity"]] = finding["count"]
                self.counts[finding["check"]] = self.counts.get(finding["check"], 0) + 1
            else:
                self.findings.append(finding)
                self.counts[finding["check"]] = self.counts.get(finding["check"], 0) + 1

    def rows(self) -> pa.RecordBatch:
        report = SegmentReport("", *topic_of(self.path), self.start, self.end)
        found = _NAME.fullmatch(base_name(self.path))
        self.summary["name_offset"] = int(found[1]) if found else None
        try:
            reader = read_batch_headers(**self._reading())
            with reader:
                for batch in reader:
                    self._headers(batch)
            report = reader.reports[0]
            if self.with_records and report.batches:
                self._all_records()
        except OSError as error:
            self.add("unreadable", "error", self.start, None, f"the file cannot be read: {error}")
        self._of_report(report)
        if self.counts.get("unreadable"):
            self.summary["batches"] = None  # unknown, not 0
        return self._result()

    def _reading(self) -> dict[str, Any]:
        return reading_of({name: getattr(self, name) for name in ("path", "start", "end", "base", "resume")})

    def add(
        self, check: str, severity: str, position: int | None, offset: int | None, detail: str, count: int = 1
    ) -> None:
        self.counts[check] = self.counts.get(check, 0) + 1
        if self.counts[check] > MAX_FINDINGS:
            key = check, severity
            self.left_out[key] = self.left_out.get(key, 0) + count
            return
        finding = {"position": position, "offset": offset, "count": count, "detail": detail}
        self.findings.append({"check": check, "severity": severity, **finding})

    # ---- headers of batches -------------------------------------------------------------------------------------

    def _headers(self, batch: pa.RecordBatch) -> None:
        corrupt = np.asarray(batch.column("corrupt").is_valid())
        for row in batch.column("corrupt").filter(pa.array(corrupt)).to_pylist():
            self.add("corrupt", "error", row["position"], None, f"{row['size']} bytes: {row['reason']}")
        sound = np.flatnonzero(~corrupt)
        behind = np.diff(sound, prepend=-1) > 1
        if len(sound):
            behind[0] |= self.last.behind_corrupt
            self._sound(batch.take(pa.array(sound)), behind)
        self.last.behind_corrupt = bool(corrupt[-1]) if len(sound) or len(corrupt) else self.last.behind_corrupt

    def _sound(self, batch: pa.RecordBatch, behind: Bools) -> None:
        last = _ints(batch, "last_offset")
        known = np.asarray(batch.column("base_offset").is_valid())
        base = np.where(known, _ints(batch, "base_offset"), last)
        position, records = _ints(batch, "position"), np.where(known, _ints(batch, "records"), 0)
        self._counted(batch, base, last, known, records)
        self._offsets(base, last, known, position, behind)
        self._epochs(_ints(batch, "leader_epoch"), position, base)
        self._times(batch, position, base)
        self._sequences(batch, position, base, last)
        self.last.next_offset = _next_offset(int(last[-1]))
        self.mark = int(position[-1]), int(_ints(batch, "base_offset")[-1])

    def _counted(self, batch: pa.RecordBatch, base: Ints, last: Ints, known: Bools, records: Ints) -> None:
        summary, counts = self.summary, self.summary
        if summary["first_offset"] is None:
            summary["first_offset"] = int(base[0])
            summary["first_leader_epoch"] = int(_ints(batch, "leader_epoch")[0])
            self._of_name(int(base[0]))
        summary["next_offset"] = max(summary["next_offset"] or 0, _next_offset(int(last.max())))
        summary["last_leader_epoch"] = int(_ints(batch, "leader_epoch")[-1])
        summary["magic"] = max(summary["magic"] or 0, int(_ints(batch, "magic").max()))
        counts["records"] += int(records.sum())
        counts["empty_batches"] += int(np.count_nonzero(known & (records == 0)))
        counts["missing_in_batches"] += int(np.where(known, last - base + 1 - records, 0).sum())
        counts["delete_horizons"] += len(batch) - batch.column("delete_horizon").null_count
        self.compressions |= set(batch.column("compression").unique().to_pylist())

    def _offsets(self, base: Ints, last: Ints, known: Bools, position: Ints, behind: Bools) -> None:
        before = np.concatenate(([self.last.next_offset], np.minimum(last[:-1], _LAST - 1) + 1))
        has = before >= 0
        for at in np.flatnonzero(has & (base < before)).tolist():
            self.add(
                "overlap",
                "error",
                int(position[at]),
                int(base[at]),
                f"begins at offset {base[at]}, but offsets up to {before[at] - 1} precede it",
            )
        for at in np.flatnonzero(has & known & (base > before)).tolist():
            missing = int(base[at] - before[at])
            text = f"{missing} offsets from {before[at]} are missing"
            text += ", after a corrupt range" if behind[at] else ""
            self.add("gap", "warning", int(position[at]), int(base[at]), text, missing)

    def _epochs(self, epoch: Ints, position: Ints, base: Ints) -> None:
        before = np.concatenate(([self.last.leader_epoch], epoch[:-1]))
        for at in np.flatnonzero((epoch >= 0) & (epoch < before)).tolist():
            detail = f"leader epoch {epoch[at]} below {before[at]}"
            self.add("leader_epoch", "error", int(position[at]), int(base[at]), detail)
        self.last.leader_epoch = int(epoch[-1])

    def _times(self, batch: pa.RecordBatch, position: Ints, base: Ints) -> None:
        times = _milliseconds(batch.column("max_timestamp"))
        highest = np.maximum.accumulate(np.concatenate(([self.last.timestamp], times)))
        self.summary["unordered_timestamps"] += int(np.count_nonzero((times >= 0) & (times < highest[:-1])))
        self._append_times(batch, times, position, base)
        self.last.timestamp = int(highest[-1])
        first = _milliseconds(batch.column("first_timestamp"))
        first = first[first >= 0]
        if self.summary["first_timestamp"] is None and len(first):
            self.summary["first_timestamp"] = int(first[0])
        self.summary["last_timestamp"] = self.last.timestamp if self.last.timestamp >= 0 else None

    def _append_times(self, batch: pa.RecordBatch, times: Ints, position: Ints, base: Ints) -> None:
        appended = _ints(batch, "timestampType") == 1
        of_brokers = np.concatenate(([self.last.append_time], np.where(appended, times, -1)))
        epochs = np.concatenate(([self.last.append_epoch], _ints(batch, "leader_epoch")))
        highest = np.maximum.accumulate(of_brokers)
        where = np.maximum.accumulate(np.where(of_brokers == highest, np.arange(len(highest)), 0))
        for at in np.flatnonzero(appended & (times >= 0) & (times < highest[:-1])).tolist():
            before = where[at]
            detail, severity = f"log append time {times[at]} below {highest[at]}", "warning"
            if epochs[at + 1] > epochs[before]:
                detail, severity = f"{detail} of an earlier leader", "info"
            self.add("timestamp", severity, int(position[at]), int(base[at]), detail)
        self.last.append_time, self.last.append_epoch = int(highest[-1]), int(epochs[where[-1]])

    def _sequences(self, batch: pa.RecordBatch, position: Ints, base: Ints, last: Ints) -> None:
        producer = _ints(batch, "producer_id")
        rows = np.flatnonzero(producer >= 0)
        if not len(rows):
            return
        names = ("producer_id", "producer_epoch", "base_sequence")
        of_rows = [column[rows].tolist() for column in (*(_ints(batch, name) for name in names), position, base, last)]
        for number, epoch, sequence, place, first, final in zip(*of_rows, strict=True):
            if fault := self.producers.batch(number, epoch, sequence, first, final):
                check, severity, detail = fault
                self.add(check, severity, place, first, f"producer {number}: {detail}")

    # ---- records ------------------------------------------------------------------------------------------------

    def _all_records(self) -> None:
        columns = ["offset", "position", "base_offset", "corrupt"]
        known = {row["position"] for row in self.findings if row["check"] == "corrupt"}
        before, at = -1, -1
        with read_segments(**self._reading(), columns=columns, control_records=True) as reader:
            for batch in reader:
                corrupt = np.asarray(batch.column("corrupt").is_valid())
                for row in batch.column("corrupt").filter(pa.array(corrupt)).to_pylist():
                    if row["position"] not in known and self.counts.get("corrupt", 0) <= MAX_FINDINGS:
                        self.add("corrupt_records", "error", row["position"], None, row["reason"])
                        self.summary["corrupt"] += 1
                sound = batch.filter(pa.array(~corrupt))
                if len(sound):
                    before, at = self._record_offsets(sound, before, at)

    def _record_offsets(self, batch: pa.RecordBatch, before: int, at: int) -> tuple[int, int]:
        offset, position, base = (_ints(batch, name) for name in ("offset", "position", "base_offset"))
        same = position == np.concatenate(([at], position[:-1]))
        back = same & (offset <= np.concatenate(([before], offset[:-1])))
        for row in np.flatnonzero(back | (offset < base)).tolist():
            detail = f"record offset {offset[row]} does not ascend in the batch that begins at {base[row]}"
            self.add("record_offset", "error", int(position[row]), int(offset[row]), detail)
        return int(offset[-1]), int(position[-1])

    # ---- the file -----------------------------------------------------------------------------------------------

    def _of_report(self, report: SegmentReport) -> None:
        summary = self.summary
        summary["topic"], summary["partition"] = report.topic, report.partition
        for name in ("incomplete_tail", "zero_tail", "next_position"):
            summary[name] = getattr(report, name)
        for name in ("batches", "control_batches", "batch_bytes"):
            summary[name] += getattr(report, name)
        summary["corrupt"] += report.corrupt_batches
        summary["compressions"] = sorted(self.compressions)
        last = self.last
        summary |= {
            "after_last": last.next_offset,
            "append_time": last.append_time,
            "append_epoch": last.append_epoch,
        }

    def _of_name(self, first: int) -> None:
        name = self.summary["name_offset"]
        if self.start or name is None or first == name:
            return
        if first < name:
            detail = f"begins at offset {first}, below {name} in its name"
            self.add("name", "error", 0, first, detail)
        else:
            detail = f"{first - name} offsets from {name}, the offset in its name, are missing"
            self.add("gap", "warning", 0, first, detail, first - name)

    def _result(self) -> pa.RecordBatch:
        for (check, severity), count in self.left_out.items():
            detail = f"further findings of this check are not listed; sum of their counts: {count}"
            finding = {"position": None, "offset": None, "count": count, "detail": detail}
            self.findings.append({"check": check, "severity": severity, **finding})
        of_file = {"file": display_path(self.path), "size": self.size, "start": self.start}
        corrupt = True if self.summary["corrupt"] or self.counts.get("unreadable") else None
        of_last = dict(zip(("position", "base_offset"), self.mark, strict=True))
        rows: list[dict[str, Any]] = [of_file | of_last | {"corrupt": corrupt, "summary": self.summary}]
        rows += [of_file | {"finding": finding} for finding in self.findings]
        rows += [of_file | {"producer": producer} for producer in self.producers.rows()]
        return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def check_ranges(
    rows: Iterator[pa.RecordBatch], with_records: bool, before: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Iterator[pa.RecordBatch]:
    for row in (row for batch in rows for row in batch.to_pylist()):
        path, size, start, end = (row[name] for name in ("path", "size", "start", "end"))
        check = RangeCheck(path, size, start, end, with_records, row["base"], row["resume"])
        if row["resume"] is not None:
            check.restore(before.get(display_path(path), ()))
        yield check.rows()


def _next_offset(offset: int) -> int:
    return min(offset, _LAST - 1) + 1


def _ints(batch: pa.RecordBatch, name: str) -> Ints:
    column = batch.column(name)
    if column.null_count:
        column = column.fill_null(0)
    return np.asarray(column).astype(np.int64)


def _milliseconds(column: pa.Array) -> Ints:
    return np.asarray(column.view(pa.int64()).fill_null(-1000)) // 1000
