"""Detection of the KRaft metadata log and of raw SASL tokens."""

from __future__ import annotations

from uuid import UUID

from ..schema.contents import FETCHED

METADATA_TOPIC = "__cluster_metadata"
"""Topic of the metadata log, which contains SCRAM keys and passwords in plain text."""
METADATA_TOPIC_ID = UUID(int=1)
"""Id of the metadata topic, the same in every cluster."""

# Highest accepted frame version of a metadata record. Kafka 4.4.0 writes 1.
_NEWEST_FRAME = 7
# A PLAIN token has two zero bytes, other text mechanisms none, a request header at least three.
_MOST_ZEROS = 2


def may_be_metadata_record(key: bytes | None, value: bytes) -> bool:
    """Return whether a record may be of the metadata log: it has no key and starts with a frame version."""
    return key is None and 0 < int.from_bytes(value[:1], "big") <= _NEWEST_FRAME


def is_metadata(topic: object) -> bool:
    return topic in (METADATA_TOPIC, METADATA_TOPIC_ID)


def may_hold_metadata(message: str, data: bytes) -> bool:
    """Return whether the bytes of an unreadable message may contain records of the metadata log."""
    return message in FETCHED and (METADATA_TOPIC.encode() in data or METADATA_TOPIC_ID.bytes in data)


def may_be_token(data: bytes) -> bool:
    """Return whether bytes that are no known request may be a SASL token."""
    return data.count(0) <= _MOST_ZEROS
