"""Failure of some elements of a request: the broker gets the others, and the responses are merged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias
from uuid import UUID

from kafka_messages import Response
from kafka_messages.connection import ErrorCodePlace, error_codes
from kafka_messages.schema import descriptor_of

PARTITIONS = ("index", "partition", "partition_id", "partition_index", "partition_indexes", "partitions")
"""Names of fields with partition numbers."""
KEYS = (
    *("name", "topic", "topic_name", "group_id", *PARTITIONS),
    *("transactional_id", "producer_id", "id", "resource_type", "resource_name"),
)
"""Names of the fields that identify an element of a response, beside its topic id."""
_RESOURCES = {2: 0, 3: 3, 32: 3}
"""Resource types of topics and groups, in ACLs and configurations, with their places in an element."""
Element: TypeAlias = tuple[str | None, UUID | None, int | None, str | None]
"""Topic name, topic id, partition number and group; None for none."""
IsSelected: TypeAlias = Callable[[str | None, UUID | None, int | None, str | None], bool]
NO_ELEMENT: Element = (None, None, None, None)


def without(message: Any, is_selected: IsSelected) -> Any:
    """Return a copy of a request without the selected topics, partitions and groups."""
    copy = deepcopy(message)
    _remove(copy, descriptor_of(type(message)).fields, is_selected, NO_ELEMENT)
    return copy


def _remove(struct: Any, fields: Any, is_selected: IsSelected, around: Element) -> None:
    for field in fields:
        if field.is_array and (elements := getattr(struct, field.name)):
            kept = [each for each in elements if not _is_removed(each, field, is_selected, around)]
            setattr(struct, field.name, type(elements)(kept))


def _is_removed(element: Any, field: Any, is_selected: IsSelected, around: Element) -> bool:
    if not field.is_struct:
        return _is_name(field) and is_selected(*_named(around, _place(field), element))
    here = element_of(element, field.fields, around)
    inner = [each.name for each in field.fields if each.is_array and _is_name(each) and getattr(element, each.name)]
    if not inner:
        return is_selected(*here)
    _remove(element, field.fields, is_selected, here)
    return not any(getattr(element, each) for each in inner)


def _place(field: Any) -> int | None:
    """Return the place in an element of what a field contains; None for other fields."""
    if field.name == "topic_id":
        return 1
    if field.name in PARTITIONS:
        return 2
    places: dict[str | None, int] = {"topicName": 0, "groupId": 3}
    return places.get(field.entity_type)


def _is_name(field: Any) -> bool:
    """Return whether a field names elements, or has structs that do."""
    return any(map(_is_name, field.fields)) if field.is_struct else _place(field) is not None


def _named(element: Element, place: int | None, value: Any) -> Any:
    return tuple((None if value == "" else value) if at == place else each for at, each in enumerate(element))


def element_of(struct: Any, fields: Any, around: Element) -> Element:
    """Return the topic, topic id, partition number and group of a struct, or those around it."""
    found = around
    for field in fields:
        if not (field.is_array or field.is_struct):
            found = _named(found, _place(field), getattr(struct, field.name))
    resource = _RESOURCES.get(getattr(struct, "resource_type", -1))
    return found if resource is None else _named(found, resource, getattr(struct, "resource_name", None))


def merged(
    response: Response, failure: Response, version: int, is_selected: Callable[[ErrorCodePlace], bool]
) -> Response:
    """Return the broker's response with the selected error codes of ``failure``, and the elements that have them."""
    codes = {_site(each): each.code for each in error_codes(failure, version=version) if each.code}
    for place in error_codes(response, version=version):
        if is_selected(place) and (code := codes.get(_site(place))) is not None:
            place.code = code
    fields = descriptor_of(type(failure)).fields
    _add(response, failure, fields, _selected_structs(failure, version, is_selected))
    return response


def _site(place: ErrorCodePlace) -> str:
    return re.sub(r"\[\d+\]", "", place.path)


def _selected_structs(failure: Any, version: int, is_selected: Callable[[ErrorCodePlace], bool]) -> set[str]:
    return {place.path.rpartition(".")[0] for place in error_codes(failure, version=version) if is_selected(place)}


def _add(response: Any, failure: Any, fields: Any, selected: set[str], path: str = "") -> None:
    """Add the selected elements of ``failure`` that ``response`` lacks."""
    for field in fields:
        if not (field.is_array and field.is_struct):
            continue
        names = [each.name for each in field.fields if each.name in KEYS and not each.is_array]
        present = {key: each for each in getattr(response, field.name) or () for key in _keys(each, names)}
        for place, element in _elements(failure, field.name, path):
            if not any(each == place or each.startswith(f"{place}.") for each in selected):
                continue
            same = next((present[key] for key in _keys(element, names) if key in present), None)
            if same is not None:
                _add(same, element, field.fields, selected, place)
            else:
                copy = deepcopy(element)
                _prune(copy, field.fields, selected, place)
                getattr(response, field.name).append(copy)


def _prune(element: Any, fields: Any, selected: set[str], path: str) -> None:
    for field in fields:
        if field.is_array and field.is_struct:
            kept = [
                each
                for place, each in _elements(element, field.name, path)
                if any(one == place or one.startswith(f"{place}.") for one in selected)
            ]
            setattr(element, field.name, type(getattr(element, field.name))(kept))


def _elements(struct: Any, name: str, path: str) -> Iterator[tuple[str, Any]]:
    for index, element in enumerate(getattr(struct, name) or ()):
        yield f"{path}.{name}[{index}]" if path else f"{name}[{index}]", element


def _keys(element: Any, names: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the keys of an element: the request may have the id of a topic, or its name, and the response both."""
    id, key = getattr(element, "topic_id", None), tuple(getattr(element, name) for name in names)
    has_id = id is not None and id.int != 0
    if has_id:
        yield (id,)
    if any(key) or not has_id:
        yield key
