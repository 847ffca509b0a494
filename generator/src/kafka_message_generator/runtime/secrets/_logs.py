"""The log of KRaft, which brokers and controllers fetch from each other: its name, its id, and whether bytes may hold it."""

from __future__ import annotations

from uuid import UUID

from ..schema.contents import FETCHED

METADATA_TOPIC = "__cluster_metadata"
"""The topic that is the log of KRaft. Its records hold what clients set, SCRAM keys and passwords, as it is."""
METADATA_TOPIC_ID = UUID(int=1)
"""The id that this topic has in every cluster (Kafka's Uuid.METADATA_TOPIC_ID)."""


_NEWEST_FRAME = 7
"""The highest number that is taken for the frame version of such a record. Kafka 4.4.0 writes 1, a later release may not."""


def may_be_metadata_record(key: bytes | None, value: bytes) -> bool:
    """Return whether a record could be one of the log of KRaft: these have no key, and begin with a frame version."""
    return key is None and 0 < int.from_bytes(value[:1], "big") <= _NEWEST_FRAME


def is_metadata(topic: object) -> bool:
    """Whether a name or an id is that of the log of KRaft."""
    return topic in (METADATA_TOPIC, METADATA_TOPIC_ID)


def may_hold_metadata(message: str, data: bytes) -> bool:
    """Whether the bytes of a message that cannot be read could hold records of the log of KRaft."""
    return message in FETCHED and (METADATA_TOPIC.encode() in data or METADATA_TOPIC_ID.bytes in data)
