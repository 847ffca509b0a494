"""What is secret in messages, and copies of messages without it.

Secret are credentials (SCRAM keys, tokens, what SASL exchanges) and the values of settings that Kafka's own definitions
call passwords. The value of a setting that Kafka does not define, such as one of a plugin, is secret as well: nobody knows
what is in it. Brokers decide likewise what they write to their own log (``AbstractKafkaConfig.loggableValue``).
"""

from __future__ import annotations

from ._rule import REDACTED, Secrets, Setting, is_secret_setting, marks, redacted, revealed, secrets_of

__all__ = ["REDACTED", "Secrets", "Setting", "is_secret_setting", "marks", "redacted", "revealed", "secrets_of"]
