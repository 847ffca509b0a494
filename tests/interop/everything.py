"""Requests of every API with non-empty content."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kafka_messages import (
    ApiVersionsRequest,
    CreateAclsRequest,
    DeleteAclsRequest,
    DescribeAclsRequest,
    ProduceRequest,
)
from kafka_messages.protocol import Api
from kafka_messages.schema import FieldDescriptor
from kafka_records import Record, write_batch

from tests.support.filled import filled

NAME = "every"
ANY = 1
"""Value that matches everything in ACL filters."""
BATCH = write_batch([Record(value=b"asked", timestamp=1_700_000_000_000)])


def request(of: Api, topic: UUID) -> Any:
    """Return a request of an API, with one element in each array, and with names and ids."""

    def value(field: FieldDescriptor) -> Any:
        if field.type == "uuid":
            return topic
        if field.entity_type in ("topicName", "groupId") or (field.is_array and field.type == "string"):
            return NAME
        return 0 if field.is_array and field.type != "bytes" else None

    made = filled(of.request_class, value)
    match made:
        case ApiVersionsRequest():
            made.client_software_name = made.client_software_version = NAME
        case ProduceRequest():
            made.acks, made.timeout_ms = -1, 5000
            made.topic_data[0].partition_data[0].records = BATCH
        case CreateAclsRequest(creations=entries) | DeleteAclsRequest(filters=entries):
            for each in entries:
                _set_any(each)
        case DescribeAclsRequest():
            _set_any(made)
    return made


def _set_any(acl: Any) -> None:
    for name in ("resource_type", "resource_type_filter", "operation", "permission_type"):
        if hasattr(acl, name):
            setattr(acl, name, ANY)
