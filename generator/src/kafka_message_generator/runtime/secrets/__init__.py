"""Redaction of secrets in messages: credentials, and configs that are passwords or unknown to Kafka."""

from __future__ import annotations

from ._detection import METADATA_TOPIC, may_be_metadata_record, may_be_token, may_hold_metadata
from ._rule import (
    REDACTED,
    Secrets,
    Setting,
    has_secrets,
    is_secret_setting,
    marks,
    redacted,
    redacted_json,
    revealed,
    secrets_of,
)

__all__ = [
    "METADATA_TOPIC",
    "REDACTED",
    "Secrets",
    "Setting",
    "has_secrets",
    "is_secret_setting",
    "marks",
    "may_be_metadata_record",
    "may_be_token",
    "may_hold_metadata",
    "redacted",
    "redacted_json",
    "revealed",
    "secrets_of",
]
