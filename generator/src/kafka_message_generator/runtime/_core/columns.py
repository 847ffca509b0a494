"""The door to the native columns: open where the native core is on, and closed where its extension is missing.

``arrow`` and ``segments`` ask here at every call, so ``set_rendering()`` and its environment variable hold for them too.
"""

from __future__ import annotations

from functools import cache

from .native import FORMAT, rendering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def native_columns() -> Any:
    """The extension that makes columns, ``kafka_messages_native._columns``; None where the pure code has to do it."""
    return _extension() if rendering() == "native" else None


@cache
def _extension() -> Any:
    from importlib import import_module

    try:
        found = import_module("kafka_messages_native._columns")
    except (MemoryError, RecursionError):  # of this moment: the next use asks again
        raise
    except Exception:  # as the core's own door: whatever is wrong with it, the pure code needs none
        return None
    return found if found.FORMAT == FORMAT else None
