"""Decode records of internal topics in the workers, and redact their secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from kafka_messages import Message, arrow
from kafka_messages.errors import KafkaMessageError
from kafka_messages.internal_topics import (
    FRAME_VERSION,
    KEY_VERSION,
    LOGS,
    RECORD_TYPES,
    read_coordinator_record,
    read_metadata_record,
)
from kafka_messages.secrets import REDACTED, marks

from .._core.errors import invalid_argument
from .._core.options import Options
from ._bytes import BinaryColumn, Bools, Ints, numbers
from ._codec import message_of

SECRET_OPTIONS = ("showSecrets", "secretSalt")
# Record type of control records, which ``kafka_log`` returns only with ``includeBatchMetadata``.
CONTROL = "control"
# Added to every row. record_type is null if unknown, record_version is that of the value, problem the decoding error.
RECORD_FIELDS = pa.schema(
    [
        pa.field("record_type", pa.string()),
        pa.field("record_type_id", pa.int32()),
        pa.field("record_version", pa.int32()),
        pa.field("is_tombstone", pa.bool_()),
        pa.field("problem", pa.string()),
    ]
)


@dataclass(frozen=True)
class Redaction:
    shows: bool = False
    # Key of the hash in the text that replaces a secret, so that equal secrets have equal texts; None: no hash.
    salt: str | None = None

    @classmethod
    def parse(cls, owner: str, given: Options) -> Redaction:
        found = cls(given.flag("showSecrets", False), given.text("secretSalt"))
        if found.shows and found.salt is not None:
            raise invalid_argument(f"{owner}: the options 'showSecrets' and 'secretSalt' cannot both be set")
        if found.salt == "":
            raise invalid_argument(f"{owner}: the option 'secretSalt' is empty; use random text")
        return found

    def applied(self, structs: pa.StructArray, message: type[Message]) -> pa.StructArray:
        if self.shows:
            return structs
        return arrow.redacted(structs, message, REDACTED if self.salt is None else marks(self.salt.encode()))


class MalformedRecordError(ValueError):
    """Undecodable record in FAILFAST mode; ``row`` is its index in the Arrow batch."""

    def __init__(self, log: str, row: int, reason: str, place: str | None = None) -> None:
        super().__init__(
            f"Malformed records are detected in the log {log}. Parse Mode: FAILFAST. To keep them as rows with the error, "
            f"set the option 'mode' to 'PERMISSIVE'. {place or f'In this Arrow batch, row {row}'}: {reason}"
        )
        self.log, self.row, self.reason = log, row, reason

    def __reduce__(self) -> tuple[object, ...]:
        return MalformedRecordError, (self.log, self.row, self.reason)


@dataclass(frozen=True)
class RecordType:
    number: int
    key: str | None
    value: str

    @property
    def column(self) -> str:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.value).lower()
        return words.removesuffix("_value") if self.key else words

    def type(self) -> pa.StructType:
        value = pa.struct(list(arrow.schema(message_of(self.value))))
        if self.key is None:
            return value
        return pa.struct([("key", pa.struct(list(arrow.schema(message_of(self.key))))), ("value", value)])


def types_of(log: str) -> tuple[RecordType, ...]:
    return tuple(RecordType(number, key, value) for name, number, key, value in RECORD_TYPES if name == log and value)


@dataclass(frozen=True)
class RawRecords:
    # Record types; -1 if unknown.
    number: Ints
    # Versions of the values; -1 for none.
    version: Ints
    # Key messages, without the record type.
    key: pa.Array
    # Value messages, without the version and, in metadata records, the record type before them.
    value: pa.Array
    # True where the record type can be read.
    readable: Bools


@dataclass(frozen=True)
class LogDecoder:
    """Decoder of one internal topic; ``columns`` are the record types with a struct column in the output."""

    log: str
    has_keys: bool
    columns: tuple[str, ...]
    failfast: bool
    redaction: Redaction

    def fields(self) -> list[pa.Field]:
        return [
            *RECORD_FIELDS,
            *(pa.field(each.column, each.type()) for each in types_of(self.log) if each.column in self.columns),
        ]

    def decode(self, key: pa.Array, value: pa.Array, control: pa.Array | None) -> list[pa.Array]:
        count = len(value)
        is_control = np.zeros(count, np.bool_) if control is None else np.asarray(control.fill_null(False))
        missing = np.asarray(value.is_null())
        rows = coordinator_rows(key, value) if self.has_keys else metadata_rows(value)
        bad = ~rows.readable & ~is_control
        known = np.zeros(count, np.bool_)
        structs = []
        for each in types_of(self.log):
            chosen = np.flatnonzero((rows.number == each.number) & ~is_control & ~bad)
            known[chosen] = True
            struct, failed = self._structs(each, rows, chosen, missing)
            bad[chosen[failed]] = True
            if each.column in self.columns:
                structs.append(struct)
        bad |= ~known & ~is_control
        tombstone = missing & ~is_control & (rows.number >= 0) & self.has_keys
        number_mask = is_control | (rows.number < 0)
        identity = [
            self._names(rows.number, known, is_control),
            pa.array(rows.number, pa.int32(), mask=number_mask),
            pa.array(rows.version, pa.int32(), mask=number_mask | (rows.version < 0)),
            pa.array(tombstone),
            self._problems(bad, key, value),
        ]
        return [*identity, *structs]

    def _structs(
        self, each: RecordType, rows: RawRecords, chosen: Ints, missing: Bools
    ) -> tuple[pa.StructArray, Bools]:
        count, at = len(missing), pa.array(chosen)
        if not len(chosen):
            return pa.nulls(count, each.type()), np.zeros(0, np.bool_)
        versions = pa.array(rows.version[chosen])
        value = self._decoded(each.value, rows.value.take(at), versions)
        failed = np.asarray(value.is_null()) & ~missing[chosen]
        if each.key is not None:
            keys = self._decoded(each.key, rows.key.take(at), KEY_VERSION)
            failed |= np.asarray(keys.is_null())
            value = pa.StructArray.from_arrays([keys, value], fields=list(each.type()))
        place = np.full(count, -1, np.int64)
        place[chosen] = np.arange(len(chosen))
        return value.take(pa.array(place, mask=place < 0)), failed

    def _decoded(self, message: str, data: pa.Array, version: Any) -> pa.StructArray:
        kind = message_of(message)
        return self.redaction.applied(arrow.decode(data, kind, version, mode="PERMISSIVE"), kind)

    def _names(self, number: Ints, known: Bools, is_control: Bools) -> pa.Array:
        types = types_of(self.log)
        index = np.full(len(number), len(types), np.int64)
        for place, each in enumerate(types):
            index[number == each.number] = place
        index[is_control] = len(types)
        names = pa.array([*(each.column for each in types), CONTROL])
        return names.take(pa.array(index, mask=~(known | is_control)))

    def _problems(self, bad: Bools, key: pa.Array, value: pa.Array) -> pa.Array:
        reasons: dict[int, str] = {}
        for row in np.flatnonzero(bad).tolist():
            reasons[row] = self._reason(key[row].as_py(), value[row].as_py())
            if self.failfast:
                raise MalformedRecordError(self.log, row, reasons[row])
        return pa.array([reasons.get(row) for row in range(len(bad))] if reasons else [None] * len(bad), pa.string())

    def _reason(self, key: bytes | None, value: bytes | None) -> str:
        if key is None and self.has_keys:
            return "the record has no key"
        if value is None and not self.has_keys:
            return "the record has no value"
        read: Callable[..., Any] = read_coordinator_record if self.has_keys else read_metadata_record
        try:
            read(*((self.log, key, value) if self.has_keys else (value, self.log)))
        except KafkaMessageError as error:
            return str(error)
        return "the column codec rejects bytes that the object codec reads; please report this"


def coordinator_rows(key: pa.Array, value: pa.Array) -> RawRecords:
    keys, values = BinaryColumn(key), BinaryColumn(value)
    types, has_type = keys.leading(2)
    versions, has_version = values.leading(2)
    number = np.where(has_type, numbers(types, ">i2"), -1)
    version = np.where(has_version, numbers(versions, ">i2"), -1)
    two = np.full(len(key), 2, np.int64)
    return RawRecords(number, version, keys.after(two), values.after(two), has_type)


def metadata_rows(value: pa.Array) -> RawRecords:
    values = BinaryColumn(value)
    head, long_enough = values.leading(3)
    number, version = head[:, 1].astype(np.int64), head[:, 2].astype(np.int64)
    plain = long_enough & (head < 128).all(axis=1)
    readable = plain & (head[:, 0] == FRAME_VERSION)
    skip = np.full(len(value), 3, np.int64)
    for row in np.flatnonzero(long_enough & ~plain).tolist():
        numbers, skip[row] = _uvarints(value[row].as_py(), 3)
        readable[row] = len(numbers) == 3 and numbers[0] == FRAME_VERSION and max(numbers) < 1 << 31
        if readable[row]:
            number[row], version[row] = numbers[1], numbers[2]
    body = values.after(skip)
    return RawRecords(np.where(readable, number, -1), np.where(readable, version, -1), body, body, readable)


def _uvarints(data: bytes, count: int) -> tuple[list[int], int]:
    numbers: list[int] = []
    value = shift = 0
    for at, byte in enumerate(data):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
            if len(numbers) == count:
                return numbers, at + 1
        elif shift > 28:
            break
    return numbers, len(data)


def decoder_of(topic: str, columns: Sequence[str], failfast: bool, redaction: Redaction) -> LogDecoder:
    log = LOGS.get(topic, topic)
    return LogDecoder(log, log not in ("metadata", "storage"), tuple(columns), failfast, redaction)


def columns_of(log: str) -> Sequence[str]:
    return [each.column for each in types_of(log)]
