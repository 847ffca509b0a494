"""Loader of the native core (`kafka-messages-native`); without the core, pure Python code is used.

The pure code also repeats every call that the core declines.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from .structs import NULLED, as_derived, owner_of
from .wire import UNSET, ZERO_UUID, RawTaggedField

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

FORMAT = 1  # version of the plan texts
SWITCH = "KAFKA_MESSAGES_NATIVE"  # environment variable; 0 selects the pure code


def implementation() -> Literal["native", "pure"]:
    """Return ``"native"`` if the core is installed and enabled, else ``"pure"``."""
    return "pure" if _core is None else "native"


def install(base: type) -> None:
    if _core is not None:
        for name in ("read", "read_from"):
            setattr(base, name, _core.ReadMethod(_package, base, name))
        for name in ("write", "chunks", "size"):
            setattr(base, name, _core.WriteMethod(_package, base, name))


@cache
def native_columns() -> Any:
    """Return the native column builder, or None."""
    return None if _core is None else _load("kafka_messages_native._columns")[0]


def _load(name: str) -> tuple[Any, str]:
    if os.environ.get(SWITCH) == "0":
        return None, f"{SWITCH} is 0"
    try:
        found = __import__(name, fromlist=("FORMAT",))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # fall back to the pure code
        return None, str(error)
    if found.FORMAT != FORMAT:
        return None, f"the core reads plan format {found.FORMAT}, but this package has format {FORMAT}"
    return found, ""


def _make_plan(cls: type) -> object:
    # Called by the core at first use; concurrent calls return equal plans.
    owner = owner_of(cls)
    if owner is None:
        return None
    namespace = vars(sys.modules[owner.__module__])
    try:
        plan = _core.Plan(_package, owner._plan, namespace)
        for line in owner._plan.split("\n"):
            if line[:1] == ":":
                _construct_natively(plan, namespace[line[1:].split(" ", 1)[0]], namespace)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        refused[owner.NAME] = error.with_traceback(None)  # its frames would keep decoded messages alive
        plan = None
    owner._native = plan
    return plan


def _construct_natively(plan: object, struct: Any, namespace: dict[str, Any]) -> None:
    # Keep constructors that were wrapped or replaced.
    init: Any = vars(struct).get("__init__")
    is_here = getattr(init, "__globals__", None) is namespace
    if is_here and init.__code__.co_qualname == f"{struct.__qualname__}.__init__":
        struct._maker = _core.Maker(plan, struct)
        _core.use_maker(struct)


refused: dict[str, Exception] = {}  # error by message name, for plans that the core rejected
_core, reason = _load("kafka_messages_native")
_package = None if _core is None else _core.Package(RawTaggedField, ZERO_UUID, NULLED, UNSET, as_derived, _make_plan)
filled = None if _core is None else _core.filled  # creates objects with slots
