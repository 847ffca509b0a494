"""Search for the next frame of a stream whose frame boundaries are unknown.

A frame ends where a segment or another frame begins, and it begins with a segment or its bytes decode. The number of
decoded bytes is limited by the number of bytes searched.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from itertools import islice
from struct import Struct

from . import plausible
from .plausible import Plausibility

# Maximum size of a frame that the search accepts.
MOST_UNSURE = 1 << 20
# Maximum number of bytes decoded per byte searched.
MOST_DECODED = 4
# Number of segments whose starts are compared while a frame is incomplete.
_MOST_STARTS = 64
# Number of bytes that show whether a response may begin: size and correlation id.
RESPONSE_START = 8
_size = Struct(">i")
_essential = Struct(">hhi")

# API key and version of requests by correlation id.
Expected = OrderedDict[int, tuple[int, int]]


class Budget:
    """Bytes kept of incomplete frames over all connections."""

    def __init__(self, most_kept: int, most_of_all: int) -> None:
        self.most_kept = most_kept
        self._most_of_all = most_of_all
        self.used = 0

    @property
    def is_exceeded(self) -> bool:
        return self.used > self._most_of_all


class FrameSearch:
    """Search in one direction of a connection.

    With ``is_trial`` it is not known whether the direction has requests (or responses): a request must decode without a
    rest, or, with ``is_name_enough``, name its client; a response must belong to a request in ``expected``.
    """

    def __init__(
        self,
        plausibility: Plausibility,
        is_request: bool,
        expected: Expected,
        *,
        is_trial: bool = False,
        is_name_enough: bool = True,
    ) -> None:
        self._plausibility = plausibility
        self._is_request = is_request
        self._expected = expected
        self._is_trial = is_trial
        self._is_name_enough = is_name_enough
        self._needed = plausible.START if is_request else RESPONSE_START
        # Stream offsets of segments that may begin with a frame.
        self._starts: deque[int] = deque()
        # Number of bytes that may still be decoded.
        self._allowance = 0

    def add(self, offset: int, length: int, is_searched: bool) -> None:
        """Note a segment; the starts of earlier ones matter only while frames are searched."""
        if not is_searched:
            self._starts.clear()
            self._allowance = 0
        self._starts.append(offset)
        self._allowance += MOST_DECODED * length

    def find(self, data: bytearray, offset: int, is_last: bool) -> tuple[int, bool]:
        """Return the position of a frame and True, or the position from which to search again and False.

        ``offset`` is the stream offset of ``data``. With ``is_last``, the bytes after ``data`` are missing.
        """
        at = 0
        while True:
            at = self._candidate(data, offset, at)
            if len(data) - at < self._needed:
                return at, False
            found = self._is_frame(data, offset, at, is_last)
            if found is None and self._is_request and (named := self._named(data, offset, at)):
                return named, True
            if found is not False:
                return at, bool(found)
            at += 1

    def _candidate(self, data: bytearray, offset: int, at: int) -> int:
        end = max(len(data) - self._needed + 1, at)
        while self._starts and (start := self._starts[0] - offset) < end:
            if start >= at and self._may_begin(data, start):
                end = start
                break
            self._starts.popleft()
        if self._is_request:
            return self._plausibility.find_request(data, at, end)
        if at < end and self._expected:
            pattern = plausible.response_pattern(tuple(islice(reversed(self._expected), 64)))
            match = pattern.search(data, at, end + RESPONSE_START - 1)
            return match.start() if match else end
        return end

    def _named(self, data: bytearray, offset: int, after: int) -> int | None:
        """Return the position of a later request that begins with one of the last segments and names its client."""
        places = (start - offset for start in islice(reversed(self._starts), _MOST_STARTS))
        found = [at for at in places if after < at <= len(data) - self._needed and self._is_named(data, at)]
        return min(found, default=None)

    def _is_named(self, data: bytearray, at: int) -> bool:
        end = at + 4 + _size.unpack_from(data, at)[0]
        is_followed = len(data) - end < self._needed or self._may_begin(data, end)
        return is_followed and self._plausibility.may_be_request(data, at) and self._plausibility.names_client(data, at)

    def _may_begin(self, data: bytearray, at: int) -> bool:
        if self._is_request:
            return self._plausibility.may_be_request(data, at, is_known=False)
        size: int = _size.unpack_from(data, at)[0]
        return 4 <= size <= plausible.LONGEST_REQUEST

    def _is_frame(self, data: bytearray, offset: int, at: int, is_last: bool) -> bool | None:
        """Check a possible frame; None if more bytes will show whether it is one."""
        (size,) = _size.unpack_from(data, at)
        end = at + 4 + size
        left = len(data) - end
        is_aligned = bool(self._starts) and self._starts[0] == offset + at
        is_followed = left < self._needed or self._may_begin(data, end)
        if not is_followed and not is_aligned:
            return False
        if is_aligned and self._is_trial and self._is_request:
            key, version, number = _essential.unpack_from(data, at + 4)
            self._expected[number] = key, version
            if self._is_name_enough and self._is_named(data, at):
                return True
        if size > MOST_UNSURE:
            return False
        if left < 0 and is_last:
            return is_aligned and not (self._is_trial and self._is_request) and self.is_known(data, at)
        if left < 0 or (0 < left < self._needed and not is_last):
            return None
        if is_aligned and is_followed and not self._is_trial:
            return True
        if size > self._allowance:
            return False
        self._allowance -= size
        payload = bytes(data[at + 4 : end])
        if self._is_request:
            is_named = self._is_name_enough and is_followed and self._plausibility.names_client(data, at)
            return self._plausibility.is_request(payload, is_named)
        return self._plausibility.is_response(payload, self._expected)

    def is_known(self, data: bytearray, at: int = 0) -> bool:
        """Check whether a request of a known API, or a response to a request in ``expected``, may begin at ``at``."""
        if len(data) - at < self._needed:
            return False
        if self._is_request:
            return self._plausibility.may_be_request(data, at)
        return _size.unpack_from(data, at + 4)[0] in self._expected
