"""Lists of structs indexed by key fields, like Kafka's ``ImplicitLinkedHashMultiCollection``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .wire import UNSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, TypeVar

    E = TypeVar("E")
else:
    E = None


class KeyedCollection(list[E]):
    """List with constant-time lookup by the key fields of its elements.

    ``find`` returns the first of duplicate keys, ``find_all`` all. Call ``reindex`` after changing a key field.
    """

    __slots__ = ("_index",)
    # Elements by key; None until a lookup builds the index.
    _index: dict[Any, list[E]] | None

    def _key(self, element: E) -> Any:
        raise NotImplementedError

    def _buckets(self) -> dict[Any, list[E]]:
        try:
            index = self._index
        except AttributeError:
            index = None
        if index is None:
            index = {}
            for element in self:
                index.setdefault(self._key(element), []).append(element)
            self._index = index
        return index

    def _find(self, key: Any) -> E | None:
        found = self._buckets().get(key)
        return found[0] if found else None

    def _find_all(self, key: Any) -> list[E]:
        return list(self._buckets().get(key, ()))

    def _find_by_parts(self, key: tuple[Any, ...]) -> E | None:
        if not any(part is UNSET for part in key):
            return self._find(key)
        return next(self._matches(key), None)

    def _find_all_by_parts(self, key: tuple[Any, ...]) -> list[E]:
        if not any(part is UNSET for part in key):
            return self._find_all(key)
        return list(self._matches(key))

    def _matches(self, key: tuple[Any, ...]) -> Iterator[E]:
        wanted = [(index, part) for index, part in enumerate(key) if part is not UNSET]
        if not wanted:
            raise TypeError(f"{type(self).__name__} lookup: pass at least one key field")
        for element in self:
            found = self._key(element)
            if all(found[index] == part for index, part in wanted):
                yield element

    def reindex(self) -> None:
        """Discard the index; the next lookup builds a new one."""
        self._index = None

    def _set_key(self, element: E, field: str, value: object) -> None:
        # Keep the index if the old key was unique and the new key is unused.
        try:
            index = self._index
        except AttributeError:
            index = None
        self._index = None
        if index is None:
            setattr(element, field, value)
            return
        before = self._key(element)
        setattr(element, field, value)
        after = self._key(element)
        if after not in index and (found := index.get(before)) and len(found) == 1 and found[0] is element:
            index[after] = index.pop(before)
            self._index = index

    def append(self, element: E, /) -> None:
        list.append(self, element)
        try:
            index = self._index
        except AttributeError:
            index = self._index = None
        if index is not None:
            self._index = None  # the next lookup raises if the element has no key
            index.setdefault(self._key(element), []).append(element)
            self._index = index

    add = append

    def extend(self, elements: Iterable[E], /) -> None:
        """Append elements, one at a time from an iterator, because the iterator may call ``find`` on this list."""
        if isinstance(elements, (list, tuple)):
            super().extend(elements)
            self._index = None
        else:
            for element in elements:
                self.append(element)

    def __iadd__(self, elements: Iterable[E], /) -> Self:  # type: ignore[override,misc]  # as in list itself
        self.extend(elements)
        return self

    def remove(self, element: E, /) -> None:
        """Remove this object, or else the first equal element. Raises ValueError if there is none."""
        for position, candidate in enumerate(self):
            if candidate is element:
                del self[position]
                return
        super().remove(element)
        self._index = None

    def copy(self) -> Self:
        return type(self)(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"

    def __getstate__(self) -> object:
        state = super().__getstate__()
        if not isinstance(state, tuple):
            return state
        attributes, slots = state
        slots.pop("_index", None)
        return (attributes, slots) if slots else attributes


if not TYPE_CHECKING:  # type checkers take these methods from list

    def _forgetting(name):
        change = getattr(list, name)

        def method(self, *arguments, **options):
            try:
                return change(self, *arguments, **options)
            finally:
                self._index = None

        method.__name__, method.__doc__, method.__wrapped__ = name, change.__doc__, change
        method.__qualname__ = f"KeyedCollection.{name}"
        return method

    for _name in ("__delitem__", "__imul__", "__setitem__", "clear", "insert", "pop", "reverse", "sort"):
        setattr(KeyedCollection, _name, _forgetting(_name))
