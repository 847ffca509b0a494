"""Kafka's enumerations of numbers and strings: ``AclOperation.READ``, ``GroupState.STABLE``.

Members equal the numbers and strings of fields. An unknown number becomes ``AclOperation.UNKNOWN_99``.
``ENUMERATIONS`` has all enumerations by name.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._open import IntegerEnum as IntegerEnum
    from ._open import Special as Special
    from ._open import StringEnum as StringEnum
    from ._protocol import ApiKey as ApiKey
    from ._protocol import ErrorCode as ErrorCode
    from ._tables import *  # noqa: F403  # its names are those of the definitions
    from ._tables import ENUMERATIONS as ENUMERATIONS
else:

    def __getattr__(name):
        # Import the tables on first use; most programs need only ErrorCode and ApiKey.
        if name == "__all__":
            return _module("_tables").__all__
        for where in () if name.startswith("_") else ("_protocol", "_tables"):
            if name in _module(where).__all__:
                return getattr(_module(where), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted([*globals(), *__getattr__("__all__")])

    def _module(name):
        __import__(f"{__name__}.{name}")  # faster than importlib
        return sys.modules[f"{__name__}.{name}"]
