"""Replacement for ``Generic`` that avoids importing ``typing``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic as Generic
else:

    class Generic:
        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls
