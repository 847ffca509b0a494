"""Loader of the native column builder."""

from __future__ import annotations

from functools import cache

from .native import FORMAT, implementation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@cache
def native_columns() -> Any:
    if implementation() == "pure":
        return None
    try:
        found: Any = __import__("kafka_messages_native._columns")._columns
    except (MemoryError, RecursionError):
        raise
    except Exception:  # fall back to the pure code
        return None
    return found if found.FORMAT == FORMAT else None
