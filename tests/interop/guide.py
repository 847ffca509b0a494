"""Runs the guide's programs in this process, in event loops in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .broker import free_ports

SECONDS = 30

T = TypeVar("T")


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, made: Callable[[], Awaitable[T]], seconds: float = SECONDS) -> T:
        """Call a function in the loop, await its coroutine, and return the result."""

        async def within() -> T:
            return await asyncio.wait_for(made(), seconds)

        return asyncio.run_coroutine_threadsafe(within(), self._loop).result(seconds + 1)

    def close(self) -> None:
        """Cancel all tasks and stop the loop."""

        async def cancelled() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(cancelled(), self._loop).result(SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()


@contextmanager
def looping() -> Iterator[Loop]:
    loop = Loop()
    try:
        yield loop
    finally:
        loop.close()


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextmanager
def served(make: Callable[[int], Serve]) -> Iterator[int]:
    """Serve a free port inside the ``with`` block, with the connection handler from ``make``; yield the port."""
    (port,) = free_ports(1)
    with looping() as loop:
        loop.run(lambda: asyncio.start_server(make(port), "127.0.0.1", port))
        yield port
