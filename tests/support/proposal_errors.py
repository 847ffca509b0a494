"""Errors for invalid bytes of the proposals, and the parts that their texts share."""

from __future__ import annotations

from typing import Any

import pytest
from kafka_messages_proposals import DecodeError

from tests.support.random_messages import Package

PACKAGE = Package("kafka_messages_proposals")
NAMES = PACKAGE.message_names
NARROW = "is out of range for"
RAW = "unknown_tagged_fields"


def decode_error(cls: Any, version: int, data: bytes) -> DecodeError:
    """Return the error for invalid bytes, after checking message, version and offset."""
    with pytest.raises(DecodeError) as caught:
        cls.read(data, version)
    error = caught.value
    assert (error.message, error.version) == (cls.NAME, version)
    assert 0 <= error.offset <= len(data)
    assert "please report" not in str(error), f"the codecs disagree about {cls.NAME} v{version} {data.hex()}"
    return error
