"""The same call done natively and purely, and both outcomes to compare: results as they print, errors with their texts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from unittest import mock

from kafka_messages._core import native
from kafka_messages._core.structs import StructBase
from kafka_messages.secrets import revealed

READERS: tuple[Literal["read", "read_from"], ...] = ("read", "read_from")
WRITERS: tuple[Literal["write", "chunks", "size"], ...] = ("write", "chunks", "size")
METHODS = (*READERS, *WRITERS)


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
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return revealed(value) if isinstance(value, StructBase) else repr(value)


@contextmanager
def pure(package: str = "kafka_messages") -> Iterator[None]:
    """Let messages be read and written, and columns be made, as without the core: by what it calls when it declines."""
    modules = [sys.modules.get(f"{package}.{name}.{'_' * (name == 'arrow')}native") for name in ("arrow", "segments")]
    with ExitStack() as stack:
        message = sys.modules[package].Message
        for name in METHODS if native.implementation() == "native" else ():
            stack.enter_context(mock.patch.object(message, name, vars(message)[name].__wrapped__))
        for module in filter(None, modules):
            stack.enter_context(mock.patch.object(module, "native_columns", return_value=None))
        yield


def purely(call: Any, *args: Any, **named: Any) -> Outcome:
    """The outcome of a call of a class or message by the pure method of the same name."""
    with pure():
        return outcome(getattr(call.__self__, call.__name__), *args, **named)


def opened(cls: Any) -> Any:
    """The plan of a message, which its first use makes; it counts the calls that were ``declined``."""
    assert type(cls.read).__name__ == "Reader"
    return cls._native


def declined(cls: Any) -> int:
    """How many calls of a message the core left to the pure methods so far."""
    count: int = opened(cls).declined
    return count


LEFT = object()  # returned by `bare_calls` where the pure method would be called


def left(*args: object) -> object:
    """Stand for a pure method."""
    return LEFT


def bare_calls(cls: Any, plan: Any, package: Any) -> dict[str, Any]:
    """Return native methods that follow a plan of their own, and give LEFT instead of calling the pure code."""
    import kafka_messages_native as core

    owner: Any = next((base for base in cls.__mro__ if "_plan" in vars(base)), cls)
    base = type("Left", (), dict.fromkeys(METHODS, left))

    def with_plan(call: Callable[..., Any], *args: Any) -> Any:
        before, owner._native = vars(owner).get("_native"), plan
        try:
            return call(*args)
        finally:
            owner._native = before

    readers = {name: core.ReadMethod(package, base, name) for name in READERS}
    writers = {name: core.WriteMethod(package, base, name) for name in WRITERS}
    return {
        **{name: with_plan(method.__get__, None, cls) for name, method in readers.items()},
        **{name: partial(with_plan, method) for name, method in writers.items()},
    }


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
