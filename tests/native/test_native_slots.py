"""Native construction of slot objects for traversals."""

from __future__ import annotations

import gc
import json.encoder
from typing import Any

import pytest

from tests.support.implementations import script

core = pytest.importorskip("kafka_messages_native")


ENCODER = json.encoder.c_make_encoder  # type: ignore[attr-defined]  # a class written in C, as large as its number of members


class Slots:
    """Class with slots that are not declared in alphabetical order."""

    __slots__ = ("b", "a", "c")  # noqa: RUF023
    a: Any
    b: Any
    c: Any


def test_slots_are_filled_in_alphabetical_order() -> None:
    held = object()
    made = core.filled(Slots, held, 2)
    assert (type(made), made.a, made.b, hasattr(made, "c")) == (Slots, held, 2, False)
    assert not gc.is_tracked(made)


@pytest.mark.parametrize(
    "args", [(), (7,), (object,), (int, 1), (type("Plain", (), {}), 1), (Slots, 1, 2, 3, 4), (ENCODER, 1)]
)
def test_invalid_arguments_of_filled_are_rejected(args: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError) as caught:
        core.filled(*args)
    assert str(caught.value) == "filled() expects a class that has only __slots__, and at most one value per slot"


@pytest.mark.parametrize(("native", "is_tracked"), [("1", False), ("0", True)])
def test_native_traversals_yield_untracked_objects(native: str, is_tracked: bool) -> None:
    text = """
import gc
from kafka_messages import MetadataResponse
from kafka_messages.connection import entities
response = MetadataResponse(brokers=[MetadataResponse.MetadataResponseBroker(node_id=4, host="a")])
print(*[(gc.is_tracked(each), each.path, each.type, each.value) for each in entities(response)])
"""
    assert script(text, KAFKA_MESSAGES_NATIVE=native) == f"{(is_tracked, 'brokers[0].node_id', 'brokerId', 4)}\n"
