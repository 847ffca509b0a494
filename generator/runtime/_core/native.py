"""The one door to the native core: asked when a message is first used, and closed where the core is not installed.

The core reads and writes by the plan that each module keeps as text. It is a distribution of its own, knows no message,
and words no error: what it does not take is done again by the pure methods, with the same arguments.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock

from .structs import NULLED
from .wire import UNSET, ZERO_UUID, RawTaggedField

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any, Literal

    Rendering = Literal["native", "pure"]

FORMAT = 1
"""Of the plan texts in this package."""
SWITCH = "KAFKA_MESSAGES_NATIVE"
"""Environment variable; 0 keeps to the pure code. Read once, when the package is imported."""
READERS = ("read", "read_from")
WRITERS = ("write", "size")


def rendering() -> Rendering:
    """What reads and writes messages: ``"native"`` where the core is installed and switched on, else ``"pure"``."""
    return "native" if _door.is_wanted and _door.core() is not None else "pure"


def set_rendering(wanted: Rendering) -> None:
    """Switch between the native core and the pure code, for all messages of this package and from now on.

    Raises ValueError for another word, and ImportError for ``"native"`` where the core is not installed or not made
    for the plans of this package.
    """
    if wanted not in ("native", "pure"):
        raise ValueError(f"rendering must be 'native' or 'pure', not {wanted!r}")
    if wanted == "native" and _door.core() is None:
        raise ImportError(f"the native core is not there: {_door.reason}")
    _door.switch(wanted == "native")


def refused() -> dict[str, Exception]:
    """Messages that the core did not take as a whole, and why; they stay pure. None of a package as it was printed."""
    return {name: use for name, use in list(_door.messages.items()) if isinstance(use, Exception)}


class _Native:
    """What the core does for one message."""

    def __init__(self, core: ModuleType, package: Any, owner: Any, pure: dict[str, Any]) -> None:
        namespace = vars(sys.modules[owner.__module__])
        message = namespace[owner.NAME]
        plan = core.Plan(package, owner._plan, namespace)
        self.owner = owner
        self.calls = {name: core.Reader(plan, message, name, pure[name].__get__(None, message)) for name in READERS}
        self.calls |= {name: core.Writer(plan, message, name, pure[name]) for name in WRITERS}
        self.structs = [namespace[line[1:].split(" ", 1)[0]] for line in owner._plan.split("\n") if line[:1] == ":"]
        self.set_constructor = core.set_constructor
        self.structs = [struct for struct in self.structs if _is_printed(struct, namespace)]
        for struct in self.structs:
            struct._maker = core.Maker(plan, struct)

    def switch(self, names: Iterable[str], is_on: bool) -> None:
        """Put the core's calls in the class, those of ``names``, or take all of them out of it."""
        for name, call in self.calls.items():
            if is_on and name in names:
                setattr(self.owner, name, call)
            elif name in vars(self.owner):
                delattr(self.owner, name)
        for struct in self.structs:
            self.set_constructor(struct, is_on)


def _is_printed(struct: type, namespace: dict[str, Any]) -> bool:
    """Whether a class still has the constructor that the core can stand for, and nobody wrapped it."""
    init: Any = vars(struct).get("__init__")
    code = getattr(init, "__code__", None)
    is_here = getattr(init, "__globals__", None) is namespace
    return code is not None and is_here and code.co_qualname == f"{struct.__qualname__}.__init__"


