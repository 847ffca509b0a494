"""Log records as JSON values: text or base64, decoded internal topics, control records, names of numbers."""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress

from ..package import message_json
from ..text import time_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..package import Package


# Messages in the values of KRaft control records, by type number (Kafka's ControlRecordType).
_CONTROL = {
    2: "LeaderChangeMessage",
    3: "SnapshotHeaderRecord",
    4: "SnapshotFooterRecord",
    5: "KRaftVersionRecord",
    6: "VotersRecord",
}
_MAY_BE_METADATA = "redacted, may be a metadata record; use --topic, or --show-secrets"


class TopicDecoder:
    """Decoder for the batches of one topic.

    ``is_sure`` is True if the user named the topic. Otherwise a record of an unknown topic that may come from the
    metadata log is decoded as a metadata record; if decoding fails, it is redacted unless ``show_secrets``.
    """

    def __init__(self, package: Package, topic: str | None, show_secrets: bool, is_sure: bool) -> None:
        self._package = package
        self._secrets = package.module("secrets")
        self._error = package.root.KafkaMessageError
        self.show_secrets = show_secrets
        self.is_sure = is_sure
        self._records = package.optional("internal_topics")
        logs: dict[str, str] = {} if self._records is None else self._records.LOGS
        self._log = logs.get(topic or "")
        self._metadata = logs.get(self._secrets.METADATA_TOPIC)

    def rows(self, batch: Any) -> Iterator[dict[str, object]]:
        """Yield a row per record, or one with an error if the codec is not installed. Raises RecordError."""
        from kafka_records import MissingCodecError

        try:
            yield from self._rows(batch)
        except MissingCodecError as error:
            yield {"offset": batch.base_offset, "timestamp": None, "time": None, "error": str(error)}

    def _rows(self, batch: Any) -> Iterator[dict[str, object]]:
        if batch.is_control:
            for control in batch.control_records():
                yield _head(control) | {"control": control.type} | self._control(control)
            return
        for record in batch.records():
            yield _head(record) | (self._possible_metadata(record) if self._log is None else self._internal(record))

    def _control(self, control: Any) -> dict[str, object]:
        if control.coordinator_epoch is not None:
            return {"coordinator_epoch": control.coordinator_epoch}
        cls, value = getattr(self._package.root, _CONTROL.get(control.type_id, ""), None), control.value or b""
        version = int.from_bytes(value[:2], "big", signed=True)  # the first field of each of these messages
        try:
            return {} if cls is None else {"value": self._json(cls.read(value, version), version)}
        except self._error as error:
            return {"error": str(error)}

    def _json(self, message: Any, version: int) -> Any:
        """Return Kafka's JSON form with names beside numbers, and with the members of classic consumers decoded."""
        found: Any = message_json(self._package, message, version, self.show_secrets)
        if self._package.has("enums"):
            found = _with_names(found, message_json(self._package, message, version, self.show_secrets, names=True))
        if message.NAME == "GroupMetadataValue" and message.protocol_type == "consumer":
            for member, row in zip(message.members, found["members"], strict=True):
                for field in ("subscription", "assignment"):
                    with suppress(ValueError):  # stays base64
                        cls = self._package.message(f"ConsumerProtocol{field.capitalize()}")
                        inner, number = self._records.read_versioned(cls, getattr(member, field), allow_newer=True)
                        known = min(number, cls.HIGHEST_SUPPORTED_VERSION)
                        row[field] = {"version": number} | self._json(inner, known)
        return found

    def _possible_metadata(self, record: Any) -> dict[str, object]:
        value = record.value or b""
        if self.is_sure or not self._secrets.may_be_metadata_record(record.key, value):
            return self._plain(record)
        try:
            if self._metadata is not None:
                return self._of_metadata(value, self._metadata)
        except (self._error, ValueError):
            pass  # not a metadata record, or a record type of another release
        hidden = {"key": None, "value": self._secrets.REDACTED, "note": _MAY_BE_METADATA}
        return self._plain(record) if self.show_secrets else hidden

    def _of_metadata(self, value: bytes, log: str) -> dict[str, object]:
        found = self._records.read_metadata_record(value, log)
        message = self._json(found.message, found.version)
        return {"type": type(found.message).NAME, "version": found.version, "value": message}

    def _plain(self, record: Any) -> dict[str, object]:
        row = _value("key", record.key) | _value("value", record.value)
        if record.headers:
            row["headers"] = [{"name": name, **_value("value", value)} for name, value in record.headers]
        return row

    def _internal(self, record: Any) -> dict[str, object]:
        try:
            if record.key is None and any(log == self._log and key for log, _, key, _ in self._records.RECORD_TYPES):
                raise ValueError("the record has no key")
            if record.key is None:
                return self._of_metadata(record.value or b"", self._log or "")
            found = self._records.read_coordinator_record(self._log, record.key, record.value)
        except (self._error, ValueError) as error:
            hidden = dict.fromkeys(("key", "value"), self._secrets.REDACTED)
            return {"error": str(error)} | (self._plain(record) if self.show_secrets else hidden)
        row = {"type": type(found.key).NAME.removesuffix("Key"), "version": found.value_version}
        value = None if found.value is None else self._json(found.value, found.value_version)
        return row | {"key": self._json(found.key, 0), "value": value}


def _with_names(value: Any, named: Any) -> Any:
    """Add ``<key>Name`` beside numbers that have a name in ``named``."""
    if isinstance(value, list):
        return [_with_names(*pair) for pair in zip(value, named, strict=True)]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, each in value.items():
        found[key] = _with_names(each, named[key])
        if isinstance(named[key], str) and not isinstance(each, str):
            found[f"{key}Name"] = named[key]
    return found


def batch_row(batch: Any, position: int) -> dict[str, object]:
    """Return the header of a batch at a position in a file, with the names of ``kafka_records.Batch``.

    ``is_valid`` tells whether the checksum matches. ``last_sequence`` wraps to 0 after the highest int32.
    """
    from kafka_records import ChecksumError

    names = ("count", "magic", "compression", "producer_id", "producer_epoch", "base_sequence", "leader_epoch")
    sequence = (batch.base_sequence + batch.last_offset_delta) % (1 << 31) if batch.base_sequence >= 0 else -1
    more = ("is_transactional", "is_control", "delete_horizon", "timestamp_type", "max_timestamp", "crc")
    try:
        batch.verify()
        is_valid = True
    except ChecksumError:
        is_valid = False
    return {
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "time": time_text(batch.max_timestamp),
        "position": position,
        "size": batch.size,
        **{name: getattr(batch, name) for name in names},
        "last_sequence": sequence,
        **{name: getattr(batch, name) for name in more},
        "is_valid": is_valid,
    }


def _head(record: Any) -> dict[str, object]:
    return {"offset": record.offset, "timestamp": record.timestamp, "time": time_text(record.timestamp)}


def _value(name: str, value: bytes | None) -> dict[str, object]:
    if value is None:
        return {name: None}
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": b64encode(value).decode()}
