"""Spans of KRaft metadata records inside messages."""

from __future__ import annotations

import re

from .._core.optional import optional
from ..errors import KafkaMessageError
from ..schema.build import schemas_of
from ..schema.contents import FETCHED, FetchedRecords
from ..schema.descriptors import descriptor_of
from ..schema.spans import FAULT, LENGTH, OPENED, REST, VALUE, Span, SpanTraversal
from ..schema.types import UNSIGNED_VARINT
from ..secrets._detection import is_metadata, may_hold_metadata
from ..secrets._rule import has_secrets
from ._batches import kafka_records
from ._notes import annotate
from ._secrets import mark, redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_RECORD = re.compile(r"\.records\[\d+\]")
_CONTROL = 1 << 5
_UNKNOWN = "unknown_tagged_fields"


def metadata_topics(top: Span, message: str, data: bytes) -> list[Span]:
    fetched = FETCHED.get(message)
    if fetched is None:
        return []
    return [topic for topic in _topics(top, fetched) if _is_metadata(topic, fetched, data)]


def open_metadata(topic: Span) -> None:
    """Decode the metadata records of a topic; redact records that cannot be decoded, except control records."""
    for batch in topic.all():
        if batch.type.startswith("RECORD_BATCH"):
            attributes = next((each.value for each in batch.children if each.name == "attributes"), 0)
            if not (isinstance(attributes, int) and attributes & _CONTROL):
                _open_batch(batch)


def redact_metadata(top: Span, message: str, topics: list[Span], data: bytes) -> None:
    """Redact undecoded bytes of metadata topics, and bytes after a fault that may contain metadata records."""
    fetched = FETCHED.get(message)
    if fetched is None:
        return
    others = [topic for topic in _topics(top, fetched) if topic not in topics and _names(topic, fetched)]
    if not others or may_hold_metadata(message, data):
        for span in top.all():
            if span.role in (FAULT, REST):
                redact(span)
    for topic in topics:
        for span in topic.all():
            is_closed = span.role == VALUE and span.name == fetched.records and not _RECORD.search(span.path)
            if is_closed or span.role in (FAULT, REST) or (span.role == VALUE and _UNKNOWN in span.name):
                redact(span)


def _topics(top: Span, fetched: FetchedRecords) -> Iterator[Span]:
    for array in top.children:
        if array.name == fetched.topics:
            yield from (topic for topic in array.children if topic.children)


def _names(topic: Span, fetched: FetchedRecords) -> list[object]:
    return [each.value for each in topic.children if each.role == VALUE and each.name in fetched.names]


def _is_metadata(topic: Span, fetched: FetchedRecords, data: bytes) -> bool:
    if any(map(is_metadata, _names(topic, fetched))):
        return True
    fields = (span for span in topic.all() if span.name == fetched.records and isinstance(span.value, bytes))
    return any(_looks_like_metadata(data[span.content : span.end]) for span in fields)


def _looks_like_metadata(content: bytes) -> bool:
    # Check the content too, because one damaged byte can change the name of the topic.
    batches, records = kafka_records(), optional("internal_topics")
    if records is None or "metadata" not in records.LOGS.values():
        return False
    if batches is None:
        return bool(content)  # cannot be decoded, so assume secrets
    try:
        for batch in batches.read_headers(content):
            for record in batch.records(verify=False):
                if record.key is None and record.value is not None and record.value[:1] == b"\1":
                    found = _read(records, record.value)
                    if found is not None and has_secrets(type(found.message)):
                        return True
    except batches.RecordError:
        pass
    return False


def _read(records: Any, value: bytes) -> Any:
    try:
        return records.read_metadata_record(value)
    except (KafkaMessageError, ValueError):
        return None


def _open_batch(batch: Span) -> None:
    for leaf in list(batch.leaves()):
        if leaf.unpacked is not None:
            redact(leaf)  # anyone can decompress the bytes
            for inner in list(leaf.unpacked[1].leaves()):
                _open_leaf(inner)
        else:
            _open_leaf(leaf)


def _open_leaf(leaf: Span) -> None:
    is_of_record = _RECORD.search(leaf.path) is not None
    if is_of_record and leaf.name == "value" and isinstance(leaf.value, bytes):
        inner = _metadata_record(leaf.value, leaf.path)
        if inner is None:
            redact(leaf)
            return
        leaf.role = OPENED
        leaf.children = [each.moved(leaf.start) for each in inner]
    elif leaf.role == REST or isinstance(leaf.value, bytes):
        redact(leaf)


def _metadata_record(value: bytes, path: str) -> list[Span] | None:
    records = optional("internal_topics")
    found = None if records is None else _read(records, value)
    if found is None:
        return None
    message, version = type(found.message), found.version
    spans, at = [], 0
    for name in ("frame_version", "type", "version"):
        number, end = UNSIGNED_VARINT.read(value, at)
        spans.append(Span(at, end, f"{path}.{name}", name, UNSIGNED_VARINT.name, LENGTH, number))
        at = end
    top = SpanTraversal(value, at).struct(schemas_of(message)[version], path, message.NAME, is_whole=True)
    annotate(top, descriptor_of(message))
    mark(top, message, path)
    top.type = f"{message.NAME} v{version}"
    return [*spans, top]
