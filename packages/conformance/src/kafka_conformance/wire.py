"""A connection to a broker: whole frames, each within a time limit."""

from __future__ import annotations

import socket
from contextlib import suppress
from time import monotonic, sleep

from kafka_messages.protocol import FrameReader, FramingError

_LONGEST_FRAME = 1 << 26  # bytes; a Fetch response of the cases has at most 1 MiB
_READ_SIZE = 1 << 16
_BETWEEN_PIECES = 0.002  # seconds


class CaseFailure(Exception):
    """The broker breaks the rule of the case; the text says where."""


class NoResponse(CaseFailure):
    """The broker cannot be reached, or does not respond in time."""


class ConnectionEnded(CaseFailure):
    """The broker has closed the connection."""


class Deadline:
    """Time limit of a case; ``left`` also limits each step."""

    def __init__(self, seconds: float, per_step: float) -> None:
        self._end = monotonic() + seconds
        self.per_step = per_step

    def left(self) -> float:
        """Return the seconds for the next step. Raises NoResponse if there are none."""
        seconds = min(self._end - monotonic(), self.per_step)
        if seconds <= 0:
            raise NoResponse("the time for this case is over")
        return seconds

    def sleep(self, seconds: float) -> None:
        sleep(min(seconds, self.left()))


class FrameSocket:
    """Connection to an address. Raises NoResponse."""

    def __init__(self, address: tuple[str, int], deadline: Deadline) -> None:
        self._deadline = deadline
        self._frames = FrameReader(_LONGEST_FRAME)
        try:
            self._socket = socket.create_connection(address, deadline.left())
        except (OSError, UnicodeError) as error:  # UnicodeError for a host that is no name
            reason = getattr(error, "strerror", None) or error
            raise NoResponse(f"cannot connect to {address[0]}:{address[1]}: {reason}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data: bytes, pieces: int = 0) -> None:
        """Send bytes, in packets of ``pieces`` bytes unless that is 0. A closed connection is noticed by ``receive``."""
        with suppress(OSError):
            self._socket.settimeout(self._deadline.left())
            for start in range(0, len(data), pieces or len(data) or 1):
                if start:
                    sleep(_BETWEEN_PIECES)
                self._socket.sendall(data[start : start + pieces] if pieces else data)

    def receive(self) -> bytes:
        """Return the next whole frame. Raises NoResponse, ConnectionEnded, or CaseFailure for other bytes."""
        limit = self._deadline.left()
        end = monotonic() + limit
        try:
            while (frame := self._frames.next_whole_frame()) is None:
                self._socket.settimeout(max(end - monotonic(), 0.001))
                data = self._socket.recv(_READ_SIZE)
                if not data:
                    raise ConnectionResetError
                if monotonic() > end:
                    raise TimeoutError
                self._frames.feed(data)
        except TimeoutError:
            part = f"; {self._frames.pending} bytes of a frame arrived" if self._frames.pending else ""
            raise NoResponse(f"no response within {limit:.3g} s{part}") from None
        except FramingError as error:
            raise CaseFailure(f"the response is not a frame: {error}") from None
        except OSError:
            part = f" after {self._frames.pending} bytes of a frame" if self._frames.pending else ""
            raise ConnectionEnded(f"the broker closed the connection{part}") from None
        return frame

    def unread(self) -> bytes:
        """Return bytes that arrived after the last frame that was read, without waiting."""
        with suppress(OSError):
            self._socket.settimeout(0)
            self._frames.feed(self._socket.recv(_READ_SIZE))
        return self._frames.pending_data

    def close(self) -> None:
        self._socket.close()
