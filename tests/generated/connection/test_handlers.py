"""The registry of request handlers at run time; tests/typing/client.py covers its types."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from kafka_messages import FetchRequest, FetchResponse, HeartbeatRequest, HeartbeatResponse, MetadataResponse
from kafka_messages import MetadataRequest as Metadata
from kafka_messages.connection import Handlers, announce


@pytest.fixture
def handlers() -> Handlers[int]:
    made = Handlers[int]()

    @made.on(Metadata)
    def metadata(_: Metadata, version: int) -> MetadataResponse:
        return MetadataResponse(controller_id=version)

    @made.on(FetchRequest)
    async def fetch(_: FetchRequest, version: int) -> FetchResponse:
        return FetchResponse(session_id=version)

    return made


def test_answer_calls_the_registered_handler(handlers: Handlers[int]) -> None:
    assert handlers.answer(Metadata(), 3) == MetadataResponse(controller_id=3)
    assert asyncio.run(handlers.answer_async(FetchRequest(), 4)) == FetchResponse(session_id=4)
    assert asyncio.run(handlers.answer_async(Metadata(), 5)) == MetadataResponse(controller_id=5)


def test_find_returns_the_registered_handler(handlers: Handlers[int]) -> None:
    found = handlers.find(Metadata)
    assert found is not None
    assert found(Metadata(), 7) == MetadataResponse(controller_id=7)
    assert handlers.find(HeartbeatRequest) is None
    assert (Metadata in handlers, HeartbeatRequest in handlers, "Metadata" in handlers) == (True, False, False)
    assert (list(handlers), len(handlers), repr(handlers)) == (
        [Metadata, FetchRequest],
        2,
        "<Handlers of 2 request classes>",
    )


def test_decorator_returns_the_function() -> None:
    def heartbeat(_: HeartbeatRequest) -> HeartbeatResponse:
        return HeartbeatResponse()

    assert Handlers().on(HeartbeatRequest)(heartbeat) is heartbeat


def test_announce_accepts_handlers(handlers: Handlers[int]) -> None:
    assert [each.api_key for each in announce(handlers).api_keys] == [1, 3, 18]


def test_subclass_of_a_request_uses_its_handler(handlers: Handlers[int]) -> None:
    class Mine(Metadata):
        pass

    assert handlers.answer(Mine(), 1) == MetadataResponse(controller_id=1)
    assert Mine in handlers


WRONG: list[tuple[Callable[[Any], object], type[Exception], str]] = [
    (lambda each: each.on(MetadataResponse), TypeError, "expected a request class, got the class MetadataResponse"),
    (lambda each: each.on("Metadata"), TypeError, "expected a request class, got 'Metadata'"),
    (lambda each: each.find(None), TypeError, "expected a request class, got None"),
    (
        lambda each: each.on(HeartbeatRequest)(None),
        TypeError,
        "expected a function as the handler of HeartbeatRequest, got None",
    ),
    (lambda each: each.on(Metadata)(print), ValueError, "MetadataRequest already has a handler"),
    (lambda each: each.answer(HeartbeatRequest(), 1), LookupError, "no handler is registered for HeartbeatRequest"),
    (lambda each: each.answer(Metadata, 1), TypeError, "expected a request, got the class MetadataRequest"),
    (
        lambda each: each.answer(FetchRequest(), 1),
        TypeError,
        "the handler of FetchRequest is a coroutine function; use answer_async",
    ),
]


@pytest.mark.filterwarnings("error:coroutine:RuntimeWarning")
@pytest.mark.parametrize(("use", "error", "text"), WRONG)
def test_wrong_use_of_handlers_raises(
    handlers: Handlers[int], use: Callable[[Handlers[int]], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        use(handlers)
    assert (type(raised.value), str(raised.value)) == (error, text)
