"""Replacements for ``dataclass`` and ``field`` that defer importing ``dataclasses``, which is slow."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
else:

    class field:  # replaces the function dataclasses.field

        __slots__ = ("default_factory",)

        def __init__(self, default_factory):
            self.default_factory = default_factory

    class _Late:
        # Builds the tables of fields and options on first access.

        __slots__ = ("annotations", "defaults", "name", "owner")

        def __init__(self, annotations, defaults):
            self.annotations = annotations
            self.defaults = defaults

        def __set_name__(self, owner, name):
            self.owner = owner
            self.name = name

        def __get__(self, instance, owner):
            import dataclasses

            namespace = {"__annotations__": self.annotations, "__module__": self.owner.__module__}
            for name, default in self.defaults.items():
                is_factory = isinstance(default, field)
                made = dataclasses.field(default_factory=default.default_factory) if is_factory else default
                namespace[name] = made
            make = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)
            made = make(type(self.owner.__name__, (), namespace))
            self.owner.__dataclass_fields__ = made.__dataclass_fields__
            self.owner.__dataclass_params__ = made.__dataclass_params__
            return getattr(made, self.name)

    class _Docstring:
        # Appends the list of fields to the generated docstring on access.

        __slots__ = ("text",)

        def __init__(self, text):
            self.text = text

        def __get__(self, instance, owner):
            from .described import docstring

            return docstring(owner, self.text or "")

    def dataclass(**options):
        return _with_slots

    def _with_slots(cls):
        annotations = cls.__annotations__  # without annotations of base classes
        namespace = dict(cls.__dict__)
        defaults = {name: namespace.pop(name) for name in annotations}
        for name in ("__dict__", "__weakref__"):
            namespace.pop(name, None)
        inherited = {name for base in cls.__mro__[1:] for name in base.__dict__}
        namespace["__slots__"] = tuple(name for name in annotations if name not in inherited)
        namespace["_names"] = tuple(annotations)
        namespace["__match_args__"] = ()  # every field is keyword-only
        namespace["__dataclass_fields__"] = _Late(annotations, defaults)
        namespace["__dataclass_params__"] = _Late(annotations, defaults)
        namespace["__qualname__"] = cls.__qualname__
        namespace["__doc__"] = _Docstring(cls.__doc__)
        made = type(cls)(cls.__name__, cls.__bases__, namespace)
        made._printed = made
        return made
