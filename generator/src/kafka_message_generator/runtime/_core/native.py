"""The one door to the native core: asked when a message is first used, and closed where the core is not installed.

The core reads and writes by the plan that each module keeps as text. It is a distribution of its own, knows no message,
and words no error: what it does not take is done again by the pure methods, with the same arguments.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock
from _weakref import ref

from .structs import NULLED, as_derived, owner_of
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
_MAKING = 0.5
"""Seconds that a reader waits for a class that another thread may be making, before it calls it unknown."""
READERS = ("read", "read_from")
WRITERS = ("write", "chunks", "size")


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


def filler(made: dict[Any, Any]) -> Any:
    """What makes objects of slots in the core; None without one. ``made`` is emptied when the core is switched."""
    _door.made.append(made)
    return getattr(_door.core(), "filled", None) if _door.is_wanted else None


class _Native:
    """What the core does for one message."""

    def __init__(self, core: ModuleType, package: Any, owner: Any, pure: dict[str, Any]) -> None:
        namespace = vars(sys.modules[owner.__module__])
        message = namespace[owner.NAME]
        plan = core.Plan(package, owner._plan, namespace)
        self.owner = owner
        self.message = message
        self.pure = pure
        self.known: set[ref[type]] = set()  # derived classes that went by the door
        for derived in message.__subclasses__():
            self.know(derived)
        readers = [(plan, message, name, pure[name].__get__(None, message)) for name in READERS]
        self.readers = {reader[2]: core.Reader(*reader) for reader in readers}
        self.calls = {reader[2]: core.Reader(*reader, self.unsure(reader[2])) for reader in readers}
        self.calls |= {name: core.Writer(plan, message, name, pure[name]) for name in WRITERS}
        names = [line[1:].split(" ", 1)[0] for line in owner._plan.split("\n") if line[:1] == ":"]
        self.structs = [namespace[name] for name in names if _has_its_constructor(namespace[name], namespace)]
        self.set_constructor = core.set_constructor
        for struct in self.structs:
            struct._maker = core.Maker(plan, struct)

    def switch(self, is_on: bool, names: Iterable[str]) -> None:
        """Put those of the core's calls into the class that are called ``names``, or take all of them out of it."""
        has_derived = bool(self.message.__subclasses__())
        for name, call in self.calls.items():
            if is_on and name in names:
                setattr(self.owner, name, self.reader(name) if has_derived and name in READERS else call)
            elif name in vars(self.owner):
                delattr(self.owner, name)
        for struct in self.structs:
            self.set_constructor(struct, is_on)

    def know(self, derived: type) -> None:
        """A class is derived from the message, and nobody looked up one of the core's readers through it."""
        self.known.add(ref(derived, self.known.discard))

    def unsure(self, name: str) -> Callable[..., object]:
        """What reads when a reader for the message alone was looked up, and classes are derived from it by now."""

        def read(*args: object, **named: object) -> object:
            for derived in self.message.__subclasses__():
                if ref(derived) not in self.known:
                    _door.settle(self)  # from now on the class is asked for
                    silent = _silent_base(derived, self.message)
                    if silent is not None and not self.becomes_known(derived):
                        raise TypeError(_unknown(derived, self.message, silent))
            result: object = self.readers[name](*args, **named)
            return result

        return read

    def becomes_known(self, derived: type) -> bool:
        """Wait for a class that another thread may be making, and return whether it is known then."""
        from time import monotonic, sleep

        end = monotonic() + _MAKING
        while ref(derived) not in self.known and monotonic() < end:
            sleep(0.001)
        return ref(derived) in self.known

    def reader(self, name: str) -> Any:
        """What reads a message whose class others are derived from: the core knows this class alone."""

        def read(cls: Any, /, *args: object, **named: object) -> object:
            return self.read(cls, name, *args, **named)

        return classmethod(_like(read, self.pure[name].__func__))

    def read(self, cls: Any, name: str, /, *args: object, **named: object) -> object:
        """Read a message, and make it an object of the class that was asked for it."""
        found: Any = self.readers[name](*args, **named)
        if cls is self.message:
            if not cls.__subclasses__():  # they are gone again
                _door.settle(self)
            return found
        return as_derived(cls, found) if name == "read" else (as_derived(cls, found[0]), found[1])


def _silent_base(derived: type, message: type) -> type | None:
    """Return the base of an unknown class that may keep it from its message; None if the class is only being made."""
    before = derived.__mro__[1 : derived.__mro__.index(message)]
    return next((base for base in before if "__init_subclass__" in vars(base)), None)


def _unknown(derived: type, message: type, silent: type) -> str:
    """Return why a class was not known to be derived from a message."""
    what = f"{derived.__qualname__} is derived from {message.__qualname__}, which was not told"
    return f"{what}: {silent.__qualname__}.__init_subclass__ must call super().__init_subclass__()"


