"""Records of internal logs: coordinators, KRaft metadata, remote log metadata and the consumer protocol."""

from __future__ import annotations

from ._codec import (
    FRAME_VERSION,
    KEY_VERSION,
    CoordinatorRecord,
    MetadataRecord,
    UnknownRecordTypeError,
    read_coordinator_record,
    read_metadata_record,
    read_versioned,
    write_coordinator_record,
    write_metadata_record,
    write_versioned,
)
from ._tables import LOGS, RECORD_TYPES

__all__ = [
    "FRAME_VERSION",
    "KEY_VERSION",
    "LOGS",
    "RECORD_TYPES",
    "CoordinatorRecord",
    "MetadataRecord",
    "UnknownRecordTypeError",
    "read_coordinator_record",
    "read_metadata_record",
    "read_versioned",
    "write_coordinator_record",
    "write_metadata_record",
    "write_versioned",
]
