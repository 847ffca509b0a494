"""Random messages and damaged bytes, seeded or as Hypothesis strategies (extra ``testing``)."""

from __future__ import annotations

from .._core.index import load as _load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .damage import damaged
    from .message_generator import random_messages
    from .strategies import damaged_bytes, encodings, messages, versions

    __all__ = ["damaged", "damaged_bytes", "encodings", "messages", "random_messages", "versions"]

_MODULES = {
    "damaged": "damage",
    "damaged_bytes": "strategies",
    "encodings": "strategies",
    "messages": "strategies",
    "random_messages": "message_generator",
    "versions": "strategies",
}


def __getattr__(name: str) -> object:
    if name == "__all__":  # without Hypothesis there are no strategies
        from importlib.util import find_spec

        return [each for each in _MODULES if _MODULES[each] != "strategies" or find_spec("hypothesis")]
    return _load(__name__, _MODULES, name, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
