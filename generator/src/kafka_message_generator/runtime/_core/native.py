"""Choose between the native core and the pure Python code, once, when the package is imported.

The core (`kafka-messages-native`) reads and writes messages by the plan text of each module. It raises no errors of its
own: what it declines, the pure methods do again with the same arguments.
"""

from __future__ import annotations

import os
import sys

from .structs import NULLED, as_derived, owner_of
from .wire import UNSET, ZERO_UUID, RawTaggedField

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

FORMAT = 1  # of the plan texts in this package
SWITCH = "KAFKA_MESSAGES_NATIVE"  # environment variable; 0 selects the pure code


def implementation() -> Literal["native", "pure"]:
    """Return what reads and writes messages: ``"native"`` if the core is installed and not switched off, else ``"pure"``."""
    return "pure" if _core is None else "native"


def install(base: type) -> None:
    """Give the base class of all messages the native methods."""
    if _core is not None:
        for name in ("read", "read_from"):
            setattr(base, name, _core.ReadMethod(_package, base, name))
        for name in ("write", "chunks", "size"):
            setattr(base, name, _core.WriteMethod(_package, base, name))


def _load() -> tuple[Any, str]:
    """Return the core, or None and the reason why the pure code is used."""
    if os.environ.get(SWITCH) == "0":
        return None, f"{SWITCH} is 0"
    try:
        core = __import__("kafka_messages_native")
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # the pure code works without it
        return None, str(error)
    if core.FORMAT != FORMAT:
        return None, f"it reads plans of format {core.FORMAT}, and those of this package have format {FORMAT}"
    return core, ""


def _make_plan(cls: type) -> object:
    """Put the plan of a message into its class, and let its structs be constructed natively. Called at first use.

    A message that the core does not accept is in `refused` and stays pure. Two threads may both make a plan; either will do.
    """
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
        refused[owner.NAME] = error.with_traceback(None)  # its frames would keep what was read alive
        plan = None
    owner._native = plan
    return plan


def _construct_natively(plan: object, struct: Any, namespace: dict[str, Any]) -> None:
    """Replace the printed constructor of a class; one that somebody wrapped or replaced stays."""
    init: Any = vars(struct).get("__init__")
    is_here = getattr(init, "__globals__", None) is namespace
    if is_here and init.__code__.co_qualname == f"{struct.__qualname__}.__init__":
        struct._maker = _core.Maker(plan, struct)
        _core.use_maker(struct)


refused: dict[str, Exception] = {}  # messages that stay pure, and why; none of a package as it was generated
_core, reason = _load()
_package = None if _core is None else _core.Package(RawTaggedField, ZERO_UUID, NULLED, UNSET, as_derived, _make_plan)
filled = None if _core is None else _core.filled  # makes objects of classes with slots
