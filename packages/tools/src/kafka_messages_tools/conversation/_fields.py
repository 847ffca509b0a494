"""Fields of a message on one line: ``group_id=billing topics=[orders partitions=[0 committed_offset=7]]``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..package import Package
from ..text import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages import Message

# Maximum numbers of elements per array, characters per string, and characters per message.
_MOST_ELEMENTS = 4
_MOST_TEXT = 60
_MOST_LINE = 420
# Fields about how to answer or about the cluster, not about what happens.
_NOISE = re.compile(
    r"(?!throttle_).*_ms|.*_bytes|(include|allow)_.*|.*_authorized_operations|(replica|isr)_nodes|replica_id|cluster_id"
    r"|log_(append|start)_.*|protocol_type|(supported|finalized)_features.*"
)
# Fields that matter at their default, if it is 0.
_POSITIONS = re.compile(r".*(offset|watermark)")
# Names of fields that identify an element, and are printed without their name.
_KEY = re.compile(r"(topic_|group_)?(name|id)|topic|group|key|api_key|node_id|member_id|(partition_?)?(index|id)?")
_PLAIN = re.compile(r"[^\s\[\]=,'\"]+")


class FieldText:
    def __init__(self, package: Package, show_secrets: bool) -> None:
        self._package = package
        self._secrets = None if show_secrets else package.module("secrets")
        self._descriptors = package.module("schema").descriptor_of
        self._error_code = package.module("protocol").ErrorCode
        self._contents = package.module("schema.contents").VERSIONED

    def of(self, message: Message) -> str:
        """Return the fields that differ from their defaults, without timeouts and size limits, shortened."""
        if self._secrets is not None:
            message = self._secrets.redacted(message)
        descriptor = self._descriptors(type(message))
        text = " ".join(self._texts(message, descriptor.fields, type(message).__name__, ""))
        return text if len(text) <= _MOST_LINE else f"{text[: _MOST_LINE - 1]}…"

    def _texts(self, struct: Any, fields: Any, message: str, path: str, *, is_element: bool = False) -> Iterator[str]:
        key = next((each for each in fields if is_element and self._is_key(struct, each)), None)
        if key is not None:
            yield self._value(getattr(struct, key.name), key, message, path)
        for field in fields:
            value = getattr(struct, field.name)
            if field is key or self._is_default(value, field) or _NOISE.fullmatch(field.name):
                continue
            text = self._value(value, field, message, path)
            if text:
                yield text if field.is_error_code else f"{field.name}={text}"

    def _is_key(self, struct: Any, field: Any) -> bool:
        if field.is_array or field.is_struct or not (field.map_key or _KEY.fullmatch(field.name)):
            return False
        return field.type not in ("uuid", "string") or not self._is_default(getattr(struct, field.name), field)

    def _is_default(self, value: Any, field: Any) -> bool:
        if value is None or value in ("", b"") or (field.is_array and not value):
            return True
        if field.is_struct:
            return False
        return bool(value == field.default()) and not (_POSITIONS.fullmatch(field.name) and value == 0)

    def _value(self, value: Any, field: Any, message: str, path: str) -> str:
        place = f"{path}{field.name}"
        if field.is_array:
            texts = [self._one(each, field, message, place) for each in value[:_MOST_ELEMENTS]]
            more = [f"… {len(value) - _MOST_ELEMENTS} more"] if len(value) > _MOST_ELEMENTS else []
            return f"[{', '.join(filter(None, texts + more))}]"
        return self._one(value, field, message, place)

    def _one(self, value: Any, field: Any, message: str, place: str) -> str:
        if field.is_struct:
            text = " ".join(self._texts(value, field.fields, message, f"{place}.", is_element=field.is_array))
            return text if field.is_array or not text else f"[{text}]"
        if field.is_error_code:
            return str(self._error_code(value).name)
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(bytes(value), field.type, message, place)
        if isinstance(value, str):
            short = safe(value if len(value) <= _MOST_TEXT else f"{value[:_MOST_TEXT]}…")
            return short if _PLAIN.fullmatch(short) else repr(short)
        if field.type == "uuid":
            return str(self._package.module("json").uuid_text(value))
        return str(int(value)) if isinstance(value, int) and not isinstance(value, bool) else str(value)

    def _bytes(self, data: bytes, kind: str, message: str, place: str) -> str:
        if self._secrets is not None and data == self._secrets.REDACTED.encode():
            return str(self._secrets.REDACTED)
        if kind == "records":
            return _records(data)
        inner = self._contents.get((message, place))
        if inner is None or len(data) < 2:
            return f"<{len(data)} bytes>"
        cls = self._package.message(inner)
        try:
            decoded = cls.read(data[2:], int.from_bytes(data[:2], "big"))
        except self._package.root.KafkaMessageError:
            return f"<{len(data)} bytes>"
        return f"[{' '.join(self._texts(decoded, self._descriptors(cls).fields, inner, ''))}]"


def _records(data: bytes) -> str:
    from kafka_records import RecordError, read_headers

    try:
        count = sum(max(batch.count, 0) for batch in read_headers(data))
    except RecordError:
        return f"<{len(data)} bytes>"
    return f"<{count} record{'' if count == 1 else 's'}, {len(data)} bytes>"
