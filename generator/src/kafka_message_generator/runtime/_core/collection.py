"""Arrays whose elements have key fields: lists with an index beside them.

In the words of Kafka's own classes they are linked hash multi-sets.
"""

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
    """A list whose elements are found in constant time by their key fields; equal keys may repeat.

    Brokers do send the same key twice, so nothing is replaced: ``find`` gives the first, ``find_all`` every
    element of a key. The index is made by the first lookup and forgotten when the list changes. After a key field
    of an element was changed, call ``reindex``.
    """

    __slots__ = ("_index",)
    _index: dict[Any, list[E]] | None
    """Elements by key; None, or unset as in a new object, while there is no index."""

    def _key(self, element: E) -> Any:
        """The key of an element: the value of its key field, or a tuple of them."""
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
        """The first element of a key of several fields, some of which may be UNSET."""
        if not any(part is UNSET for part in key):
            return self._find(key)
        return next(self._matches(key), None)

    def _find_all_by_parts(self, key: tuple[Any, ...]) -> list[E]:
        if not any(part is UNSET for part in key):
            return self._find_all(key)
        return list(self._matches(key))

    def _matches(self, key: tuple[Any, ...]) -> Iterator[E]:
        """The elements whose keys have the given parts; no index knows them, so that all are looked at."""
        wanted = [(index, part) for index, part in enumerate(key) if part is not UNSET]
        if not wanted:
            raise TypeError(f"{type(self).__name__} finds by at least one part of its key")
        for element in self:
            found = self._key(element)
            if all(found[index] == part for index, part in wanted):
                yield element

    def reindex(self) -> None:
        """Forget the index; the next lookup builds it from the keys as they are then."""
        self._index = None

    def _set_key(self, element: E, field: str, value: object) -> None:
        """Set a key field of an element. The index stays where one can tell without a look at the others what it is then."""
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
        """Add an element at the end. An index that is there stays."""
        list.append(self, element)
        try:
            index = self._index
        except AttributeError:
            index = self._index = None
        if index is not None:
            self._index = None  # where the element has no key, the next lookup says so
            index.setdefault(self._key(element), []).append(element)
            self._index = index

    add = append

    def extend(self, elements: Iterable[E], /) -> None:
        """Add elements at the end. Those of an iterator are added one by one: it may look up what it gave before."""
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
        """Remove this very object if it is here, else the first equal one; ValueError if there is none."""
        for position, candidate in enumerate(self):
            if candidate is element:
                del self[position]
                return
        super().remove(element)
        self._index = None

    def copy(self) -> Self:
        """A collection of the same elements."""
        return type(self)(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"

    def __getstate__(self) -> object:
        """What copies and pickles take along beside the elements: all that subclasses have, but no index."""
        state = super().__getstate__()
        if not isinstance(state, tuple):
            return state
        attributes, slots = state
        slots.pop("_index", None)
        return (attributes, slots) if slots else attributes


if not TYPE_CHECKING:  # checkers know these methods from list

    def _forgetting(name):
        """The method of lists, which also forgets the index, even if it fails halfway."""
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
