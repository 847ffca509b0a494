"""``dataclass(frozen=True, slots=True)`` as type checkers know it, without the cost of importing ``dataclasses``.

For small immutable values whose fields have no defaults: they are made from all their values, by position or by name.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    class _Value:
        """What the values share; their fields are their slots."""

        __slots__ = ()

        def __init__(self, *values, **named):
            names = self.__slots__
            for name, value in zip(names, values, strict=False):
                if name in named:
                    raise TypeError(f"{type(self).__name__}() got multiple values for argument {name!r}")
                named[name] = value
            if len(values) > len(names) or named.keys() != set(names):
                raise TypeError(f"{type(self).__name__}() takes the arguments {', '.join(names)}")
            for name, value in named.items():
                object.__setattr__(self, name, value)

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

    class _Fields:
        """The table of fields, made when ``dataclasses`` asks for it."""

        def __get__(self, instance, owner):
            import dataclasses

            namespace = {"__annotations__": owner.__annotations__, "__module__": owner.__module__}
            return dataclasses.dataclass(type(owner.__name__, (), namespace)).__dataclass_fields__

    def dataclass(*, frozen, slots):
        """Both must be true: there is no other kind here."""
        return _make

    def _make(cls):
        names = tuple(cls.__annotations__)
        namespace = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        namespace |= {"__slots__": names, "__match_args__": names, "__dataclass_fields__": _Fields()}
        bases = tuple(base for base in cls.__bases__ if base is not object)
        return type(cls.__name__, (*bases, _Value), namespace)
