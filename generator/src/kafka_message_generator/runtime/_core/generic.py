"""``Generic`` as type checkers know it, without the cost of importing ``typing``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic as Generic
else:

    class Generic:
        """A base that can be subscripted; what stands in the brackets is for type checkers."""

        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls
