"""An event loop in a thread."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from threading import Thread, current_thread
from typing import Any, TypeVar
from weakref import WeakSet

T = TypeVar("T")
_MOST_SECONDS = 30.0
INTERVAL = 0.005  # seconds between two looks of a coroutine at a state that others change


class LoopThread:
    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        _threads.add(self)
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.loop.run_forever()
        if tasks := asyncio.all_tasks(self.loop):  # of stop(), after a function blocked the thread
            self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    def run(self, coroutine: Coroutine[Any, Any, T], timeout: float = _MOST_SECONDS) -> T:
        """Run a coroutine in the thread and return its result. Raises TimeoutError after ``timeout`` seconds.

        Raises RuntimeError in the thread itself, and when it has ended.
        """
        future = self.submit(coroutine)
        try:
            return future.result(timeout)
        except CancelledError:
            raise self._stopped() from None
        finally:
            future.cancel()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the thread. Raises RuntimeError in the thread itself, and when it has ended."""
        if self.loop.is_closed() or current_thread() is self._thread:
            coroutine.close()
            raise (
                self._stopped() if self.loop.is_closed() else RuntimeError("a function of a rule cannot wait for this")
            )
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in the thread and return its result; functions of rules are already there."""
        if current_thread() is self._thread:
            return function(*arguments)

        async def call() -> T:
            return function(*arguments)

        return self.run(call())

    def _stopped(self) -> RuntimeError:
        return RuntimeError(f"{self._thread.name} has stopped; call this in its with statement")

    def stop(self) -> None:
        """Cancel all tasks and end the thread, unless a function of a rule blocks it."""

        async def cancel() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=0.2)

        with suppress(TimeoutError):
            self.run(cancel(), 0.3)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(0.2)
        if self._thread.is_alive():
            logging.getLogger(__name__).warning("the thread %r is still busy", self._thread.name)


_threads: WeakSet[LoopThread] = WeakSet()


def _close_sockets() -> None:
    """Close the ports and connections that a forked child inherits; its objects keep the file descriptors."""
    null = os.open(os.devnull, os.O_RDWR)
    for selector in (getattr(each.loop, "_selector", None) for each in _threads):  # of asyncio's own loops
        for number in (selector and selector.get_map()) or ():
            os.dup2(null, number, inheritable=False)
    os.close(null)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_sockets)
