"""Spans of record batches in ``records`` fields, read by `kafka_records`."""

from __future__ import annotations

from ..schema.spans import ARRAY, LENGTH, REST, STRUCT, VALUE, Span, SpanBudget
from ..schema.types import INT8, INT16, INT32, INT64, UNSIGNED_INT32, VARINT, VARLONG, Fixed, VarInt
from ._names import time_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FORMAT_2: tuple[tuple[str, Fixed], ...] = (
    ("base_offset", INT64),
    ("length", INT32),
    ("leader_epoch", INT32),
    ("magic", INT8),
    ("crc", UNSIGNED_INT32),
    ("attributes", INT16),
    ("last_offset_delta", INT32),
    ("base_timestamp", INT64),
    ("max_timestamp", INT64),
    ("producer_id", INT64),
    ("producer_epoch", INT16),
    ("base_sequence", INT32),
    ("count", INT32),
)
_FORMAT_0: tuple[tuple[str, Fixed], ...] = (
    ("offset", INT64),
    ("length", INT32),
    ("crc", UNSIGNED_INT32),
    ("magic", INT8),
    ("attributes", INT8),
)
_FORMAT_1 = (*_FORMAT_0, ("timestamp", INT64))
_FORMATS = (_FORMAT_0, _FORMAT_1, _FORMAT_2)

# Maximum decompressed bytes per batch.
_MOST_UNPACKED = 4 << 20
# Maximum number of records per batch that get spans of their own.
_MOST_RECORDS = 10_000
# Estimated number of leaves of a batch header, and of a record.
_LEAVES = 16, 9

INSTALL = "not decoded: the distribution kafka-records is not installed"


def kafka_records() -> Any:
    try:
        import kafka_records
    except ModuleNotFoundError:
        return None
    return kafka_records


def batch_spans(data: bytes, base: int, path: str, budget: SpanBudget) -> list[Span]:
    batches = kafka_records()
    if batches is None:
        return []
    found: list[Span] = []
    reader = batches.read_headers(data, max_batch_bytes=max(_MOST_UNPACKED, len(data)))
    end, why = 0, ""
    try:
        for batch in reader:
            if budget.left <= 0:
                why = "more batches"
                break
            budget.left -= _LEAVES[0]
            found.append(_batch(data, batch, f"{path}.batches[{batch.number}]", budget))
            end = batch.position + batch.size
        else:
            why = "incomplete batch" if reader.incomplete else ""
    except batches.RecordError as error:
        why = getattr(error, "reason", str(error))
    if end < len(data):
        found.append(Span(end, len(data), path, "", "", REST, None, why))
    return [span.moved(base) for span in found]


def _batch(data: bytes, batch: Any, path: str, budget: SpanBudget) -> Span:
    name = path.rpartition(".")[2]
    top = Span(batch.position, batch.position + batch.size, path, name, f"RECORD_BATCH format {batch.magic}", STRUCT)
    pos = batch.position
    for field, kind in _FORMATS[batch.magic]:
        value, end = kind.read(data, pos)
        leaf = Span(pos, end, f"{path}.{field}", field, kind.name, VALUE, value, _note(batch, field, value))
        top.children.append(leaf)
        pos = end
    top.children += _content(data, pos, top.end, batch, path, budget)
    return top


def _note(batch: Any, field: str, value: int) -> str:
    if field == "crc":
        try:
            batch.verify()
        except ValueError as error:
            return f"wrong: {getattr(error, 'reason', error)}"
        return "agrees"
    if field == "attributes":
        flags = ("is_transactional", "is_control")
        words = [batch.compression, batch.timestamp_type, *(each[3:] for each in flags if getattr(batch, each))]
        words += ["delete horizon"] if batch.delete_horizon is not None else []
        return ", ".join(word for word in words if word)
    if "timestamp" in field:
        return time_text(value) or ""
    return ""


