"""Redacted secrets in Kafka's JSON form of messages."""

from __future__ import annotations

from base64 import b64encode

from ._rule import REDACTED

_REDACTED_BYTES = b64encode(REDACTED.encode()).decode()


def redacted_json(value: object) -> object:
    """Replace the base64 of redacted bytes by ``(redacted)``."""
    if isinstance(value, dict):
        return {name: redacted_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [redacted_json(each) for each in value]
    return REDACTED if value == _REDACTED_BYTES else value
