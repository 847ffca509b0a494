"""Spans of messages, requests and record batches inside bytes fields."""

from __future__ import annotations

import re

from .._base.message import class_of
from .._core.structs import name_of
from ..schema.build import schemas_of
from ..schema.contents import REQUESTS, VERSIONED
from ..schema.descriptors import descriptor_of
from ..schema.spans import LENGTH, OPENED, REST, VALUE, Span, SpanBudget, SpanTraversal
from ..schema.types import INT16
from ._batches import INSTALL, batch_spans, kafka_records
from ._logs import metadata_topics, open_metadata, redact_metadata
from ._notes import annotate
from ._secrets import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.message import Message
    from ._explanation import Explanation

_INDEX = re.compile(r"\[\d+\]")


def open_fields(
    top: Span,
    data: bytes,
    message: type[Message],
    prefix: str,
    records: bool,
    budget: SpanBudget,
    request: Callable[[bytes], Explanation],
) -> None:
    """Decode messages, requests and record batches in bytes fields; redact metadata records that are not decoded."""
    name = name_of(message)
    topics = metadata_topics(top, name, data)
    if records or name in _WITH_BLOBS:
        for span in list(top.leaves()):
            if span.role != VALUE or not isinstance(span.value, bytes) or not span.value:
                continue
            place = name, _INDEX.sub("", span.path[len(prefix) :].removeprefix("."))
            if place in VERSIONED:
                _open_versioned(span, data, VERSIONED[place], budget)
            elif place in REQUESTS:
                _open_request(span, request(data[span.content : span.end]))
            elif records and "RECORDS" in span.type:
                inner = batch_spans(data[span.content : span.end], span.content, span.path, budget)
                put_inside(span, inner)
                if not inner and kafka_records() is None:
                    span.add_note(INSTALL)
        for topic in topics:
            open_metadata(topic)
    redact_metadata(top, name, topics, data)


_WITH_BLOBS = {message for message, _ in (*VERSIONED, *REQUESTS)}


def put_inside(span: Span, inner: list[Span]) -> None:
    if not inner:
        return
    span.role = OPENED
    if span.content > span.start:
        span.children.append(Span(span.start, span.content, span.path, "length", "", LENGTH, span.end - span.content))
    span.children += inner


def _open_versioned(span: Span, data: bytes, name: str, budget: SpanBudget) -> None:
    # Read a newer version as the latest known one, like Kafka's consumers.
    try:
        message = class_of(name)
    except AttributeError:
        return
    content = data[span.content : span.end]
    if len(content) < 2:
        return
    version = INT16.read(content, 0)[0]
    known = min(version, message.HIGHEST_SUPPORTED_VERSION)
    if known < message.LOWEST_SUPPORTED_VERSION:
        span.add_note(f"not decoded: {name} has no version {version}")
        return
    traversal = SpanTraversal(content, 2, budget)
    top = traversal.struct(schemas_of(message)[known], span.path, name, is_whole=False)
    if traversal.error is not None:
        span.add_note(f"not decoded: no {name} v{version}: {traversal.error.reason}")
        return
    annotate(top, descriptor_of(message))
    mark(top, message, span.path)
    top.type = f"{name} v{version}"
    inner = [Span(0, 2, f"{span.path}.version", "version", "INT16", VALUE, version), top]
    if traversal.end < len(content):
        inner.append(Span(traversal.end, len(content), span.path, "", "", REST, None, rest_note(version > known)))
    put_inside(span, [each.moved(span.content) for each in inner])


def rest_note(is_newer: bool) -> str:
    return "of a later version" if is_newer else "after the message; ignored by Kafka"


def _open_request(span: Span, inner: Explanation) -> None:
    if inner.error is not None:
        span.add_note("not decoded: the request cannot be read")
        return
    for each in inner.root.all():
        each.path = f"{span.path}.{each.path}" if each.path else span.path
    put_inside(span, [each.moved(span.content) for each in inner.root.children])
