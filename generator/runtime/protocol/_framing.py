"""Frames: an int32 length, big-endian, before each request and response on a connection. Without any I/O."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from .._core.wire import as_bytes
from ..errors import EncodeError
from ._errors import FramingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._core.wire import BytesLike

_size = Struct(">i")
_LONGEST = 2**31 - 1

MAX_FRAME_SIZE = 100 * 1024 * 1024
"""Bytes that a frame may have unless told otherwise: the default of the broker's ``socket.request.max.bytes``."""


def frame(payload: BytesLike) -> bytes:
    """The payload with its length before it. Raises EncodeError when int32 cannot hold the length."""
    return framed(payload if isinstance(payload, bytes) else as_bytes(payload, "payload"))


def framed(*parts: BytesLike) -> bytes:
    """One frame of several parts."""
    size = sum(map(len, parts))
    if size > _LONGEST:
        raise EncodeError(f"a frame of {size} bytes is too large; its length is an int32")
    return b"".join((_size.pack(size), *parts))


def split_frames(data: BytesLike, max_size: int = MAX_FRAME_SIZE) -> list[bytes]:
    """The payloads of data that is nothing but whole frames.

    Raises FramingError for a length that is negative or above ``max_size`` (bytes), and for a last frame that is not
    complete.
    """
    reader = FrameReader(max_size)
    reader.feed(data)
    frames = list(reader)
    reader.close()
    return frames


class FrameReader:
    """Cuts a stream of bytes into frames; feed it what a connection gives, then iterate over what is complete.

    ``for payload in reader`` gives the complete frames, without their length, and can be repeated after the next
    ``feed``. Takes time linear in the bytes fed, however small the pieces; memory grows with what was fed and not
    taken yet, never with a length that a peer claims. After a FramingError the stream cannot be understood any more:
    every further use raises the same error.
    """

    __slots__ = ("_base", "_buffer", "_failure", "_start", "max_size")

    def __init__(self, max_size: int = MAX_FRAME_SIZE) -> None:
        """``max_size``: bytes that a payload may have; ValueError unless 0 to 2**31 - 1."""
        if not 0 <= max_size <= _LONGEST:
            raise ValueError(f"max_size {max_size} is outside 0 to {_LONGEST}")
        self.max_size = max_size
        self._buffer = bytearray()
        self._start = 0  # of the next frame in the buffer
        self._base = 0  # offset of the buffer in the stream
        self._failure: tuple[str, int] | None = None

    @property
    def pending(self) -> int:
        """How many bytes were fed and are not part of a frame that was given out."""
        return len(self._buffer) - self._start

    @property
    def pending_data(self) -> bytes:
        """These bytes, also after a FramingError."""
        return bytes(self._buffer[self._start :])

    @property
    def offset(self) -> int:
        """Where the next frame starts in the stream: the offset of its length."""
        return self._base + self._start

    def feed(self, data: BytesLike) -> None:
        """Add the next bytes of the stream, any number of them."""
        self._check()
        if self._start and self._start * 2 >= len(self._buffer):
            # What is moved is not more than what was given out since the last time.
            del self._buffer[: self._start]
            self._base += self._start
            self._start = 0
        try:
            self._buffer += data
        except TypeError:
            raise TypeError(f"data must be bytes-like, not {type(data).__name__}") from None

    def next_frame(self) -> bytes | None:
        """The next complete payload, or None. Raises FramingError as soon as a length is known to be wrong."""
        self._check()
        if self.pending < _size.size:
            return None
        start = self._start + _size.size
        (size,) = _size.unpack_from(self._buffer, self._start)
        if size < 0:
            raise self._fail(f"the length of the frame at offset {self.offset} is negative: {size}")
        if size > self.max_size:
            reason = f"the frame at offset {self.offset} has {size} bytes, but at most {self.max_size} are allowed"
            raise self._fail(reason)
        end = start + size
        if end > len(self._buffer):
            return None
        with memoryview(self._buffer) as view, view[start:end] as part:
            payload = bytes(part)
        self._start = end
        if end == len(self._buffer):
            self._base += end
            self._start = 0
            self._buffer.clear()
        return payload

    def __iter__(self) -> Iterator[bytes]:
        while (payload := self.next_frame()) is not None:
            yield payload

    def close(self) -> None:
        """The stream has ended. Raises FramingError when it ended inside a frame, or frames were not taken."""
        self._check()
        if self.pending:
            end = self.offset + self.pending
            raise self._fail(f"the data ends at offset {end}, inside the frame at offset {self.offset}")

    def _fail(self, reason: str) -> FramingError:
        self._failure = (reason, self.offset)
        return FramingError(reason, offset=self.offset)

    def _check(self) -> None:
        if self._failure is not None:
            raise FramingError(self._failure[0], offset=self._failure[1])
