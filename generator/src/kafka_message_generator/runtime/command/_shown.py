"""Decoded messages as JSON values, without what is secret in them."""

from __future__ import annotations

from ..json import to_json
from ..secrets import redacted
from ..secrets._json import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.message import Message


def message_json(message: Message, version: int, show_secrets: bool) -> object:
    """Kafka's JSON form of a message, with the unknown tagged fields; secrets are ``(redacted)`` unless they are shown."""
    if show_secrets:
        return to_json(message, version, unknown_tagged_fields=True)
    return plain(to_json(redacted(message), version, unknown_tagged_fields=True))