class _Door:
    """What is known of the core, and of the messages that it was asked for."""

    def __init__(self) -> None:
        self.is_wanted = os.environ.get(SWITCH) != "0"
        self.base: type | None = None
        self.messages: dict[str, _Native | Exception] = {}
        self.pure: dict[str, Any] = {}
        self.first: dict[str, Any] = {}
        self.lock = RLock()  # who comes while another thread asks has to wait for the answer
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.unlock)
        self.reason = ""
        self._core: ModuleType | None = None
        self._package: Any = None
        self._is_asked = False

    def core(self) -> ModuleType | None:
        """The core, if it is installed and reads these plans."""
        if not self._is_asked:
            from importlib import import_module

            with self.lock:
                if not self._is_asked:
                    try:
                        self._take(import_module("kafka_messages_native"))
                    except Exception as error:  # whatever is wrong with it, the pure code needs none
                        self.reason = str(error)
                    self._is_asked = True
        return self._core

    def _take(self, found: ModuleType) -> None:
        if found.FORMAT != FORMAT:
            self.reason = f"it reads plans of format {found.FORMAT}, and those of this package have format {FORMAT}"
            return
        self._package = found.Package(RawTaggedField, ZERO_UUID, NULLED, UNSET)
        self._core = found

    def hang(self, base: type) -> None:
        """Put the door before the methods of the base of all messages."""
        self.base = base
        self.pure = {name: vars(base)[name] for name in READERS + WRITERS}
        self.first = {name: _first_use(name, pure) for name, pure in self.pure.items()}
        if self.is_wanted:
            self.switch(True)

    def unlock(self) -> None:
        """In a new process: the thread that held the lock may not be there."""
        self.lock = RLock()

    def own_names(self) -> list[str]:
        """Those methods of the base of all messages that nobody wrapped: a wrapper goes on to see every call."""
        there = {} if self.base is None else vars(self.base)
        return [name for name in self.pure if there.get(name) is self.pure[name] or there.get(name) is self.first[name]]

    def switch(self, is_on: bool) -> None:
        with self.lock:
            self.is_wanted = is_on
            names = self.own_names()
            for name in names:
                setattr(self.base, name, (self.first if is_on else self.pure)[name])
            for use in list(self.messages.values()):
                self.settle(use, names)

    def settle(self, use: _Native | Exception, names: Iterable[str]) -> None:
        """Switch a message as is wanted, and again if a finalizer changed that meanwhile."""
        is_on = None
        while isinstance(use, _Native) and is_on is not self.is_wanted:
            is_on = self.is_wanted
            use.switch(names, is_on)

    def open(self, owner: Any) -> None:
        """The core for one message, or the pure code for all if there is no core."""
        core = self.core()
        if core is None:
            self.switch(False)
            return
        names = self.own_names()
        try:
            use = self.messages[owner.NAME] = _Native(core, self._package, owner, self.pure)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self.messages[owner.NAME] = error
            for name in names:
                setattr(owner, name, self.pure[name])
            return
        self.settle(use, names)

    def call(self, owner: Any, name: str) -> Any:
        """What reads or writes a message now: the core's call, or the pure method."""
        with self.lock:
            use = self.messages.get(owner.NAME)
            if self.is_wanted and (use is None or (isinstance(use, _Native) and use.owner is not owner)):
                self.open(owner)  # for the first time, or for a class that a reload put in its place
                use = self.messages.get(owner.NAME)
            if not self.is_wanted or not isinstance(use, _Native):
                return self.pure[name]
            if name not in vars(owner) and name in (names := self.own_names()):
                use.switch(names, True)  # a wrapper is gone
            return use.calls[name]


_door = _Door()
hang = _door.hang


def _first_use(name: str, pure: Any) -> Any:
    """A method that asks for the core and goes on with what it found."""

    def first(receiver: Any, /, *args: object, **named: object) -> object:
        cls = receiver if name in READERS else type(receiver)
        owner = next((base for base in cls.__mro__ if "_plan" in vars(base)), None)
        found = pure if owner is None else _door.call(owner, name)
        if name in WRITERS:
            return found(receiver, *args, **named)
        method: Callable[..., object] = pure.__get__(None, cls) if found is pure else found
        return method(*args, **named)

    inner = pure.__func__ if name in READERS else pure
    for attribute in ("__doc__", "__name__", "__qualname__", "__module__", "__annotations__"):
        setattr(first, attribute, getattr(inner, attribute))
    first.__wrapped__ = inner  # type: ignore[attr-defined]  # for inspect
    return classmethod(first) if name in READERS else first
