"""The same call done natively and purely, and both outcomes to compare: results as they print, errors with their texts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kafka_messages._core import native
from kafka_messages._core.structs import StructBase
from kafka_messages.secrets import revealed


@dataclass(frozen=True)
class Outcome:
    """What a call gave: a result as it prints and its type, or an error with its text."""

    kind: type
    text: str
    is_error: bool
    value: Any = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcome):
            return NotImplemented
        return (self.kind, self.text, self.is_error) == (other.kind, other.text, other.is_error)

    def __hash__(self) -> int:
        return hash((self.kind, self.text, self.is_error))


def outcome(call: Callable[..., Any], *args: Any, **named: Any) -> Outcome:
    """Call, and keep what comes of it. Objects print with their classes and all their fields."""
    try:
        value = call(*args, **named)
    except Exception as error:
        return Outcome(type(error), str(error), True, error)
    return Outcome(type(value), _text(value), False, value)


def _text(value: Any) -> str:
    """The text of a result with its secrets."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return revealed(value) if isinstance(value, StructBase) else repr(value)


@contextmanager
def pure() -> Iterator[None]:
    """Everything purely, for a while."""
    before = native.rendering()
    native.set_rendering("pure")
    try:
        yield
    finally:
        native.set_rendering(before)


def purely(call: Callable[..., Any], *args: Any, **named: Any) -> Outcome:
    """The outcome of a call in the pure rendering."""
    with pure():
        return outcome(call, *args, **named)


def calls_of(cls: Any, door: Any = native) -> dict[str, Any]:
    """The native ``read``, ``read_from``, ``write`` and ``size`` of a message; ``__wrapped__`` is the pure one."""
    calls: dict[str, Any] = _native_of(cls, door).calls
    return calls


def _native_of(cls: Any, door: Any) -> Any:
    if cls.NAME not in door._door.messages:
        door._door.open(next(base for base in cls.__mro__ if "_plan" in vars(base)))
    return door._door.messages[cls.NAME]


def declined(cls: Any, door: Any = native) -> int:
    """How many calls of a message the core left to the pure methods so far."""
    use = _native_of(cls, door)
    return sum(call.declined for call in (*use.calls.values(), *use.readers.values()))


def structs_in(value: Any) -> Iterator[Any]:
    """A message and every struct in it, the outer ones first."""
    if hasattr(value, "_names"):
        yield value
        for name in value._names:
            yield from structs_in(getattr(value, name))
    elif isinstance(value, list):
        for element in value:
            yield from structs_in(element)


def script(text: str, **environment: str) -> str:
    """What a program prints in a process of its own; a crash or a traceback fails the test that runs it."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", text],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout
