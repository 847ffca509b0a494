"""Frames: a big-endian int32 length before each request and response."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from struct import Struct

from .._core.wire import as_bytes
from ..errors import EncodeError
from ._errors import FramingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._core.wire import BytesLike

_size = Struct(">i")
_size_at = _size.unpack_from
_LONGEST = 2**31 - 1

# Shorter parts are joined, because each separate object has overhead.
_SMALL = 1024

MAX_FRAME_SIZE = 100 * 1024 * 1024
"""Default limit in bytes, equal to the broker's ``socket.request.max.bytes``."""


def frame(payload: BytesLike) -> bytes:
    """Return the payload preceded by its length. Raises EncodeError for a length beyond int32."""
    return b"".join(framed_chunks(b"", [payload if isinstance(payload, bytes) else as_bytes(payload, "payload")], True))


def framed_chunks(header: bytes, body: list[bytes], framed: bool) -> list[bytes]:
    if not framed:
        return [header, *body]
    size = len(header) + (len(body[0]) if len(body) == 1 else sum(map(len, body)))
    if size > _LONGEST:
        raise EncodeError(f"a frame of {size} bytes is too large; its length is an int32")
    return [_size.pack(size) + header, *body]


def split_frames(data: BytesLike, max_size: int = MAX_FRAME_SIZE) -> list[bytes]:
    """Return the payloads of complete frames.

    Raises FramingError for a length that is negative or above ``max_size`` bytes, or an incomplete last frame.
    """
    reader = FrameReader(max_size)
    reader.feed(data)
    frames = list(reader)
    reader.close()
    return frames


class FrameReader:
    """Splitter of a byte stream into frames: ``feed`` bytes, then iterate over complete payloads.

    Time is linear in the bytes fed; memory is bounded by unread bytes, never by a claimed length. After a FramingError
    every call raises it again.
    """

    __slots__ = ("_failure", "_fed", "_length", "_pieces", "_size", "_start", "max_size", "offset")

    def __init__(self, max_size: int = MAX_FRAME_SIZE) -> None:
        """Set the largest payload, 0 to 2**31 - 1 bytes. Raises ValueError."""
        if not 0 <= max_size <= _LONGEST:
            raise ValueError(f"max_size {max_size} is outside 0 to {_LONGEST}")
        self.max_size = max_size
        self._fed = 0  # bytes so far
        self._pieces: deque[bytes | bytearray | memoryview] = deque()  # as fed, small ones joined
        self._start = 0  # offset of the unread bytes in the first piece
        self._length = b""  # length field of the next frame, once read
        self._size = -1  # value of this field, or -1
        self.offset = 0
        """Stream offset of the next frame."""
        self._failure: tuple[str, int] | None = None

    @property
    def pending(self) -> int:
        """Number of bytes fed but not returned."""
        return self._fed - self.offset

    @property
    def pending_data(self) -> bytes:
        """Bytes that were fed but not returned."""
        pieces = iter(self._pieces)
        return b"".join((self._length, next(pieces, b"")[self._start :], *pieces))

    def feed(self, data: BytesLike) -> None:
        if self._failure is not None:
            self._check()
        if type(data) is not bytes:
            data = as_bytes(data)
        pieces = self._pieces
        if len(data) >= _SMALL or not pieces:
            if data:
                pieces.append(data)
        elif type(pieces[-1]) is bytearray and len(pieces) > 1:
            pieces[-1] += data
        else:
            pieces.append(bytearray(data))
        self._fed += len(data)

    def next_frame(self) -> bytes | None:
        """Return the next complete payload, or None. Raises FramingError."""
        return self._next(False)

    def next_whole_frame(self) -> bytes | None:
        """Return the next complete frame including its length field, or None. Raises FramingError."""
        pieces = self._pieces
        if pieces and self._size < 0 and self._failure is None:
            piece, start = pieces[0], self._start
            if len(piece) - start >= 4 and type(piece) is bytes:
                whole = _size_at(piece, start)[0] + 4
                end = start + whole
                if 4 <= whole <= self.max_size + 4 and end <= len(piece):
                    if end == len(piece):
                        self._start = 0
                        pieces.popleft()
                    else:
                        self._start = end
                    self.offset += whole
                    return piece[start:end]
        return self._next(True)

    def _next(self, is_whole: bool) -> bytes | None:
        self._check()
        size = self._size
        if size < 0:
            if self.pending < _size.size:
                return None
            self._length = self._take(_size.size)
            (size,) = _size.unpack(self._length)
            if size < 0:
                raise self._fail(f"the length of the frame at offset {self.offset} is negative: {size}")
            if size > self.max_size:
                reason = f"the frame at offset {self.offset} has {size} bytes, but at most {self.max_size} are allowed"
                raise self._fail(reason)
            self._size = size
        if self.pending < _size.size + size:
            return None
        payload = self._take(size, self._length if is_whole else b"")
        self.offset += _size.size + size
        self._size, self._length = -1, b""
        return payload

    def _take(self, size: int, before: bytes = b"") -> bytes:
        pieces = self._pieces
        parts: list[bytes | memoryview] = [before] if before else []
        while size:
            piece, start = pieces[0], self._start
            end = start + size
            if end < len(piece):
                self._start = end
            else:
                end = len(piece)
                self._start = 0
                pieces.popleft()
            size -= end - start
            if not size and not parts and type(piece) is bytes:
                return piece[start:end]
            parts.append(memoryview(piece)[start:end])
        return b"".join(parts)

    def __iter__(self) -> Iterator[bytes]:
        while (payload := self.next_frame()) is not None:
            yield payload

    def close(self) -> None:
        """Mark the end of the stream. Raises FramingError if unread bytes remain."""
        self._check()
        if self.pending:
            end = self.offset + self.pending
            raise self._fail(f"truncated frame at offset {self.offset}: the data ends at offset {end}")

    def _fail(self, reason: str) -> FramingError:
        self._failure = (reason, self.offset)
        return FramingError(reason, offset=self.offset)

    def _check(self) -> None:
        if self._failure is not None:
            raise FramingError(self._failure[0], offset=self._failure[1])
