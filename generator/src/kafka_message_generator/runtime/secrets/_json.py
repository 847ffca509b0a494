"""Hidden secrets in Kafka's JSON form of messages."""

from __future__ import annotations

from base64 import b64encode

from ._rule import REDACTED

_REDACTED_BYTES = b64encode(REDACTED.encode()).decode()


def plain(value: object) -> object:
    """Return the JSON form of a message in which secrets are hidden, with the text ``(redacted)`` instead of its base64.

    A text with brackets is no base64, so ``from_json`` and other programs refuse it instead of taking it for the secret.
    """
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return REDACTED if value == _REDACTED_BYTES else value
