"""Decoded messages as JSON values, with secrets redacted."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages import Message

    from ..package import Package


def message_json(package: Package, message: Message, version: int, show_secrets: bool) -> object:
    """Return Kafka's JSON form of a message, with secrets redacted unless ``show_secrets``."""
    to_json = package.module("json").to_json
    if show_secrets:
        return to_json(message, version, unknown_tagged_fields=True)
    secrets = package.module("secrets")
    return secrets.redacted_json(to_json(secrets.redacted(message), version, unknown_tagged_fields=True))
