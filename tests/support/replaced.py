"""Functions of ``kafka_messages.protocol`` replaced where connections use them, and counts of calls of any function."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType
from typing import Any
from unittest import mock

CONNECTIONS = "kafka_messages.connection."


@contextmanager
def replaced(name: str, replacement: Callable[[Callable[..., Any]], Any]) -> Iterator[None]:
    """Replace a function in all modules of connections; ``replacement`` gets the original and returns another."""
    modules = [each for path, each in [*sys.modules.items()] if path.startswith(CONNECTIONS) and name in vars(each)]
    assert modules, f"no module of connections uses {name}"
    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(mock.patch.object(module, name, replacement(getattr(module, name))))
        yield


@contextmanager
def counting(*functions: Any) -> Iterator[Counter[str]]:
    """Count the calls of functions of Python code, by name, in this thread."""
    names: dict[CodeType, str] = {each.__code__: each.__name__ for each in functions}
    counts = Counter[str]()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code in names:
            counts[names[frame.f_code]] += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield counts
    finally:
        sys.setprofile(before)
