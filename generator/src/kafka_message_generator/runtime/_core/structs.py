"""Base classes of messages and structs: equality, text form, copies, lazy defaults."""

from __future__ import annotations

from collections.abc import Callable

from .display import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeVar

    from .wire import RawTaggedFields

    S = TypeVar("S", bound="StructBase")


class StructBase:
    """Base of messages and structs."""

    __slots__: tuple[str, ...] = ()
    _names: ClassVar[tuple[str, ...]] = ()
    # The generated class that this class is or derives from.
    _printed: ClassVar[type[StructBase]]
    __hash__: ClassVar[None]  # type: ignore[assignment]
    unknown_tagged_fields: RawTaggedFields
    """Tagged fields that are not in the definition; only versions with tagged fields can write them."""

    def __eq__(self, other: object) -> bool:
        if self._printed is StructBase:
            return NotImplemented
        # Compiled: an attrgetter takes twice as long.
        equal = _equality(self._printed)
        setattr(self._printed, "__eq__", equal)  # noqa: B010
        return equal(self, other)

    def __repr__(self) -> str:
        from .redaction import text_of

        return text_of(self)

    if not TYPE_CHECKING:  # type checkers take __replace__ from the dataclass

        def __replace__(self, **changes):
            import dataclasses

            return dataclasses.replace(self, **changes)


StructBase._printed = StructBase


def _equality(cls: type[StructBase]) -> Callable[[object, object], bool]:
    from .source import Source

    source = Source(f"{cls.__qualname__}.__eq__", cls=cls)
    source.add(0, "def __eq__(self, other):")
    source.add(1, "if not isinstance(other, cls):")
    source.add(2, "return NotImplemented")
    source.add(1, f"return {' and '.join(f'self.{name} == other.{name}' for name in cls._names)}")
    return source.function("__eq__")


def owner_of(message: Any) -> Any:
    for base in message.__mro__:
        if "_plan" in base.__dict__:
            return base
    return None


def checked_owner(message: object) -> Any:
    owner = owner_of(message) if isinstance(message, type) else None
    if owner is None:
        raise no_message_class(message)
    return owner


def no_message_class(value: object) -> TypeError:
    return TypeError(f"expected a message class, got {display(value)}")


def name_of(message: Any) -> str:
    """Return the message name in the definition; a derived class may override ``NAME``."""
    try:
        owner = owner_of(message)
        name: str = (message if owner is None else owner).NAME
    except AttributeError:
        raise no_message_class(message) from None
    return name


def as_derived(cls: type[S], struct: StructBase) -> S:
    return made(cls, {name: getattr(struct, name) for name in struct._names})


def made(cls: type[S], values: dict[str, Any]) -> S:
    """Return ``cls(**values)``. Raises TypeError."""
    make: Any = cls
    try:
        found: S = make(**values)
    except TypeError as error:
        if owner_of(cls) is None:
            raise
        wanted = (
            f"its constructor must accept every field of {name_of(cls)} by name and have defaults for its own fields"
        )
        raise TypeError(f"cannot create {cls.__qualname__} from field values: {wanted} ({error})") from error
    return found


# Slot value of a ``LazyDefaults`` field set to None, which no version can write.
NULLED = object()


class LazyDefaults(StructBase):
    """Base of structs with lazy defaults: the slot of a tagged struct field holds None until first access."""

    __slots__ = ()
    _lazy: ClassVar[dict[str, Callable[[], object]]] = {}

    if not TYPE_CHECKING:  # type checkers take the fields from the dataclass

        def __init_subclass__(cls, **named):
            super().__init_subclass__(**named)
            for name, make in cls.__dict__.get("_lazy", {}).items():
                setattr(cls, name, _lazy_field(f"_{name}", make))
            for name in cls._lazy:  # remove slots of dataclass(slots=True) that shadow the property
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
