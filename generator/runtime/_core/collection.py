"""Arrays whose elements have key fields: a linked hash multi-set, in the words of Kafka's own classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .wire import new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generic, Self, SupportsIndex, TypeVar

    E = TypeVar("E")

    C = TypeVar("C", bound="KeyedCollection[Any]")

    class _Base(Generic[E]): ...

else:

    class _Base:
        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls

    E = None


class KeyedCollection(_Base[E]):
    """Elements in order of insertion, found in constant time by their key fields; equal keys may repeat.

    Brokers do send the same key twice, so nothing is replaced: ``find`` gives the first, ``find_all`` every
    element of a key. Two collections are equal when their elements are, in the same order. The index is built by
    the first lookup; after a key field of a stored element was changed, call ``reindex``.
    """

    __slots__ = ("_index", "_items")

    def __init__(self, items: Iterable[E] = ()) -> None:
        self._items: list[E] = list(items)
        self._index: dict[Any, list[E]] | None = None

    def _key(self, element: E) -> Any:
        """The key of an element: the value of its key field, or a tuple of them."""
        raise NotImplementedError

    def _buckets(self) -> dict[Any, list[E]]:
        index = self._index
        if index is None:
            index = {}
            for element in self._items:
                index.setdefault(self._key(element), []).append(element)
            self._index = index
        return index

    def _find(self, key: Any) -> E | None:
        found = self._buckets().get(key)
        return found[0] if found else None

    def _find_all(self, key: Any) -> list[E]:
        return list(self._buckets().get(key, ()))

    def reindex(self) -> None:
        """Forget the index; the next lookup builds it from the keys as they are then."""
        self._index = None

    def append(self, element: E) -> None:
        """Add an element at the end."""
        self._items.append(element)
        if self._index is not None:
            self._index.setdefault(self._key(element), []).append(element)

    add = append

    def extend(self, elements: Iterable[E]) -> None:
        for element in elements:
            self.append(element)

    def remove(self, element: E) -> None:
        """Remove this very object if it is here, else the first equal one; ValueError if there is none."""
        for position, candidate in enumerate(self._items):
            if candidate is element:
                del self._items[position]
                break
        else:
            self._items.remove(element)
        self._index = None

    def clear(self) -> None:
        self._items.clear()
        self._index = None

    def __contains__(self, element: object) -> bool:
        return element in self._items

    def __iter__(self) -> Iterator[E]:
        return iter(self._items)

    def __reversed__(self) -> Iterator[E]:
        return reversed(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, position: SupportsIndex) -> E:
        return self._items[position]

    def __setitem__(self, position: SupportsIndex, element: E) -> None:
        self._items[position] = element
        self._index = None

    def __delitem__(self, position: SupportsIndex) -> None:
        del self._items[position]
        self._index = None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KeyedCollection):
            return self._items == other._items
        return self._items == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it can change, like a list

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._items!r})"

    def __copy__(self) -> Self:
        return type(self)(self._items)

    def __getstate__(self) -> list[E]:
        return self._items

    def __setstate__(self, items: list[E]) -> None:
        self._items = items
        self._index = None


def adopt(collection: type[C], items: list[E]) -> C:
    """A collection around a list that nobody else holds."""
    result = new(collection)
    result._items = items
    result._index = None
    return result
