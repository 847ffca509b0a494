"""What both ends of a connection have in common: bytes in, events out, until the peer closes."""

from __future__ import annotations

from collections.abc import Iterator

from .._core.generic import Generic
from ._events import ConnectionClosed
from ._incoming import Incoming
from ._states import CLOSED, Event, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeVar

    from .._core.wire import BytesLike

    E = TypeVar("E")
else:
    E = None


class Connection(Generic[E]):
    """One end of a connection. Not for several threads at once."""

    def __init__(self, max_frame_size: int, transitions: Mapping[State, Mapping[Event, State]], state: State) -> None:
        self._incoming = Incoming(max_frame_size, transitions, state)

    @property
    def state(self) -> State:
        """The current state."""
        return self._incoming.state

    @property
    def trailing_data(self) -> tuple[bytes, bool]:
        """The bytes that are in no event, and whether the peer has closed its side; as in h11."""
        return self._incoming.trailing_data

    def receive_data(self, data: BytesLike) -> Iterator[E]:
        """Take what was read from the peer, b"" for its end; iterate over what comes of it.

        Events that are not taken stay for the next call. Raises RemoteProtocolError, also while iterating.
        """
        self._incoming.receive(data)
        return iter(self.next_event, None)

    def next_event(self) -> E | None:
        """The next event, or None where more bytes are needed. Raises RemoteProtocolError."""
        raise NotImplementedError

    @property
    def unanswered(self) -> Sequence[Any]:
        """The requests whose responses are still missing, the oldest first."""
        raise NotImplementedError

    def _end(self) -> ConnectionClosed | None:
        """Return ConnectionClosed if the peer has closed the connection, once; there is no frame left."""
        if not self._incoming.is_closed or self._incoming.state is CLOSED:
            return None
        self._incoming.change(Event.CLOSED)
        return ConnectionClosed(self.unanswered)
