"""Values in words, for people, and as what ``json.dumps`` takes."""

from __future__ import annotations

from uuid import UUID

from .words import quoted


def told(value: object) -> str:
    """A value in few words: texts in quotes and escaped, bytes by their number, UUIDs as Kafka prints them."""
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
    """A value for ``json.dumps``: bytes as hex, a UUID as Kafka prints it, a float that is not finite as a text."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, UUID):
        return uuid_text(value)
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value


def uuid_text(value: UUID) -> str:
    """22 characters of URL-safe base64, as Kafka prints a UUID."""
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(value.bytes).decode().rstrip("=")
