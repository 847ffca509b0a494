"""Values as text and as JSON."""

from __future__ import annotations

from uuid import UUID

from .words import quoted


def told(value: object) -> str:
    """Return a value as short text: strings quoted, bytes by their count, UUIDs in base64."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, UUID):
        return uuid_text(value)
    if isinstance(value, bytes):
        return f"{len(value)} byte{'s' if len(value) != 1 else ''}"
    return str(value)


def json_value(value: object) -> object:
    """Return a JSON-compatible value: bytes as hex, UUIDs in base64, non-finite floats as strings."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, UUID):
        return uuid_text(value)
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value


def uuid_text(value: UUID) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(value.bytes).decode().rstrip("=")
