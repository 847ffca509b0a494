"""What the classes of messages and of the structs inside them share: how they print, copy, and make defaults late."""

from __future__ import annotations

from collections.abc import Callable

from .shown import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeVar

    from .wire import RawTaggedFields

    S = TypeVar("S", bound="StructBase")


class StructBase:
    """Base of messages and of the structs inside them."""

    __slots__: tuple[str, ...] = ()
    _names: ClassVar[tuple[str, ...]] = ()
    """The fields, in the order of the definition."""
    _printed: ClassVar[type[StructBase]]
    # The printed class that a class is or is derived from.
    __hash__: ClassVar[None]  # type: ignore[assignment]
    unknown_tagged_fields: RawTaggedFields
    """Tagged fields that the definition does not name; only flexible versions can write them."""

    def __eq__(self, other: object) -> bool:
        if self._printed is StructBase:
            return NotImplemented
        # The first comparison of a class compiles it: an attrgetter takes twice as long.
        equal = _equality(self._printed)
        setattr(self._printed, "__eq__", equal)  # noqa: B010
        return equal(self, other)

    def __repr__(self) -> str:
        from .redaction import text_of

        return text_of(self)

    if not TYPE_CHECKING:  # checkers know it from the dataclass

        def __replace__(self, **changes):
            import dataclasses

            return dataclasses.replace(self, **changes)


StructBase._printed = StructBase


def _equality(cls: type[StructBase]) -> Callable[[object, object], bool]:
    """Return a function that compares the fields of a printed class one by one."""
    from .source import Source

    source = Source(cls=cls)
    source.add(0, "def __eq__(self, other):")
    source.add(1, "if not isinstance(other, cls):")
    source.add(2, "return NotImplemented")
    source.add(1, f"return {' and '.join(f'self.{name} == other.{name}' for name in cls._names)}")
    return source.function("__eq__")


def owner_of(message: Any) -> Any:
    """The base of a message that has its definition, for the message and for what is derived from it; else None."""
    for base in message.__mro__:
        if "_plan" in base.__dict__:
            return base
    return None


def checked_owner(message: object) -> Any:
    """Return the ``owner_of`` of a message class. Raises TypeError for anything else."""
    owner = owner_of(message) if isinstance(message, type) else None
    if owner is None:
        raise no_message_class(message)
    return owner


def no_message_class(value: object) -> TypeError:
    """Return the error for anything but a message class, such as the name of a message."""
    return TypeError(f"expected a message class, got {shown(value)}")


def name_of(message: Any) -> str:
    """The name of the definition of a message: a class that somebody derived from it may have a ``NAME`` of its own."""
    try:
        owner = owner_of(message)
        name: str = (message if owner is None else owner).NAME
    except AttributeError:
        raise no_message_class(message) from None
    return name


def as_derived(cls: type[S], struct: StructBase) -> S:
    """An object of a class that somebody derived from that of ``struct``: its constructor gets every field by name."""
    return made(cls, {name: getattr(struct, name) for name in struct._names})


def made(cls: type[S], values: dict[str, Any]) -> S:
    """An object of a class with these fields. Raises TypeError for a derived class whose constructor is another one."""
    make: Any = cls
    try:
        found: S = make(**values)
    except TypeError as error:
        if owner_of(cls) is None:
            raise
        wanted = f"its constructor must take every field of {name_of(cls)} by name, and have defaults for its own"
        raise TypeError(f"no {cls.__qualname__} can be made of what was read: {wanted} ({error})") from error
    return found


NULLED = object()
"""What a slot of ``LazyDefaults`` holds when its field was set to None, which no version can write."""


class LazyDefaults(StructBase):
    """Base of structs with tagged struct fields, which are nearly always at their default.

    The default is made when it is first looked at: the slot ``_name`` holds None until then, which costs a reader one
    store, and a writer one test.
    """

    __slots__ = ()
    _lazy: ClassVar[dict[str, Callable[[], object]]] = {}

    if not TYPE_CHECKING:  # checkers know the fields from the dataclass

        def __init_subclass__(cls, **named):
            super().__init_subclass__(**named)
            for name, make in cls.__dict__.get("_lazy", {}).items():
                setattr(cls, name, _lazy_field(f"_{name}", make))
            for name in cls._lazy:  # a slot that dataclass(slots=True) put before the field would be read by nobody
                if type(cls.__dict__.get(name)) is type(getattr(cls, f"_{name}")):
                    delattr(cls, name)


if not TYPE_CHECKING:

    def _lazy_field(slot, make):
        def get(self):
            value = getattr(self, slot)
            if value is None:
                value = make()
                setattr(self, slot, value)
            return None if value is NULLED else value

        def put(self, value):
            setattr(self, slot, NULLED if value is None else value)

        return property(get, put)
