"""Codec of single records of internal logs: a prefix, then a message."""

from __future__ import annotations

from struct import Struct

from .._base.message import Message, check_class, checked_message, class_of
from .._base.prefixed import read_int16, read_rest, read_unsigned
from .._core.display import display
from .._core.structs import name_of
from .._core.value import dataclass
from .._core.wire import as_bytes, uvarint
from ..errors import DecodeError, EncodeError, KafkaMessageError
from ._tables import LOGS, RECORD_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from .._core.wire import BytesLike

    M = TypeVar("M", bound=Message)

KEY_VERSION = 0
"""Version of every coordinator key. The prefix of a key is its record type, not a version."""
FRAME_VERSION = 1
"""Frame version of metadata records; Kafka 2.8's preview had 0."""

_pack_h = Struct(">h").pack
_COORDINATOR_LOGS = {log for log, _, key, value in RECORD_TYPES if key and value}
_METADATA_LOGS = {log for log, _, key, _ in RECORD_TYPES if not key}
_TYPES = {(log, number): (key, value) for log, number, key, value in RECORD_TYPES}
_NUMBERS = {key or value: (number, key, value) for _, number, key, value in RECORD_TYPES}


class UnknownRecordTypeError(KafkaMessageError, ValueError):
    """Unknown record ``type`` of ``log``, such as one of a newer release."""

    def __init__(self, log: str, type: int) -> None:
        super().__init__(log, type)
        self.log = log
        self.type = type

    def __str__(self) -> str:
        return f"{self.log} has no record type {self.type}"


@dataclass(frozen=True, slots=True)
class CoordinatorRecord:
    """Record of a coordinator's log."""

    type: int
    key: Message
    value: Message | None
    """None for a tombstone."""
    value_version: int | None
    """None for a tombstone."""

    @property
    def key_version(self) -> int:
        return KEY_VERSION


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """Record of the KRaft metadata log or the remote log metadata topic."""

    type: int
    """Record type: the API key in the definition of the message."""
    version: int
    message: Message


def read_coordinator_record(log: str, key: BytesLike, value: BytesLike | None) -> CoordinatorRecord:
    """Decode a coordinator record, like Kafka's CoordinatorRecordSerde; a null value is a tombstone.

    ``log`` is a topic (``__consumer_offsets``) or its name in ``LOGS`` (``group-coordinator``). The key starts with
    an int16 record type, the value with an int16 version. Raises UnknownRecordTypeError, after which readers should
    skip the record; UnsupportedVersionError for a newer value; DecodeError, also for trailing bytes; ValueError for
    another log.
    """
    log = _known(log, _COORDINATOR_LOGS, "coordinator")
    key = as_bytes(key, "key")
    number = read_int16(key, "record type")
    key_name, value_name = _TYPES.get((log, number), (None, None))
    if key_name is None or value_name is None:
        raise UnknownRecordTypeError(log, number)
    key_message = read_rest(class_of(key_name), key, 2, KEY_VERSION)
    if value is None:
        return CoordinatorRecord(number, key_message, None, None)
    value_message, version = read_versioned(class_of(value_name), value)
    return CoordinatorRecord(number, key_message, value_message, version)


def write_coordinator_record(
    key: Message, value: Message | None = None, value_version: int | None = None
) -> tuple[bytes, bytes | None]:
    """Encode the key and value of a coordinator record, like Kafka's CoordinatorRecordSerde.

    A value needs ``value_version``; without a value the record is a tombstone. Raises UnsupportedVersionError, and
    EncodeError, also if the value does not belong to the key.
    """
    name = name_of(type(checked_message(key)))
    number, key_name, value_name = _NUMBERS.get(name, (0, None, None))
    if key_name is None:
        raise EncodeError("this message is not the key of a coordinator record", name)
    key_bytes = _pack_h(number) + key.write(KEY_VERSION)
    if value is None:
        if value_version is not None:
            raise EncodeError(f"value_version is {value_version}, but there is no value", name)
        return key_bytes, None
    if value_name != name_of(type(value)):
        raise EncodeError(f"the value of this key is {value_name}, not {name_of(type(value))}", name)
    if value_version is None:
        raise EncodeError("a value needs value_version", type(value).NAME)
    return key_bytes, write_versioned(value, value_version)


def read_metadata_record(data: BytesLike, log: str = "metadata") -> MetadataRecord:
    """Decode a metadata record from the value of a record, like Kafka's AbstractApiMessageSerde.

    ``log`` is ``metadata`` (``__cluster_metadata``) or ``storage`` (``__remote_log_metadata``). The message follows
    three unsigned varints: frame version 1, record type, version. Raises UnknownRecordTypeError,
    UnsupportedVersionError, DecodeError, also for trailing bytes, and ValueError for another log.
    """
    log = _known(log, _METADATA_LOGS, "metadata")
    data = as_bytes(data)
    frame_version, offset = read_unsigned(data, 0, "frame version")
    if frame_version != FRAME_VERSION:
        raise DecodeError(f"unknown frame version {frame_version} at offset 0; expected {FRAME_VERSION}", offset=0)
    number, offset = read_unsigned(data, offset, "record type")
    version, offset = read_unsigned(data, offset, "version")
    key_name, value_name = _TYPES.get((log, number), (None, None))
    if key_name is not None or value_name is None:
        raise UnknownRecordTypeError(log, number)
    return MetadataRecord(number, version, read_rest(class_of(value_name), data, offset, version))


def write_metadata_record(message: Message, version: int) -> bytes:
    """Encode a metadata record, prefix and message. Raises EncodeError and UnsupportedVersionError."""
    name = name_of(type(checked_message(message)))
    number, key_name, value_name = _NUMBERS.get(name, (0, None, None))
    if key_name is not None or value_name is None:
        raise EncodeError("this message is not a metadata record", name)
    body = message.write(version)
    return uvarint(FRAME_VERSION) + uvarint(number) + uvarint(version) + body


def read_versioned(message: type[M], data: BytesLike, *, allow_newer: bool = False) -> tuple[M, int]:
    """Decode an int16 version and a message of this version, such as a ConsumerProtocolSubscription; return both.

    ``allow_newer`` decodes a newer version as the highest known one and ignores the bytes after the message, also of a
    known version, like Kafka's ConsumerProtocol. Raises DecodeError with offsets in ``data``, and UnsupportedVersionError.
    """
    check_class(message)
    data = as_bytes(data)
    version = read_int16(data, "version", message.NAME)
    if allow_newer:
        return message.read_from(data, 2, min(version, message.HIGHEST_SUPPORTED_VERSION))[0], version
    return read_rest(message, data, 2, version), version


def write_versioned(message: Message, version: int) -> bytes:
    """Encode an int16 version and a message at this version. Raises EncodeError and UnsupportedVersionError."""
    body = checked_message(message).write(version)
    return _pack_h(version) + body


def _known(log: str, logs: set[str], kind: str) -> str:
    name = LOGS.get(log, log)
    if name not in logs:
        topics = {name: topic for topic, name in LOGS.items()}
        known = [f"{each!r} ({topics[each]})" if each in topics else repr(each) for each in sorted(logs)]
        raise ValueError(
            f"expected a log of {kind} records, got {display(log)}; supported: {', '.join(known) or 'none'}"
        )
    return name
