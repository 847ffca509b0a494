"""Frames and state of one direction of a connection, and the base class of clients and servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .._core.display import display, is_int
from .._core.generic import Generic
from .._core.wire import as_bytes
from ..protocol import FrameReader, FramingError
from ..protocol._foreign import known_protocol
from ._events import ConnectionClosed, LocalProtocolError, RemoteProtocolError
from ._states import CLOSED, Event, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeVar

    from .._core.wire import BytesLike

    E = TypeVar("E")
else:
    E = None

LENGTH_SIZE = 4
# Bytes of an invalid frame that are compared with other protocols.
_FIRST_BYTES = 1024


class Incoming(FrameReader):
    """Received bytes of one direction. After an error, every further call raises the same error."""

    __slots__ = ("_ahead", "_error", "_rest", "_transitions", "is_closed", "state")

    def __init__(self, max_frame_size: int, transitions: Mapping[State, Mapping[Event, State]], state: State) -> None:
        if not is_int(max_frame_size, 32, 1):
            raise ValueError(
                f"max_frame_size must be a number of bytes, 1 to {2**31 - 1}, not {display(max_frame_size)}"
            )
        super().__init__(max_frame_size)
        self._transitions = transitions
        self.state = state
        self._rest: bytes | None = None
        self._error: RemoteProtocolError | None = None
        # The frame that a thread decoded: its end, the request that it answers, its content or error.
        self._ahead: tuple[int, object, Any, Exception | None] | None = None
        self.is_closed = False

    @property
    def trailing_data(self) -> tuple[bytes, bool]:
        return (self.pending_data if self._rest is None else self._rest), self.is_closed

    def change(self, event: Event) -> None:
        self.state = self._transitions[self.state].get(event, self.state)

    def receive(self, data: BytesLike) -> None:
        if type(data) is bytes and data and not (self._pieces or self.is_closed or self._error):
            self._pieces.append(data)  # as `feed` does
            self._fed += len(data)
            return
        if self._error is not None:
            self.check()
        if type(data) is not bytes:
            data = as_bytes(data)
        if not data:
            self.is_closed = True
        elif self.is_closed:
            raise LocalProtocolError("the peer has closed the connection; no data can follow")
        else:
            self.feed(data)

    def ahead(
        self, min_size: int, decode: Callable[[bytes], object], asked: object = None
    ) -> Callable[[], None] | None:
        """Return a function whose result ``decode`` takes for the next frame, which stays the next; None for others."""
        if self.pending < max(min_size, LENGTH_SIZE) or self._error is not None:
            return None
        size, start = self._size, self._start
        if size < 0:  # wrong for a length that is split between pieces
            size = int.from_bytes(self._pieces[0][start : start + LENGTH_SIZE], "big")
        if not min_size <= LENGTH_SIZE + size <= self.pending or (frame := self._next(True)) is None:
            return None
        if self._start:
            self._pieces[0], self._start = memoryview(self._pieces[0])[self._start :], 0
        self._pieces.appendleft(frame)
        end, self.offset = self.offset, self.offset - len(frame)

        def run() -> None:
            try:
                self._ahead = end, asked, decode(frame[LENGTH_SIZE:]), None
            except Exception as error:
                self._ahead = end, asked, None, error

        return run

    def decode(self, payload: bytes, decode: Callable[[bytes], Any], asked: object = None) -> Any:
        """Decode the frame that was read last, unless a thread did."""
        if self._ahead is not None:
            (end, request, content, error), self._ahead = self._ahead, None
            if (end, request) == (self.offset, asked):
                if error is not None:
                    raise error
                return content
        return decode(payload)

    def _next(self, is_whole: bool) -> bytes | None:
        if self._error is not None:
            self.check()
        if self._fed == self.offset:
            return None
        offset = self.offset
        try:
            frame = super()._next(is_whole)
        except FramingError as error:
            raise self._ended(str(error), offset, self.pending_data) from error
        if frame is None and self.is_closed:
            reason = f"the peer closed the connection inside the frame at offset {offset}"
            raise self._ended(f"{reason}, after {self.pending} bytes", offset, self.pending_data)
        return frame

    def end(self, unanswered: Sequence[Any]) -> ConnectionClosed | None:
        if self.state is CLOSED:
            return None
        self.change(Event.CLOSED)
        return ConnectionClosed(unanswered)

    def refuse(self, frame: bytes, what: str, cause: Exception | None = None) -> RemoteProtocolError:
        """Return the error for the frame that was read last, whose payload is ``frame``."""
        offset = self.offset - LENGTH_SIZE - len(frame)
        reason = f"{what} at offset {offset}" + (f": {cause}" if cause is not None else "")
        error = self._ended(reason, offset, len(frame).to_bytes(LENGTH_SIZE, "big") + frame + self.pending_data)
        error.__cause__ = cause
        return error

    def check(self) -> None:
        if self._error is not None:
            error = RemoteProtocolError(self._error.reason, self._error.offset)
            raise error from self._error.__cause__

    def check_open(self) -> None:
        self.check()
        if self.is_closed:
            raise LocalProtocolError("the peer has closed the connection; open a new one")

    def _ended(self, reason: str, offset: int, rest: bytes) -> RemoteProtocolError:
        if looks_like := known_protocol(rest[:_FIRST_BYTES]):
            reason += f"; this looks like {looks_like}"
        self._rest = rest
        self._error = RemoteProtocolError(reason, offset)
        self._pieces.clear()
        self.change(Event.CLOSED)
        return self._error


class Connection(Generic[E]):

    def __init__(self, max_frame_size: int, transitions: Mapping[State, Mapping[Event, State]], state: State) -> None:
        self._incoming = Incoming(max_frame_size, transitions, state)

    @property
    def state(self) -> State:
        return self._incoming.state

    @property
    def trailing_data(self) -> tuple[bytes, bool]:
        """Received bytes that belong to no event yet, and whether the peer closed its side (as in h11)."""
        return self._incoming.trailing_data

    def receive_data(self, data: BytesLike) -> Iterator[E]:
        """Add bytes from the peer (b"" at the end of the stream) and iterate over events.

        Events that you do not read stay for the next call. The call and the iteration raise RemoteProtocolError.
        Bytes after the end of the stream raise LocalProtocolError.
        """
        self._incoming.receive(data)
        return iter(self.next_event, None)

    def next_event(self) -> E | None:
        """Return the next event, or None if more bytes are needed. Raises RemoteProtocolError."""
        raise NotImplementedError

    def decode_ahead(self, min_size: int) -> Callable[[], None] | None:
        """Return a function that decodes the next frame for ``next_event``, or None if it has not ``min_size`` bytes.

        Another thread may run the function, and this one send messages meanwhile. Then call ``next_event``.
        """
        raise NotImplementedError

    @property
    def unanswered(self) -> Sequence[Any]:
        """Requests that await a response, oldest first."""
        raise NotImplementedError

    def _end(self) -> ConnectionClosed | None:
        return self._incoming.end(self.unanswered) if self._incoming.is_closed else None
