"""Replacement for ``dataclass(frozen=True, slots=True)`` that avoids importing ``dataclasses``."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
    from typing import TypeVar

    T = TypeVar("T")

    def maker(cls: type[T]) -> Callable[..., T]:
        """Return a fast constructor with the parameters of the core's ``filled``: the class, then all slots.

        Those of base classes come first, and those of one class by name.
        """
        raise NotImplementedError

else:

    class _Value:
        __slots__ = ()

        def __init__(self, *values, **named):
            # Replaces itself by a compiled constructor.
            cls = next(base for base in type(self).__mro__ if "_defaults" in vars(base))
            cls.__init__ = _constructor(cls)
            cls.__init__(self, *values, **named)

        def _values(self):
            return tuple([getattr(self, name) for name in self.__slots__])

        def __eq__(self, other):
            return self._values() == other._values() if type(other) is type(self) else NotImplemented

        def __hash__(self):
            return hash(self._values())

        def __repr__(self):
            fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
            return f"{type(self).__name__}({fields})"

        def __setattr__(self, name, value):
            raise AttributeError(f"cannot assign to field {name!r}")

        def __delattr__(self, name):
            raise AttributeError(f"cannot delete field {name!r}")

        def __reduce__(self):
            return type(self), self._values()

    def _constructor(cls):
        # Compiled: a loop over the fields takes four times as long.
        from .source import compiled

        names = cls.__slots__
        parameters = [f"{name}=defaults[{name!r}]" if name in cls._defaults else name for name in names]
        lines = [f"def __init__(self, {', '.join(parameters)}):", *(f" put_{name}(self, {name})" for name in names)]
        namespace = {f"put_{name}": vars(cls)[name].__set__ for name in names} | {"defaults": cls._defaults}
        made = compiled(lines, namespace, "__init__", f"{cls.__qualname__}.__init__")
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        made.__module__ = cls.__module__
        return made

    @cache
    def maker(cls):
        from .source import compiled

        names = [name for base in reversed(cls.__mro__) for name in sorted(vars(base).get("__slots__", ()))]
        puts = [f" x.{name} = {name}" for name in names]
        namespace = {"new": object.__new__, "made": cls}
        if issubclass(cls, _Value):
            # Slots of a class that is not frozen are set without calls; ``__class__`` then makes the object a value.
            methods = {name: getattr(object, name) for name in ("__setattr__", "__delattr__")}
            namespace["made"] = type("Thawed", cls.__bases__, {"__slots__": cls.__slots__, **methods})
            puts.append(" x.__class__ = cls")
        lines = [f"def make(cls, {', '.join(names)}):", " x = new(made)", *puts, " return x"]
        return compiled(lines, namespace, "make", f"maker of {cls.__qualname__}")

    class _Fields:
        def __get__(self, instance, owner):
            import dataclasses

            own = {"__annotations__": owner.__annotations__, "__module__": owner.__module__}
            namespace = own | owner._defaults
            owner.__dataclass_fields__ = dataclasses.dataclass(type(owner.__name__, (), namespace)).__dataclass_fields__
            return owner.__dataclass_fields__

    def dataclass(*, frozen, slots):
        return _make

    def _make(cls):
        names = tuple(cls.__annotations__)
        namespace = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        namespace["_defaults"] = {name: namespace.pop(name) for name in names if name in namespace}
        namespace |= {"__slots__": names, "__match_args__": names, "__dataclass_fields__": _Fields()}
        bases = tuple(base for base in cls.__bases__ if base is not object)
        return type(cls.__name__, (*bases, _Value), namespace)
