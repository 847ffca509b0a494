"""Loader of the native core (`kafka-messages-native`); without the core, pure Python code is used.

The pure code also repeats every call that the core declines.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache

from .structs import NULLED, StructBase, as_derived, owner_of
from .wire import UNSET, ZERO_UUID, RawTaggedField

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

FORMAT = 1  # version of the plan texts
SWITCH = "KAFKA_MESSAGES_NATIVE"  # environment variable; 0 selects the pure code
PROBE = "1\n:Empty\n0 ;\n:Probe empty/@Empty number/i\n0 0@0 1 ;\n"  # plan of a message with an empty struct
REFUSALS = ValueError, TypeError, KeyError, AttributeError  # raised by the core for a plan
REMEDY = "update kafka-messages-native"


def implementation() -> Literal["native", "pure"]:
    """Return ``"native"`` if the core is installed, enabled and works with this Python, else ``"pure"``."""
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
    refusal = None
    try:
        plan = _core.Plan(_package, owner._plan, namespace)
        for line in owner._plan.split("\n"):
            if line[:1] == ":":
                _construct_natively(plan, namespace[line[1:].split(" ", 1)[0]], namespace)
    except REFUSALS as error:
        plan, refusal = None, error.with_traceback(None)  # its frames would keep decoded messages alive
    owner._native = plan
    if refusal is not None:
        warn_refused(owner, refusal, stacklevel=3)
    return plan


def warn_refused(message: Any, error: Exception, stacklevel: int) -> None:
    """Warn once about a message whose plan the core rejected."""
    if refused.setdefault(message.NAME, error) is error:
        text = (
            f"{message.NAME} is left to pure Python code, because the native core refused its plan ({error}); {REMEDY}"
        )
        warnings.warn(text, RuntimeWarning, stacklevel=stacklevel)


def _construct_natively(plan: object, struct: Any, namespace: dict[str, Any]) -> None:
    # Keep constructors that were wrapped or replaced.
    init: Any = vars(struct).get("__init__")
    is_here = getattr(init, "__globals__", None) is namespace
    if is_here and init.__code__.co_qualname == f"{struct.__qualname__}.__init__":
        struct._maker = _core.Maker(plan, struct)
        _core.use_maker(struct)


def _new_package() -> Any:
    # A small plan shows whether the core knows the memory layout of this Python's classes.
    class Probe(StructBase):
        __slots__ = ("empty", "number", "unknown_tagged_fields")

    package = _core.Package(RawTaggedField, ZERO_UUID, NULLED, UNSET, as_derived, _make_plan)
    _core.Plan(package, PROBE, {"Empty": Probe, "Probe": Probe})
    return package


refused: dict[str, Exception] = {}  # error by message name, for plans that the core rejected
_core: Any
_core, reason = _load("kafka_messages_native")
try:
    _package = None if _core is None else _new_package()
except REFUSALS as error:
    _core, _package = None, None
    reason = f"the core does not work with Python {sys.version.split()[0]} ({error}); {REMEDY}"
filled = None if _core is None else _core.filled  # creates objects with slots
