"""``dataclass(frozen=True, slots=True)`` as type checkers know it, without the cost of importing ``dataclasses``.

For small immutable values, made by position or by name. A field may have a default that cannot change.
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
            puts = self._puts
            if named or len(values) != len(puts):
                values = self._in_order(values, named)
            for put, value in zip(puts, values):  # noqa: B905  # as many as there are fields
                put(self, value)

        def _in_order(self, values, named):
            """All values, those that were not given by their defaults."""
            names = self.__slots__
            for name in names[: len(values)]:
                if name in named:
                    raise TypeError(f"{type(self).__name__}() got multiple values for argument {name!r}")
            given = self._defaults | dict(zip(names, values, strict=False)) | named
            if len(values) > len(names) or given.keys() != set(names):
                raise TypeError(f"{type(self).__name__}() takes the arguments {', '.join(names)}")
            return [given[name] for name in names]

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

            own = {"__annotations__": owner.__annotations__, "__module__": owner.__module__}
            namespace = own | owner._defaults
            return dataclasses.dataclass(type(owner.__name__, (), namespace)).__dataclass_fields__

    def dataclass(*, frozen, slots):
        """Both must be true: there is no other kind here."""
        return _make

    def _make(cls):
        names = tuple(cls.__annotations__)
        namespace = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        namespace["_defaults"] = {name: namespace.pop(name) for name in names if name in namespace}
        namespace |= {"__slots__": names, "__match_args__": names, "__dataclass_fields__": _Fields()}
        bases = tuple(base for base in cls.__bases__ if base is not object)
        made = type(cls.__name__, (*bases, _Value), namespace)
        made._puts = tuple([vars(made)[name].__set__ for name in names])
        return made
