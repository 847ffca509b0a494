"""Open ports, and the tasks of accepted connections."""

from __future__ import annotations

import asyncio
import logging
import select
from asyncio import Queue, StreamReader, StreamWriter, Task
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any, Self, TypeAlias, TypeVar

from .._core.display import display
from ..connection import RemoteProtocolError

READ_SIZE = 1 << 16
# Frames of this size are decoded in a thread, because they could block the event loop.
_LARGE = 1 << 16
E = TypeVar("E")
Ahead: TypeAlias = Callable[[int], Callable[[], None] | None]


class CloseConnection(Exception):
    """Raise it in a handler or hook to write ``data`` to the client and close the connection. It is not reported."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(data)
        self.data = data


def client_address(writer: StreamWriter) -> tuple[str, int]:
    """Return host and port of the peer; ("", 0) if it has already disconnected."""
    address: Any = writer.get_extra_info("peername")
    return tuple(address[:2]) if address else ("", 0)


def log(error: Exception) -> None:
    """Log an error in one line, and with its traceback unless the peer is the cause."""
    exc_info = None if isinstance(error, RemoteProtocolError) or error.__traceback__ is None else error
    logging.getLogger(__name__).error("%s (%s)", error, ", ".join(error.__notes__), exc_info=exc_info)


async def read(reader: StreamReader) -> bytes:
    """Return the next bytes, or b"" if the peer has disconnected."""
    try:
        return await reader.read(READ_SIZE)
    except OSError:
        return b""


async def next_event(take: Callable[[], E], ahead: Ahead, places: asyncio.Semaphore, decoding: list[object]) -> E:
    """Return the next event. A large frame, then in ``decoding``, is decoded in a thread, which keeps its place."""
    if decode := ahead(_LARGE):
        decoding.append(decode)
        try:
            await places.acquire()
            job = asyncio.get_running_loop().run_in_executor(None, decode)
            job.add_done_callback(lambda _: places.release())
            await asyncio.shield(job)
        finally:
            decoding.remove(decode)
    return take()


class Accepted:
    """Accepted connection, with the time of its last progress."""

    _is_busy: Callable[[], bool]  # whether requests are unanswered

    def __init__(self, client: StreamWriter) -> None:
        self._client, self._chunks = client, Queue[bytes](1)
        self._used = monotonic()
        self._decoding: list[object] = []

    def _unused(self) -> float:
        """Return the seconds without progress. Decoding, and waiting for a place to decode, is progress."""
        if self._decoding:
            self._used = monotonic()
        return monotonic() - self._used

    def _has_left(self) -> bool:
        """Return whether the client has closed its side, or reset the connection. Unread bytes may precede that."""
        if not (is_closing := self._client.is_closing()) and hasattr(select, "poll"):  # not on Windows
            poll = select.poll()
            poll.register(self._client.get_extra_info("socket"), getattr(select, "POLLRDHUP", 0))  # and errors
            return bool(poll.poll(0))
        return is_closing

    async def _read_ahead(self, reader: StreamReader) -> None:
        """Put received bytes into a bounded queue, so that the end of the connection is noticed while requests wait."""
        data = None
        while data != b"":
            data = await read(reader)
            self._used = monotonic()
            await self._chunks.put(data)


async def write(writer: StreamWriter, data: bytes) -> None:
    """Write bytes and wait for buffer space. Raises CloseConnection if the peer has disconnected."""
    writer.write(data)
    try:
        await writer.drain()
    except OSError as error:
        raise CloseConnection from error


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    timer = asyncio.timeout(seconds)
    try:
        async with timer:
            yield
    except TimeoutError as error:
        if timer.expired():
            raise TimeoutError(f"{what} within {seconds:g} s") from error
        raise


async def close_writer(writer: StreamWriter, timeout: float) -> None:
    """Close after the buffered bytes are written, or after ``timeout`` seconds."""
    writer.close()
    try:
        with suppress(OSError):  # includes timeouts
            async with asyncio.timeout(timeout):
                await writer.wait_closed()
    finally:
        writer.transport.abort()


def check_least(name: str, value: Any, kind: Any, least: float) -> None:
    if not (isinstance(value, kind) and value >= least):
        raise ValueError(f"{name} must be a number, at least {least}, not {display(value)}")


class Listener:
    """Open ports, from ``serve`` or ``relay``. ``async with`` closes them and their connections at its end."""

    def __init__(self, linger: float, on_error: Any, max_connections: int, idle_timeout: float | None) -> None:
        self._linger, self._on_error = linger, on_error
        self._max_connections, self._is_full = max_connections, False
        self._idle_timeout = float("inf") if idle_timeout is None else idle_timeout
        check_least("max_connections", max_connections, int, 1)
        check_least("linger", linger, int | float, 0)
        check_least("idle_timeout", self._idle_timeout, int | float, 0.001)
        self._watched: dict[Accepted, Task[None]] = {}  # the task that ends a session
        self._decoders = asyncio.Semaphore(2)  # more threads would take the interpreter lock from the loop
        self._servers: dict[object, asyncio.Server] = {}
        self._sessions: set[Task[None]] = set()
        self._readers: set[Task[None]] = set()
        self._is_closed = False
        self.port = 0
        """The first port."""

    async def close(self, timeout: float = 1.0) -> None:
        """Stop listening and reading, and close; requests that are unanswered after ``timeout`` seconds are cancelled."""
        self._is_closed = True
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError):  # other event loops
            for each in (each for server in self._servers.values() for each in server.sockets):
                loop.remove_reader(each)
        await asyncio.sleep(0)  # asyncio does not close a connection that it accepts while its server closes
        for server in self._servers.values():
            server.close()
        for reader in self._readers:
            reader.cancel()
        if self._sessions:
            _, late = await asyncio.wait(self._sessions, timeout=timeout)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _listen(self, session: Callable[..., Coroutine[Any, Any, None]], key: object, **options: Any) -> None:
        def accept(reader: StreamReader, writer: StreamWriter) -> None:
            was_full, self._is_full = self._is_full, len(self._sessions) >= self._max_connections
            if self._is_full and not was_full:
                what = f"{self._max_connections} connections are open (max_connections); new ones are closed"
                self._report(ConnectionError(what), writer)
            if self._is_closed or self._is_full:
                writer.transport.abort()
                return
            task = asyncio.create_task(session(reader, writer))
            self._sessions.add(task)
            task.add_done_callback(self._sessions.discard)
            task.add_done_callback(lambda _: writer.transport.abort())

        server = await asyncio.start_server(accept, **options)
        if not self._servers:
            self._readers.add(asyncio.create_task(self._watch()))
        self._servers[key] = server
        self.port = self.port or server.sockets[0].getsockname()[1]
        if self._is_closed:
            server.close()

    async def _run(
        self, session: Accepted, writers: list[StreamWriter], *coroutines: Coroutine[Any, Any, None]
    ) -> None:
        """Run a session until its last task, which writes responses, or ``linger`` seconds without any after another task.

        ``_watch`` may end it earlier. ``writers`` are closed at the end; the first one is the client's.
        """
        tasks = [asyncio.create_task(each) for each in coroutines]
        for task in tasks:
            task.add_done_callback(lambda task: self._report(_error(task), writers[0]))
        self._readers.update(tasks[:-1])
        self._watched[session] = tasks[-1]
        timeout = 0.0
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not any(isinstance(_error(task), CloseConnection) for task in done):
                while (await asyncio.wait(tasks[-1:], timeout=self._linger))[1]:
                    if session._unused() >= self._linger:
                        break
            timeout = 1.0
        finally:
            self._readers.difference_update(tasks)
            del self._watched[session]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=1)  # a handler may ignore that it is cancelled
            await asyncio.gather(*(close_writer(each, timeout) for each in writers))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(1)
            self._end_unused()

    def _end_unused(self) -> None:
        """End sessions that are idle, and sessions without progress of clients that have left."""
        for session, task in self._watched.items():
            is_busy, unused = session._is_busy(), session._unused()
            if (unused >= self._linger and session._has_left()) if is_busy else unused >= self._idle_timeout:
                task.cancel()

    def _report(self, error: BaseException | None, client: StreamWriter, *notes: str) -> None:
        if isinstance(error, CloseConnection) and not client.is_closing():
            client.write(error.data)
        elif isinstance(error, Exception) and not isinstance(error, CloseConnection):
            for note in (*notes, f"connection of {client.get_extra_info('peername')}"):
                error.add_note(note)
            self._on_error(error)


def _error(task: Task[None]) -> BaseException | None:
    if not task.cancelled():
        return task.exception()
    return None if task.cancelling() else RuntimeError("a handler or hook raised CancelledError")
