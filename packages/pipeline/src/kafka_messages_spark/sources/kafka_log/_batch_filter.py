"""Selection of record batches by their headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._isolation import AbortedTransaction, are_aborted

if TYPE_CHECKING:
    from kafka_records.segments.headers import HeaderColumns

_HIGHEST = (1 << 63) - 1


@dataclass(frozen=True)
class Bounds:
    """Ranges of offsets and timestamps; None for unbounded."""

    from_offset: int | None = None
    # Exclusive.
    until_offset: int | None = None
    # Microseconds since the epoch; until_time is exclusive.
    from_time: int | None = None
    until_time: int | None = None

    def is_apart_from(self, other: Bounds) -> bool:
        both = self.within(other)
        return both.from_offset is not None and both.until_offset is not None and both.from_offset >= both.until_offset

    def within(self, other: Bounds) -> Bounds:
        return Bounds(
            _most(self.from_offset, other.from_offset),
            _least(self.until_offset, other.until_offset),
            _most(self.from_time, other.from_time),
            _least(self.until_time, other.until_time),
        )


@dataclass(frozen=True)
class BatchFilter:
    bounds: Bounds
    aborted: tuple[AbortedTransaction, ...] = ()

    def __call__(self, headers: HeaderColumns) -> Any:
        bounds = self.bounds
        keep = np.ones(len(headers.start), np.bool_)
        if bounds.from_offset is not None:
            keep &= headers.base_offset + headers.last_offset_delta >= min(bounds.from_offset, _HIGHEST)
        if bounds.until_offset is not None:
            keep &= ~headers.new | (headers.base_offset < min(bounds.until_offset, _HIGHEST))
        if bounds.from_time is not None:
            keep &= headers.max_timestamp >= _milliseconds(bounds.from_time + 999)  # headers have milliseconds
        if bounds.until_time is not None:
            keep &= (headers.timestamp_type != 1) | (headers.max_timestamp <= _milliseconds(bounds.until_time))
        if self.aborted:
            keep &= ~are_aborted(self.aborted, headers)
        return keep


def _milliseconds(microseconds: int) -> int:
    return max(-_HIGHEST, min(microseconds // 1000, _HIGHEST))


def _most(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _least(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)
