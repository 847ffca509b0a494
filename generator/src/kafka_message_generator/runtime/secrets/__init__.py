"""Find and redact secrets in messages.

Secrets are credentials (SCRAM keys, tokens, SASL exchanges) and the values of configs that Kafka's definitions declare
as passwords. Values of unknown configs, such as those of plugins, count as secrets too, as in Kafka's own logs
(``AbstractKafkaConfig.loggableValue``).
"""

from __future__ import annotations

from ._json import redacted_json
from ._logs import METADATA_TOPIC, may_be_metadata_record, may_hold_metadata
from ._rule import REDACTED, Secrets, Setting, has_secrets, is_secret_setting, marks, redacted, revealed, secrets_of
from ._tokens import may_be_token

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
