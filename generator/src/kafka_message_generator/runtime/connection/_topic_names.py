"""Topic names by topic id, learned from responses."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cache
from uuid import UUID

from .._core.display import display, is_int
from .._core.wire import ZERO_UUID
from ._traversal import TopicPairs, nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._base.message import Message


@cache
def pairs_in(message: Any) -> Callable[[Message], Iterator[tuple[UUID, str | None]]] | None:
    """Return the loop over topic ids and names in a message; None for a message that cannot have both."""
    compiled: Any = TopicPairs(message).compiled()
    return None if compiled is nothing else compiled


class TopicNames(Mapping[UUID, str]):
    """Topic names by topic id, read-only. ``topic_names[topic_id]`` raises KeyError for an unknown id."""

    def __init__(self, limit: int) -> None:
        if not is_int(limit, 32, 0):
            raise ValueError(f"max_topic_names must be a number, 0 to {2**31 - 1}, not {display(limit)}")
        self._limit = limit
        self._names: OrderedDict[UUID, str] = OrderedDict()  # least recently learned first

    def __getitem__(self, topic_id: UUID) -> str:
        name = self._names.get(topic_id)
        if name is None:
            remedy = "decode an API such as Metadata, whose responses have names and ids"
            raise KeyError(f"the topic id {topic_id} is unknown: no decoded response had its name; {remedy}")
        return name

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _learn(self, message: Any, request: object = None) -> None:
        """Add the topics of a response without error, or drop those that DeleteTopicsResponse reports as deleted.

        ``request`` is None if undecoded. CreateTopics with ``validate_only`` creates no topic.
        """
        pairs = pairs_in(message.__class__)
        if pairs is None or (message.NAME == "CreateTopicsResponse" and getattr(request, "validate_only", True)):
            return
        if message.NAME == "DeleteTopicsResponse":  # by id, as another topic can have the same name now
            deleted = {name if topic_id == ZERO_UUID else topic_id for topic_id, name in pairs(message)}
            for topic_id in [key for key, name in self._names.items() if key in deleted or name in deleted]:
                del self._names[topic_id]
            return
        for topic_id, name in pairs(message):
            if name and topic_id != ZERO_UUID:
                self._names[topic_id] = name
                self._names.move_to_end(topic_id)
                if len(self._names) > self._limit:
                    self._names.popitem(last=False)
