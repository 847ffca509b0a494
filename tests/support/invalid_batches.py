"""Records that brokers reject, with Kafka's error code."""

from __future__ import annotations

from kafka_messages import ProduceRequest
from kafka_messages.protocol import ErrorCode
from kafka_records import Record, write_batch
from kafka_records.crc import checksum

BATCH = write_batch([Record(value=b"v", timestamp=1)] * 2)


def changed(attributes: int, delta: int, count: int = 2) -> bytes:
    """Return the batch with other attributes, last offset delta and number of records, and a correct checksum."""
    covered = attributes.to_bytes(2, "big") + delta.to_bytes(4, "big", signed=True) + BATCH[27:57]
    covered += count.to_bytes(4, "big", signed=True) + BATCH[61:]
    return BATCH[:17] + checksum()(covered).to_bytes(4, "big") + covered


INVALID_BATCHES = {
    "two batches": (BATCH + BATCH, ErrorCode.INVALID_RECORD),
    "second with unknown format": (BATCH + BATCH[:16] + b"\7" + BATCH[17:], ErrorCode.CORRUPT_MESSAGE),
    "nothing": (b"", ErrorCode.INVALID_RECORD),
    "no batch": (b"nonsense", ErrorCode.INVALID_RECORD),
    "truncated": (BATCH[:-1], ErrorCode.INVALID_RECORD),
    "format 1": (write_batch([Record(value=b"v")], magic=1), ErrorCode.INVALID_RECORD),
    "unknown format": (BATCH[:16] + b"\7" + BATCH[17:], ErrorCode.CORRUPT_MESSAGE),
    "checksum": (BATCH[:-1] + b"\1", ErrorCode.CORRUPT_MESSAGE),
    "high last offset": (changed(0, 2), ErrorCode.INVALID_RECORD),
    "low last offset": (changed(0, 0), ErrorCode.INVALID_RECORD),
    "negative last offset": (changed(0, -1), ErrorCode.INVALID_RECORD),
    "negative count": (changed(0, 1, -1), ErrorCode.INVALID_RECORD),
    "high count": (changed(0, 999, 1000), ErrorCode.INVALID_RECORD),
    "unknown compression": (changed(5, 1), ErrorCode.UNKNOWN_SERVER_ERROR),
    "control batch": (changed(1 << 5, 1), ErrorCode.INVALID_RECORD),
}
"""tests/interop compares these error codes with those of a live broker."""
TRAILING = BATCH + b"\0"
"""A valid batch with another byte, which brokers cut off."""


def produce(records: bytes, topic: str) -> ProduceRequest:
    part = ProduceRequest.PartitionProduceData(records=records)
    return ProduceRequest(acks=-1, topic_data=[ProduceRequest.TopicProduceData(name=topic, partition_data=[part])])