def _has_its_constructor(struct: type, namespace: dict[str, Any]) -> bool:
    """Whether a class still has the constructor that was printed; one of somebody else, wrapped around it say, is kept."""
    init: Any = vars(struct).get("__init__")
    is_here = getattr(init, "__globals__", None) is namespace
    return is_here and init.__code__.co_qualname == f"{struct.__qualname__}.__init__"


class _Door:
    """What is known of the core, and of the messages that it was asked for."""

    def __init__(self) -> None:
        self.is_wanted = os.environ.get(SWITCH) != "0"
        self.messages: dict[str, _Native | Exception] = {}
        self.base: type = object  # until the base of all messages is there
        self.pure: dict[str, Any] = {}
        self.first: dict[str, Any] = {}
        self.reason = ""
        self.made: list[dict[Any, Any]] = []  # what uses ``filler``
        self._core: ModuleType | None = None
        self._package: Any = None
        self._is_asked = False
        self._lock = RLock()  # threads may come at once, and finalizers of other objects in between
        if hasattr(os, "register_at_fork"):  # a thread that holds it is not in the child
            os.register_at_fork(after_in_child=self._lock._at_fork_reinit)  # type: ignore[attr-defined]

    def core(self) -> ModuleType | None:
        """The core, if it is installed and reads these plans."""
        if self._is_asked:
            return self._core
        with self._lock:
            if not self._is_asked:
                from importlib import import_module

                try:
                    self._take(import_module("kafka_messages_native"))
                except (MemoryError, RecursionError):  # of this moment: the next use asks again
                    raise
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

    def own_names(self) -> list[str]:
        """Those methods of the base of all messages that nobody wrapped: a wrapper goes on to see every call."""
        there = vars(self.base)
        return [name for name in self.pure if there.get(name) is self.pure[name] or there.get(name) is self.first[name]]

    def switch(self, is_on: bool) -> None:
        with self._lock:
            self.is_wanted = is_on
            while self.made:
                self.made.pop().clear()
            for name in self.own_names():
                setattr(self.base, name, (self.first if is_on else self.pure)[name])
            for use in list(self.messages.values()):
                self.settle(use)

    def settle(self, use: _Native | Exception) -> None:
        """Switch a message as is wanted, and again if a finalizer changed that meanwhile."""
        is_on = None
        with self._lock:
            while isinstance(use, _Native) and is_on is not self.is_wanted:
                is_on = self.is_wanted
                use.switch(is_on, self.own_names())

    def open(self, owner: Any) -> None:
        """The core for one message, or the pure code for all if there is no core."""
        core = self.core()
        if core is None:
            self.switch(False)
            return
        with self._lock:
            known = self.messages.get(owner.NAME)  # by another thread, or of a class that a reload replaced
            if known is None or (isinstance(known, _Native) and known.owner is not owner):
                self.messages[owner.NAME] = self._opened(core, owner)
            self.settle(self.messages[owner.NAME])

    def derive(self, cls: type) -> None:
        """Make way for a class that somebody derived from a message."""
        owner = owner_of(cls)
        if owner is not None:
            with self._lock:
                use = self.messages.get(owner.NAME)
                if isinstance(use, _Native) and use.owner is owner:
                    use.know(cls)
                    self.settle(use)

    def call(self, owner: Any, name: str) -> Any:
        """What reads or writes a message now: the core's call, or the pure method."""
        if self.is_wanted and name not in vars(owner):  # always so where the base has a wrapper
            use = self.messages.get(owner.NAME)
            if not isinstance(use, _Native) or use.owner is not owner or name in self.own_names():
                self.open(owner)
        use = self.messages.get(owner.NAME)
        if not self.is_wanted or not isinstance(use, _Native):
            return self.pure[name]
        return use.reader(name) if name in READERS else use.calls[name]

    def _opened(self, core: ModuleType, owner: Any) -> _Native | Exception:
        try:
            return _Native(core, self._package, owner, self.pure)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            for name in self.own_names():
                setattr(owner, name, self.pure[name])
            return error.with_traceback(None)  # its frames would keep what was read alive


_door = _Door()
hang = _door.hang
derive = _door.derive


def _first_use(name: str, pure: Any) -> Any:
    """A method that asks for the core and goes on with what it found."""

    def first(receiver: Any, /, *args: object, **named: object) -> object:
        cls = receiver if name in READERS else type(receiver)
        owner = owner_of(cls)
        found = pure if owner is None else _door.call(owner, name)
        method: Callable[..., object] = found if name in WRITERS else found.__func__
        return method(receiver, *args, **named)

    inner = pure.__func__ if name in READERS else pure
    _like(first, inner)
    return classmethod(first) if name in READERS else first


def _like(function: Any, inner: Any) -> Any:
    """A function that says of itself what another one does, which it stands for."""
    for attribute in ("__doc__", "__name__", "__qualname__", "__module__", "__annotations__"):
        setattr(function, attribute, getattr(inner, attribute))
    function.__wrapped__ = inner  # for inspect
    return function
