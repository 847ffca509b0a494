"""Outcomes of the same call in native and pure code, in comparable form."""

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

from kafka_messages import Message, implementation
from kafka_messages.secrets import revealed

READERS: tuple[Literal["read", "read_from"], ...] = ("read", "read_from")
WRITERS: tuple[Literal["write", "chunks", "size"], ...] = ("write", "chunks", "size")
METHODS = (*READERS, *WRITERS)


@dataclass(frozen=True)
class Outcome:
    """Result of a call as type and text, or an error with its text."""

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
    """Return the outcome of a call. The text contains classes and all fields."""
    try:
        value = call(*args, **named)
    except Exception as error:  # compared with that of the other code
        return Outcome(type(error), str(error), True, error)
    return Outcome(type(value), _text(value), False, value)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return revealed(value) if hasattr(value, "_names") else repr(value)


@contextmanager
def pure(package: str = "kafka_messages") -> Iterator[None]:
    """Replace native methods and columns by their pure fallbacks inside the block."""
    modules = [sys.modules.get(f"{package}.{name}.{'_' * (name == 'arrow')}native") for name in ("arrow", "segments")]
    with ExitStack() as stack:
        message = sys.modules[package].Message
        others = [(module, "native_columns", lambda: None) for module in modules if module is not None]
        natives = METHODS if implementation() == "native" else ()
        for target, name, replacement in (
            *((message, name, vars(message)[name].__wrapped__) for name in natives),
            (sys.modules[f"{package}._base.message"], "IS_NATIVE", False),
            *others,
        ):
            stack.enter_context(mock.patch.object(target, name, replacement))
        yield


def is_pure() -> bool:
    """Return whether methods of messages are the pure ones, as inside ``pure()``."""
    return type(vars(Message)["read"]).__name__ != "ReadMethod"


def purely(call: Any, *args: Any, **named: Any) -> Outcome:
    """Return the outcome of a bound method's pure counterpart."""
    with pure():
        return outcome(getattr(call.__self__, call.__name__), *args, **named)


def opened(cls: Any) -> Any:
    """Return the plan of a message class, created on first use, with its counter ``declined``."""
    assert type(cls.read).__name__ == "Reader"
    return cls._native


def declined(cls: Any) -> int:
    """Return how many calls of a message class the core has declined."""
    count: int = opened(cls).declined
    return count


LEFT = object()  # returned by `bare_calls` where the pure method would be called


def left(*args: object) -> object:
    """Replace a pure method."""
    return LEFT


def bare_calls(cls: Any, plan: Any, package: Any) -> dict[str, Any]:
    """Return native methods by another plan that return LEFT instead of calling the pure code."""
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
    """Yield a message and every struct in it, outer ones first."""
    if hasattr(value, "_names"):
        yield value
        for name in value._names:
            yield from structs_in(getattr(value, name))
    elif isinstance(value, list):
        for element in value:
            yield from structs_in(element)


def script(text: str, **environment: str) -> str:
    """Return the output of a program in a fresh process; fail on a crash or traceback."""
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
