"""Find and redact secrets in messages.

Secrets are credentials (SCRAM keys, tokens, SASL exchanges) and the values of configs that Kafka's definitions declare
as passwords. Values of unknown configs, such as those of plugins, count as secrets too, as in Kafka's own logs
(``AbstractKafkaConfig.loggableValue``).
"""

from __future__ import annotations

from ._rule import REDACTED, Secrets, Setting, is_secret_setting, marks, redacted, revealed, secrets_of

__all__ = ["REDACTED", "Secrets", "Setting", "is_secret_setting", "marks", "redacted", "revealed", "secrets_of"]
