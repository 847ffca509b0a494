"""Runs coroutines in an event loop that must report nothing and leave no tasks."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

SECONDS = 20

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result; fail after ``SECONDS``, for tasks that are left, and for unretrieved exceptions."""
    reported: list[dict[str, Any]] = []

    async def watched() -> T:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        try:
            return await asyncio.wait_for(coroutine, SECONDS)
        finally:
            await asyncio.sleep(0)  # callbacks of closed transports
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert left == set()

    result = asyncio.run(watched())
    gc.collect()
    assert reported == []
    return result
