"""Loading of the optional C extension, once per process."""

from __future__ import annotations

import os
import warnings
from functools import cache
from importlib import import_module
from struct import calcsize
from typing import Any

from . import format

SWITCH = "KAFKA_MESSAGES_NATIVE"  # environment variable; 0 disables the extension
FIELDS = (
    "BASE_OFFSET",
    "LENGTH",
    "LEADER_EPOCH",
    "MAGIC",
    "CRC",
    "ATTRIBUTES",
    "LAST_OFFSET_DELTA",
    "BASE_TIMESTAMP",
    "MAX_TIMESTAMP",
    "PRODUCER_ID",
    "PRODUCER_EPOCH",
    "BASE_SEQUENCE",
    "COUNT",
)  # fields of `format.BATCH`, in order


def table() -> dict[str, int]:
    kinds = format.BATCH.format.removeprefix(">")
    places = {f"{name}_AT": calcsize(">" + kinds[:number]) for number, name in enumerate(FIELDS) if number}
    return places | {
        "OVERHEAD": format.OVERHEAD,
        "SMALLEST_0": format.SMALLEST[0],
        "SMALLEST_1": format.SMALLEST[1],
        "HEADER": format.SMALLEST[2],
        "SMALLEST_RECORD": format.SMALLEST_RECORD,
        "SUMMED_FROM": format.SUMMED_FROM[2],
        "MESSAGE_ATTRIBUTES_AT": calcsize(format.ENTRY.format[:-1]),
        "MESSAGE_TIMESTAMP_AT": format.TIMESTAMP_AT,
        "COMPRESSION": format.COMPRESSION,
        "CODECS": len(format.CODECS),
        "FAULTS": len(format.FAULTS),
    }


def load() -> Any:
    """Return the extension, or None if it is disabled, missing or incompatible."""
    if os.environ.get(SWITCH) == "0":
        return None
    try:
        found = import_module("kafka_messages_native._columns")
    except (MemoryError, RecursionError):
        raise
    except Exception:  # any failure selects the Python code
        return None
    return found if getattr(found, "BATCH_FORMAT", None) == table() else None


core = load()


@cache
def warn_if_missing() -> None:
    """Warn once per process if the extension is missing or incompatible, unless it is disabled."""
    if core is None and os.environ.get(SWITCH) != "0":
        text = "kafka_records reads segments in pure Python, which is slow; install or update kafka-messages-native"
        warnings.warn(text, RuntimeWarning, stacklevel=5)
