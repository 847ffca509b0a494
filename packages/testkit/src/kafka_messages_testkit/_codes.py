"""Error codes that Kafka's brokers return, for the APIs of the cluster."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path

from kafka_messages.protocol import ErrorCode


@cache
def returned_codes() -> dict[str, dict[str, list[str]]]:
    """Return the names of error codes by API and by the class of Kafka from which they were read.

    Read from Kafka 4's sources: the responses list most of them; the other classes add what they raise or map. Codes
    of later releases have the KIP beside the class that it changes.
    """
    found: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_name("error_codes.json").read_bytes())
    return found


def warn_of_code(api: str, code: ErrorCode, stacklevel: int) -> None:
    """Warn if Kafka never returns ``code`` in responses of an API. Codes of APIs outside the table are not checked."""
    classes = returned_codes().get(api)
    if classes is None or any(code.name in codes for codes in classes.values()):
        return
    text = f"Kafka never returns {code.name} in a response of {api}, as read from {', '.join(classes)}"
    warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)