def _content(data: bytes, pos: int, end: int, batch: Any, path: str, budget: SpanBudget) -> list[Span]:
    # Compressed records are one leaf; ``unpacked`` has the spans of the decompressed bytes.
    path = f"{path}.records"
    if pos == end:
        return []
    if batch.magic == 2 and batch.compression == "none":
        return _records(data, pos, end, batch, path, budget)
    what = batch.compression if batch.compression != "none" else "key and value, int32 lengths"
    leaf = Span(pos, end, path, "records", "BYTES", VALUE, data[pos:end], what)
    if batch.count > 0 if batch.magic == 2 else batch.compression != "none":
        try:
            content = batch.decompressed()
        except ValueError as error:  # a RecordError
            leaf.add_note(f"not decoded: {getattr(error, 'reason', str(error))}")
            return [leaf]
        top = Span(0, len(content), path, "records", "BYTES", STRUCT)
        top.children = _records(content, 0, len(content), batch, path, budget)
        leaf.unpacked = content, top
        leaf.add_note(f"{len(content):,} bytes decompressed")
    return [leaf]


def _records(data: bytes, pos: int, end: int, batch: Any, path: str, budget: SpanBudget) -> list[Span]:
    try:
        records = batch.records(verify=False)
    except ValueError as error:  # a BatchDecodeError
        return [Span(pos, end, path, "records", "", REST, None, getattr(error, "reason", str(error)))]
    if not records:
        return [Span(pos, end, path, "records", "BYTES", VALUE, data[pos:end])]
    found = Span(pos, end, path, "records", "ARRAY(RECORD)", ARRAY, len(records))
    most = min(_MOST_RECORDS, max(budget.left // _LEAVES[1], 1))
    budget.left -= _LEAVES[1] * min(most, len(records))
    for number, record in enumerate(records[:most]):
        found.children.append(_record(data, pos, f"{path}[{number}]", record, batch.magic))
        pos = found.children[-1].end
    if len(records) > most:
        more = f"{len(records) - most:,} more records"
        found.children.append(Span(pos, end, path, "records", "", REST, None, more))
    return [found]


def _record(data: bytes, pos: int, path: str, record: Any, magic: int) -> Span:
    # The record, or the inner message of format 0 or 1, was validated before.
    top = Span(pos, pos, path, path.rpartition(".")[2], "RECORD" if magic == 2 else "MESSAGE", STRUCT)

    def number(name: str, kind: VarInt | Fixed, note: str = "", role: str = LENGTH) -> int:
        value, end = kind.read(data, top.end)
        assert isinstance(value, int)
        top.children.append(Span(top.end, end, f"{path}.{name}", name, kind.name, role, value, note))
        top.end = end
        return value

    def field(name: str, size: int) -> None:
        if size > 0:
            start, top.end = top.end, top.end + size
            content = data[start : top.end]
            top.children.append(Span(start, top.end, f"{path}.{name}", name, "BYTES", VALUE, content, _text(content)))

    if magic < 2:
        notes = {"offset": f"offset {record.offset}", "timestamp": time_text(record.timestamp) or ""}
        for name, kind in _FORMATS[magic]:
            number(name, kind, notes.get(name, ""), VALUE)
    else:
        number("length", VARINT)
        number("attributes", INT8, role=VALUE)
        number("timestamp_delta", VARLONG, time_text(record.timestamp) or "", VALUE)
        number("offset_delta", VARINT, f"offset {record.offset}", VALUE)
    for name in ("key", "value"):
        size = number(f"{name}_length", VARINT if magic == 2 else INT32)
        top.children[-1].note = "null" if size < 0 else ""
        field(name, size)
    for index in range(number("header_count", VARINT) if magic == 2 else 0):
        for part in ("key", "value"):
            size = number(f"headers[{index}].{part}_length", VARINT)
            top.children[-1].note = "null" if size < 0 else ""
            field(f"headers[{index}].{part}", size)
    return top


def _text(content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ""
    return f'"{text}"' if text.isprintable() and len(text) <= 60 else ""
