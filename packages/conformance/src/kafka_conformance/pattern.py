"""Patterns of responses, and variables in patterns and requests."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from time import time
from typing import Any

from kafka_messages.schema import FieldDescriptor
from kafka_records import Record, RecordError, read_batches, write_batch
from kafka_records.crc import checksum

Variables = dict[str, Any]
_VARIABLE = re.compile(r"\$([A-Za-z]+)(.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]\d+")
_PATH = re.compile(r"\[?(\w+)\]?\.?")
_BATCH = {
    "compression": "compression",
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "baseSequence": "base_sequence",
    "isTransactional": "is_transactional",
}
_CRC, _ATTRIBUTES, _CONTROL = 17, 21, 0x20


def now() -> int:
    """Return the time in ms since 1970."""
    return int(time() * 1000)


def replaced(value: Any, variables: Variables) -> Any:
    """Return a JSON value with variables replaced, long texts repeated and record batches encoded. Raises KeyError."""
    if isinstance(value, str) and (found := _VARIABLE.fullmatch(value)):
        name, rest = found.groups()
        known = variables[name]
        if isinstance(known, int) and _NUMBER.fullmatch(rest):
            return known + int(rest)
        return f"{known}{rest}" if rest else known
    if isinstance(value, list):
        return [replaced(each, variables) for each in value]
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"repeat"}:
        text, count = value["repeat"]
        return text * count
    made = {key: replaced(each, variables) for key, each in value.items()}
    if isinstance(made.get("records"), list) and made.keys() <= {"records", "damage", "repeat", *_BATCH}:
        return b64encode(_batch(made)).decode()
    return made


def _batch(fields: Mapping[str, Any]) -> bytes:
    options = {_BATCH[key]: value for key, value in fields.items() if key in _BATCH}
    data = write_batch([_record(each) for each in fields["records"]], **options)
    if fields.get("damage") == "checksum":
        data = data[:_CRC] + bytes([data[_CRC] ^ 1]) + data[_CRC + 1 :]
    elif fields.get("damage") == "control":
        summed = bytes([data[_ATTRIBUTES], data[_ATTRIBUTES + 1] | _CONTROL]) + data[_ATTRIBUTES + 2 :]
        data = data[:_CRC] + checksum()(summed).to_bytes(4) + summed
    return data * int(fields.get("repeat", 1))


def _record(fields: Mapping[str, Any]) -> Record:
    headers = tuple((each["key"], _encoded(each["value"])) for each in fields.get("headers", ()))
    return Record(
        key=_encoded(fields.get("key")),
        value=_encoded(fields.get("value")),
        timestamp=fields.get("timestamp", now()),
        headers=headers,
    )


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _decoded(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


def value_at(value: Any, path: str) -> Any:
    """Return the value at a path such as ``topics[0].topicId``. Raises KeyError, IndexError or TypeError."""
    for part in _PATH.findall(path):
        value = value[int(part) if part.isdigit() else part]
    return value


def mismatch(pattern: Any, value: Any, variables: Variables, path: str = "") -> str | None:
    """Return where and how a JSON value differs from a pattern; None if it does not. Raises KeyError for a variable."""
    if isinstance(pattern, Mapping):
        if len(pattern) == 1:
            ((word, rest),) = pattern.items()
            if word in _WORDS:
                return _special(word, rest, value, variables, path)
        return _object(pattern, value, variables, path)
    if isinstance(pattern, list):
        if not isinstance(value, list) or len(value) != len(pattern):
            return f"{path}: expected {len(pattern)} elements, got {_shown(value)}"
        pairs = enumerate(zip(pattern, value, strict=True))
        return _first(mismatch(one, each, variables, f"{path}[{index}]") for index, (one, each) in pairs)
    wanted = replaced(pattern, variables)
    return None if wanted == value and type(wanted) is type(value) else _differs(path, _shown(wanted), value)


def _object(pattern: Mapping[str, Any], value: Any, variables: Variables, path: str) -> str | None:
    if not isinstance(value, Mapping):
        return _differs(path, "a struct", value)
    for key, each in pattern.items():
        place = f"{path}.{key}".lstrip(".")
        if key not in value:
            return f"{place}: this version has no such field"
        if problem := mismatch(each, value[key], variables, place):
            return problem
    return None


_WORDS = {"any", "none", "each", "all", "count", "in", "min", "not", "batches"}
_OF_LISTS = {"any", "none", "each", "count"}


def _special(word: str, rest: Any, value: Any, variables: Variables, path: str) -> str | None:
    if word in _OF_LISTS:
        return _list(word, rest, value, variables, path) if isinstance(value, list) else _differs(path, "a list", value)
    if word == "all":
        return _first(mismatch(each, value, variables, path) for each in rest)
    if word == "batches":
        batches = _batches(value)
        return (
            _differs(path, "batches", batches) if isinstance(batches, str) else mismatch(rest, batches, variables, path)
        )
    wanted = replaced(rest, variables)
    if word == "in":
        return None if value in wanted else _differs(path, f"one of {_shown(wanted)}", value)
    if word == "not":
        return None if value != wanted else f"{path}: expected another value than {_shown(value)}"
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return None if is_number and value >= wanted else _differs(path, f"at least {wanted}", value)


def _list(word: str, rest: Any, value: list[Any], variables: Variables, path: str) -> str | None:
    if word == "count":
        return None if len(value) == rest else f"{path}: expected {rest} elements, got {_shown(value)}"
    problems = [mismatch(rest, each, variables, f"{path}[{index}]") for index, each in enumerate(value)]
    if word == "each":
        return _first(iter(problems))
    if (None in problems) == (word == "any"):
        return None
    expected = f"{'an' if word == 'any' else 'no'} element like {_shown(rest)}"
    return f"{path}: expected {expected}, got {_shown(value)}"


def _first(problems: Any) -> str | None:
    return next(filter(None, problems), None)


def _differs(path: str, wanted: str, value: Any) -> str:
    return f"{path}: expected {wanted}, got {_shown(value)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _batches(value: Any) -> list[dict[str, Any]] | str:
    """Return the batches in a ``records`` field, or what is wrong with it."""
    if not isinstance(value, str):
        return "no records"
    found = []
    try:
        for batch in read_batches(b64decode(value)):
            row: dict[str, Any] = {
                "baseOffset": batch.base_offset,
                "lastOffset": batch.last_offset,
                "isControl": batch.is_control,
                "compression": batch.compression,
                "producerId": batch.producer_id,
                "isTransactional": batch.is_transactional,
                "timestampType": str(batch.timestamp_type),
            }
            if batch.is_control:
                row["control"] = [getattr(each.type, "name", each.type) for each in batch.control_records()]
            else:
                row["records"] = [_record_row(each) for each in batch.records()]
            found.append(row)
    except RecordError as error:
        return str(error)
    return found


def _record_row(record: Record) -> dict[str, Any]:
    headers = [{"key": str(key), "value": _decoded(value)} for key, value in record.headers]
    content = {"key": _decoded(record.key), "value": _decoded(record.value), "headers": headers}
    return {"offset": record.offset, "timestamp": record.timestamp, **content}


def fitted(content: Any, fields_of: Sequence[FieldDescriptor], version: int) -> Any:
    """Return the content of a struct without the fields that a version lacks. Unknown keys stay."""
    if not isinstance(content, Mapping):
        return content
    known = {each.json_name: each for each in fields_of}
    found = {}
    for key, value in content.items():
        field = known.get(key)
        if field is None or not field.is_struct:
            found[key] = value
        elif isinstance(value, list):
            found[key] = [fitted(each, field.fields, version) for each in value]
        else:
            found[key] = fitted(value, field.fields, version)
    return {key: value for key, value in found.items() if key not in known or version in known[key].versions}
