"""Objects of slots that the native core makes for traversals."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from kafka_messages import MetadataResponse, rendering, set_rendering
from kafka_messages.connection import entities

core = pytest.importorskip("kafka_messages_native")


class Slots:
    """Slots lie in the order of their names."""

    __slots__ = ("b", "a", "c")  # noqa: RUF023
    a: Any
    b: Any
    c: Any


def test_slots_are_filled_in_the_order_of_their_names() -> None:
    """An object has the values that were given, its other slots are unset, and the collector does not track it."""
    held = object()
    made = core.filled(Slots, held, 2)
    assert (type(made), made.a, made.b, hasattr(made, "c")) == (Slots, held, 2, False)
    assert not gc.is_tracked(made)


@pytest.mark.parametrize("args", [(), (7,), (object,), (int, 1), (type("Plain", (), {}), 1), (Slots, 1, 2, 3, 4)])
def test_what_cannot_be_filled(args: tuple[Any, ...]) -> None:
    """A class with other contents, and more values than slots, are refused."""
    with pytest.raises(TypeError) as caught:
        core.filled(*args)
    assert str(caught.value) == "filled() takes a class of slots, and no more values than it has slots"


def test_traversals_follow_the_switch() -> None:
    """Names are made by the core or in Python as ``set_rendering`` says, and are the same."""
    response = MetadataResponse(brokers=[MetadataResponse.MetadataResponseBroker(node_id=4, host="a")])
    before, found = rendering(), []
    try:
        for wanted, is_tracked in (("pure", True), ("native", False), ("pure", True)):
            set_rendering(wanted)  # type: ignore[arg-type]
            made = list(entities(response))
            assert [gc.is_tracked(each) for each in made] == [is_tracked]
            found.append([(each.path, each.type, each.value) for each in made])
    finally:
        set_rendering(before)
    assert found == [[("brokers[0].node_id", "brokerId", 4)]] * 3
