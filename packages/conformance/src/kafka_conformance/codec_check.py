"""Comparison of a codec's answers with what Kafka does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_messages.errors import KafkaMessageError
from kafka_messages.explain import Span, explain, explain_request, explain_response
from kafka_messages.json import from_json
from kafka_messages.protocol import api
from kafka_records import Batch, RecordError, read_batches

from .codec_case import CodecCase, message_named

_AROUND = 8


_OPERATIONS = {"message": {"rewrite", "decode", "encode"}, "records": {"rewrite", "decode"}}
"""Operations of each kind; whole frames are only rewritten."""


def requests_of(case: CodecCase, operations: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the requests to a testee, without ids."""
    given = {"kind": case.kind, "name": case.name, "version": case.version}
    for operation in operations:
        if operation not in _OPERATIONS.get(case.kind, {"rewrite"}):
            continue
        if operation == "encode":
            if case.json is not None:
                yield {"op": operation, **given, "json": case.json}
        elif operation == "rewrite" or case.json is not None or case.expected is None:
            yield {"op": operation, **given, "data": case.data.hex()}


def problem_of(case: CodecCase, operation: str, answer: Mapping[str, Any]) -> str | None:
    """Return what is wrong with an answer; None if nothing is."""
    if case.expected is None:
        return None if "refused" in answer else f"{operation}: accepted, and returned {_shown(answer)}"
    if "refused" in answer:
        return f"{operation}: refused: {str(answer['refused'])[:200]}"
    try:
        if operation == "decode":
            return _json_problem(case, answer["json"])
        data = bytes.fromhex(answer["data"])
    except (KeyError, TypeError, ValueError):
        key = "json" if operation == "decode" else "data"
        return f'{operation}: the answer has no valid "{key}" and no "refused": {_shown(answer)}'
    return _bytes_problem(case, operation, case.expected, data)


def _shown(answer: Mapping[str, Any]) -> str:
    text = str({key: value for key, value in answer.items() if key != "id"})
    return text if len(text) <= 200 else f"{text[:200]}…"


def _bytes_problem(case: CodecCase, operation: str, wanted: bytes, data: bytes) -> str | None:
    if data == wanted:
        return None
    if case.kind == "records":
        return _records_problem(operation, wanted, data)
    pairs = enumerate(zip(wanted, data, strict=False))
    at = next((index for index, (ours, theirs) in pairs if ours != theirs), min(len(wanted), len(data)))
    where = path_at(case, wanted, at)
    return (
        f"{operation}: byte {at}{f' ({where})' if where else ''} differs: "
        f"expected {_part(wanted, at)}, got {_part(data, at)}; {len(wanted)} bytes expected, got {len(data)}"
    )


def _part(data: bytes, at: int) -> str:
    return data[at : at + _AROUND].hex(" ") + (" …" if len(data) > at + _AROUND else "") or "the end"


def path_at(case: CodecCase, data: bytes, offset: int) -> str:
    """Return the path of the field at an offset of a valid encoding; empty for bytes that have none."""
    if case.kind == "message":
        root = explain(data, message_named(case.name), case.version).root
    elif case.kind == "request":
        root = explain_request(data, framed=True).root
    else:
        root = explain_response(data, _api_of(case), case.version, framed=True).root
    return _deepest(root, offset)


def _api_of(case: CodecCase) -> int:
    return int(api(message_named(case.name)).key)


def _deepest(span: Span, offset: int) -> str:
    for child in span.children:
        if child.start <= offset < child.end:
            return _deepest(child, offset) or child.path
    return span.path


def _json_problem(case: CodecCase, found: Any) -> str | None:
    """Compare by meaning: a tagged field at its default may be given or not."""
    if case.kind == "records":
        return _rows_problem(case.json, found)
    cls = message_named(case.name)
    assert case.json is not None
    try:
        data = from_json(cls, found, case.version).write(case.version)
    except KafkaMessageError as error:
        return f"decode: {error}"
    return _bytes_problem(case, "decode", from_json(cls, case.json, case.version).write(case.version), data)


def _rows_problem(wanted: Any, found: Any) -> str | None:
    ours, theirs = wanted["records"], found["records"]
    if len(ours) != len(theirs):
        return f"decode: {len(ours)} records expected, got {len(theirs)}"
    pairs = enumerate(zip(ours, theirs, strict=True))
    return next((f"decode: record {at}: expected {a}, got {b}" for at, (a, b) in pairs if a != b), None)


def _records_problem(operation: str, wanted: bytes, data: bytes) -> str | None:
    """Compare fields and records: compression, and the base timestamp in format 2, are the choice of the writer."""
    try:
        ours, theirs = list(read_batches(wanted)), list(read_batches(data))
        if len(ours) != len(theirs):
            return f"{operation}: {len(ours)} batches expected, got {len(theirs)}"
        for number, pair in enumerate(zip(ours, theirs, strict=True)):
            if (problem := _batch_problem(*pair)) is not None:
                return f"{operation}: batch {number}: {problem}"
    except RecordError as error:
        return f"{operation}: {error}"
    return None


_COMPARED = (
    *("magic", "compression", "base_offset", "last_offset", "count", "leader_epoch", "is_transactional", "is_control"),
    *("timestamp_type", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "delete_horizon"),
)


def _batch_problem(wanted: Batch, found: Batch) -> str | None:
    for name in _COMPARED:
        pair = getattr(wanted, name), getattr(found, name)
        if pair[0] != pair[1]:
            return f"{name}: expected {pair[0]!r}, got {pair[1]!r}"
    for number, (ours, theirs) in enumerate(zip(wanted.records(), found.records(), strict=True)):
        if ours != theirs:
            return f"record {number}: expected {ours}, got {theirs}"
    return None
