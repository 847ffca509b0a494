"""Selection of requests, and of the elements in them, by topic, partition, group and client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kafka_messages import Request
from kafka_messages.connection import ErrorCodePlace, entities, error_codes, error_response
from kafka_messages.protocol import Api, DecodedRequest, ErrorCode
from kafka_messages.protocol import api as api_of
from kafka_messages.schema import descriptor_of, entity_types

from ._partial import PARTITIONS

OF_ELEMENTS = ("topic", "topic_id", "partition")
_TYPES = {
    "topic": str,
    "topic_id": UUID,
    "partition": int,
    "group": str,
    "transactional_id": str,
    "client_id": str,
    "node_id": int,
}


@dataclass(frozen=True, slots=True)
class Received:
    """A request as a rule sees it: with the broker's node id, and the topic names known so far by topic id."""

    request: DecodedRequest
    node_id: int
    client_id: str | None
    topic_names: Mapping[UUID, str]


@dataclass(frozen=True, slots=True)
class Selectors:
    """What a request must contain; None selects everything."""

    message: type[Request[Any]]
    topic: str | None = None
    topic_id: UUID | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None
    client_id: str | None = None
    node_id: int | None = None
    when: Callable[[Any], object] | None = None

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError for a selector that no version of the request can match."""
        given: object = self.message  # untyped callers may pass anything
        if not (isinstance(given, type) and issubclass(given, Request) and given is not Request):
            raise TypeError(f"expected the class of a request, such as FetchRequest, not {self.message!r}")
        for name, kind in _TYPES.items():
            value = getattr(self, name)
            if not (value is None or isinstance(value, kind)):
                raise TypeError(f"{name} must be {kind.__name__}, not {value!r}")
        if self.topic == "" or self.group == "" or (self.topic_id is not None and not self.topic_id.int):
            raise ValueError("topic, group and topic_id must not be empty or zero")
        if self.partition is not None and (type(self.partition) is not int or not 0 <= self.partition < 1 << 31):
            raise ValueError(f"partition must be an int32 from 0 on, not {self.partition!r}")
        if not (self.when is None or callable(self.when)):
            raise TypeError(f"when must be a function of the request, not {self.when!r}")
        types = {kind for kinds in entity_types(self.message).values() for kind in kinds}
        names = _field_names(self.message)
        possible = {
            "topic": bool(types & {"topicName", "topicId"}),
            "topic_id": "topicId" in types,
            "partition": not names.isdisjoint(PARTITIONS),
            "group": "groupId" in types,
            "transactional_id": "transactionalId" in types,
        }
        for name, is_possible in possible.items():
            if getattr(self, name) is not None and not is_possible:
                raise ValueError(f"{self.message.__name__} has no {name.replace('_', ' ')}; remove the selector {name}")

    @property
    def api(self) -> Api[Any]:
        return api_of(self.message)

    def match(self, received: Received) -> bool:
        request = received.request
        message = request.message
        return (
            isinstance(message, self.message)
            and self.client_id in (None, received.client_id)
            and self.node_id in (None, received.node_id)
            and self._has_entity(message, "groupId", self.group)
            and self._has_entity(message, "transactionalId", self.transactional_id)
            and (not self.selects_elements or self._has_element(received))
            and (self.when is None or bool(self.when(message)))
        )

    @property
    def selects_elements(self) -> bool:
        return any(getattr(self, name) is not None for name in OF_ELEMENTS)

    def is_partial(self, received: Received) -> bool:
        """Return whether the response has elements that are selected, and others."""
        if not self.selects_elements and self.group is None:
            return False
        return {self.is_selected(received, place) for place in _places(received)} == {True, False}

    def failure(self, received: Received, code: ErrorCode) -> Any:
        """Return the response with ``code`` in the selected elements; without any as Kafka would set it."""
        if not (self.selects_elements and self._has_place(received)) and not self.is_partial(received):
            return error_response(received.request, code)
        return error_response(received.request, code, where=lambda place: self.is_selected(received, place))

    def is_selected(self, received: Received, place: ErrorCodePlace) -> bool:
        return self.selects(received, place.topic, place.topic_id, place.partition, place.group)

    def selects(
        self, received: Received, topic: str | None, topic_id: UUID | None, partition: int | None, group: str | None
    ) -> bool:
        """Return whether an element with this topic, partition and group is selected; None if it has none."""
        names, wanted = received.topic_names, self.topic_id
        if topic_id is not None and topic_id.int:
            topic = topic or names.get(topic_id)
        elif topic and wanted is not None and names.get(wanted) == topic:
            topic_id = wanted  # the version has only names
        return (
            self.topic in (None, topic)
            and wanted in (None, topic_id)
            and self.partition in (None, partition)
            and (self.group is None or group in (None, self.group))
        )

    def _has_place(self, received: Received) -> bool:
        return bool(self.api.response_name) and any(self.is_selected(received, place) for place in _places(received))

    def _has_entity(self, message: Any, kind: Any, wanted: str | None) -> bool:
        return wanted is None or any(each.value == wanted for each in entities(message, kind))

    def _has_element(self, received: Received) -> bool:
        return self._has_place(received) or (
            self.topic_id is None
            and self.partition is None
            and self._has_entity(received.request.message, "topicName", self.topic)
        )


def _places(received: Received) -> list[ErrorCodePlace]:
    request = received.request
    whole = error_response(request, ErrorCode.UNKNOWN_SERVER_ERROR, where=lambda place: True)
    return list(error_codes(whole, version=request.version))


def _field_names(message: type[Request[Any]]) -> set[str]:
    def names(fields: Any) -> Iterator[str]:
        for field in fields:
            yield field.name
            yield from names(field.fields)

    return set(names(descriptor_of(message).fields))
