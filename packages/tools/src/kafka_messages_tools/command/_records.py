"""Log records as JSON values: text or base64, decoded internal topics, control records."""

from __future__ import annotations

from base64 import b64encode

from .._text import time_text
from ._output import message_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..package import Package


_MAY_BE_METADATA = "redacted, may be a metadata record; use --topic, or --show-secrets"


class TopicDecoder:
    """Decoder for the batches of one topic; ``failed`` is set if a record or batch could not be decoded.

    ``is_sure`` is True if the user named the topic. Otherwise a record of an unknown topic that may come from the
    metadata log is decoded as a metadata record; if decoding fails, it is redacted unless ``show_secrets``.
    """

    def __init__(self, package: Package, topic: str | None, show_secrets: bool, is_sure: bool) -> None:
        self._package = package
        self._secrets = package.module("secrets")
        self._error = package.root.KafkaMessageError
        self.show_secrets = show_secrets
        self.is_sure = is_sure
        self.failed = False
        self._records = package.optional("internal_topics")
        logs: dict[str, str] = {} if self._records is None else self._records.LOGS
        self._log = logs.get(topic or "")
        self._metadata = logs.get(self._secrets.METADATA_TOPIC)

    def rows(self, batch: Any) -> Iterator[dict[str, object]]:
        """Yield a row per record, or one row with an error if the codec is not installed. Raises DecodeError."""
        from kafka_records import MissingCodecError, RecordError

        try:
            yield from self._rows(batch)
        except MissingCodecError as error:
            self.failed = True
            yield {"offset": batch.base_offset, "timestamp": None, "time": None, "error": str(error)}
        except RecordError as error:
            raise self._package.root.DecodeError(str(error)) from error

    def _rows(self, batch: Any) -> Iterator[dict[str, object]]:
        if batch.is_control:
            for control in batch.control_records():
                found = {"control": control.type, "coordinator_epoch": control.coordinator_epoch}
                yield _head(control) | {name: value for name, value in found.items() if value is not None}
            return
        for record in batch.records():
            yield _head(record) | (self._possible_metadata(record) if self._log is None else self._internal(record))

    def _possible_metadata(self, record: Any) -> dict[str, object]:
        value = record.value or b""
        if self.is_sure or not self._secrets.may_be_metadata_record(record.key, value):
            return self._plain(record)
        try:
            if self._metadata is not None:
                return self._of_metadata(value, self._metadata)
        except (self._error, ValueError):
            pass  # not a metadata record, or a record type of another release
        return (
            self._plain(record)
            if self.show_secrets
            else {"key": None, "value": self._secrets.REDACTED, "note": _MAY_BE_METADATA}
        )

    def _of_metadata(self, value: bytes, log: str) -> dict[str, object]:
        found = self._records.read_metadata_record(value, log)
        message = message_json(self._package, found.message, found.version, self.show_secrets)
        return {"type": type(found.message).NAME, "version": found.version, "value": message}

    def _plain(self, record: Any) -> dict[str, object]:
        row = _value("key", record.key) | _value("value", record.value)
        if record.headers:
            row["headers"] = [{"name": name, **_value("value", value)} for name, value in record.headers]
        return row

    def _internal(self, record: Any) -> dict[str, object]:
        try:
            if record.key is None:
                return self._of_metadata(record.value or b"", self._log or "")
            found = self._records.read_coordinator_record(self._log, record.key, record.value)
        except (self._error, ValueError) as error:
            self.failed = True
            row: dict[str, object] = {"error": str(error)}
            return row | (
                self._plain(record)
                if self.show_secrets
                else {"key": self._secrets.REDACTED, "value": self._secrets.REDACTED}
            )
        row = {"type": type(found.key).NAME.removesuffix("Key"), "version": found.value_version}
        row["key"] = message_json(self._package, found.key, 0, self.show_secrets)
        row["value"] = None
        if found.value is not None:
            row["value"] = message_json(self._package, found.value, found.value_version, self.show_secrets)
        return row


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
