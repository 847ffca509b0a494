"""Decoded messages as JSON values, without what is secret in them."""

from __future__ import annotations

from base64 import b64encode

from ..json import to_json
from ..secrets import HIDDEN, hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.message import Message

_HIDDEN_BYTES = b64encode(HIDDEN.encode()).decode()


def message_json(message: Message, version: int, show_secrets: bool) -> object:
    """Kafka's JSON form of a message, with the unknown tagged fields; secrets are ``(hidden)`` unless they are shown."""
    if show_secrets:
        return to_json(message, version, unknown_tagged_fields=True)
    return _plain(to_json(hidden(message), version, unknown_tagged_fields=True))


def _plain(value: object) -> object:
    """Hidden bytes in the words of hidden texts, which people can read."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return HIDDEN if value == _HIDDEN_BYTES else value
