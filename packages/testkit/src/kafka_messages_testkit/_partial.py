"""Failure of some elements of a request: the broker gets the others, and the responses are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias
from uuid import UUID

from kafka_messages import Response
from kafka_messages.connection import ErrorCodePlace, error_codes
from kafka_messages.schema import descriptor_of

PARTITIONS = ("index", "partition", "partition_id", "partition_index")
TOPICS, TOPIC_IDS = ("name", "topic", "topic_name"), ("topic_id",)
KEYS = (*TOPICS, *TOPIC_IDS, "group_id", *PARTITIONS)
Element: TypeAlias = tuple[str | None, UUID | None, int | None]
"""Topic name, topic id and partition number; None for none."""
IsSelected: TypeAlias = Callable[[str | None, UUID | None, int | None], bool]


def without(message: Any, is_selected: IsSelected) -> Any:
    """Return a copy of a request without the selected topics and partitions."""
    copy = deepcopy(message)
    _remove(copy, descriptor_of(type(message)).fields, is_selected, (None, None, None))
    return copy


def _remove(struct: Any, fields: Any, is_selected: IsSelected, around: Element) -> None:
    for field in fields:
        if not field.is_array or (elements := getattr(struct, field.name)) is None:
            continue
        if field.is_struct:
            for element in list(elements):
                if _is_removed(element, field.fields, is_selected, around):
                    elements.remove(element)
        elif field.name.startswith("partition"):
            elements[:] = [number for number in elements if not is_selected(*around[:2], number)]


def _is_removed(element: Any, fields: Any, is_selected: IsSelected, around: Element) -> bool:
    here = element_of(element, fields, around)
    inner = [field.name for field in fields if field.is_array and getattr(element, field.name)]
    if not inner:
        return is_selected(*here)
    _remove(element, fields, is_selected, here)
    return not any(getattr(element, each) for each in inner)


def element_of(struct: Any, fields: Any, around: Element) -> Element:
    """Return the topic, topic id and partition number of a struct, or those around it."""
    names = {field.name for field in fields}

    def value(kind: tuple[str, ...], outer: Any) -> Any:
        return next((getattr(struct, each) for each in kind if each in names), outer)

    return value(TOPICS, around[0]) or None, value(TOPIC_IDS, around[1]), value(PARTITIONS, around[2])


def merged(
    response: Response, failure: Response, version: int, is_selected: Callable[[ErrorCodePlace], bool]
) -> Response:
    """Return the broker's response with the selected error codes of ``failure``, and the elements that have them."""
    for place in error_codes(response, version=version):
        if is_selected(place):
            code = next((each.code for each in error_codes(failure, version=version) if is_selected(each)), None)
            if code is not None:
                place.code = code
    fields = descriptor_of(type(failure)).fields
    _add(response, failure, fields, _selected_structs(failure, version, is_selected))
    return response


def _selected_structs(failure: Any, version: int, is_selected: Callable[[ErrorCodePlace], bool]) -> set[str]:
    return {place.path.rpartition(".")[0] for place in error_codes(failure, version=version) if is_selected(place)}


def _add(response: Any, failure: Any, fields: Any, selected: set[str], path: str = "") -> None:
    """Add the selected elements of ``failure`` that ``response`` lacks."""
    for field in fields:
        if not (field.is_array and field.is_struct):
            continue
        names = [each.name for each in field.fields if each.name in KEYS]
        present = {_key(each, names): each for each in getattr(response, field.name) or ()}
        for place, element in _elements(failure, field.name, path):
            if not any(each == place or each.startswith(f"{place}.") for each in selected):
                continue
            if (same := present.get(_key(element, names))) is not None:
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


def _key(element: Any, names: list[str]) -> tuple[Any, ...]:
    return tuple(getattr(element, name) for name in names)
