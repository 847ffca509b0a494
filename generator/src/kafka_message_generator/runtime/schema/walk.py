"""Walk over encoded values that keeps none of them, to find the place of an error."""

from __future__ import annotations

import struct
from codecs import utf_8_decode
from collections.abc import Iterable
from itertools import groupby

from .types import SchemaError, Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Walk:
    """Steps over consecutive values: the fields of a struct, or the element of an array."""

    def __init__(self, members: Iterable[tuple[str, Type]]) -> None:
        self._steps: list[tuple[Any, ...]] = []
        # Consecutive values of fixed width are one step.
        for has_width, group in groupby(members, lambda member: member[1].width > 0):
            if has_width:
                run = tuple(group)
                self._steps.append((sum(kind.width for _, kind in run), 0, None, 0, 0, False, None, None, "", run))
                continue
            for part, kind in group:
                fixed = kind.length and kind.length.fixed
                prefix = fixed.width if fixed else 1 if kind.length else 0
                step = 0, prefix, fixed and fixed.unpack, kind.unit, kind.most, kind.errors == "strict", kind.walk
                self._steps.append((*step, kind, part, ((part, kind),)))
        self.width: int = self._steps[0][0] if len(self._steps) == 1 else 0

    def skip(self, data: bytes, pos: int, elements: range | None = None) -> int:
        """Return the offset after the values, or after those of each array element. Raises SchemaError as ``read``."""
        size, index, part, is_view = len(data), 0, "", type(data) is not bytes
        try:
            for index in range(1) if elements is None else elements:  # noqa: B007
                for width, prefix, unpack, unit, most, is_text, walk, kind, part, members in self._steps:
                    end = size + 1
                    try:
                        if width:
                            end = pos + width
                        elif prefix:
                            start = pos + prefix
                            length = unpack(data, pos)[0] if unpack else data[pos] - 1
                            if length > 126 and not unpack and (unit or walk):
                                length, start = kind.length.read(data, pos)
                            if length < 0:
                                end = start if kind.nullable else end
                            elif unit:
                                end = start + length * unit if length <= most else end
                                if is_text and start < end <= size:
                                    text = data[start:end]
                                    if is_view or not text.isascii():
                                        utf_8_decode(text, "strict", True)
                            elif walk is None:
                                end = kind.skip(data, pos)
                            elif length <= size - start and length <= most:
                                end = walk.skip(data, start, range(length))
                    except (IndexError, struct.error, UnicodeDecodeError):
                        end = size + 1
                    if end <= size:
                        pos = end
                        continue
                    for part, kind in members:  # noqa: B007
                        pos = kind.skip(data, pos)
        except SchemaError as error:
            raise error.inside(part).inside("" if elements is None else f"[{index}]") from None
        return pos
