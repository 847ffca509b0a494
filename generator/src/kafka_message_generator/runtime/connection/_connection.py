"""Base class of client and server connections."""

from __future__ import annotations

from collections.abc import Iterator

from .._core.generic import Generic
from ._incoming import Incoming
from ._states import Event, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeVar

    from .._core.wire import BytesLike
    from ._events import ConnectionClosed

    E = TypeVar("E")
else:
    E = None


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

    @property
    def unanswered(self) -> Sequence[Any]:
        """Requests that await a response, oldest first."""
        raise NotImplementedError

    def _end(self) -> ConnectionClosed | None:
        return self._incoming.end(self.unanswered) if self._incoming.is_closed else None
