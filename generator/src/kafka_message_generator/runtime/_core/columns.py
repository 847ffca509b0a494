"""The native columns: the second extension of `kafka-messages-native`, chosen together with the first."""

from __future__ import annotations

from functools import cache

from .native import FORMAT, implementation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@cache
def native_columns() -> Any:
    """Return the extension that makes columns, or None if Python code has to do it."""
    if implementation() == "pure":
        return None
    try:
        found: Any = __import__("kafka_messages_native._columns")._columns
    except (MemoryError, RecursionError):
        raise
    except Exception:  # whatever is wrong with it, the pure code works without it
        return None
    return found if found.FORMAT == FORMAT else None
