"""What is secret in messages, and copies of messages without it.

Secret are credentials (SCRAM keys, tokens, what SASL exchanges) and the values of settings that Kafka's own definitions
call passwords. The value of a setting that Kafka does not define, such as one of a plugin, is secret as well: nobody knows
what is in it. Brokers decide likewise what they write to their own log (``AbstractKafkaConfig.loggableValue``).
"""

from __future__ import annotations

from ._json import redacted_json
from ._logs import METADATA_TOPIC, may_be_metadata_record, may_hold_metadata
from ._rule import HIDDEN, Secrets, Setting, has_secrets, hidden, is_secret_setting, marks, revealed, secrets_of
from ._tokens import may_be_token

__all__ = [
    "HIDDEN",
    "METADATA_TOPIC",
    "Secrets",
    "Setting",
    "has_secrets",
    "hidden",
    "is_secret_setting",
    "marks",
    "may_be_metadata_record",
    "may_be_token",
    "may_hold_metadata",
    "redacted_json",
    "revealed",
    "secrets_of",
]
