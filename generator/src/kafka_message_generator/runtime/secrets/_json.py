"""Hidden secrets in Kafka's JSON form of messages."""

from __future__ import annotations

from base64 import b64encode

from ._rule import HIDDEN

_HIDDEN_BYTES = b64encode(HIDDEN.encode()).decode()


def redacted_json(value: object) -> object:
    """Return the JSON form of a message in which secrets are hidden, with the text ``(hidden)`` instead of its base64.

    A text with brackets is no base64, so ``from_json`` and other programs refuse it instead of taking it for the secret.
    """
    if isinstance(value, dict):
        return {name: redacted_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [redacted_json(each) for each in value]
    return HIDDEN if value == _HIDDEN_BYTES else value
